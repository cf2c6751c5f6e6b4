"""Logs of agent trials, damaged: the smaller ones of the reference data, of every format.

Each round imports them in one order, checks the store, and imports them again in another: whatever
the damage, no file may be lost without a word, and the content must be the same.
"""

from __future__ import annotations

import json
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from ingest.discovery import find_files
from ingest.formats.sessions.consent import KeepSecrets
from ingest.importer import import_paths
from ingest.reading import ImportOptions
from tests.campaigns.fuzz_round import BugError
from tests.campaigns.mutating import damaged
from tests.support import REFERENCE, digests
from warehouse.app.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from random import Random

    from tests.campaigns.fuzz_round import Round

TRIALS = REFERENCE / "trials"
FOLDERS = (
    *("atif", "harbor", "inspect-agents/scout_s", "otel", "sessions", "swe-bench", "tau-bench"),
    "terminal-bench",
)
_MOST_BYTES = 200_000
# Files of each format in a round, and cells of each Parquet file that are damaged.
_PICKS = 8
_CELLS = 5
# What knows which file was imported first.
_OF_FILES = ("main.files", "main.quarantine")


def trials(around: Round) -> None:
    """Import logs of agents in one go, again, and in two random halves."""
    for name in FOLDERS:
        _put_files(around, TRIALS / name)
    secrets = around.choice.choice(["--keep-secrets", "--redact"])
    around.command("import", around.inputs, secrets)
    around.look()
    _check(around)
    store = Store(around.store, on_warning=lambda _: None)
    before = digests(store, without=_OF_FILES)
    around.command("import", around.inputs, secrets)
    _same(digests(store, without=_OF_FILES), before, "the same import again")
    paths = list(find_files([around.inputs]).readers)
    around.choice.shuffle(paths)
    half = len(paths) // 2
    other = Store(around.store / "other", on_warning=lambda _: None)
    for part in (paths[:half], paths[half:]):
        _import_all(other, part, is_redacted=secrets == "--redact")
    _same(digests(other, without=_OF_FILES), before, f"halves, first {paths[:half]}")


def _import_all(store: Store, paths: Sequence[Path], *, is_redacted: bool) -> None:
    """Import files, each of which must have an outcome."""
    options = ImportOptions(redact=is_redacted, format_options=(KeepSecrets(),))
    summary = import_paths(store.lake, paths, options)
    if summary.outcomes.total() < len(paths):
        raise BugError(f"{len(paths)} files, but {dict(summary.outcomes)}")


def _check(around: Round) -> None:
    """Check the store: whatever the logs say, no critical expectation may fail."""
    page = around.folder / "out" / "check.html"
    report = json.loads(around.command("check", "--html", page, "--format", "json"))
    failed = [
        f"{batch['name']}, {each['description']}: {each['sample']}"
        for batch in report["batches"]
        for each in batch["expectations"]
        if not each["passed"] and each["severity"] == "critical"
    ]
    if failed:
        raise BugError(f"expectations that are not met: {failed}")


def _same(found: dict[str, str], expected: dict[str, str], what: str) -> None:
    changed = [view for view, digest in expected.items() if found.get(view) != digest]
    if changed:
        raise BugError(f"{what}: other content of {', '.join(changed)}")


def _put_files(around: Round, folder: Path) -> None:
    """Write some files of a format, each with those in its folder and in the folders above."""
    sources = _sources(folder)
    for path in around.choice.sample(sources, min(_PICKS, len(sources))):
        for near in _near(path, folder):
            name = near.relative_to(TRIALS)
            if not (around.inputs / name).exists():
                data = near.read_bytes()
                if near.suffix == ".parquet":
                    data = _damaged_cells(data, around.choice)
                around.put(name, data)


@cache
def _sources(folder: Path) -> list[Path]:
    """Return what is imported of a folder."""
    return list(find_files([folder]).readers)


def _near(path: Path, folder: Path) -> list[Path]:
    inside = sorted(path.rglob("*")) if path.is_dir() else [path]
    parents = [parent for parent in path.parents if parent.is_relative_to(folder)]
    above = [sibling for parent in parents for sibling in sorted(parent.glob("*.json"))]
    return [
        each for each in (*inside, *above) if each.is_file() and each.stat().st_size <= _MOST_BYTES
    ]


def _damaged_cells(data: bytes, choice: Random) -> bytes:
    """Return a Parquet file with some texts damaged."""
    rows = pq.read_table(BytesIO(data)).to_pylist()
    for row in choice.sample(rows, min(_CELLS, len(rows))):
        cell = choice.choice([name for name, value in row.items() if isinstance(value, str)])
        row[cell] = damaged(row[cell].encode(), choice).decode("utf-8", "replace")
    written = BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), written)
    return written.getvalue()
