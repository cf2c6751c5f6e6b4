"""The cells of a run that the store already has results for, read from the lake."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from warehouse.connection import open_in_memory
from warehouse.formats.json_text import canonical_json
from warehouse.lake.batch import Generation, current_generations
from warehouse.lake.locks import shared_lake_lock

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runners.plan import CellKey
    from warehouse.lake.lake import Lake

_RESULTS = """
SELECT content_id, coalesce(success, true) AND NOT is_unjudged, stands_in_for,
    coalesce(cost_usd, 0), settings, thinking_level, coalesce(model_path, provider, ''),
    coalesce(model, model_path, ''), task_id, coalesce(attempt, 1)
FROM (
    SELECT
        *,
        -- The judge failed, or was interrupted.
        coalesce(starts_with(scorer, 'judge '), false) AND objective_pass IS NULL AS is_unjudged
    FROM (
        FROM read_parquet($paths, union_by_name = true)
        UNION ALL BY NAME SELECT CAST(NULL AS VARCHAR) AS scorer WHERE false
    )
)
WHERE suite = $suite AND run_id = $run_id AND generation = $generation
QUALIFY row_number() OVER (PARTITION BY content_id) = 1
ORDER BY content_id
"""
# What judges cost in suites of one's own; a poster judge has a run of its own.
_JUDGES = """
SELECT coalesce(sum(cost_usd), 0)
FROM (
    FROM read_parquet($paths, union_by_name = true)
    UNION ALL BY NAME SELECT NULL AS result_id WHERE false
)
WHERE suite = $suite AND run_id = $run_id AND generation = $generation AND result_id IS NOT NULL
"""
_PLAN = """
SELECT plan FROM read_parquet($paths, union_by_name = true)
WHERE suite = $suite AND run_id = $run_id AND generation = $generation
ORDER BY plan IS NULL, content_id
LIMIT 1
"""

_ResultTuple = tuple[str, bool, str | None, float, str | None, str | None, str, str, str, int]


@dataclass(frozen=True, slots=True)
class CompletedResult:
    """A result in the store.

    Attributes:
        content_id: content ID of its row.
        success: whether the call returned text, and its judge, if it has one, a verdict.
    """

    content_id: str
    success: bool


@dataclass(slots=True)
class CompletedCells:
    """What the store has of a run.

    Attributes:
        generation: current generation of the run.
        plan: plan of the run as JSON; None for an imported run.
        results: current results by cell; several if the plan contains the same cell twice.
        cost_usd: total cost in US dollars, including failures that were replaced and judges.
        n_invocations: batches that the runner added.
    """

    generation: Generation
    plan: str | None = None
    results: dict[CellKey, list[CompletedResult]] = field(default_factory=lambda: defaultdict(list))
    cost_usd: float = 0.0
    n_invocations: int = 0


def find_completed(lake: Lake, suite: str, run_id: str) -> CompletedCells | None:
    """Read what the lake has of a run; None if it has no such run."""
    with shared_lake_lock(lake.store_path):
        return _find_completed(lake, suite, run_id)


def suites_of(lake: Lake, run_id: str) -> list[str]:
    """Return the suites that have a run with this ID."""
    with shared_lake_lock(lake.store_path):
        return sorted(
            {g.suite for b in lake.current() for g in b.generations if g.run_id == run_id}
        )


def run_ids(lake: Lake, suite: str | None = None) -> set[str]:
    """Return the IDs of all runs, or of those of a suite."""
    with shared_lake_lock(lake.store_path):
        generations = [g for batch in lake.current() for g in batch.generations]
    return {g.run_id for g in generations if suite in (None, g.suite)}


def _find_completed(lake: Lake, suite: str, run_id: str) -> CompletedCells | None:
    batches = [b for b in lake.current() if any(g.run == (suite, run_id) for g in b.generations)]
    if not batches:
        return None
    generations = [g for b in batches for g in b.generations if g.run == (suite, run_id)]
    completed = CompletedCells(current_generations(generations)[suite, run_id])
    completed.n_invocations = sum(batch.command == "run" for batch in batches)
    bound = {
        "suite": suite,
        "run_id": run_id,
        "generation": completed.generation.generation,
    }
    # Answers that cannot be read would be requested, and paid for, again.
    for folder in {batch.folder: batch for batch in batches}.values():
        lake.verify(folder)
    with open_in_memory() as connection:
        if paths := lake.files(batches, "runs"):
            row = connection.execute(_PLAN, {"paths": paths, **bound}).fetchone()
            completed.plan = row[0] if row else None
        if paths := lake.files(batches, "results"):
            results = connection.execute(_RESULTS, {"paths": paths, **bound}).fetchall()
            _add_results(completed, results)
        if paths := lake.files(batches, "judgements"):
            row = connection.execute(_JUDGES, {"paths": paths, **bound}).fetchone()
            completed.cost_usd += row[0] if row else 0.0
    return completed


def _add_results(completed: CompletedCells, rows: Iterable[_ResultTuple]) -> None:
    rows = list(rows)
    replaced = {stands_in_for for _, _, stands_in_for, *_ in rows if stands_in_for is not None}
    for content_id, success, _, cost_usd, settings, level, source, model, task_id, attempt in rows:
        completed.cost_usd += cost_usd
        if content_id in replaced:
            continue
        parameters = json.loads(settings) if settings else {}
        # Some suites record the thinking level among the settings.
        thinking_level = parameters.pop("thinking_level", level)
        key = source, model, thinking_level, canonical_json(parameters), task_id, attempt
        completed.results[key].append(CompletedResult(content_id, success))
