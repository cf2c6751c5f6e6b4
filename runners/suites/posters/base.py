"""What the poster suites share: images and schema, default parameters, records in responses."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, TypedDict, cast

from runners.plan import Plan, Task
from runners.providers.base import Reply
from runners.suites.base import PreparedRun, RunSpec, Suite, selected
from runners.suites.posters.dataset import read_dataset
from runners.suites.posters.image_cache import ImageCache
from runners.suites.posters.prompts import read_prompts
from warehouse.core.errors import BadInput
from warehouse.core.formats.json_text import is_exact, json_text
from warehouse.core.formats.values import utf8
from warehouse.core.hashing import content_hash
from warehouse.engine.scoring.posters.records.schema import POSTER_SCHEMA
from warehouse.engine.scoring.posters.records.text import extract_json
from warehouse.engine.scoring.posters.settings import scoring_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runners.engine.engine import CallOutcome
    from runners.models.model import Model
    from runners.plan import Cell
    from runners.providers.base import Request
    from warehouse.core.types import ResultRow, Row, RunRow

TEMPERATURE = 0.1
SEED = 23


class _Options(TypedDict):
    """The options of a plan."""

    task_set_hash: str
    dataset_hashes: dict[str, object]


class PosterSuite(Suite):
    """Has models extract the record of a poster from its image, with the schema of the record.

    Attributes:
        prompt: name of the prompt.
    """

    options = ("urls", "images", "include", "exclude", "dataset", "allow_private_urls")
    prompt: str

    def prepare(self, spec: RunSpec, /) -> PreparedRun:
        """Read the list of posters and the prompts, and fill the image cache."""
        prompts = read_prompts(spec.prompts)
        dataset = read_dataset(spec.options, spec.store)
        tasks = [
            Task(p.id, "", task_hash=content_hash("poster", p.id, p.url), image=p.image.file)
            for p in dataset.posters
            if p.image is not None
        ]
        warnings = tuple(
            f"{p.id}: no image, {p.problem}" for p in dataset.posters if p.status == "error"
        )
        if not tasks:
            raise BadInput("\n".join((*warnings, "no poster is left")))
        chosen = selected(tasks, spec)
        version, rows = dataset.rows({task.task_id for task in chosen})
        dataset_hashes = {**dataset.hashes, "prompts": prompts.hashes}
        options: _Options = {"task_set_hash": version, "dataset_hashes": dataset_hashes}
        plan = Plan(
            suite=self.family,
            family=self.family,
            run_date=spec.run_date,
            task_set=dataset.name,
            models=with_defaults(spec.models),
            tasks=chosen,
            template=prompts.texts[self.prompt],
            attempts=spec.attempts,
            is_streamed=spec.is_streamed,
            options=options,
        )
        kept: dict[str, Sequence[Row]] = {
            "tasks": rows,
            "artifacts": [dataset.manifest_row()],
        }
        return PreparedRun(plan, kept, prompts.folder, warnings=warnings)

    def request(self, plan: Plan, cell: Cell, /) -> Request:
        """Return the prompt with the image and the schema."""
        request = super().request(plan, cell)
        images = (ImageCache().image(cell.task.image),) if cell.task.image else ()
        return replace(request, images=images, schema=POSTER_SCHEMA)

    def columns(self, _plan: Plan, _cell: Cell, outcome: CallOutcome, /) -> ResultRow:
        """Extract the record from the text; a response without one is a failure."""
        return record_columns(outcome)

    def run_columns(self, plan: Plan, _run_id: str, _timeout_seconds: float, /) -> RunRow:
        """Return the hashes, and temperature and seed if all models share them."""
        options = cast("_Options", plan.options)
        return {
            **shared_parameters(plan),
            "task_set_hash": options["task_set_hash"],
            "dataset_hashes": json_text(options["dataset_hashes"]),
            "config": json_text(
                {"models": [model.name for model in plan.models], **scoring_settings()}
            ),
        }


def with_defaults(models: tuple[Model, ...]) -> tuple[Model, ...]:
    """Return the models with the protocol's temperature and seed, unless they set others.

    Raises:
        BadInput: two models have the same name, by which reports identify them.
    """
    names = [model.name for model in models]
    duplicates = sorted({name for name in names if names.count(name) > 1})
    if duplicates:
        raise BadInput(
            f"{duplicates[0]} is given twice: a poster report has one line per model name; "
            "start a separate run for each"
        )
    defaults = {"temperature": TEMPERATURE, "seed": SEED}
    # Results name the model itself: views must not look it up in a file of that name.
    return tuple(replace(m, parameters={**defaults, **m.parameters}, path=None) for m in models)


def shared_parameters(plan: Plan) -> RunRow:
    """Return the temperature and seed that all models of a plan share; None if they differ."""
    temperature, seed = _shared(plan, "temperature"), _shared(plan, "seed")
    return {
        "temperature": temperature if isinstance(temperature, int | float) else None,
        "seed": seed if isinstance(seed, int) else None,
    }


def _shared(plan: Plan, name: str) -> object:
    values = [model.parameters.get(name) for model in plan.models]
    return values[0] if all(value == values[0] for value in values) else None


def record_columns(outcome: CallOutcome) -> ResultRow:
    """Return the columns for the record in a model's text, as an import of its files would."""
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


def call_metadata(cell: Cell, outcome: CallOutcome) -> str:
    """Return what a call recorded as JSON, under the names used in the benchmark's own files."""
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
