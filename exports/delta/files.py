"""The data files: Parquet, with the statistics that Delta's log has of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import orjson
import pyarrow.compute as pc
import pyarrow.parquet as pq
from ulid import ULID

from exports.delta.changes import rows_of
from exports.delta.state import PUBLIC, PublishedFile
from warehouse.engine.rows import ARROW_BATCH
from warehouse.lake.delta_log import STATISTICS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb
    import pyarrow as pa

    from exports.delta.changes import Source
    from exports.delta.state import PublicFolder, Unit


def write_units(
    connection: duckdb.DuckDBPyConnection,
    source: Source,
    units: Sequence[Unit],
    public: PublicFolder,
    table: str,
) -> PublishedFile:
    """Write the rows of units of one suite to a new file.

    Args:
        connection: a connection to the warehouse.
        source: the rows of the table.
        units: the units.
        public: where it is published.
        table: name of the table.

    Raises:
        OSError: the file cannot be written.
    """
    query, parameters = rows_of(source, units)
    order = "suite, run_id" if source.has_runs else "suite"
    relation = connection.sql(f"{query} ORDER BY {order}", params=parameters)
    reader = relation.to_arrow_reader(ARROW_BATCH)
    return write_file(reader, public, table, tuple(units))


def write_file(
    reader: pa.RecordBatchReader, public: PublicFolder, table: str, units: tuple[Unit, ...] = ()
) -> PublishedFile:
    """Write rows to a new file, and flush it to disk.

    Raises:
        OSError: the file cannot be written.
    """
    name = f"{ULID()}.parquet"
    with public.place.writing(f"{PUBLIC}/{table}/{name}") as path:
        with pq.ParquetWriter(path, reader.schema, compression="zstd", store_schema=False) as file:
            for batch in reader:
                file.write_batch(batch)
        with pq.ParquetFile(path) as written:
            n_rows = written.metadata.num_rows
            statistics = {"numRecords": n_rows, **_bounds(written)}
        n_bytes = path.stat().st_size
    return PublishedFile(name, n_rows, n_bytes, orjson.dumps(statistics).decode(), units)


def _bounds(file: pq.ParquetFile) -> dict[str, object]:
    """Return the bounds of columns, as Delta's log has them."""
    low, high, n_nulls = {}, {}, {}
    for name in filter(file.schema_arrow.names.__contains__, STATISTICS):
        column = file.read(columns=[name]).column(name)  # one at a time, for memory
        n_nulls[name] = column.null_count
        if column.null_count < len(column):
            bounds = pc.min_max(column).as_py()
            low[name], high[name] = _in_log(bounds["min"]), _in_log(bounds["max"], round_up=True)
    return {"minValues": low, "maxValues": high, "nullCount": n_nulls}


def _in_log(value: str | datetime, *, round_up: bool = False) -> str:
    """Return a bound as the log has it: times to the millisecond, outwards."""
    if isinstance(value, str):
        return value
    if round_up:
        value += timedelta(microseconds=999)
    return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
