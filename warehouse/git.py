"""The commit of the checkout that a file lies in, where it lies in one."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_WAIT_SECONDS = 5


def git_commit(folder: Path) -> str | None:
    """Give the commit of the repository that a folder is in; None outside of one, or without git.

    Args:
        folder: it need not be there yet.
    """
    git = shutil.which("git")
    place = next((path for path in (folder, *folder.resolve().parents) if path.is_dir()), None)
    if git is None or place is None:
        return None
    try:
        done = subprocess.run(  # noqa: S603 - a fixed command
            [git, "rev-parse", "HEAD"],
            cwd=place,
            capture_output=True,
            text=True,
            check=False,
            timeout=_WAIT_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None
