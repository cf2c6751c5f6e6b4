"""What the store has of a run already: a join over the lake, not a guess."""

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
    from runners.plan import Key
    from warehouse.lake.lake import Lake

_RESULTS = """
SELECT content_id, coalesce(provider, model_path, ''), coalesce(model, model_path, ''),
    thinking_level, settings, task_id, coalesce(attempt, 1), coalesce(success, true),
    stands_in_for, cost_usd, seq
FROM read_parquet($paths, union_by_name = true)
WHERE suite = $suite AND run_id = $run_id AND generation = $generation
QUALIFY row_number() OVER (PARTITION BY content_id) = 1
ORDER BY content_id
"""
_RUNS = """
SELECT plan, run_date FROM read_parquet($paths, union_by_name = true)
WHERE suite = $suite AND run_id = $run_id AND generation = $generation
ORDER BY plan IS NULL, content_id
LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class CompletedResult:
    """A result that the store has.

    Attributes:
        content_id: which row.
        success: whether it was answered.
    """

    content_id: str
    success: bool


@dataclass(slots=True)
class CompletedCells:
    """What the store has of a run.

    Attributes:
        generation: the run's current one.
        plan: as JSON; None for a run that we did not make.
        rows: the results that count, by cell; several where the run asked the same twice.
        cost_usd: what they cost, with the failures that were tried anew.
        last_seq: highest place of a result.
        n_invocations: batches that our runner added.
    """

    generation: Generation
    plan: str | None = None
    rows: dict[Key, list[CompletedResult]] = field(default_factory=lambda: defaultdict(list))
    cost_usd: float = 0.0
    last_seq: int = 0
    n_invocations: int = 0


def find_done(lake: Lake, suite: str, run_id: str) -> CompletedCells | None:
    """Read what the lake has of a run; None where it has none of that name."""
    with shared_lake_lock(lake.store):
        return _find_done(lake, suite, run_id)


def _find_done(lake: Lake, suite: str, run_id: str) -> CompletedCells | None:
    batches = [b for b in lake.current() if any(g.run == (suite, run_id) for g in b.generations)]
    if not batches:
        return None
    generations = [g for b in batches for g in b.generations if g.run == (suite, run_id)]
    done = CompletedCells(current_generations(generations)[suite, run_id])
    done.n_invocations = sum(batch.command == "run" for batch in batches)
    bound = {"suite": suite, "run_id": run_id, "generation": done.generation.generation}
    with open_in_memory() as connection:
        for table, take in (("runs", _take_run), ("results", _take_results)):
            paths = lake.files(batches, table)
            if paths:
                query = _RUNS if table == "runs" else _RESULTS
                take(done, connection.execute(query, {"paths": paths, **bound}).fetchall())
    return done


def suites_of(lake: Lake, run_id: str) -> list[str]:
    """Give the suites that have a run of this name."""
    with shared_lake_lock(lake.store):
        return sorted(
            {g.suite for b in lake.current() for g in b.generations if g.run_id == run_id}
        )


def _take_run(done: CompletedCells, rows: list[tuple[str | None, str | None]]) -> None:
    done.plan = rows[0][0] if rows else None


def _take_results(done: CompletedCells, rows: list[tuple]) -> None:  # type: ignore[type-arg]
    replaced = {row[8] for row in rows if row[8] is not None}
    for content_id, reached_by, model, thinking, settings, task_id, attempt, success, *rest in rows:
        done.cost_usd += rest[1] or 0.0
        done.last_seq = max(done.last_seq, rest[2])
        if content_id in replaced:
            continue
        parameters = json.loads(settings) if settings else {}
        level = parameters.pop("thinking_level", thinking)
        key = reached_by, model, level, canonical_json(parameters), task_id, attempt
        done.rows[key].append(CompletedResult(content_id, success))
