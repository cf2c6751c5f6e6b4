"""Paths of the data folders that ship with evalstore.

In a checkout they are next to the packages, in an installed wheel in `evalstore_data/`, so that
site-packages has no `models/` or `tasks/` of ours. They are found by path and never imported.
"""

import os
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_INSTALLED = ROOT / "evalstore_data"
_DATA = _INSTALLED if _INSTALLED.is_dir() else ROOT
SQL = _DATA / "sql"
TASKS = _DATA / "tasks"
MODELS = _DATA / "models"
EXPECTATIONS = SQL / "expectations"
SCORING = ROOT / "warehouse" / "engine" / "scoring"
STATISTICS = ROOT / "warehouse" / "engine" / "statistics"


def cache_folder() -> Path | None:
    """Return the folder for what can be made again; None if the user has no home folder."""
    if named := os.environ.get("EVALSTORE_CACHE"):
        return Path(named)
    with suppress(RuntimeError):
        return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "evalstore"
    return None


def picture_cache() -> Path | None:
    """Return the folder of downloaded pictures; None if the user has no home folder."""
    named, folder = os.environ.get("EVALSTORE_CACHE"), cache_folder()
    return folder if named or folder is None else folder / "pictures"
