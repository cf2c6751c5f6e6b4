"""Forgets a run: the one thing that removes anything from the lake.

The batches that hold the run are written anew without it, with a tombstone of hashes, and the
old ones are removed. The warehouse is made anew too: a database file keeps the text of deleted
rows in its free blocks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warehouse.batch import Forgotten
from warehouse.errors import BadInput
from warehouse.hashing import content_hash
from warehouse.schemas import BY_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

    from warehouse.batch import Batch, RunKey, Source
    from warehouse.lake import Lake
    from warehouse.schemas import Table


def find_run(lake: Lake, run_id: str, suite: str | None = None) -> RunKey:
    """Find the one run with an id.

    Raises:
        BadInput: there is none, or there are several and no suite is given.
    """
    runs = {
        g.run
        for batch in lake.current()
        for g in batch.generations
        if g.run_id == run_id and suite in (None, g.suite)
    }
    if not runs:
        raise BadInput(f"there is no run {run_id!r}: `evalstore runs` lists them")
    if len(runs) > 1:
        suites = ", ".join(sorted(suite for suite, _ in runs))
        raise BadInput(f"run {run_id!r} is in several suites ({suites}): choose one with --suite")
    return runs.pop()


def forget(lake: Lake, run: RunKey) -> int:
    """Remove every generation of a run, and what was kept of the files that told of it.

    A file that told of other runs too is kept as a fact, without its bytes. Gives the number of
    batches that were written anew. Killed half-way, it can be given again.

    Raises:
        EvalstoreError: a batch could not be written.
    """
    batches = lake.current()
    concerned = [batch for batch in batches if any(g.run == run for g in batch.generations)]
    files = {s.sha256 for b in concerned for s in b.sources if _tells_of(s, run)}
    concerned += [
        batch
        for batch in batches
        if batch not in concerned and any(s.sha256 in files for s in batch.sources)
    ]
    tombstone = Forgotten(content_hash("run", *run), tuple(sorted(files)))
    for batch in concerned:
        _rewrite(lake, batch, run, files, tombstone)
    return len(concerned)


def _tells_of(source: Source, run: RunKey) -> bool:
    return any(g.run == run for g in source.generations)


def _rewrite(lake: Lake, batch: Batch, run: RunKey, files: set[str], tombstone: Forgotten) -> None:
    import pyarrow.parquet as pq

    lake.verify(batch)
    with lake.write("forget") as writer:
        for name in batch.files:
            table = BY_NAME[name]
            rows = _without(pq.read_table(lake.file(batch, name)), table, run, files)
            if rows.num_rows:
                pq.write_table(rows, writer.path(table), compression="zstd")
        writer.commit(
            generations=[g for g in batch.generations if g.run != run],
            sources=[s for s in batch.sources if s.sha256 not in files],
            replaces=[*batch.replaces, batch.name],
            forgotten=[*batch.forgotten, tombstone],
            restored=[sha256 for sha256 in batch.restored if sha256 not in files],
        )
    lake.remove(batch.name)


def _without(rows: pa.Table, table: Table, run: RunKey, files: set[str]) -> pa.Table:
    """Drop a run's rows, and what else came from the files that told of it."""
    import pyarrow.compute as pc

    if table.of_run:
        is_run = pc.and_(pc.equal(rows["suite"], run[0]), pc.equal(rows["run_id"], run[1]))
        return rows.filter(pc.invert(is_run))
    column = "sha256" if "sha256" in table.column_names else None
    return rows if column is None else rows.filter(_not_in(rows[column], files))


def _not_in(column: pa.ChunkedArray, values: Iterable[str]) -> Any:  # noqa: ANN401 - an array
    import pyarrow as pa
    import pyarrow.compute as pc

    is_in = pc.is_in(column, value_set=pa.array(sorted(values), pa.string()))
    return pc.invert(is_in)
