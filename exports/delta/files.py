"""The data files: Parquet, with the statistics that Delta's log has of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import orjson
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
    import pyarrow.parquet as pq

    name = f"{ULID()}.parquet"
    bounds = _Bounds(reader.schema)
    with public.place.writing(f"{PUBLIC}/{table}/{name}") as path:
        with pq.ParquetWriter(path, reader.schema, compression="zstd", store_schema=False) as file:
            for batch in reader:
                file.write_batch(batch)
                bounds.add(batch)
        n_bytes = path.stat().st_size
    statistics = orjson.dumps(bounds.statistics()).decode()
    return PublishedFile(name, bounds.n_rows, n_bytes, statistics, units)


class _Bounds:
    """The number of rows, and the bounds of columns, as Delta's log has them."""

    def __init__(self, schema: pa.Schema) -> None:
        self.n_rows = 0
        self._nulls = {name: 0 for name in STATISTICS if name in schema.names}
        self._bounds: dict[str, tuple[str | datetime, str | datetime]] = {}

    def add(self, batch: pa.RecordBatch) -> None:
        import pyarrow.compute as pc

        self.n_rows += batch.num_rows
        for name in self._nulls:
            column = batch.column(name)
            self._nulls[name] += column.null_count
            low, high = pc.min_max(column).as_py().values()
            if low is not None:
                known = self._bounds.get(name, (low, high))
                self._bounds[name] = (min(known[0], low), max(known[1], high))

    def statistics(self) -> dict[str, object]:
        bounds = self._bounds.items()
        return {
            "numRecords": self.n_rows,
            "minValues": {name: _in_log(low) for name, (low, _) in bounds},
            "maxValues": {name: _in_log(high, round_up=True) for name, (_, high) in bounds},
            "nullCount": self._nulls,
        }


def _in_log(value: str | datetime, *, round_up: bool = False) -> str:
    """Return a bound as the log has it: times to the millisecond, outwards."""
    if isinstance(value, str):
        return value
    if round_up:
        value += timedelta(microseconds=999)
    return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
