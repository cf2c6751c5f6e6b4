"""The cells of a run that the store already has results for, read from the lake."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from runners.providers.base import EMPTY
from warehouse.core.formats.json_text import canonical_json
from warehouse.core.in_memory import open_in_memory
from warehouse.core.schemas import JUDGEMENTS, RESULTS, RUNS, rows_sql
from warehouse.lake.batch import Generation, current_generations
from warehouse.lake.locks import shared_lake_lock

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from runners.plan import CellKey
    from warehouse.lake.lake import Lake

_RESULTS = """
SELECT content_id, coalesce(success, true) AND NOT is_unjudged,
    coalesce(failure_type = $empty, false), stands_in_for,
    coalesce(cost_usd, 0), settings, thinking_level, coalesce(model_path, provider, ''),
    coalesce(model, model_path, ''), task_id, coalesce(attempt, 1),
    coalesce(objective_pass, is_correct)
FROM (
    SELECT
        *,
        -- The judge failed, or was interrupted.
        coalesce(starts_with(scorer, 'judge '), false) AND objective_pass IS NULL AS is_unjudged
    FROM $rows
)
WHERE suite = $suite AND run_id = $run_id AND generation = $generation
QUALIFY row_number() OVER (PARTITION BY content_id) = 1
ORDER BY content_id
""".replace("$rows", rows_sql(RESULTS))
# What judges cost in suites of one's own; a poster judge has a run of its own.
_JUDGES = """
SELECT result_id, sum(cost_usd)
FROM $rows
WHERE suite = $suite AND run_id = $run_id AND generation = $generation AND result_id IS NOT NULL
    AND cost_usd IS NOT NULL
GROUP BY result_id
ORDER BY result_id
""".replace("$rows", rows_sql(JUDGEMENTS))
_PLANS = """
SELECT plan FROM $rows
WHERE suite = $suite AND run_id = $run_id AND generation = $generation AND plan IS NOT NULL
ORDER BY content_id
""".replace("$rows", rows_sql(RUNS))

_ResultTuple = tuple[
    str, bool, bool, str | None, float, str | None, str | None, str, str, str, int, bool | None
]


@dataclass(frozen=True, slots=True)
class CompletedResult:
    """A result in the store.

    Attributes:
        content_id: content ID of its row.
        success: whether the call returned text, and its judge, if it has one, a verdict.
        is_empty: whether the call returned an answer without text.
        passed: verdict of the row; None if it has none.
    """

    content_id: str
    success: bool
    is_empty: bool
    passed: bool | None = None


@dataclass(slots=True)
class CompletedCells:
    """What the store has of a run.

    Attributes:
        generation: current generation of the run.
        plans: plans of the run as JSON, one for each time it was run; none for an imported run.
        results: current results by cell; several if the plan contains the same cell twice.
        costs_usd: cost by cell in US dollars, including failures that were replaced and judges.
        n_invocations: batches that the runner added.
    """

    generation: Generation
    plans: list[str] = field(default_factory=list)
    results: dict[CellKey, list[CompletedResult]] = field(default_factory=lambda: defaultdict(list))
    costs_usd: dict[CellKey, float] = field(default_factory=lambda: defaultdict(float))
    n_invocations: int = 0

    @property
    def plan(self) -> str | None:
        """The plan of the run as JSON; None for an imported run."""
        return self.plans[0] if self.plans else None


def find_completed(lake: Lake, suite: str, run_id: str) -> CompletedCells | None:
    """Read what the lake has of a run; None if it has no such run."""
    with shared_lake_lock(lake.store_path):
        return _find_completed(lake, suite, run_id)


def suites_of(lake: Lake, run_id: str) -> list[str]:
    """Return the suites that have a run with this ID."""
    with shared_lake_lock(lake.store_path):
        return sorted(lake.register().suites(run_id))


def run_ids(lake: Lake, suite: str | None = None) -> set[str]:
    """Return the IDs of all runs, or of those of a suite."""
    with shared_lake_lock(lake.store_path):
        generations = [g for batch in lake.current() for g in batch.generations]
    return {g.run_id for g in generations if suite in (None, g.suite)}


def _find_completed(lake: Lake, suite: str, run_id: str) -> CompletedCells | None:
    batches = lake.register().holding([(suite, run_id)])
    if not batches:
        return None
    generations = [g for batch in batches for g in batch.generations]
    completed = CompletedCells(current_generations(generations)[suite, run_id])
    completed.n_invocations = sum(batch.command == "run" for batch in batches)
    bound = {
        "suite": suite,
        "run_id": run_id,
        "generation": completed.generation.generation,
    }
    # Answers that cannot be read would be requested, and paid for, again.
    lake.verify_folders(batches)
    with open_in_memory() as connection:
        if paths := lake.files(batches, "runs"):
            plans = connection.execute(_PLANS, {"paths": paths, **bound}).fetchall()
            completed.plans = [plan for (plan,) in plans]
        if paths := lake.files(batches, "results"):
            named = {"paths": paths, "empty": EMPTY, **bound}
            results = connection.execute(_RESULTS, named).fetchall()
            judges: list[tuple[str, float]] = []
            if paths := lake.files(batches, "judgements"):
                judges = connection.execute(_JUDGES, {"paths": paths, **bound}).fetchall()
            _add_results(completed, results, dict(judges))
    return completed


def _add_results(
    completed: CompletedCells, rows: Iterable[_ResultTuple], judges_usd: Mapping[str, float]
) -> None:
    rows = list(rows)
    replaced = {stands_in_for for _, _, _, stands_in_for, *_ in rows if stands_in_for is not None}
    for row in rows:
        content_id, success, is_empty, _, cost_usd, settings, level, *_ = row
        *_, source, model, task_id, attempt, passed = row
        parameters = json.loads(settings) if settings else {}
        # Some suites record the thinking level among the settings.
        thinking_level = parameters.pop("thinking_level", level)
        key = source, model, thinking_level, canonical_json(parameters), task_id, attempt
        completed.costs_usd[key] += cost_usd + judges_usd.get(content_id, 0.0)
        if content_id not in replaced:
            completed.results[key].append(CompletedResult(content_id, success, is_empty, passed))
