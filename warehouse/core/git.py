"""The git commit of a folder."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_WAIT_SECONDS = 5


def git_commit(folder: Path) -> str | None:
    """Return the current commit of a folder's repository; None without a repository or git.

    Args:
        folder: it need not exist yet.
    """
    git = shutil.which("git")
    existing = next((path for path in (folder, *folder.resolve().parents) if path.is_dir()), None)
    if git is None or existing is None:
        return None
    try:
        done = subprocess.run(  # noqa: S603 - a fixed command
            [git, "rev-parse", "HEAD"],
            cwd=existing,
            capture_output=True,
            text=True,
            check=False,
            timeout=_WAIT_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None
