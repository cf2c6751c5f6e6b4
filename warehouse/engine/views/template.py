"""An empty warehouse with all tables, views and comments, kept in the user's cache folder.

Defining the views takes over a second, many times what loading a few logs takes, and gives the
same file every time. So a new warehouse starts as a copy of this file; without it, or where there
is no cache folder, the views are defined.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

import duckdb

from warehouse.core.paths import ROOT, cache_folder

if TYPE_CHECKING:
    from pathlib import Path

# Versions of evalstore used in turn each have one; the least recently used one goes first.
_KEPT = 8
_SUFFIX = ".duckdb"
_UNFINISHED_SECONDS = 3600
# What else shapes the file: a template of other code would be wrong.
_CODE = (
    "core/schemas",
    "core/types",
    "engine/tables/raters/corrected_means",
    "engine/tables/raters/judge_agreement",
    "engine/tables/raters/vote_scores",
    "engine/tables/loading",
    "engine/tables/pair_tests",
    "engine/tables/runs",
    "engine/tables/score_tables",
    "engine/tables/definitions",
    "engine/views/dictionary",
)


def copy_template(definitions: str, target: Path) -> bool:
    """Copy the template to a new file; return whether there was one.

    Args:
        definitions: hash of the SQL files and scoring functions.
        target: the file.
    """
    template = _path(definitions)
    if template is None:
        return False
    try:
        shutil.copyfile(template, target)
        os.utime(template)
    except OSError:
        target.unlink(missing_ok=True)
        return False
    return True


def keep_template(definitions: str, empty: Path) -> None:
    """Keep a copy of an empty warehouse as the template, if the cache folder can be written."""
    template = _path(definitions)
    if template is None:
        return
    temporary = template.with_suffix(f".{os.getpid()}")
    with suppress(OSError):
        template.parent.mkdir(parents=True, exist_ok=True)
        try:
            shutil.copyfile(empty, temporary)
            temporary.replace(template)
        finally:
            temporary.unlink(missing_ok=True)
        _sweep(template.parent)
        by_use = sorted(template.parent.iterdir(), key=lambda path: path.stat().st_mtime)
        for path in by_use[:-_KEPT]:
            path.unlink()


def _sweep(folder: Path) -> None:
    """Remove copies that killed processes left unfinished: a copy takes far less than an hour."""
    for path in folder.iterdir():
        if path.suffix != _SUFFIX and path.stat().st_mtime < time.time() - _UNFINISHED_SECONDS:
            path.unlink(missing_ok=True)


def discard_template(definitions: str) -> None:
    """Remove the template, because it is damaged."""
    template = _path(definitions)
    if template is not None:
        with suppress(OSError):
            template.unlink(missing_ok=True)


def _path(definitions: str) -> Path | None:
    folder = cache_folder()
    if folder is None:
        return None
    key = hashlib.sha256(f"{definitions} {_code_digest()} {duckdb.__version__}".encode())
    return folder / "warehouses" / f"{key.hexdigest()[:32]}{_SUFFIX}"


@cache
def _code_digest() -> str:
    digest = hashlib.sha256()
    for name in _CODE:
        digest.update((ROOT / "warehouse" / f"{name}.py").read_bytes())
    return digest.hexdigest()
