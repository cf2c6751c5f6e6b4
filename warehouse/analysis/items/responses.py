"""Responses: how often each system passed each item, as the view `item_responses` has them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from warehouse.core.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb
    import numpy.typing as npt

    from warehouse.engine.statistics.arrays import Floats, Indices

# The view is evaluated once for all that is read of it.
_LOADED = """
CREATE OR REPLACE TEMP TABLE loaded_responses AS
FROM item_responses
WHERE list_contains($suites, suite) AND coalesce(task_set = $task_set, $task_set IS NULL)
"""
# Scores of which items can be studied: the verdict first, else the score that most tasks have.
_METRICS = """
SELECT metric, scorer, filter
FROM loaded_responses
WHERE n_attempts > 0 AND coalesce(task_set = $task_set, $task_set IS NULL)
GROUP BY metric, scorer, filter
ORDER BY
    metric = 'passed' AND scorer IS NULL AND filter IS NULL DESC,
    count(*) DESC, metric, scorer, filter
"""
_CELLS = """
CREATE OR REPLACE TEMP TABLE response_cells AS
SELECT
    system, item,
    CAST(sum(n_passed) AS DOUBLE) AS passed,
    CAST(sum(n_attempts) AS DOUBLE) AS attempts,
    CAST(sum(n_unjudged) AS BIGINT) AS n_unjudged,
    bool_or(is_adaptive) AS is_adaptive
FROM loaded_responses
WHERE coalesce(task_set = $task_set, $task_set IS NULL) AND metric = $metric
    AND scorer IS NOT DISTINCT FROM $scorer AND filter IS NOT DISTINCT FROM $filter
GROUP BY system, item
"""
_NAMES = """
CREATE OR REPLACE TEMP TABLE response_{name}s AS
SELECT {name}, row_number() OVER (ORDER BY {name}) - 1 AS position
FROM (SELECT DISTINCT {name} FROM response_cells WHERE attempts > 0)
"""
_RESPONSES = """
SELECT
    systems.position AS system, items.position AS item, cells.passed, cells.attempts,
    cells.is_adaptive
FROM response_cells AS cells
JOIN response_systems AS systems USING (system)
JOIN response_items AS items USING (item)
WHERE cells.attempts > 0
"""
_CELL_NAMES = ("system", "item", "passed", "attempts", "is_adaptive")


@dataclass(frozen=True, slots=True)
class Responses:
    """How often systems passed items: a sparse matrix, of which each filled cell is k of n.

    Cells are sorted by system and item.

    Attributes:
        systems: labels of the systems, sorted.
        items: keys of the items, sorted.
        system: of each filled cell, the position of its system.
        item: of each filled cell, the position of its item.
        passed: attempts that passed.
        attempts: attempts with an outcome, at least 1.
        is_adaptive: whether the item was chosen by the system's answers to others, so that who
            passes it says little.
        n_unjudged: attempts of these systems without an outcome, which no cell has.
    """

    systems: Sequence[str]
    items: Sequence[str]
    system: Indices
    item: Indices
    passed: Floats
    attempts: Floats
    is_adaptive: npt.NDArray[np.bool_]
    n_unjudged: int = 0

    @classmethod
    def from_matrix(
        cls,
        matrix: npt.ArrayLike,
        attempts: npt.ArrayLike = 1.0,
        *,
        systems: Sequence[str] = (),
        items: Sequence[str] = (),
    ) -> Responses:
        """Return the responses of a matrix of the share that each system (row) passed of each item.

        Args:
            matrix: shares from 0 to 1, NaN where a system was not asked: shape (systems, items).
            attempts: attempts behind each share, or behind all.
            systems: labels of the rows, sorted; numbers if left out.
            items: keys of the columns, sorted; numbers if left out.
        """
        shares = np.asarray(matrix, dtype=np.float64)
        of_cells = np.broadcast_to(np.asarray(attempts, dtype=np.float64), shares.shape)
        system, item = np.nonzero(~np.isnan(shares))
        return cls(
            systems or _numbered("system", shares.shape[0]),
            items or _numbered("item", shares.shape[1]),
            system,
            item,
            shares[system, item] * of_cells[system, item],
            of_cells[system, item],
            np.zeros(len(system), dtype=bool),
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Number of systems and of items."""
        return len(self.systems), len(self.items)

    def rated(self) -> Responses:
        """Return the cells of items that were not chosen by answers."""
        kept = ~self.is_adaptive
        return replace(self, **{name: getattr(self, name)[kept] for name in _CELL_NAMES})

    def dense(self) -> Floats:
        """Return the share that each system passed of each item, NaN where it was not asked."""
        matrix = np.full(self.shape, np.nan)
        matrix[self.system, self.item] = self.passed / self.attempts
        return matrix


def read_responses(
    connection: duckdb.DuckDBPyConnection,
    suite: str | Sequence[str],
    *,
    task_set: str | None = None,
    metric: str | None = None,
) -> Responses:
    """Read the responses of a suite, or of several: the same item of two suites is one item then.

    Args:
        connection: the warehouse; what was read stays in its table `loaded_responses`.
        suite: suite, or suites.
        task_set: only this task set.
        metric: score whose values are 0 and 1; the verdict if left out, or where there are no
            verdicts the score that most responses have.

    Raises:
        BadInput: there are no such responses; the message names what there is.
    """
    load_responses(connection, suite, task_set=task_set, metric=metric)
    return responses_of_set(connection, task_set, metric)


def load_responses(
    connection: duckdb.DuckDBPyConnection,
    suite: str | Sequence[str],
    *,
    task_set: str | None = None,
    metric: str | None = None,
) -> None:
    """Read what `read_responses` does into the table `loaded_responses` only."""
    suites = [suite] if isinstance(suite, str) else list(suite)
    connection.execute(_LOADED, {"suites": suites, "task_set": task_set})
    found = connection.execute(_METRICS, {"task_set": task_set}).fetchall()
    if not any(metric in (None, name) for name, *_ in found):
        raise BadInput(_nothing(connection, suites, task_set, metric, [row[0] for row in found]))


def responses_of_set(
    connection: duckdb.DuckDBPyConnection, task_set: str | None, metric: str | None = None
) -> Responses:
    """Return the responses to one of the task sets that were read last."""
    values: dict[str, object] = {"task_set": task_set}
    found = connection.execute(_METRICS, values).fetchall()
    chosen = next(row for row in found if metric in (None, row[0]))
    values |= dict(zip(("metric", "scorer", "filter"), chosen, strict=True))
    connection.execute(_CELLS, values)
    systems, items = (_sorted_names(connection, name) for name in ("system", "item"))
    columns = connection.execute(_RESPONSES).fetchnumpy()
    [(n_unjudged,)] = connection.execute("SELECT sum(n_unjudged) FROM response_cells").fetchall()
    order = np.lexsort((columns["item"], columns["system"]))
    cells = {name: np.asarray(columns[name])[order] for name in _CELL_NAMES}
    return Responses(systems, items, **cells, n_unjudged=int(n_unjudged))


def _sorted_names(connection: duckdb.DuckDBPyConnection, name: str) -> list[str]:
    """Return the different systems or items, sorted, and leave their positions in a table."""
    connection.execute(_NAMES.format(name=name))
    query = f"SELECT {name} FROM response_{name}s ORDER BY position"  # noqa: S608 - a name of ours
    return [each for (each,) in connection.execute(query).fetchall()]


def _numbered(name: str, n: int) -> list[str]:
    """Return names that are sorted as their numbers are."""
    return [f"{name}-{number:0{len(str(n))}}" for number in range(n)]


def _nothing(
    connection: duckdb.DuckDBPyConnection,
    suites: Sequence[str],
    task_set: str | None,
    metric: str | None,
    metrics: Sequence[str],
) -> str:
    """Return why there are no responses: which name is not known, and what there is instead."""
    from warehouse.core.suggestions import did_you_mean

    known = connection.execute("SELECT DISTINCT suite, task_set FROM scores.entries").fetchall()
    if metrics:
        wrong, kind, names = metric, "metric of passes and failures", set(metrics)
    elif unknown := set(suites) - {name for name, _ in known}:
        wrong, kind, names = min(unknown), "suite", {name for name, _ in known}
    else:
        wrong, kind = task_set, "task set"
        names = {name for suite, name in known if suite in suites}
    if wrong is None or wrong in names:
        return _nothing_comparable(connection, ", ".join(suites), suites)
    hint = did_you_mean(wrong, names, f"there are: {', '.join(sorted(names))}")
    return f"no {kind} {wrong!r}; {hint}" if names else "the store has no results"


def _nothing_comparable(
    connection: duckdb.DuckDBPyConnection, named: str, suites: Sequence[str]
) -> str:
    """Return why known suites have no responses: no verdict, or none of a task with an ID."""
    query = """
        SELECT count(objective_pass) FROM results
        WHERE list_contains($1, suite) AND task_id IS NULL
    """
    [(n_judged,)] = connection.execute(query, [list(suites)]).fetchall()
    if n_judged:
        return (
            f"the judged answers of {named} do not say which task they are to: without task IDs, "
            "nothing is known of single tasks"
        )
    return f"nothing in {named} is judged as passed or failed"
