"""Loading batches of the lake into the tables of the warehouse.

A run whose rows come from one file of one batch is inserted as it is. A run that spans several is
reloaded from all of them: the rows of its current generation, each content id once. So the work
depends on the runs in the new batches only, and the order of batches does not matter.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from warehouse.core.schemas import LAKE_FORMAT, TABLES, Table, duckdb_type
from warehouse.engine.tables.computed_columns import COMPUTED
from warehouse.engine.tables.insertion import insert_rows
from warehouse.lake.batch import Generation, current_generations

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    import duckdb

    from warehouse.lake.batch import Batch, RunKey
    from warehouse.lake.lake import Lake

# What the warehouse records about batches.
_BOOKKEEPING = """
CREATE TABLE lake.batches (
    batch VARCHAR, created_at TIMESTAMP, command VARCHAR, version VARCHAR,
    folder VARCHAR, rewritten_by VARCHAR, tables VARCHAR[]
);
CREATE TABLE lake.replaced_batches (batch VARCHAR);
CREATE TABLE lake.generations (
    batch VARCHAR, suite VARCHAR, run_id VARCHAR, generation VARCHAR, parent VARCHAR
);
"""

_OWN_RUN = ("suite", "run_id")
_CHANGED_RUNS = """
CREATE OR REPLACE TEMP TABLE changed_runs (
    suite VARCHAR, run_id VARCHAR, generation VARCHAR, is_single_batch BOOLEAN, is_new BOOLEAN
)
"""
# The runs that rows of others are about: their scores may have changed.
_RATED_BY_CHANGED = "CREATE OR REPLACE TEMP TABLE rated_by_changed (suite VARCHAR, run_id VARCHAR)"


class _ChangedRun(NamedTuple):
    """A row of `changed_runs`."""

    suite: str
    run_id: str
    generation: str
    is_single_batch: bool
    is_new: bool


def create_tables(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the empty tables of schema `lake`."""
    connection.execute("CREATE SCHEMA IF NOT EXISTS lake")
    for table in TABLES:
        columns = ", ".join(f"{c.name} {duckdb_type(c)}" for c in table.columns)
        computed = COMPUTED.get(table.name, {}).items()
        more = "".join(f", {name} {type_}" for name, (type_, _) in computed)
        connection.execute(f"CREATE TABLE lake.{table.name} ({columns}, batch VARCHAR{more})")
    connection.execute(_BOOKKEEPING)


def tables_digest() -> str:
    """Return a hash of what the tables are made from: if it changes, they are loaded again."""
    return hashlib.sha256(repr((LAKE_FORMAT, TABLES, COMPUTED, _BOOKKEEPING)).encode()).hexdigest()


def is_preserved(
    connection: duckdb.DuckDBPyConnection, folders: Iterable[Batch], gone: Collection[str]
) -> bool:
    """Return whether new folders hold all batches of the folders that are gone, unchanged."""
    if not gone:
        return True
    parts = {(part.name, part.rewritten_by) for folder in folders for part in folder.contents}
    rows = connection.execute(
        "SELECT batch, rewritten_by FROM lake.batches WHERE list_contains($gone, folder)",
        {"gone": sorted(gone)},
    ).fetchall()
    return parts.issuperset(rows)


def load(
    connection: duckdb.DuckDBPyConnection,
    lake: Lake,
    folders: Sequence[Batch],
    columns: Mapping[str, Collection[str]],
    *,
    runs: Collection[RunKey] | None = None,
    has_content: bool = True,
) -> list[Batch]:
    """Load new batches in the caller's transaction; return them as they were added.

    Parts of merged batches that are loaded already are only noted under their new folder. The
    temporary table `changed_runs` (suite, run_id, generation, is_single_batch, is_new) is left
    behind: the runs with rows in the new batches, whether all their rows come from one batch, and
    whether no other batch has any; and `rated_by_changed` (suite, run_id): the runs that these
    rate, or rated before.

    Args:
        connection: the warehouse.
        lake: the lake.
        folders: what is loaded.
        columns: names of the columns of each of their files, by its path.
        runs: load only these runs, of which the folders have all batches; None for all runs.
        has_content: whether to load the rows that are of no run, too.
    """
    new = _record(connection, folders)
    changed = _find_changed_runs(connection, new)
    if runs is not None:
        _keep_changed_runs(connection, runs)
    is_late: bool | None = None
    for table in TABLES:
        is_wanted = has_content if not table.of_run else runs is None or bool(runs)
        paths = lake.files(new, table.name) if is_wanted else []
        if paths and table.of_run:
            _load_single_batch_runs(connection, table, paths, _present(paths, columns))
        elif paths:
            if is_late is None:
                is_late = _has_earlier(connection, new)
            if is_late:
                _drop_later_copies(connection, table, paths)
            _load_by_content(connection, table, paths)
    is_reloaded = not all(run.is_single_batch for run in changed)
    if is_reloaded or any(batch.files.keys() & {"ratings", "preferences"} for batch in new):
        _note_rated_runs(connection)
    if is_reloaded:
        _reload_multi_batch_runs(connection, lake, {folder.name for folder in folders})
        _note_rated_runs(connection)
    return new


def delete_runs(connection: duckdb.DuckDBPyConnection, runs: Iterable[RunKey]) -> set[str]:
    """Delete all rows of runs, and about them, in the caller's transaction.

    The temporary tables `changed_runs` and `rated_by_changed` are left behind, as by `load`. Return
    the names of the tables that are not of runs and may have lost rows about them, such as tags.
    """
    note_changed_runs(connection, runs)
    tables = [table for table in TABLES if {"suite", "run_id"} <= set(table.column_names)]
    named = [(table.name, pair) for table in tables for pair in (_OWN_RUN, *table.other_runs)]
    for name, (suite, run_id) in (*named, ("generations", _OWN_RUN)):
        connection.execute(
            f"""
            DELETE FROM lake.{name} AS held USING changed_runs AS gone
            WHERE coalesce(held.{suite}, held.suite) = gone.suite
                AND coalesce(held.{run_id}, held.run_id) = gone.run_id
            """
        )
    return {table.name for table in tables if not table.of_run}


def note_changed_runs(connection: duckdb.DuckDBPyConnection, runs: Iterable[RunKey]) -> None:
    """Fill `changed_runs` and `rated_by_changed`, as `load` does, for rows that will be deleted."""
    connection.execute(_CHANGED_RUNS)
    changed = [(suite, run_id, "", True, False) for suite, run_id in runs]
    insert_rows(connection, "changed_runs", changed)
    connection.execute(_RATED_BY_CHANGED)
    _note_rated_runs(connection)


def _note_rated_runs(connection: duckdb.DuckDBPyConnection) -> None:
    """Add the runs that ratings of the changed runs are about to `rated_by_changed`."""
    connection.execute(
        """
        INSERT INTO rated_by_changed
            SELECT DISTINCT coalesce(rated_suite, suite), rated_run_id
            FROM (
                SELECT suite, run_id, rated_suite, rated_run_id FROM lake.ratings
                UNION ALL
                SELECT suite, run_id, suite_a, run_id_a FROM lake.preferences
            )
            SEMI JOIN changed_runs USING (suite, run_id)
            WHERE rated_run_id IS NOT NULL
        """
    )


def _record(connection: duckdb.DuckDBPyConnection, folders: Sequence[Batch]) -> list[Batch]:
    """Record the folders of batches, and return the new ones."""
    parts = [part for folder in folders for part in folder.contents]
    known = connection.execute(
        "SELECT batch FROM lake.batches WHERE list_contains($names, batch)",
        {"names": [part.name for part in parts]},
    ).fetchall()
    loaded = {name for (name,) in known}
    new = [part for part in parts if part.name not in loaded]
    moved = [(part.name, part.folder) for part in parts if part.name in loaded]
    if moved:
        connection.execute("CREATE OR REPLACE TEMP TABLE moved (batch VARCHAR, folder VARCHAR)")
        insert_rows(connection, "moved", moved)
        connection.execute(
            "UPDATE lake.batches SET folder = moved.folder FROM moved "
            "WHERE batches.batch = moved.batch; DROP TABLE moved"
        )
    insert_rows(
        connection,
        "lake.batches",
        [
            (
                *(b.name, _utc(b.created_at), b.command, b.version, b.folder, b.rewritten_by),
                sorted(b.files),
            )
            for b in new
        ],
    )
    insert_rows(
        connection,
        "lake.generations",
        [(b.name, g.suite, g.run_id, g.generation, g.parent) for b in new for g in b.generations],
    )
    insert_rows(
        connection,
        "lake.replaced_batches",
        [(name,) for folder in folders for name in folder.replaces],
    )
    return new


def _utc(moment: str) -> datetime:
    return datetime.fromisoformat(moment).astimezone(UTC).replace(tzinfo=None)


def _find_changed_runs(
    connection: duckdb.DuckDBPyConnection, batches: Sequence[Batch]
) -> list[_ChangedRun]:
    """Fill `changed_runs`; return what it holds."""
    new = [batch.name for batch in batches]
    rows = connection.execute(
        """
        SELECT suite, run_id, generation, parent, list_contains($new, batch), batch
        FROM lake.generations
        WHERE (suite, run_id) IN (
            SELECT (suite, run_id) FROM lake.generations WHERE list_contains($new, batch)
        )
        """,
        {"new": new},
    ).fetchall()
    batches_of: dict[RunKey, set[str]] = {}
    for suite, run_id, _, _, _, batch in rows:
        batches_of.setdefault((suite, run_id), set()).add(batch)
    current = current_generations(Generation(*row[:4]) for row in rows)
    multi_file = {run for batch in batches for run in _in_several_files(batch)}
    changed = [
        _ChangedRun(
            *(*run, g.generation),
            is_single_batch=len(batches_of[run]) == 1 and run not in multi_file,
            is_new=batches_of[run].issubset(new),
        )
        for run, g in current.items()
    ]
    connection.execute(_CHANGED_RUNS)
    connection.execute(_RATED_BY_CHANGED)
    insert_rows(connection, "changed_runs", changed)
    return changed


def _keep_changed_runs(connection: duckdb.DuckDBPyConnection, runs: Collection[RunKey]) -> None:
    connection.execute("CREATE OR REPLACE TEMP TABLE wanted_runs (suite VARCHAR, run_id VARCHAR)")
    insert_rows(connection, "wanted_runs", list(runs))
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE changed_runs AS "
        "FROM changed_runs SEMI JOIN wanted_runs USING (suite, run_id);"
        "DROP TABLE wanted_runs"
    )


def _in_several_files(batch: Batch) -> Iterator[RunKey]:
    """Return the runs that may be in a batch twice: a log and a longer version of it."""
    n_sources = Counter(g for source in batch.sources for g in source.generations)
    return (generation.run for generation, count in n_sources.items() if count > 1)


def _present(
    paths: Collection[str], columns: Mapping[str, Collection[str]]
) -> frozenset[str] | None:
    """Return the names of the columns that any of the files has; None if not all are known."""
    if not columns.keys() >= set(paths):
        return None
    return frozenset().union(*(columns[path] for path in paths))


def _load_single_batch_runs(
    connection: duckdb.DuckDBPyConnection,
    table: Table,
    paths: list[str],
    present: Collection[str] | None,
) -> None:
    connection.execute(
        f"""
        INSERT INTO lake.{table.name} BY NAME
        SELECT file.* EXCLUDE (filename, file_row_number) {_computed(table)}
        FROM {lake_rows(table, present)} AS file
        SEMI JOIN (FROM changed_runs WHERE is_single_batch) AS single_batch
            USING (suite, run_id, generation)
        """,
        {"paths": paths},
    )


def _has_earlier(connection: duckdb.DuckDBPyConnection, new: Sequence[Batch]) -> bool:
    """Return whether a new batch is older than one that was loaded before, as a restored one is."""
    names = [batch.name for batch in new]
    [(newest,)] = connection.execute(
        # A join: `NOT list_contains` would search the whole list for each batch of the history.
        "SELECT max(batch) FROM lake.batches ANTI JOIN (SELECT unnest($names::VARCHAR[]) AS batch) "
        "USING (batch)",
        {"names": names},
    ).fetchall()
    return bool(names) and newest is not None and min(names) < newest


def _drop_later_copies(
    connection: duckdb.DuckDBPyConnection, table: Table, paths: list[str]
) -> None:
    """Drop loaded rows that new files hold from an earlier batch: the first batch's row is kept."""
    connection.execute(
        f"""
        DELETE FROM lake.{table.name} AS loaded USING (
            SELECT content_id, min(batch) AS batch FROM {lake_rows(table)} GROUP BY content_id
        ) AS new
        WHERE loaded.content_id = new.content_id AND new.batch < loaded.batch
        """,
        {"paths": paths},
    )


def _load_by_content(connection: duckdb.DuckDBPyConnection, table: Table, paths: list[str]) -> None:
    # New rows are found by their keys only: the other columns may hold whole files.
    connection.execute(
        f"""
        INSERT INTO lake.{table.name} BY NAME
        SELECT file.* EXCLUDE (filename, file_row_number)
        FROM {lake_rows(table)} AS file
        SEMI JOIN (
            SELECT filename, file_row_number
            FROM {lake_rows(table)} AS new
            ANTI JOIN lake.{table.name} USING (content_id)
            QUALIFY row_number() OVER (PARTITION BY content_id ORDER BY batch, file_row_number) = 1
        ) AS first USING (filename, file_row_number)
        """,
        {"paths": paths},
    )


def _reload_multi_batch_runs(
    connection: duckdb.DuckDBPyConnection, lake: Lake, verified: Collection[str]
) -> None:
    """Load all rows of the runs with rows in several batches again.

    Args:
        connection: an open warehouse.
        lake: the lake.
        verified: folders whose hashes were checked just now.

    Raises:
        StoreDamaged: a file of an earlier batch has changed since it was loaded.
    """
    names = connection.execute(
        """
        SELECT DISTINCT folder FROM lake.generations JOIN lake.batches USING (batch)
        SEMI JOIN (FROM changed_runs WHERE NOT is_single_batch) AS multi_batch
            USING (suite, run_id, generation)
        """
    ).fetchall()
    if not names:
        return
    batches = [lake.read(name) for (name,) in names]
    for batch in batches:
        if batch.name not in verified:
            lake.verify(batch)
    for table in TABLES:
        if not table.of_run:
            continue
        connection.execute(
            f"""
            DELETE FROM lake.{table.name} AS loaded USING changed_runs
            WHERE loaded.suite = changed_runs.suite AND loaded.run_id = changed_runs.run_id
                AND NOT changed_runs.is_single_batch
            """
        )
        paths = lake.files(batches, table.name)
        if paths:
            _insert_each_content_once(connection, table, paths)


def _insert_each_content_once(
    connection: duckdb.DuckDBPyConnection, table: Table, paths: list[str]
) -> None:
    # A grown log has later positions than its earlier version, and the better header.
    longest = [f"{name} DESC" for name in ("seq", "source_rows") if name in table.column_names]
    order = ", ".join([*longest, "batch", "file_row_number"])
    connection.execute(
        f"""
        INSERT INTO lake.{table.name} BY NAME
        SELECT file.* EXCLUDE (filename, file_row_number) {_computed(table)}
        FROM {lake_rows(table)} AS file
        SEMI JOIN (FROM changed_runs WHERE NOT is_single_batch) AS multi_batch
            USING (suite, run_id, generation)
        QUALIFY row_number() OVER (PARTITION BY suite, run_id, content_id ORDER BY {order}) = 1
        """,
        {"paths": paths},
    )


def lake_rows(table: Table, present: Collection[str] | None = None) -> str:
    """Return the relation of a table's rows in the files `$paths`, with the batch of each.

    Args:
        table: the table.
        present: names of the columns that any of the files has; None if that is not known.
    """
    # Files may be older than a column that expressions name.
    named = table.columns if table.name in COMPUTED else ()
    types = {"batch": "VARCHAR"} | {column.name: duckdb_type(column) for column in named}
    nulls = [
        f"NULL::{type_} AS {name}"
        for name, type_ in types.items()
        if present is None or name not in present
    ]
    files = """
        read_parquet(
            $paths, union_by_name = true, filename = true, file_row_number = true,
            hive_partitioning = false
        )
    """
    if present is None:
        every = f"FROM {files} UNION ALL BY NAME SELECT {', '.join(nulls)} WHERE false"
    else:
        every = f"SELECT {', '.join(['*', *nulls])} FROM {files}"
    # Rows of a merged batch name the batch they were added with; for others it is the folder.
    return f"""(
        SELECT * REPLACE (coalesce(batch, parse_filename(parse_dirpath(filename))) AS batch)
        FROM ({every})
    )"""


def _computed(table: Table) -> str:
    computed = COMPUTED.get(table.name, {}).items()
    return "".join(f", {expression} AS {name}" for name, (_, expression) in computed)
