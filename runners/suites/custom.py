"""A user's own suite: a YAML or JSON file of prompts with references or validators.

suite: capitals
template: 'Answer with one word. {prompt}'
tasks:
- {id: fr, prompt: The capital of France?, reference: Paris}
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from runners.plan import Plan, Task
from runners.providers.base import Reply
from runners.suites.base import (
    PLACEHOLDER,
    PreparedRun,
    RunSpec,
    Suite,
    known_model_rows,
    selected,
)
from runners.suites.registry import SUITES
from warehouse.errors import BadInput
from warehouse.formats.json_text import json_text
from warehouse.formats.values import utf8
from warehouse.formats.yaml.documents import YamlError, load
from warehouse.hashing import content_hash
from warehouse.scoring.openclaw.prompt_check import check_prompts
from warehouse.scoring.openclaw.validators import validate
from warehouse.scoring.openclaw.verdicts import as_object, to_json

if TYPE_CHECKING:
    from runners.engine.engine import CallOutcome
    from runners.plan import Cell
    from warehouse.types import ResultRow, TaskRow

FAMILY = "own"


class CustomSuite(Suite):
    """Runs the tasks of a user's file."""

    family = FAMILY

    def prepare(self, spec: RunSpec, /) -> PreparedRun:
        """Read the file."""
        path = Path(spec.suite)
        document = _read(path)
        name = document.get("suite", path.stem)
        if not isinstance(name, str) or not name or name in SUITES:
            raise BadInput(f"{path}: suite: must be a name that no other suite has, not {name!r}")
        template = document.get("template")
        if template is not None and not (isinstance(template, str) and PLACEHOLDER in template):
            raise BadInput(f"{path}: template: the {PLACEHOLDER} placeholder is missing")
        tasks = [_task(path, n, item) for n, item in enumerate(_items(path, document), start=1)]
        plan = Plan(
            suite=name,
            family=FAMILY,
            run_date=spec.run_date,
            task_set=path.stem,
            models=spec.models,
            tasks=selected(tasks, spec),
            template=template,
            attempts=spec.attempts,
            is_streamed=spec.is_streamed,
        )
        shared: TaskRow = {
            "suite": name,
            "task_set": path.stem,
            "task_set_hash": content_hash(document),
        }
        rows = [_row(task, seq, shared) for seq, task in enumerate(tasks, start=1)]
        return PreparedRun(plan, {"tasks": rows, "models": known_model_rows(spec)}, path.parent)

    def columns(self, _plan: Plan, cell: Cell, outcome: CallOutcome, /) -> ResultRow:
        """Apply the validator, or compare with the reference, ignoring outer whitespace."""
        if not isinstance(outcome.result, Reply):
            return {}
        text = utf8(outcome.result.text)
        answer = text.strip()
        row: ResultRow = {"answer": answer}
        if cell.task.validator is not None:
            verdict = validate(text, cell.task.validator)
            row["objective_pass"] = verdict.objective_pass
            row["violation"] = verdict.violation
            row["parsed_output"] = to_json(as_object(verdict.parsed_output))
        elif cell.task.reference is not None:
            is_equal = answer == cell.task.reference.strip()
            row["objective_pass"] = is_equal
            row["violation"] = None if is_equal else "not the reference"
        return row


SUITE = CustomSuite()


def _read(path: Path) -> dict[str, object]:
    try:
        # Not all JSON is YAML: surrogate pairs in escapes, for one, are not.
        is_json = path.suffix == ".json"
        document = json.loads(path.read_bytes()) if is_json else load(path.read_bytes())
    except (OSError, YamlError, ValueError, RecursionError) as error:
        raise BadInput(f"{path}: {error}") from error
    if isinstance(document, list):
        return {"tasks": document}
    if not isinstance(document, dict):
        raise BadInput(f"{path}: not a suite: it has neither tasks nor prompts")
    return {**document}


def _items(path: Path, document: dict[str, object]) -> list[object]:
    items = document.get("tasks", document.get("prompts"))
    if not isinstance(items, list) or not items:
        raise BadInput(f"{path}: tasks: must be a list of tasks, each with a prompt")
    ids = Counter(
        str(item.get("id", item.get("prompt"))) for item in items if isinstance(item, dict)
    )
    duplicates = sorted(task_id for task_id, n_times in ids.items() if n_times > 1)
    if duplicates:
        raise BadInput(f"{path}: tasks: the id {duplicates[0]!r} is used twice")
    return items


def _task(path: Path, number: int, item: object) -> Task:
    where = f"{path}: tasks[{number - 1}]"
    if not isinstance(item, dict) or not isinstance(item.get("prompt"), str):
        raise BadInput(f"{where}: has no prompt")
    for key in ("reference", "name"):
        if not isinstance(item.get(key), str | None):
            raise BadInput(f"{where}.{key}: must be text; put it in quotes")
    problems = check_prompts([{**item, "id": str(item.get("id", "task"))}])
    if problems:
        raise BadInput(f"{where}.{problems[0].field}: {problems[0].message}")
    return Task(
        str(item.get("id", item["prompt"])),
        item["prompt"],
        task_hash=content_hash(item),
        name=item.get("name"),
        reference=item.get("reference"),
        validator=item.get("validator"),
    )


def _row(task: Task, seq: int, shared: TaskRow) -> TaskRow:
    row: TaskRow = {
        **shared,
        "seq": seq,
        "task_id": task.task_id,
        "task_name": task.name,
        "task_hash": task.task_hash or "",
        "prompt": task.prompt,
        "reference": task.reference,
        "validator": json_text(task.validator) if task.validator is not None else None,
    }
    return {**row, "content_id": content_hash("task", row)}
