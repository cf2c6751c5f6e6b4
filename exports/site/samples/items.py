"""Samples of the same item in other suites, task sets and tools: an index by the item's hash.

Samples of one task are found by its name. The index has only items that were asked as more than
one task, and of those one sample of each run and model: it is small, and empty in most stores.
"""

from __future__ import annotations

import json
from itertools import groupby
from typing import TYPE_CHECKING, Any

from exports.site.samples.pieces import Pieces, piece

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb

ITEMS = "samples/items"
ENTRY_FIELDS = ("run", "number", "suite", "task_set", "task_id", "run_id", "model", "settings")

# Of an item: the newest of each task, each task in turn.
_MOST_SAMPLES = 200
_HASH_CHARACTERS = 24  # 96 bits: different items have different ones
_FETCHED_AT_ONCE = 2_000
_SHARED = f"""
CREATE OR REPLACE TEMP TABLE sample_items AS
WITH asked AS (
    SELECT
        items.suite,
        items.run_id,
        items.result_id,
        left(items.item_hash, {_HASH_CHARACTERS}) AS item,
        [items.suite, items.task_set, items.task_id] AS task
    FROM result_items AS items
    SEMI JOIN sample_numbers USING (suite, run_id, result_id)
    WHERE items.item_hash IS NOT NULL
)

SELECT suite, run_id, result_id, item, task
FROM asked
SEMI JOIN (
    SELECT item
    FROM asked
    GROUP BY item
    HAVING min(task) <> max(task)
) USING (item)
"""  # noqa: S608 - our own numbers
_ENTRIES = f"""
WITH first_samples AS (
    SELECT
        items.item,
        items.task,
        items.suite,
        items.run_id,
        calls.model,
        calls.settings,
        runs.run_date,
        min(numbers.number) AS number
    FROM sample_items AS items
    JOIN sample_numbers AS numbers USING (suite, run_id, result_id)
    JOIN results AS calls USING (suite, run_id, result_id)
    JOIN runs USING (suite, run_id)
    GROUP BY ALL
),

placed AS (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY item, task
            ORDER BY run_date DESC NULLS LAST, run_id DESC, model, settings, number
        ) AS place
    FROM first_samples
)

SELECT item, suite, run_id, number, task[2], task[3], model, settings, n_samples
FROM (
    SELECT
        *,
        count(*) OVER (PARTITION BY item) AS n_samples,
        row_number() OVER (PARTITION BY item ORDER BY place, task) AS turn
    FROM placed
)
WHERE turn <= {_MOST_SAMPLES}
ORDER BY item, task, place
"""  # noqa: S608 - our own numbers


def find_items(connection: duckdb.DuckDBPyConnection) -> None:
    """Find the numbered samples whose item was asked as another task, too.

    Their hashes are in the temporary table `sample_items`, with a row for each of them.
    """
    connection.execute(_SHARED)


def data_of_items(
    connection: duckdb.DuckDBPyConnection, folders: dict[tuple[str, str], str]
) -> Iterator[tuple[str, bytes]]:
    """Yield the path and bytes of every piece of the index; nothing if no item is shared.

    Args:
        connection: the store, after `find_items`.
        folders: the folder of the samples of each run, by suite and ID.
    """
    pieces: Pieces[str] = Pieces(ITEMS)
    for item, rows in groupby(_entries(connection), key=lambda row: row[0]):
        entries, n_samples = [], 0
        for _, suite, run_id, *rest, n_of_item in rows:
            number, task_set, task_id, model, settings = rest
            name = folders[suite, run_id].partition("/")[2]
            entries.append([name, number, suite, task_set, task_id, run_id, model, settings])
            n_samples = n_of_item
        yield from pieces.add(item, json.dumps([item, n_samples, entries], ensure_ascii=False))
    yield from pieces.end()
    if pieces.starts:
        about = {"starts": pieces.starts, "fields": ENTRY_FIELDS}
        yield piece(f"{ITEMS}.js", json.dumps(about))


def _entries(connection: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    cursor = connection.execute(_ENTRIES)
    while rows := cursor.fetchmany(_FETCHED_AT_ONCE):
        yield from rows
