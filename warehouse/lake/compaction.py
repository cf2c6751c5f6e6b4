"""The merge of small batches of the lake into larger ones: the same rows in fewer files.

`evalstore compact` merges all of them. Commands that add batches, and `evalstore sync`, merge those
of one tier where `FAN` have come together: a tier is the number of merges behind a batch, so that
each row is rewritten once per tier, and a merge takes a moment.

Each row keeps the name of the batch it was added with, and `batch.json` keeps the description of
each batch, so that the order of batches and their sources, which imports, runs and `forget` rely
on, do not change.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warehouse.core.errors import StoreDamaged
from warehouse.core.formats.values import import_pyarrow
from warehouse.core.schemas import BATCH, FILES, TABLES, merged_schema
from warehouse.lake.writer import ROWS_PER_GROUP

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa

    from warehouse.core.schemas import Table
    from warehouse.lake.batch import Batch
    from warehouse.lake.lake import Lake
    from warehouse.lake.writer import BatchWriter

# Smaller batches are merged, and what they are merged from has at most the second size. Where every
# machine has to fetch what a merge or `forget` rewrites, it is smaller.
SMALL_BYTES = 8 * 2**20
_MOST_BYTES, _MOST_FETCHED_BYTES = 128 * 2**20, 32 * 2**20
# With more small batches than this, `evalstore sync` recommends to merge them.
MANY_SMALL = 100
# Batches of one tier that are merged into one of the next; and how many at once where more are
# waiting, as in a store from before batches were merged automatically.
FAN = 32
_MOST_FOLDERS = 128
# The size of a merge at the side of another command; and how many original batches it may have, so
# that each `batch.json` stays small.
_MOMENT_BYTES = 32 * 2**20
_MOST_PARTS = 4_096
_BUFFER_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class MergeReport:
    """The number of folders in the lake before and after a merge."""

    n_before: int
    n_after: int


def merge_small(lake: Lake) -> MergeReport:
    """Merge the small batches of a lake, in order; each group is merged atomically.

    Raises:
        StoreDamaged: a file is missing, or has changed since it was written; its group is not
            merged.
        StoreBusy: the lake is being read.
        EvalstoreError: a batch could not be written.
    """
    with lake.rewriting():
        lake.remove_replaced()
        folders = lake.folders()
        groups = [group for group in _groups(lake, small_batches(lake, folders)) if len(group) > 1]
        for group in groups:
            for folder in group:
                lake.verify(folder)
            _merge(lake, group)
        lake.remove_replaced()
    return MergeReport(len(folders), len(folders) - sum(len(group) - 1 for group in groups))


def merge_tier(lake: Lake, loaded: Mapping[str, int], replaced: Collection[str]) -> bool:
    """Merge the small batches of a tier if there are enough; return whether it was done.

    The work is bounded: `FAN` batches as a rule, and up to `_MOST_FOLDERS` where more are waiting.
    What the warehouse knows makes it unnecessary to read the descriptions of all batches. Only
    those that it has not loaded are read, so that imports merge, too, where nobody reads the store.

    Args:
        lake: the lake.
        loaded: number of original batches of each folder that the warehouse has loaded.
        replaced: other folders that the warehouse knows to be replaced.

    Raises:
        StoreDamaged: a file that the warehouse has loaded is missing, or has changed since it was
            written; nothing is merged.
        StoreBusy: the lake is being read; nothing is waited for.
        EvalstoreError: a batch could not be written.
    """
    # On an object store, a merge uploads and downloads: only `evalstore compact` does that.
    if lake.mirror is not None or not _due(lake, loaded, replaced):
        return False
    with lake.rewriting(wait_seconds=0):
        # Others may have merged or forgotten batches in the meantime.
        group = [lake.read(name) for name in _due(lake, loaded, replaced)]
        left_out = _left_out(lake, [folder for folder in group if folder.name not in loaded])
        group = [folder for folder in group if folder.name not in left_out]
        for folder in group:
            lake.verify(folder)
        if len(group) < 2:  # noqa: PLR2004 - it takes two
            return False
        _merge(lake, group)
        lake.remove(folder.name for folder in group)
    return True


def _due(lake: Lake, loaded: Mapping[str, int], replaced: Collection[str]) -> list[str]:
    """Return the oldest small folders of the lowest tier that is full; none if none is."""
    n_parts = _parts(lake, loaded, replaced)
    # Two at least fit into a merge.
    sizes = small_folders(lake, (name for name, n in n_parts.items() if 2 * n <= _MOST_PARTS))
    return full_tier({name: (n_parts[name], size) for name, size in sizes.items()})


def _parts(lake: Lake, loaded: Mapping[str, int], replaced: Collection[str]) -> dict[str, int]:
    """Return the number of original batches of each folder that counts.

    None, if the warehouse lacks more than a merge may have: a sync comes first.
    """
    names = lake.batch_names()
    unknown = names - loaded.keys() - set(replaced)
    if len(unknown) > _MOST_PARTS:
        return {}
    n_parts = {name: n for name, n in loaded.items() if name in names}
    gone: set[str] = set()
    for folder in map(lake.read, sorted(unknown)):
        n_parts[folder.name] = len(folder.contents)
        gone.update(folder.replaces)
    return {name: n for name, n in n_parts.items() if name not in gone}


def full_tier(folders: Mapping[str, tuple[int, int]]) -> list[str]:
    """Return the oldest folders of the lowest tier that is full; none if none is.

    Args:
        folders: the small folders: number of original batches and bytes of each.
    """
    tiers: dict[int, list[str]] = {}
    for name in sorted(folders):
        tiers.setdefault(_tier(folders[name][0]), []).append(name)
    for _, names in sorted(tiers.items()):
        group: list[str] = []
        n_bytes = n_parts = 0
        for name in names:
            n_parts += folders[name][0]
            n_bytes += folders[name][1]
            if group and (n_bytes > _MOMENT_BYTES or n_parts > _MOST_PARTS):
                return group
            group.append(name)
            if len(group) == _MOST_FOLDERS:
                break
        if len(group) >= FAN:
            return group
    return []


def _left_out(lake: Lake, folders: Sequence[Batch]) -> set[str]:
    """Return the names of those batches that sync would leave out, which it has not seen yet."""
    if not folders:
        return set()
    from warehouse.core.in_memory import open_in_memory
    from warehouse.lake.schema_check import misfits

    damaged = set()
    for folder in folders:
        try:
            lake.verify(folder)
        except StoreDamaged:
            damaged.add(folder.name)
    sound = [folder for folder in folders if folder.name not in damaged]
    with open_in_memory() as connection:
        return damaged | misfits(lake, sound, connection).keys()


def _tier(n_parts: int) -> int:
    tier = 0
    while n_parts >= FAN:
        n_parts //= FAN
        tier += 1
    return tier


def small_folders(lake: Lake, names: Iterable[str]) -> dict[str, int]:
    """Return the bytes of each folder of the lake that has less than `SMALL_BYTES`."""
    sizes = {}
    for name in names:
        with suppress(OSError), os.scandir(lake.path / name) as entries:
            sizes[name] = sum(
                entry.stat().st_size for entry in entries if entry.name.endswith(".parquet")
            )
    return {name: size for name, size in sizes.items() if size < SMALL_BYTES}


def small_batches(lake: Lake, folders: Iterable[Batch]) -> list[Batch]:
    """Return the batches below `SMALL_BYTES`.

    Raises:
        StoreDamaged: a file is missing.
    """
    return [folder for folder in folders if _size(lake, folder) < SMALL_BYTES]


def rows_of(
    lake: Lake, folder: Batch, table: Table, columns: Sequence[str] | None = None
) -> pa.Table:
    """Read a table of a batch of any schema version, with the batch of each row.

    Args:
        lake: the lake.
        folder: the batch.
        table: the table.
        columns: names of the columns to read; None for all.

    Raises:
        StoreDamaged, StoreUnreachable: copies of imported files cannot be fetched.
    """
    import pyarrow.parquet as pq

    pa = import_pyarrow()
    schema = merged_schema(table)
    if columns is None and table is FILES:
        lake.fetch_copies([folder.name])
    if columns is not None:
        schema = pa.schema([schema.field(name) for name in columns])
    with pq.ParquetFile(lake.file(folder, table.name)) as file:
        names = [name for name in file.schema_arrow.names if columns is None or name in columns]
        # For small files, threads cost more than they save.
        rows = file.read(names, use_threads=False)
    if BATCH not in rows.column_names:
        rows = rows.append_column(BATCH, pa.repeat(folder.name, rows.num_rows))
    # Columns that are newer than the file are NULL.
    whole = pa.concat_tables([schema.empty_table(), rows], promote_options="default")
    return whole.select(schema.names).cast(schema)


def parts_in(folder: Batch, writer: BatchWriter) -> list[Batch]:
    """Return the batches in a folder as parts of the batch that is being written."""
    return [replace(part, merged_into=writer.name) for part in folder.contents]


def _groups(lake: Lake, folders: Sequence[Batch]) -> Iterator[list[Batch]]:
    most_bytes = _MOST_BYTES if lake.mirror is None else _MOST_FETCHED_BYTES
    group: list[Batch] = []
    total = 0
    for folder in folders:
        size = _size(lake, folder)
        if total + size > most_bytes:
            yield group
            group, total = [], 0
        group.append(folder)
        total += size
    yield group


def _merge(lake: Lake, group: Sequence[Batch]) -> None:
    with lake.write("compact") as writer:
        for table in TABLES:
            folders = [folder for folder in group if table.name in folder.files]
            for rows in _in_large_chunks(rows_of(lake, folder, table) for folder in folders):
                writer.add_table(table, rows)
        writer.commit(
            replaces=[name for folder in group for name in (*folder.replaces, folder.name)],
            parts=[part for folder in group for part in parts_in(folder, writer)],
        )


def _in_large_chunks(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Concatenate tables until they fill a row group or the buffer."""
    import pyarrow as pa

    waiting: list[pa.Table] = []
    n_rows = n_bytes = 0
    for rows in tables:
        waiting.append(rows)
        n_rows += rows.num_rows
        n_bytes += rows.nbytes
        if n_rows >= ROWS_PER_GROUP or n_bytes >= _BUFFER_BYTES:
            yield pa.concat_tables(waiting)
            waiting, n_rows, n_bytes = [], 0, 0
    if waiting:
        yield pa.concat_tables(waiting)


def _size(lake: Lake, folder: Batch) -> int:
    try:
        return sum(lake.size(folder, table) for table in folder.files)
    except OSError as error:
        raise StoreDamaged(f"{error.filename}: {error.strerror}") from error
