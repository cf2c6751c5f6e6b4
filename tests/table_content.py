"""Compares tables that shards wrote with the warehouse of one process."""

import evalstore
from warehouse.engine.views.sql_files import shipped_sql

# `meta`: what it is made by. `pair_tests` keeps what was tested before, and the board of that time
# may have asked for more of a test than the present one does; views compare what is read of it.
_NOT_COMPARED = {"lake.meta", "scores.pair_tests"}
_STORED = {file.qualified for file in shipped_sql() if file.is_table} | {
    "scores.shared_calls",
    "scores.judge_agreement",
    "scores.judge_biases",
    "scores.judge_drift",
    "scores.rater_alphas",
    "scores.corrected_means",
    "scores.vote_scores",
}


def content(store, *, has_views=False):
    """Return the types and a hash of the rows of every table, and of every view of them."""
    found = {}
    with store.reading() as connection:
        names = connection.execute(
            """
            SELECT schema_name || '.' || table_name FROM duckdb_tables() WHERE NOT internal
            UNION ALL
            SELECT schema_name || '.' || view_name FROM duckdb_views() WHERE NOT internal
            """
        ).fetchall()
        for (name,) in names:
            is_stored = name.startswith("lake.") or name in _STORED
            if name in _NOT_COMPARED or not (has_views or is_stored):
                continue
            types = [row[:2] for row in connection.execute(f"DESCRIBE {name}").fetchall()]
            [rows] = connection.execute(
                f"SELECT count(*), sum(CAST(hash(x) AS HUGEINT)) FROM (FROM {name}) AS x"
            ).fetchall()
            found[name] = types, rows
    return found


def assert_equal(store, tables, *, has_views=False):
    """Check that tables have the rows of a store's warehouse, and with views those of each view."""
    store.sync()
    ours = content(store, has_views=has_views)
    theirs = content(evalstore.open(tables), has_views=has_views)
    assert ours.keys() == theirs.keys()
    different = {name: (ours[name], theirs[name]) for name in ours if ours[name] != theirs[name]}
    assert different == {}, different
