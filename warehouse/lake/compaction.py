"""Merges small batches of the lake into larger ones: the same rows in fewer files.

Each row keeps the name of the batch that it came in with, and `batch.json` what each batch said
of itself. So nothing else changes, and what an import, a run or `forget` asks of a batch is
answered as before.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warehouse.lake.lake import ROWS_PER_GROUP
from warehouse.lake.locks import exclusive_lake_lock
from warehouse.schemas import BATCH, TABLES, merged_schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa

    from warehouse.lake.batch import Batch
    from warehouse.lake.lake import BatchWriter, Lake
    from warehouse.schemas import Table

# A batch below the first is small; small ones are merged until they come to the second.
SMALL_BYTES = 8 * 2**20
_FULL_BYTES = 128 * 2**20
# So many small batches, and it is time to merge them.
MANY = 100
_BYTES_AT_ONCE = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Merged:
    """What a merge did.

    Attributes:
        n_before: batches in the lake before, as folders.
        n_after: and afterwards.
    """

    n_before: int
    n_after: int


def merge_small(lake: Lake) -> Merged:
    """Merge the small batches of a lake, in order, each group at once or not at all.

    Raises:
        StoreDamaged: a file of a batch is not as it was written; nothing is merged with it.
        StoreBusy: the lake is being read.
        EvalstoreError: a batch could not be written.
    """
    with exclusive_lake_lock(lake.store):
        lake.remove_replaced()
        folders = lake.folders()
        groups = [group for group in _groups(lake, small(lake, folders)) if len(group) > 1]
        for group in groups:
            for folder in group:
                lake.verify(folder)
            _merge(lake, group)
        lake.remove_replaced()
    return Merged(len(folders), len(folders) - sum(len(group) - 1 for group in groups))


def small(lake: Lake, folders: Iterable[Batch]) -> list[Batch]:
    """Choose the batches that are small."""
    return [folder for folder in folders if _size(lake, folder) < SMALL_BYTES]


def rows_of(lake: Lake, folder: Batch, table: Table) -> pa.Table:
    """Read a table of a batch, whichever version wrote it, with each row's batch."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = merged_schema(table)
    with pq.ParquetFile(lake.file(folder, table.name)) as file:
        rows = file.read(use_threads=False)  # small files: threads would cost more than they do
    if BATCH not in rows.column_names:
        rows = rows.append_column(BATCH, pa.repeat(folder.name, rows.num_rows))
    # Columns that came later are NULL.
    whole = pa.concat_tables([schema.empty_table(), rows], promote_options="default")
    return whole.select(schema.names).cast(schema)


def parts_in(folder: Batch, writer: BatchWriter) -> list[Batch]:
    """Give what a batch holds, as parts of the one that is being written."""
    return [replace(part, merged_into=writer.name) for part in folder.contents]


def _groups(lake: Lake, folders: Sequence[Batch]) -> Iterator[list[Batch]]:
    group: list[Batch] = []
    size = 0
    for folder in folders:
        group.append(folder)
        size += _size(lake, folder)
        if size >= _FULL_BYTES:
            yield group
            group, size = [], 0
    yield group


def _merge(lake: Lake, group: Sequence[Batch]) -> None:
    with lake.write("compact") as writer:
        for table in TABLES:
            folders = [folder for folder in group if table.name in folder.files]
            for rows in _in_large_pieces(rows_of(lake, folder, table) for folder in folders):
                writer.add_table(table, rows)
        writer.commit(
            replaces=[name for folder in group for name in (*folder.replaces, folder.name)],
            parts=[part for folder in group for part in parts_in(folder, writer)],
        )


def _in_large_pieces(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Join tables until they fill a row group, or as much memory as we would take."""
    import pyarrow as pa

    waiting: list[pa.Table] = []
    n_rows = n_bytes = 0
    for rows in tables:
        waiting.append(rows)
        n_rows += rows.num_rows
        n_bytes += rows.nbytes
        if n_rows >= ROWS_PER_GROUP or n_bytes >= _BYTES_AT_ONCE:
            yield pa.concat_tables(waiting)
            waiting, n_rows, n_bytes = [], 0, 0
    if waiting:
        yield pa.concat_tables(waiting)


def _size(lake: Lake, folder: Batch) -> int:
    return sum(lake.file(folder, table).stat().st_size for table in folder.files)
