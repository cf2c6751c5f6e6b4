"""Paths of imported files as pages show them: pages are shared, folders of a machine are not."""

from __future__ import annotations

import re

# Folders whose names are those of people.
_HOMES = re.compile(r"(?:^|[\\/])(?:home|users)$", re.IGNORECASE)
_ABSOLUTE = re.compile(r"[\\/]|[A-Za-z]:[\\/]")


def shared_path(path: str | None) -> str | None:
    """Return a path without the folders above the file's own; one that is relative, as it is.

    `/srv/evals/runs/r9/results.jsonl` is `…/r9/results.jsonl`, and `/home/ann/log.json` is
    `…/log.json`. The SHA-256 next to a path says which file it is.
    """
    if path is None or not _ABSOLUTE.match(path):
        return path
    separator = "\\" if "\\" in path and "/" not in path else "/"
    above, _, name = path.rstrip("\\/").rpartition(separator)
    rest, _, folder = above.rpartition(separator)
    if not folder or not rest or _HOMES.search(rest):
        return f"…/{name}"
    return f"…/{folder}/{name}"
