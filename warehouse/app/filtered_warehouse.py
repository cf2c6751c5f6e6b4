"""A store with only some of its runs or tasks: a private copy of the warehouse without the others.

All figures are then those of the chosen runs: the leaderboard has their latest runs, and tests are
adjusted for their comparisons only.
"""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.app.store import Store
from warehouse.core.errors import BadInput
from warehouse.core.suggestions import did_you_mean
from warehouse.engine.connection import open_for_reading
from warehouse.engine.tables.sync import remove_runs
from warehouse.lake.locks import WAIT_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date

    import duckdb

    from warehouse.engine.tables.left_out_tasks import LeftOutTask

_RUNS = """
SELECT
    suite,
    run_id,
    models,
    run_date,
    ($suite IS NULL OR suite = $suite)
        AND ($run IS NULL OR run_id = $run)
        AND ($model IS NULL OR list_contains(models, $model)) AS is_wanted
FROM runs
ORDER BY suite, run_id
"""
# Runs that rate results of other runs are kept with these.
_RATING_RUNS = """
SELECT DISTINCT suite, run_id, coalesce(rated_suite, suite), rated_run_id
FROM (
    SELECT suite, run_id, rated_suite, rated_run_id FROM lake.ratings
    UNION ALL SELECT suite, run_id, suite_a, run_id_a FROM lake.preferences
)
WHERE rated_run_id IS NOT NULL
"""


class _Excerpt(Store):
    """A warehouse without a lake, which is read as it is."""

    def __init__(self, path: Path, left_out: str) -> None:
        super().__init__(path)
        self.left_out = left_out

    @contextmanager
    def reading(self, query: str = "") -> Iterator[duckdb.DuckDBPyConnection]:
        """Open the warehouse for reading."""
        with open_for_reading(self.warehouse, wait_seconds=WAIT_SECONDS, query=query) as connection:
            yield connection


@contextmanager
def excerpt(
    store: Store,
    *,
    suite: str | None = None,
    run: str | None = None,
    model: str | None = None,
    until: date | None = None,
) -> Iterator[Store]:
    """Yield a store with only the chosen runs; the store itself if all are.

    Ratings of the chosen runs remain, whichever run has them, and people's records of their suites.
    Tasks, model files and the quarantine remain, because they are of no run.

    Args:
        store: the store.
        suite: only runs of this suite.
        run: only this run.
        model: only runs that called this model.
        until: only runs up to this day; those without a date are left out.

    Raises:
        BadInput: there are no such runs.
    """
    if suite is None and run is None and model is None and until is None:
        yield store
        return
    with tempfile.TemporaryDirectory(prefix="evalstore-") as folder:
        copy = _Excerpt(Path(folder), store.left_out)
        # Reading brings the warehouse up to date and keeps its writers out.
        with store.reading() as connection:
            values = {"suite": suite, "run": run, "model": model}
            rows = connection.execute(_RUNS, values).fetchall()
            rated = connection.execute(_RATING_RUNS).fetchall()
            store.copy_warehouse(copy.warehouse)
        wanted = [row for row in rows if row[-1]]
        if not wanted:
            raise BadInput(_nothing(rows, suite=suite, run=run, model=model))
        kept = {
            (row[0], row[1])
            for row in wanted
            if until is None or (row[3] is not None and row[3] <= until)
        }
        if not kept:
            raise BadInput(
                f"no chosen run is known to be of {until} or before; `evalstore runs` has the dates"
            )
        kept |= {(suite, run_id) for suite, run_id, *rated_run in rated if tuple(rated_run) in kept}
        gone = [(row[0], row[1]) for row in rows if (row[0], row[1]) not in kept]
        remove_runs(copy.warehouse, gone, wait_seconds=WAIT_SECONDS)
        yield copy


def _nothing(
    rows: list[tuple[object, ...]], *, suite: str | None, run: str | None, model: str | None
) -> str:
    """Return why no run is chosen, with similar names."""
    runs = sorted({str(row[1]) for row in rows})
    models = sorted({str(name) for row in rows for name in row[2] or ()})  # type: ignore[attr-defined]
    suites = sorted({str(row[0]) for row in rows})
    for option, value, known in (
        ("suite", suite, suites),
        ("run", run, runs),
        ("model", model, models),
    ):
        if value is not None and value not in known:
            hint = did_you_mean(value, known, f"`evalstore runs` lists the {option}s")
            return f"the store has no {option} {value!r}; {hint}"
    return "no run fits all of the options; `evalstore runs` lists the runs"


@contextmanager
def without_tasks(
    store: Store, tasks: Sequence[LeftOutTask], left_out: str = ""
) -> Iterator[Store]:
    """Yield a store without some tasks: all figures are as if they had never been asked.

    Args:
        store: the store.
        tasks: the tasks.
        left_out: the sentence on them.
    """
    # Imported here: it computes tables, which a report does not.
    from warehouse.engine.tables.left_out_tasks import leave_out_tasks

    with tempfile.TemporaryDirectory(prefix="evalstore-") as folder:
        copy = _Excerpt(Path(folder), left_out)
        with store.reading():
            store.copy_warehouse(copy.warehouse)
        leave_out_tasks(copy.warehouse, tasks, wait_seconds=WAIT_SECONDS)
        yield copy
