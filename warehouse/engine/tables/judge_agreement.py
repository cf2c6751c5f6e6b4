"""The table `scores.judge_agreement`: how far judges agree with people, gold and each other.

The intervals need resamples, which SQL cannot draw: sync computes the figures of the suites in
which a run with ratings or votes is new, has changed or is gone.
"""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from datetime import datetime

    import duckdb

    from warehouse.core.types import Row
    from warehouse.engine.statistics.agreement import Weights
    from warehouse.engine.statistics.arrays import Floats
    from warehouse.engine.statistics.proportions import Interval

TABLE = "scores.judge_agreement"
_HAS_RATINGS = """
SELECT true FROM (
    (SELECT suite FROM lake.ratings LIMIT 1)
    UNION ALL (SELECT suite FROM lake.preferences LIMIT 1)
    UNION ALL (SELECT suite FROM lake.judgements LIMIT 1)
    UNION ALL (SELECT suite FROM scores.judge_scorers LIMIT 1)
    UNION ALL (SELECT suite FROM lake.annotations LIMIT 1)
    UNION ALL (SELECT suite FROM scores.judge_agreement LIMIT 1)
) LIMIT 1
"""
# A run may rate results of another suite.
_CONCERNED = """
CREATE OR REPLACE TEMP TABLE rated_suites AS
    SELECT suite FROM changed_runs
    UNION
    SELECT suite FROM rated_by_changed
    UNION
    SELECT unnest($rescored)
"""
# More tasks are joined: their tables would not fit into memory, and change an interval by 2 %.
_MOST_UNITS = 1000
_MOST_LABELS = 101
_KEY = "suite, kind, criterion, judge, other"
_N_KEY = 5
_PAIRS = """
CREATE OR REPLACE TEMP TABLE judged_pairs AS
    WITH items AS MATERIALIZED (
        SELECT *, dense_rank() OVER (PARTITION BY suite, kind, criterion ORDER BY unit) AS task
        FROM scores.rated_items
        WHERE label IS NOT NULL {restriction}
    )

    SELECT
        judged.suite, judged.kind, judged.criterion, judged.side AS judge, other.side AS other,
        other.side_rank AS other_rank, judged.task, judged.label, other.label AS other_label,
        judged.value - other.value AS difference, other.rated_at
    FROM items AS judged
    JOIN items AS other
        ON judged.suite = other.suite
        AND judged.kind = other.kind
        AND judged.criterion = other.criterion
        AND judged.item = other.item
        -- 3 of 5 is not 3 of 100.
        AND (judged.scale = other.scale) IS NOT false
        AND (judged.side_rank, judged.side) < (other.side_rank, other.side)
"""
_GROUPS = f"""
SELECT
    {_KEY}, any_value(other_rank) AS other_rank, count(*) AS n_items,
    count(DISTINCT task) AS n_tasks, count(difference) = count(*) AS is_number,
    exact_mean(difference) AS mean_difference, max(rated_at) AS newest_label_at
FROM judged_pairs
GROUP BY {_KEY}
ORDER BY {_KEY}
"""
_CELLS = f"""
SELECT {_KEY}, task % {_MOST_UNITS} AS unit, label, other_label, count(*) AS n
FROM judged_pairs
GROUP BY {_KEY}, unit, label, other_label
ORDER BY {_KEY}, unit, label, other_label
"""
_KEYS = ("suite", "kind", "criterion", "judge", "other", "other_kind")
_WITH_ENDS = ("agreement_rate", "kappa", "quadratic_kappa", "sensitivity", "specificity")
_FIGURES = (
    "mean_difference",
    "linear_kappa",
    *(f"{name}{end}" for name in _WITH_ENDS for end in ("", "_low", "_high")),
)
_COLUMNS = {
    **dict.fromkeys(_KEYS, "VARCHAR"),
    **dict.fromkeys(("n_items", "n_tasks"), "BIGINT"),
    "newest_label_at": "TIMESTAMP",
    **dict.fromkeys(_FIGURES, "DOUBLE"),
}
_KINDS = ("judge", "people", "gold")


class _Group(NamedTuple):
    """Two raters on the same items."""

    suite: str
    kind: str
    criterion: str
    judge: str
    other: str
    other_rank: int
    n_items: int
    n_tasks: int
    is_number: bool
    mean_difference: float | None
    newest_label_at: datetime | None

    @property
    def is_clustered(self) -> bool:
        """Whether tasks have several items, which depend on each other."""
        return self.n_tasks < self.n_items


class _Cell(NamedTuple):
    """How many items of a task, or of some tasks, have a pair of labels."""

    unit: int
    label: str
    other_label: str
    n: int


def create_judge_agreement(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the empty table, in place of an earlier one."""
    columns = ", ".join(f"{name} {type_}" for name, type_ in _COLUMNS.items())
    connection.execute(f"CREATE OR REPLACE TABLE {TABLE} ({columns})")


def update_judge_agreement(
    connection: duckdb.DuckDBPyConnection,
    *,
    everything: bool = False,
    rescored: Collection[str] = (),
) -> None:
    """Compute the rows, in the caller's transaction; nothing where nobody rates.

    Args:
        connection: the warehouse.
        everything: whether to compute all rows; otherwise those of the suites that the runs in the
            temporary table `changed_runs` concern.
        rescored: more such suites: those whose scores or records may have changed without a run.
    """
    if not connection.execute(_HAS_RATINGS).fetchall():
        return
    restriction = ""
    if not everything:
        connection.execute(_CONCERNED, {"rescored": sorted(rescored)})
        restriction = "AND suite IN (FROM rated_suites)"
    connection.execute(f"DELETE FROM {TABLE} WHERE true {restriction}")
    connection.execute(_PAIRS.format(restriction=restriction))
    groups = [_Group(*row) for row in connection.execute(_GROUPS).fetchall()]
    cells = groupby(connection.execute(_CELLS).fetchall(), itemgetter(*range(_N_KEY)))
    rows = [
        _figures(group, [_Cell(*row[_N_KEY:]) for row in of_group])
        for group, (_, of_group) in zip(groups, cells, strict=True)
    ]
    if rows:
        marks = ", ".join("?" for _ in _COLUMNS)
        values = [[row.get(name) for name in _COLUMNS] for row in rows]
        connection.executemany(f"INSERT INTO {TABLE} VALUES ({marks})", values)


def _figures(group: _Group, cells: Sequence[_Cell]) -> Row:
    from warehouse.engine.statistics.agreement import cohen_kappa

    labels = sorted({*(c.label for c in cells), *(c.other_label for c in cells)})
    if group.is_number:
        labels.sort(key=float)
    row: dict[str, object] = dict(
        zip(_KEYS, (*group[:_N_KEY], _KINDS[group.other_rank]), strict=True)
    )
    row |= {"n_items": group.n_items, "n_tasks": group.n_tasks}
    row |= {"mean_difference": group.mean_difference, "newest_label_at": group.newest_label_at}
    row |= _share("agreement_rate", group, cells, lambda cell: cell.label == cell.other_label)
    if len(labels) > _MOST_LABELS:
        return row
    tables = _tables(group, cells, labels)
    total = tables.sum(axis=0) if group.is_clustered else tables
    row |= _kappa("kappa", tables, total, "none", group)
    if group.is_number:
        row["linear_kappa"] = cohen_kappa(total, "linear")
        row |= _kappa("quadratic_kappa", tables, total, "quadratic", group)
        if group.other_rank and [float(label) for label in labels] == [0, 1]:
            failed, passed = labels
            row |= _share("sensitivity", group, cells, _among(passed))
            row |= _share("specificity", group, cells, _among(failed))
    return row


def _share(
    name: str, group: _Group, cells: Sequence[_Cell], counts: Callable[[_Cell], bool | None]
) -> dict[str, float | None]:
    """Return the share of items that count, of those whose answer is not None."""
    import numpy as np

    from warehouse.engine.statistics.shares import share_of_votes

    votes = [(float(found), c.unit, c.n) for c in cells if (found := counts(c)) is not None]
    if not votes:
        return {}
    hits, units, n_items = zip(*votes, strict=True)
    clusters = np.repeat(np.unique(units, return_inverse=True)[1], n_items)
    share = share_of_votes(np.repeat(hits, n_items), clusters if group.is_clustered else None)
    return _with_ends(name, share.value, share.interval)


def _among(label: str) -> Callable[[_Cell], bool | None]:
    """Return whether the judge gave a label, where the other gave it."""
    return lambda cell: cell.label == label if cell.other_label == label else None


def _tables(group: _Group, cells: Sequence[_Cell], labels: Sequence[str]) -> Floats:
    """Return how many items have which labels, the judge's by row; by task if they have several."""
    import numpy as np

    numbers = {label: number for number, label in enumerate(labels)}
    n_units = max(cell.unit for cell in cells) + 1 if group.is_clustered else 1
    tables: Floats = np.zeros((n_units, len(labels), len(labels)))
    for cell in cells:
        unit = cell.unit if group.is_clustered else 0
        tables[unit, numbers[cell.label], numbers[cell.other_label]] += cell.n
    return tables if group.is_clustered else tables[0]


def _kappa(
    name: str, tables: Floats, total: Floats, weights: Weights, group: _Group
) -> dict[str, float | None]:
    from warehouse.engine.statistics.agreement import cohen_kappa
    from warehouse.engine.statistics.agreement_intervals import kappa_interval

    # Of many judges, the intervals of all pairs would take minutes.
    interval = kappa_interval(tables, weights) if group.other_rank else None
    return _with_ends(name, cohen_kappa(total, weights), interval)


def _with_ends(
    name: str, value: float | None, interval: Interval | None
) -> dict[str, float | None]:
    low, high = interval or (None, None)
    return {name: value, f"{name}_low": low, f"{name}_high": high}
