"""Reads Parquet; the line of a row is its position in the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from ingest.formats.tables.batches import MOST_COLUMNS, TableFile, UnusableTableError, batch_of
from warehouse.core.files import open_regular

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ingest.formats.tables.batches import TableBatch

_ROWS = 50_000


class ParquetTable(TableFile):
    """A table in a Parquet file."""

    def batches(self, wanted: Collection[str] | None) -> Iterator[TableBatch]:
        """Yield the rows; see `TableFile`."""
        first = 1
        with open_regular(self.path) as file:
            try:
                parquet = pq.ParquetFile(file)
                if len(parquet.schema_arrow) > MOST_COLUMNS:
                    raise UnusableTableError(
                        f"{len(parquet.schema_arrow):,} columns; the limit is {MOST_COLUMNS:,}"
                    )
                for block in parquet.iter_batches(batch_size=_ROWS):
                    # Durations become seconds, dictionaries text.
                    frame = pl.DataFrame(block).with_columns(
                        pl.col(pl.Duration).dt.total_microseconds() / 1e6,
                        pl.col(pl.Categorical, pl.Enum).cast(pl.String),
                    )
                    lines = pl.int_range(first, first + len(frame), eager=True)
                    first += len(frame)
                    yield batch_of(lines, frame, wanted, redact=self.redact)
            except pa.ArrowInvalid as error:
                raise UnusableTableError(f"not readable as Parquet: {error}") from error
