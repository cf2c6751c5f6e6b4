"""The judge of the poster suite: a model that compares predictions with the ground truth."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from runners.completed import find_done
from runners.plan import Plan, Task
from runners.providers.base import Reply
from runners.suites.base import PLACEHOLDER, PreparedRun, PromptSuite, RunSpec, selected
from runners.suites.posters.dataset import SUITE as POSTERS
from runners.suites.posters.prompts import read_prompts
from runners.suites.posters.suite import common, meta, record_columns, with_defaults
from warehouse.errors import BadInput
from warehouse.formats.json_text import json_text
from warehouse.hashing import content_hash
from warehouse.journal.journal import Entry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runners.engine.engine import CallOutcome
    from runners.plan import Cell
    from warehouse.types import ResultRow, RunRow

_PREDICTIONS = """
SELECT inputs.model, inputs.task_id, predictions.provider, inputs.gold, inputs.prediction
FROM scores.poster_score_inputs AS inputs
JOIN scores.poster_predictions AS predictions USING (run_id, model, task_id)
WHERE inputs.run_id = $run_id AND inputs.prediction IS NOT NULL
ORDER BY inputs.model, inputs.seq, inputs.task_id
"""
_SUMMARY = """
SELECT judgements.model, count(*) AS n_judged, count(overall_score) AS n_with_score,
    round(exact_mean(overall_score), 2) AS avg_score, exact_sum(cost_usd) AS cost_usd
FROM lake.judgements AS judgements
JOIN runs ON judgements.run_id = runs.config->>'judged_run'
    AND list_contains(runs.models, judgements.judge)
WHERE judgements.suite = 'posters' AND runs.suite = $suite AND runs.run_id = $run_id
GROUP BY judgements.model ORDER BY judgements.model
"""


class Judge(PromptSuite):
    """Has a model judge the predictions of a run."""

    family = f"{POSTERS}-judge"
    summary = _SUMMARY
    view = "results"

    def prepare(self, wish: RunSpec) -> PreparedRun:
        """Find the predictions that have ground truth."""
        run_id = wish.posters.of_run
        if run_id is None:
            raise BadInput("say which run is to be judged: --of RUN_ID")
        wish.store.recover_journals()
        judged = find_done(wish.store.lake, POSTERS, run_id)
        rows = wish.store.sql(_PREDICTIONS, {"run_id": run_id}).fetchall() if judged else []
        if judged is None or not rows:
            raise BadInput(f"there is no prediction with ground truth in a poster run {run_id!r}")
        prompts = read_prompts(wish.prompts)
        template = prompts.texts["judge"]
        if PLACEHOLDER not in template:
            template = f"{template}\n\n{PLACEHOLDER}"
        tasks = [_task(model, poster, gold, text) for model, poster, _, gold, text in rows]
        about = {
            task.task_id: {"model": model, "task_id": poster, "provider": provider}
            for task, (model, poster, provider, *_) in zip(tasks, rows, strict=True)
        }
        plan = Plan(
            self.family,
            self.family,
            wish.run_date,
            self.family,
            with_defaults(wish.models),
            selected(tasks, wish),
            template,
            wish.attempts,
            wish.is_streamed,
            {
                "run_id": run_id,
                "generation": judged.generation.generation,
                "about": about,
                "dataset_hashes": {"prompts": prompts.hashes},
            },
        )
        return PreparedRun(plan, {}, prompts.folder)

    def columns(self, _plan: Plan, _cell: Cell, outcome: CallOutcome) -> ResultRow:
        """Take the record out of the text."""
        return record_columns(outcome)

    def entries(
        self, plan: Plan, cell: Cell, outcome: CallOutcome, result: ResultRow
    ) -> Iterator[Entry]:
        """Give the judgement, as a row of the run that is judged."""
        if not isinstance(outcome.result, Reply):
            return
        document = json.loads(result["parsed_output"] or "null")
        record: dict[str, Any] = document if isinstance(document, dict) else {}
        yield Entry(
            "judgements",
            {
                "suite": POSTERS,
                "run_id": plan.options["run_id"],
                "generation": plan.options["generation"],
                "content_id": content_hash("judgement", result["content_id"]),
                **plan.options["about"][cell.task.task_id],
                "judge": cell.model.name,
                "overall_score": _number(record.get("overall_score")),
                "document": result["parsed_output"],
                "errors": json_text(record["errors"]) if "errors" in record else None,
                "cost_usd": result["cost_usd"],
                "meta": meta(cell, outcome),
                "raw_output": result["raw_output"],
                "source": result["source"],
            },
        )

    def describe(self, plan: Plan, _run_id: str, _timeout_seconds: float) -> RunRow:
        """Give temperature and seed, and which run is judged."""
        return {
            "temperature": common(plan, "temperature"),
            "seed": common(plan, "seed"),
            "dataset_hashes": json_text(plan.options["dataset_hashes"]),
            "config": json_text({"judged_run": plan.options["run_id"]}),
        }


SUITE = Judge()


def _task(model: str, poster: str, gold: str, prediction: str) -> Task:
    prompt = f"Ground truth JSON:\n{gold}\n\nPrediction JSON:\n{prediction}"
    return Task(f"{poster} {model}", prompt, content_hash("judgement", prompt), model)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
