"""The palindrome suite: a template, tasks with references, answers between tags."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from runners.model_files import FOLDER, Model, file_stem, new_model_row
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
from warehouse.formats.json_text import canonical_json
from warehouse.formats.task_files import task_rows
from warehouse.formats.values import utf8
from warehouse.formats.yaml.documents import MappingNode, YamlError, parse
from warehouse.paths import TASKS
from warehouse.scoring.palindrome import extract_answer, is_correct

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runners.engine.engine import CallOutcome
    from runners.plan import Cell
    from warehouse.types import ResultRow, TaskRow

FAMILY = "palindrome"
_FILE = f"{FAMILY}.yaml"


class Palindrome(PromptSuite):
    """Asks for palindromes."""

    family = FAMILY

    def prepare(self, wish: RunSpec) -> PreparedRun:
        """Read the task file, and find or name each model's file."""
        path = wish.prompts or _task_file()
        rows = read_task_file(path)
        template = rows[0]["set_template"]
        if PLACEHOLDER not in (template or ""):
            raise BadInput(f"{path}: system_prompt: has no {PLACEHOLDER} placeholder")
        tasks = [
            Task(r["task_id"], r["prompt"] or "", r["task_hash"], reference=r["reference"])
            for r in rows
        ]
        models, new = with_files(wish)
        plan = Plan(
            FAMILY,
            FAMILY,
            wish.run_date,
            path.stem,
            models,
            selected(tasks, wish),
            template,
            wish.attempts,
            wish.is_streamed,
        )
        model_rows = [*known_model_rows(wish), *map(new_model_row, new)]
        return PreparedRun(plan, {"tasks": rows, "models": model_rows}, path.parent, new)

    def columns(self, _plan: Plan, cell: Cell, outcome: CallOutcome) -> ResultRow:
        """Take the answer out of the text and judge it, as the original program did.

        The provider is left to the model's file, so that our results stand beside those of
        logs that only name the file.
        """
        parameters = cell.model.parameters
        row: ResultRow = {
            "provider": None,
            "thinking_level": None,
            "settings": canonical_json(parameters) if parameters else None,
        }
        if isinstance(outcome.result, Reply):
            answer = extract_answer(utf8(outcome.result.text))
            row["answer"] = answer
            row["is_correct"] = is_correct(answer, cell.task.reference or "")
        return row


SUITE = Palindrome()


def _task_file() -> Path:
    own = Path("tasks") / _FILE
    return own if own.is_file() else TASKS / _FILE


def read_task_file(path: Path) -> list[TaskRow]:
    """Read a task file into rows of table `tasks`.

    Raises:
        BadInput: it cannot be used; the message says file, line and key.
    """
    try:
        node = parse(path.read_bytes())
    except (OSError, YamlError) as error:
        raise BadInput(f"{path}: {error}") from error
    if not isinstance(node, MappingNode):
        raise BadInput(f"{path}: no task file")
    rows, violations = task_rows(node, task_set=path.stem)
    if violations:
        raise BadInput("\n".join(f"{path}:{v.line}: {v.message}" for v in violations))
    if not rows:
        raise BadInput(f"{path}: there is no task in it")
    return rows


def with_files(wish: RunSpec) -> tuple[tuple[Model, ...], tuple[Model, ...]]:
    """Give each model its file: one that is there, or `models/<model>-<n>.yaml`, still to be made.

    Gives all models, and those whose files are new.
    """
    taken = set(wish.files)
    models, new = [], []
    for model in wish.models:
        if model.path is None:
            numbered = replace(model, path=_next_path(model.name, taken))
            taken.add(str(numbered.path))
            new.append(numbered)
            models.append(numbered)
        else:
            models.append(model)
    return tuple(models), tuple(new)


def _next_path(name: str, taken: Iterable[str]) -> str:
    """A file without an index counts as the first one, as it does when it is exported."""
    stem = re.escape(file_stem(name))
    indices = [
        int(found[1] or 1)
        for path in taken
        if (found := re.fullmatch(rf"{FOLDER}/{stem}(?:-([1-9][0-9]*))?\.yaml", path))
    ]
    return f"{FOLDER}/{file_stem(name)}-{max(indices, default=0) + 1}.yaml"
