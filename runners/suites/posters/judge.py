"""The suite `posters-judge`: a model compares the predictions of a run with the ground truth."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypedDict, cast

from runners.completed import find_completed, run_ids
from runners.plan import Plan, Task
from runners.providers.base import Reply
from runners.suites.base import PLACEHOLDER, PreparedRun, RunSpec, Suite, selected
from runners.suites.posters.base import (
    call_metadata,
    record_columns,
    shared_parameters,
    with_defaults,
)
from runners.suites.posters.dataset import SUITE as POSTERS
from runners.suites.posters.prompts import read_prompts
from warehouse.core.errors import BadInput
from warehouse.core.formats.json_text import json_text
from warehouse.core.hashing import content_hash
from warehouse.core.suggestions import did_you_mean
from warehouse.lake.journal.journal import Entry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runners.engine.engine import CallOutcome
    from runners.plan import Cell
    from warehouse.core.types import JudgementRow, ResultRow, RunRow

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


class _Prediction(TypedDict):
    """The prediction that a task is about."""

    model: str
    task_id: str
    provider: str | None


class _Options(TypedDict):
    """The options of a plan."""

    run_id: str
    generation: str
    about: dict[str, _Prediction]
    dataset_hashes: dict[str, object]


class Judge(Suite):
    """Has a model judge the predictions of a run."""

    family = f"{POSTERS}-judge"
    options = ("of_run",)
    summary = _SUMMARY
    answer = ()
    view = "results"

    def prepare(self, spec: RunSpec, /) -> PreparedRun:
        """Find the predictions that have ground truth."""
        run_id = spec.options.of_run
        if run_id is None:
            raise BadInput("name the run to judge: --of RUN_ID")
        spec.store.recover_journals()
        judged = find_completed(spec.store.lake, POSTERS, run_id)
        rows = spec.store.sql(_PREDICTIONS, {"run_id": run_id}).fetchall() if judged else []
        if judged is None:
            known = run_ids(spec.store.lake, POSTERS)
            hint = did_you_mean(run_id, known, "`evalstore runs --suite posters` lists them")
            raise BadInput(f"--of: there is no poster run {run_id!r}; {hint}")
        if not rows:
            raise BadInput(f"no prediction with ground truth in a poster run {run_id!r}")
        prompts = read_prompts(spec.prompts)
        template = prompts.texts["judge"]
        if PLACEHOLDER not in template:
            template = f"{template}\n\n{PLACEHOLDER}"
        tasks = [_task(model, poster, gold, text) for model, poster, _, gold, text in rows]
        about: dict[str, _Prediction] = {
            task.task_id: {"model": model, "task_id": poster, "provider": provider}
            for task, (model, poster, provider, *_) in zip(tasks, rows, strict=True)
        }
        options: _Options = {
            "run_id": run_id,
            "generation": judged.generation.generation,
            "about": about,
            "dataset_hashes": {"prompts": prompts.hashes},
        }
        plan = Plan(
            suite=self.family,
            family=self.family,
            run_date=spec.run_date,
            task_set=self.family,
            models=with_defaults(spec.models),
            tasks=selected(tasks, spec),
            template=template,
            attempts=spec.attempts,
            is_streamed=spec.is_streamed,
            options=options,
        )
        return PreparedRun(plan, {}, prompts.folder)

    def columns(self, _plan: Plan, _cell: Cell, outcome: CallOutcome, /) -> ResultRow:
        """Extract the record from the text."""
        return record_columns(outcome)

    def entries(
        self, plan: Plan, cell: Cell, outcome: CallOutcome, result: ResultRow, /
    ) -> Iterator[Entry]:
        """Yield the judgement, as a row of the run that is judged."""
        if not isinstance(outcome.result, Reply):
            return
        options = cast("_Options", plan.options)
        document = json.loads(result["parsed_output"] or "null")
        prediction = options["about"][cell.task.task_id]
        record: dict[str, object] = document if isinstance(document, dict) else {}
        row: JudgementRow = {
            "suite": POSTERS,
            "run_id": options["run_id"],
            "generation": options["generation"],
            "content_id": content_hash("judgement", result["content_id"]),
            "model": prediction["model"],
            "task_id": prediction["task_id"],
            "provider": prediction["provider"],
            "judge": cell.model.name,
            "overall_score": _number(record.get("overall_score")),
            "document": result["parsed_output"],
            "errors": json_text(record["errors"]) if "errors" in record else None,
            "cost_usd": result["cost_usd"],
            "meta": call_metadata(cell, outcome),
            "raw_output": result["raw_output"],
            "source": result["source"],
        }
        yield Entry("judgements", row)

    def run_columns(self, plan: Plan, _run_id: str, _timeout_seconds: float, /) -> RunRow:
        """Return temperature and seed, the hashes, and which run is judged."""
        options = cast("_Options", plan.options)
        return {
            **shared_parameters(plan),
            "dataset_hashes": json_text(options["dataset_hashes"]),
            "config": json_text({"judged_run": options["run_id"]}),
        }


SUITE = Judge()


def _task(model: str, poster: str, gold: str, prediction: str) -> Task:
    prompt = f"Ground truth JSON:\n{gold}\n\nPrediction JSON:\n{prediction}"
    return Task(
        f"{poster} {model}", prompt, task_hash=content_hash("judgement", prompt), name=model
    )


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
