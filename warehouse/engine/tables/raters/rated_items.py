"""What raters say of items, coded as numbers: a million ratings are compared in arrays, not in SQL.

SQL reads the ratings once, replaces texts by numbers, and puts together what one rater, or several
people, say of the same item.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import duckdb
    import numpy as np
    import numpy.typing as npt

    from warehouse.engine.statistics.arrays import Floats, Indices

# To sort ratings by age takes as long as all else: is any followed by a newer one of its rater?
_SAID = """
CREATE OR REPLACE TEMP TABLE said AS
    SELECT * EXCLUDE (is_current) FROM scores.rated_items WHERE {condition};
CREATE OR REPLACE TEMP TABLE said_items AS
    -- In an order: intervals are drawn by the numbers of items.
    SELECT row_number() OVER (ORDER BY suite, kind, criterion, item) - 1 AS item_n, *
    FROM (SELECT suite, kind, criterion, item, min(unit) AS unit FROM said GROUP BY ALL);
CREATE OR REPLACE TEMP TABLE said_by AS
    SELECT
        row_number() OVER () AS rater_n,
        dense_rank() OVER (ORDER BY side_rank, side) AS side_n,
        *
    FROM (SELECT DISTINCT side_rank, side, rater, rater_config FROM said);
CREATE OR REPLACE TEMP TABLE coded AS
    SELECT item_n, side_n, rater_n, said_by.rater IS NOT NULL AS is_named,
        scale_low, scale_high, value, label, is_wide, rated_at
    FROM said
    JOIN said_items USING (suite, kind, criterion, item)
    JOIN said_by
        ON said.side_rank = said_by.side_rank
        AND said.side = said_by.side
        AND said.rater IS NOT DISTINCT FROM said_by.rater
        AND said.rater_config IS NOT DISTINCT FROM said_by.rater_config
"""
_HAS_FORMER = """
SELECT true FROM coded WHERE is_named GROUP BY item_n, rater_n HAVING count(*) > 1 LIMIT 1
"""
# Each configuration of a judge that has several is one more side.
_VERSIONS = """
CREATE OR REPLACE TEMP TABLE versions AS
    SELECT row_number() OVER () + (SELECT max(side_n) FROM said_by) AS version_n, *
    FROM (
        SELECT side_n, rater_config FROM said_by WHERE side_rank = 0 GROUP BY side_n, rater_config
        QUALIFY count(*) OVER (PARTITION BY side_n) > 1
    );
CREATE OR REPLACE TEMP TABLE coded_versions AS
    SELECT coded.* REPLACE (version_n AS side_n)
    FROM coded
    JOIN said_by USING (rater_n)
    JOIN versions
        ON said_by.side_n = versions.side_n
        AND said_by.rater_config IS NOT DISTINCT FROM versions.rater_config
"""
_MERGED = """
CREATE OR REPLACE TEMP TABLE merged AS
    WITH everything AS (FROM coded UNION ALL FROM coded_versions),

    repeated AS (
        SELECT item_n, side_n FROM everything GROUP BY item_n, side_n HAVING count(*) > 1
    ),

    labelled AS (
        SELECT
            item_n, side_n, label, count(*) AS n,
            max(count(*)) OVER (PARTITION BY item_n, side_n) AS most,
            min((scale_low, scale_high)) FILTER (scale_low IS NOT NULL) AS scale,
            max((scale_low, scale_high)) FILTER (scale_low IS NOT NULL) AS largest_scale,
            bool_or(is_wide) AS is_wide,
            list(value ORDER BY value) FILTER (value IS NOT NULL) AS listed,
            max(rated_at) AS rated_at
        FROM everything
        SEMI JOIN repeated USING (item_n, side_n)
        GROUP BY item_n, side_n, label
    ),

    items AS (
        SELECT item_n, side_n, scale_low, scale_high, value, is_wide, label, rated_at
        FROM everything
        ANTI JOIN repeated USING (item_n, side_n)
        UNION ALL
        SELECT
            item_n, side_n,
            CASE WHEN min(scale) = max(largest_scale) THEN min(scale)[1] END,
            CASE WHEN min(scale) = max(largest_scale) THEN min(scale)[2] END,
            list_aggregate(flatten(list(listed)), 'fsum') / sum(len(listed)),
            bool_or(is_wide),
            CASE
                WHEN count(label) FILTER (n = most) = 1 THEN any_value(label) FILTER (n = most)
            END,
            max(rated_at)
        FROM labelled
        GROUP BY item_n, side_n
    ),

    -- Of several people the label of most of them, and the mean of their numbers.
    rounded AS (
        SELECT
            item_n, side_n, scale_low, scale_high, value, rated_at,
            -- -0.3 is rounded to -0.0.
            CASE WHEN is_wide THEN CAST(round(value) + 0 AS VARCHAR) ELSE label END AS label
        FROM items
    )

    FROM rounded WHERE label IS NOT NULL;
CREATE OR REPLACE TEMP TABLE labels AS
    SELECT row_number() OVER (ORDER BY label) - 1 AS label_n, label
    FROM (SELECT label FROM merged UNION SELECT label FROM coded WHERE label IS NOT NULL);
CREATE OR REPLACE TEMP TABLE coded_items AS
    WITH tasks AS (
        SELECT
            *,
            -- Tasks on which nobody has a label, as of people who are divided, are below 0.
            if(has_label, 1, -1) * dense_rank() OVER (
                PARTITION BY suite, kind, criterion, has_label ORDER BY unit
            ) AS task,
            dense_rank() OVER (ORDER BY suite, kind, criterion) AS contest
        FROM (
            SELECT suite, kind, criterion, unit, bool_or(merged_n IS NOT NULL) AS has_label
            FROM said_items
            LEFT JOIN (SELECT DISTINCT item_n AS merged_n FROM merged) ON item_n = merged_n
            GROUP BY ALL
        )
    )

    SELECT item_n, task, contest FROM said_items JOIN tasks USING (suite, kind, criterion, unit)
"""
_ROWS = """
SELECT contest, side_n, item_n, task, label_n, value, scale_low, scale_high, rated_at
FROM merged JOIN coded_items USING (item_n) JOIN labels USING (label)
"""
_CONTESTS = """
SELECT DISTINCT contest, suite, kind, criterion FROM coded_items JOIN said_items USING (item_n)
"""
_SIDES = """
SELECT DISTINCT side_n, side, side_rank, NULL FROM said_by
UNION ALL
SELECT version_n, side, side_rank, coalesce(CAST(versions.rater_config AS VARCHAR), 'not recorded')
FROM versions JOIN (SELECT DISTINCT side_n, side, side_rank FROM said_by) USING (side_n)
"""


class Contest(NamedTuple):
    """What raters are compared on."""

    suite: str
    kind: str
    criterion: str


class Side(NamedTuple):
    """What a rater says of the items of a contest: arrays with a row for each item.

    Attributes:
        name: of the rater.
        rank: 0 for a judge, 1 for people, 2 for gold.
        version: the configuration, of one of several that a judge has; None for all together.
        items: the number of the item.
        tasks: the number of its task, from 1.
        labels: the number of the label among `RatedItems.labels`.
        values: the number; NaN for a label.
        lows: lowest value of the scale; NaN if not recorded.
        highs: highest value of the scale; NaN if not recorded.
        times: when it was rated; NaT if not recorded.
    """

    name: str
    rank: int
    version: str | None
    items: Indices
    tasks: Indices
    labels: Indices
    values: Floats
    lows: Floats
    highs: Floats
    times: npt.NDArray[np.datetime64]


class RatedItems(NamedTuple):
    """The sides of each contest, judges first, and the labels in the order of their text."""

    contests: dict[Contest, list[Side]]
    labels: list[str]
    n_items: int
    numbered: dict[int, Contest]


def read_rated_items(connection: duckdb.DuckDBPyConnection, restriction: str) -> RatedItems:
    """Return what each rater says, and leave the single ratings in the temporary table `coded`.

    Args:
        connection: the warehouse.
        restriction: a condition on the suite, in SQL.
    """
    connection.execute(_SAID.format(condition=restriction))
    if connection.execute(_HAS_FORMER).fetchall():
        connection.execute(_SAID.format(condition=f"{restriction} AND is_current"))
    connection.execute(_VERSIONS)
    connection.execute(_MERGED)
    names = {n: Contest(*key) for n, *key in connection.execute(_CONTESTS).fetchall()}
    raters = {n: rater for n, *rater in connection.execute(_SIDES).fetchall()}
    [(n_items,)] = connection.execute("SELECT count(*) FROM said_items").fetchall()
    labels = connection.execute("SELECT label FROM labels ORDER BY label_n").fetchall()
    contests: dict[Contest, list[Side]] = {names[n]: [] for n in sorted(names)}
    for contest, side, columns in _by_side(connection.execute(_ROWS).fetchnumpy()):
        contests[names[contest]].append(Side(*raters[side], *columns))
    return RatedItems(contests, [label for (label,) in labels], n_items, names)


def filled(rows: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return columns with NaN, or NaT, in place of NULL."""
    import numpy as np

    return {
        name: np.ma.filled(column, np.datetime64("NaT"))
        if column.dtype.kind == "M"
        else np.ma.filled(column.astype(np.float64) if np.ma.isMA(column) else column, np.nan)
        for name, column in rows.items()
    }


def _by_side(rows: Mapping[str, np.ndarray]) -> Iterator[tuple[int, int, list[np.ndarray]]]:
    """Yield the columns of each side of each contest, in their order."""
    import numpy as np

    columns = filled(rows)
    contests, sides = columns.pop("contest"), columns.pop("side_n")
    order = np.lexsort((sides, contests))
    is_first = (np.diff(contests[order], prepend=0) != 0) | (np.diff(sides[order], prepend=0) != 0)
    starts = [*np.flatnonzero(is_first).tolist(), len(order)]
    for start, end in pairwise(starts):
        at = order[start:end]
        yield int(contests[at[0]]), int(sides[at[0]]), [each[at] for each in columns.values()]
