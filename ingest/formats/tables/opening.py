"""Opens a table by what its file is: CSV, JSON lines, a JSON list or Parquet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.reading import Candidate

if TYPE_CHECKING:
    from pathlib import Path

    from ingest.formats.tables.batches import TableFile

_JSON_LINES = {".jsonl", ".ndjson"}


def open_table(path: Path, *, redact: bool = False) -> TableFile:
    """Return the table in a file."""
    # Imported here: other imports do not wait for polars.
    from ingest.formats.tables.csv_files import CsvFile
    from ingest.formats.tables.json_files import JsonLinesFile, JsonListFile
    from ingest.formats.tables.parquet_files import ParquetTable

    suffix = path.suffix.lower()
    if Candidate(path).head.startswith(b"PAR1"):
        return ParquetTable(path, redact=redact)
    if suffix == ".json":
        return JsonListFile(path, redact=redact)
    if suffix in _JSON_LINES:
        return JsonLinesFile(path, redact=redact)
    return CsvFile(path, redact=redact)
