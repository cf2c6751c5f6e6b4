"""A suite of the user's own: a YAML or JSON file with prompts, and references or validators.

suite: capitals
template: 'Answer with one word. {prompt}'
tasks:
- {id: fr, prompt: The capital of France?, reference: Paris}
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runners.plan import Plan, Task
from runners.providers.base import Reply
from runners.suites.base import (
    PLACEHOLDER,
    PreparedRun,
    PromptSuite,
    RunSpec,
    known_model_rows,
    selected,
)
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
    from warehouse.types import ResultRow, Row

FAMILY = "own"
_FAMILIES = ("palindrome", "openclaw", "posters", "posters-truth", "posters-judge")


class CustomSuite(PromptSuite):
    """Asks what a user's file says."""

    family = FAMILY

    def prepare(self, wish: RunSpec) -> PreparedRun:
        """Read the file."""
        path = Path(wish.suite)
        document = _read(path)
        name = document.get("suite", path.stem)
        if not isinstance(name, str) or not name or name in _FAMILIES:
            raise BadInput(f"{path}: suite: has to be a name of its own, not {name!r}")
        template = document.get("template")
        if template is not None and not (isinstance(template, str) and PLACEHOLDER in template):
            raise BadInput(f"{path}: template: has no {PLACEHOLDER} placeholder")
        tasks = [_task(path, n, item) for n, item in enumerate(_items(path, document), start=1)]
        plan = Plan(
            name,
            FAMILY,
            wish.run_date,
            path.stem,
            wish.models,
            selected(tasks, wish),
            template,
            wish.attempts,
            wish.is_streamed,
        )
        shared = {"suite": name, "task_set": path.stem, "task_set_hash": content_hash(document)}
        rows = [_row(task, seq, shared) for seq, task in enumerate(tasks, start=1)]
        return PreparedRun(plan, {"tasks": rows, "models": known_model_rows(wish)}, path.parent)

    def columns(self, _plan: Plan, cell: Cell, outcome: CallOutcome) -> ResultRow:
        """Let the validator judge, else compare with the reference, outer white space aside."""
        if not isinstance(outcome.result, Reply):
            return {}
        text = utf8(outcome.result.text)
        row: ResultRow = {"answer": text.strip()}
        if cell.task.validator is not None:
            verdict = validate(text, cell.task.validator)
            row["objective_pass"] = verdict.objective_pass
            row["violation"] = verdict.violation
            row["parsed_output"] = to_json(as_object(verdict.parsed_output))
        elif cell.task.reference is not None:
            row["objective_pass"] = row["answer"] == cell.task.reference.strip()
            row["violation"] = None if row["objective_pass"] else "not the reference"
        return row


SUITE = CustomSuite()


def _read(path: Path) -> dict[str, Any]:
    try:
        # Not all JSON is YAML: half surrogates in pairs are not, as JSON writes them.
        is_json = path.suffix == ".json"
        document = json.loads(path.read_bytes()) if is_json else load(path.read_bytes())
    except (OSError, YamlError, ValueError, RecursionError) as error:
        raise BadInput(f"{path}: {error}") from error
    if isinstance(document, list):
        return {"tasks": document}
    if not isinstance(document, dict):
        raise BadInput(f"{path}: no suite: it holds neither tasks nor prompts")
    return document


def _items(path: Path, document: dict[str, Any]) -> list[Any]:
    items = document.get("tasks", document.get("prompts"))
    if not isinstance(items, list) or not items:
        raise BadInput(f"{path}: tasks: has to be a list of tasks, with a prompt each")
    ids = Counter(
        str(item.get("id", item.get("prompt"))) for item in items if isinstance(item, dict)
    )
    twice = sorted(one for one, n_times in ids.items() if n_times > 1)
    if twice:
        raise BadInput(f"{path}: tasks: the id {twice[0]!r} stands twice")
    return items


def _task(path: Path, number: int, item: object) -> Task:
    where = f"{path}: tasks[{number - 1}]"
    if not isinstance(item, dict) or not isinstance(item.get("prompt"), str):
        raise BadInput(f"{where}: has no prompt")
    for key in ("reference", "name"):
        if not isinstance(item.get(key), str | None):
            raise BadInput(f"{where}.{key}: has to be text; put it in quotes")
    problems = check_prompts([{**item, "id": str(item.get("id", "task"))}])
    if problems:
        raise BadInput(f"{where}.{problems[0].field}: {problems[0].message}")
    return Task(
        str(item.get("id", item["prompt"])),
        item["prompt"],
        content_hash(item),
        item.get("name"),
        item.get("reference"),
        item.get("validator"),
    )


def _row(task: Task, seq: int, shared: Row) -> Row:
    row = {
        **shared,
        "seq": seq,
        "task_id": task.task_id,
        "task_name": task.name,
        "task_hash": task.task_hash,
        "prompt": task.prompt,
        "reference": task.reference,
        "validator": json_text(task.validator) if task.validator is not None else None,
    }
    return {**row, "content_id": content_hash("task", row)}
