"""Reads Parquet; the line of a row is its position in the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from ingest.formats.tables.batches import MOST_COLUMNS, UnusableTableError, batch_of
from warehouse.files import open_regular
from warehouse.formats.secrets import find_secrets, mask

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from ingest.formats.tables.batches import TableBatch

_ROWS = 50_000


class ParquetTable:
    """A table in a Parquet file."""

    def __init__(self, path: Path, *, redact: bool = False) -> None:
        self._path = path
        self._redact = redact

    def batches(self, wanted: Collection[str] | None) -> Iterator[TableBatch]:
        """Yield the rows; see `TableFile`."""
        first = 1
        with open_regular(self._path) as file:
            try:
                parquet = pq.ParquetFile(file)
                if len(parquet.schema_arrow) > MOST_COLUMNS:
                    raise UnusableTableError(
                        f"{len(parquet.schema_arrow):,} columns; the limit is {MOST_COLUMNS:,}"
                    )
                for block in parquet.iter_batches(batch_size=_ROWS):
                    # Durations become seconds.
                    frame = pl.DataFrame(block).with_columns(
                        pl.col(pl.Duration).dt.total_microseconds() / 1e6
                    )
                    secrets: list[tuple[int, str]] = []
                    if wanted is not None:
                        frame, secrets = _searched(frame, first, redact=self._redact)
                    lines = pl.int_range(first, first + len(frame), eager=True)
                    first += len(frame)
                    batch = batch_of(lines, frame, wanted)
                    batch.secrets = secrets
                    yield batch
            except pa.ArrowInvalid as error:
                raise UnusableTableError(f"not readable as Parquet: {error}") from error


def _searched(
    frame: pl.DataFrame, first: int, *, redact: bool
) -> tuple[pl.DataFrame, list[tuple[int, str]]]:
    """Find secrets in texts, and mask them if asked."""
    located: list[tuple[int, str]] = []
    for name in frame.columns:
        if frame[name].dtype != pl.String or not _has_secrets(frame[name]):
            continue
        texts: list[str | None] = []
        for row, text in enumerate(frame[name].to_list(), first):
            data = (text or "").encode()
            secrets = find_secrets(data)
            located += [(row, secret.kind) for secret in secrets]
            texts.append(mask(data, secrets).decode() if secrets and redact else text)
        frame = frame.with_columns(pl.Series(name, texts, pl.String))
    return frame, sorted(located)


def _has_secrets(texts: pl.Series) -> bool:
    joined: str = texts.drop_nulls().unique().str.join("\n").item()
    return bool(find_secrets(joined.encode()))
