"""The poster suite: what models read on tour posters, and the ground truth that one writes."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from runners.plan import Plan, Task
from runners.providers.base import Reply
from runners.suites.base import PreparedRun, PromptSuite, RunSpec, selected
from runners.suites.posters.dataset import SUITE as FAMILY
from runners.suites.posters.dataset import read_dataset
from runners.suites.posters.image_cache import PictureCache
from runners.suites.posters.prompts import read_prompts
from warehouse.errors import BadInput
from warehouse.formats.json_text import is_exact, json_text
from warehouse.formats.values import utf8
from warehouse.hashing import content_hash
from warehouse.journal.journal import Entry
from warehouse.scoring.posters.schema import POSTER_SCHEMA
from warehouse.scoring.posters.text import extract_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runners.engine.engine import CallOutcome
    from runners.model_files import Model
    from runners.plan import Cell
    from runners.providers.base import Request
    from warehouse.types import ResultRow, RunRow

TEMPERATURE = 0.1
SEED = 23
_SUMMARY = """
SELECT model, label, posters, missing_predictions, app_quality_score, app_quality_low AS low,
    app_quality_high AS high, app_core_score, schema_strict_rate, prediction_cost_usd
FROM poster_report
WHERE suite = $suite AND run_id = $run_id AND part = 'all'
ORDER BY app_quality_score DESC NULLS LAST, model
"""
_TRUTH_SUMMARY = """
SELECT provider, model, settings, count(*) AS n_posters, count(*) FILTER (NOT success) AS n_failed,
    sum(json_array_length(parsed_output, '$.events')) AS n_events, exact_sum(cost_usd) AS cost_usd
FROM results
WHERE suite = $suite AND run_id = $run_id
GROUP BY ALL ORDER BY ALL
"""


class Reader(PromptSuite):
    """Has models read posters, each with its picture and the schema of the answer.

    Attributes:
        prompt: name of its prompt.
    """

    family: str
    prompt: str

    def prepare(self, wish: RunSpec) -> PreparedRun:
        """Read the list of posters and the prompts, and have the pictures in the cache."""
        prompts = read_prompts(wish.prompts)
        dataset = read_dataset(wish.posters, wish.store)
        tasks = [
            Task(p.id, "", content_hash("poster", p.id, p.url), image=p.picture.file)
            for p in dataset.posters
            if p.picture is not None
        ]
        notes = tuple(
            f"{p.id}: no picture, {p.problem}" for p in dataset.posters if p.status == "error"
        )
        if not tasks:
            raise BadInput("\n".join((*notes, "no poster is left to ask")))
        chosen = selected(tasks, wish)
        version, rows = dataset.rows({task.task_id for task in chosen})
        plan = Plan(
            self.family,
            self.family,
            wish.run_date,
            dataset.name,
            with_defaults(wish.models),
            chosen,
            prompts.texts[self.prompt],
            wish.attempts,
            wish.is_streamed,
            {
                "task_set_hash": version,
                "dataset_hashes": {**dataset.hashes, "prompts": prompts.hashes},
            },
        )
        kept = {"tasks": rows, "artifacts": [dataset.manifest_row()]}
        return PreparedRun(plan, kept, prompts.folder, notes=notes)

    def request(self, plan: Plan, cell: Cell) -> Request:
        """Send the prompt with the picture."""
        request = super().request(plan, cell)
        images = (PictureCache().image(cell.task.image),) if cell.task.image else ()
        return replace(request, images=images, schema=POSTER_SCHEMA)

    def columns(self, _plan: Plan, _cell: Cell, outcome: CallOutcome) -> ResultRow:
        """Take the record out of the text; an answer without one is a failure."""
        return record_columns(outcome)

    def describe(self, plan: Plan, _run_id: str, _timeout_seconds: float) -> RunRow:
        """Give temperature and seed, where all models have the same, and the hashes."""
        return {
            "temperature": common(plan, "temperature"),
            "seed": common(plan, "seed"),
            "task_set_hash": plan.options["task_set_hash"],
            "dataset_hashes": json_text(plan.options["dataset_hashes"]),
            "config": json_text({"models": [model.name for model in plan.models]}),
        }


class Posters(Reader):
    """Has models read posters, to score what they read."""

    family = FAMILY
    prompt = "predict"
    summary = _SUMMARY
    view = "poster_scores"


class Truth(Reader):
    """Has a model write the ground truth. A model's is silver, whoever the model is."""

    family = f"{FAMILY}-truth"
    prompt = "ground_truth"
    summary = _TRUTH_SUMMARY
    view = "results"

    def entries(
        self, plan: Plan, cell: Cell, outcome: CallOutcome, result: ResultRow
    ) -> Iterator[Entry]:
        """Give the record as an annotation, with what the call recorded."""
        if not isinstance(outcome.result, Reply):
            return
        yield Entry(
            "annotations",
            {
                "content_id": content_hash("annotation", result["content_id"]),
                "suite": FAMILY,
                "task_set": plan.task_set,
                "task_id": cell.task.task_id,
                "annotator": cell.model.name,
                "kind": "model",
                "label": "silver",
                "document": result["parsed_output"],
                "annotated_at": outcome.ended_at,
                "cost_usd": result["cost_usd"],
                "meta": meta(cell, outcome),
                "raw_output": result["raw_output"],
                "source": result["source"],
            },
        )


SUITE = Posters()
TRUTH = Truth()


def with_defaults(models: tuple[Model, ...]) -> tuple[Model, ...]:
    """Give the models with the protocol's temperature and seed, where nothing else is asked for.

    Raises:
        BadInput: two have the same name, which is what the reports know a model by.
    """
    names = [model.name for model in models]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise BadInput(
            f"{twice[0]} stands twice: a poster report has one line for a model's name; "
            "make a run of its own for each"
        )
    usual = {"temperature": TEMPERATURE, "seed": SEED}
    # Rows name the model itself: a file of the same name must not speak for it.
    return tuple(replace(m, parameters={**usual, **m.parameters}, path=None) for m in models)


def common(plan: Plan, name: str) -> Any:  # noqa: ANN401 - a parameter
    """Give the value of a parameter that all models of a plan share; None if they differ."""
    values = [model.parameters.get(name) for model in plan.models]
    return values[0] if all(value == values[0] for value in values) else None


def record_columns(outcome: CallOutcome) -> ResultRow:
    """Give what a model's text holds of a record, as an import of its files would."""
    if not isinstance(outcome.result, Reply):
        return {"output_state": "missing", "parsed_output": None, "source": None}
    value = extract_json(utf8(outcome.result.text))
    if value is None:
        return {
            "output_state": "missing",
            "parsed_output": None,
            "source": None,
            "success": False,
            "failure_type": "invalid_json",
        }
    return {
        "output_state": "object" if isinstance(value, dict) else "no_object",
        "parsed_output": json_text(value),
        "source": None if is_exact(value) else utf8(json.dumps(value, ensure_ascii=False)),
    }


def meta(cell: Cell, outcome: CallOutcome) -> str:
    """Give what a call recorded, under the names that the benchmark's own files have."""
    result = outcome.result
    tokens = [result.input_tokens, result.output_tokens]
    known = {
        "model": cell.model.name,
        "prompt_tokens": tokens[0],
        "completion_tokens": tokens[1],
        "total_tokens": None if None in tokens else sum(n or 0 for n in tokens),
        "estimated_cost_usd": result.cost_usd,
        "temperature": result.sent.get("temperature"),
        "seed": result.sent.get("seed"),
        "duration_sec": round(outcome.duration_seconds, 3),
    }
    return json_text({name: value for name, value in known.items() if value is not None})
