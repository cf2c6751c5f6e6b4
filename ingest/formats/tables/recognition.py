"""Recognises tables of results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.format import Format, Reader
from ingest.late import Late

if TYPE_CHECKING:
    from ingest.reading import Candidate


_CSV = {".csv", ".tsv"}
_JSON_LINES = {".jsonl", ".ndjson"}


def is_table(candidate: Candidate) -> bool:
    """Return whether a file that no reader claims may be a table.

    Only files that were given by name are: a folder may contain tables of anything.
    """
    suffix = candidate.path.suffix.lower()
    if not candidate.is_file:
        return False
    if candidate.head.startswith(b"PAR1"):
        return True
    if suffix == ".json":
        return candidate.head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")
    return suffix in _CSV | _JSON_LINES


FORMAT = Format(
    "tables",
    of_named=Reader("table", is_table, Late("tables.tables").read_table),
)
