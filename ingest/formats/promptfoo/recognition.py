"""Recognises the exports of promptfoo, its database, and the files next to it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ingest.format import Format, Reader, declining
from ingest.late import Late
from ingest.reading import Candidate
from warehouse.core.files import open_regular

if TYPE_CHECKING:
    from pathlib import Path

_RESULTS = re.compile(rb'"results"\s*:\s*\{[^{}\[\]]{0,1000}"version"\s*:\s*\d')
_ROW = re.compile(rb'\s*\{[^\n]*"(promptIdx|testIdx)"\s*:\s*\d')
_ROW_WORDS = (b'"gradingResult"', b'"testCase"', b'"namedScores"', b'"response"')
_TABLE = re.compile(rb"(\xef\xbb\xbf)?[^\n]*\[[^\n]+\][^\n]*,Status,Score,")
_MAGIC = b"SQLite format 3\0"
_WAL_HEAD_BYTES = 4 * 2**20
_COMPANIONS = ("-wal", "-shm")
RESULTS_TABLE = b"eval_results"


def is_export(candidate: Candidate) -> bool:
    """Return whether a file is an evaluation as JSON."""
    return candidate.path.suffix == ".json" and _RESULTS.search(candidate.head) is not None


def is_lines(candidate: Candidate) -> bool:
    """Return whether a file holds results as JSON lines."""
    head = candidate.head
    return (
        candidate.path.suffix in {".jsonl", ".ndjson"}
        and _ROW.match(head) is not None
        and any(word in head for word in _ROW_WORDS)
    )


def is_table(candidate: Candidate) -> bool:
    """Return whether a file is a table of an evaluation."""
    return candidate.path.suffix == ".csv" and _TABLE.match(candidate.head) is not None


def is_database(candidate: Candidate) -> bool:
    """Return whether a file is the database of promptfoo; its tables may be in its log only."""
    if not candidate.head.startswith(_MAGIC):
        return False
    if RESULTS_TABLE in candidate.head:
        return True
    try:
        with open_regular(log_of(candidate.path)) as file:
            return RESULTS_TABLE in file.read(_WAL_HEAD_BYTES)
    except OSError:
        return False


def is_companion(candidate: Candidate) -> bool:
    """Return whether a file is the write-ahead log of a database, or its index."""
    database = database_of(candidate.path)
    return database is not None and candidate.is_file and is_database(Candidate(database))


def log_of(path: Path) -> Path:
    """Return the write-ahead log of a database."""
    return path.with_name(f"{path.name}-wal")


def database_of(path: Path) -> Path | None:
    """Return the database that a file goes with, by its name; None for any other file."""
    ending = next((end for end in _COMPANIONS if path.name.endswith(end)), None)
    return None if ending is None else path.with_name(path.name.removesuffix(ending) or "-")


_files = Late("promptfoo.files")
_database = Late("promptfoo.database")
_TABLE_IS = "a table of promptfoo lacks most of an evaluation; export it as JSON"
FORMAT = Format(
    "promptfoo",
    readers={
        180: Reader("promptfoo evaluation", is_export, _files.read_export),
        190: Reader("promptfoo results", is_lines, _files.read_lines),
        200: Reader("promptfoo database", is_database, _database.read_database),
        210: Reader("log of a promptfoo database", is_companion, _database.decline_companion),
        220: Reader("promptfoo table", is_table, declining(_TABLE_IS)),
    },
    suites=("promptfoo",),
)
