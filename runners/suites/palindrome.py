"""The palindrome suite: a template, tasks with references, answers between tags."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from runners.models.model_files import FOLDER, file_stem, new_model_row
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
from warehouse.core.errors import BadInput
from warehouse.core.files import problem, read_regular
from warehouse.core.formats.json_text import canonical_json
from warehouse.core.formats.palindrome_tasks import task_rows
from warehouse.core.formats.values import utf8
from warehouse.core.formats.yaml.documents import MappingNode, YamlError, parse
from warehouse.core.paths import TASKS
from warehouse.engine.scoring.palindrome import extract_answer, is_correct

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from runners.engine.engine import CallOutcome
    from runners.models.model import Model
    from runners.plan import Cell
    from warehouse.core.types import ResultRow, Row, TaskRow

FAMILY = "palindrome"
_FILE = f"{FAMILY}.yaml"


class Palindrome(Suite):
    """Asks for palindromes and compares the answers with the references."""

    family = FAMILY
    options = ("template",)

    def prepare(self, spec: RunSpec, /) -> PreparedRun:
        """Read the task file, and find or name the file of each model."""
        path = spec.prompts or _task_file()
        rows = read_task_file(path)
        template, warnings = _template(path, rows, spec.options.template)
        tasks = [
            Task(
                row["task_id"],
                row["prompt"] or "",
                task_hash=row["task_hash"],
                reference=row["reference"],
            )
            for row in rows
        ]
        models, new = with_files(spec)
        plan = Plan(
            suite=FAMILY,
            family=FAMILY,
            run_date=spec.run_date,
            task_set=path.stem,
            models=models,
            tasks=selected(tasks, spec),
            template=template,
            attempts=spec.attempts,
            is_streamed=spec.is_streamed,
        )
        model_rows = [*known_model_rows(spec), *map(new_model_row, new)]
        kept: dict[str, Sequence[Row]] = {"tasks": rows, "models": model_rows}
        return PreparedRun(plan, kept, path.parent, new_files=new, warnings=warnings)

    def columns(self, _plan: Plan, cell: Cell, outcome: CallOutcome, /) -> ResultRow:
        """Extract the answer from the text and score it, as the original program did."""
        parameters = cell.model.parameters
        row: ResultRow = {
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


def _template(
    path: Path, rows: Sequence[TaskRow], file: Path | None
) -> tuple[str, tuple[str, ...]]:
    """Return the prompt template, and a warning if it is the default one.

    In the specification, a task file has tasks only.

    Raises:
        BadInput: the template has no placeholder.
    """
    if file is not None:
        return _with_placeholder(_read_text(file), f"{file}"), ()
    own = rows[0]["set_template"]
    if own is not None:
        return _with_placeholder(own, f"{path}: system_prompt"), ()
    default = read_task_file(TASKS / _FILE)[0]["set_template"] or PLACEHOLDER
    return default, (f"{path} has no `system_prompt`: using the default prompt template",)


def _with_placeholder(template: str, where: str) -> str:
    if PLACEHOLDER not in template:
        raise BadInput(f"{where}: the {PLACEHOLDER} placeholder is missing")
    return template


def _read_text(path: Path) -> str:
    try:
        return read_regular(path).decode().rstrip("\n")
    except (OSError, ValueError) as error:
        raise BadInput(f"{path}: cannot be read as text ({problem(error)})") from error


def read_task_file(path: Path) -> list[TaskRow]:
    """Read a task file into rows of table `tasks`.

    Raises:
        BadInput: the file cannot be used; the message names the file, line and key.
    """
    try:
        node = parse(read_regular(path))
    except (OSError, YamlError) as error:
        raise BadInput(f"{path}: {problem(error)}") from error
    if not isinstance(node, MappingNode):
        raise BadInput(f"{path}: not a task file")
    rows, violations = task_rows(node, task_set=path.stem)
    if violations:
        raise BadInput("\n".join(f"{path}:{v.line}: {v.message}" for v in violations))
    if not rows:
        raise BadInput(f"{path}: contains no tasks")
    return rows


def with_files(spec: RunSpec) -> tuple[tuple[Model, ...], tuple[Model, ...]]:
    """Assign each model its file: an existing one, or a new `models/<model>-<n>.yaml`.

    Returns:
        All models, and those whose files do not exist yet.
    """
    taken = set(spec.files)
    models, new = [], []
    for model in spec.models:
        if model.path is None:
            numbered = replace(model, path=_next_path(model.name, taken))
            taken.add(str(numbered.path))
            new.append(numbered)
            models.append(numbered)
        else:
            models.append(model)
    return tuple(models), tuple(new)


def _next_path(name: str, taken: Iterable[str]) -> str:
    """Return the next free path. A file without a number counts as number 1, as in exports."""
    stem = re.escape(file_stem(name))
    indices = [
        int(found[1] or 1)
        for path in taken
        if (found := re.fullmatch(rf"{FOLDER}/{stem}(?:-([1-9][0-9]*))?\.yaml", path))
    ]
    return f"{FOLDER}/{file_stem(name)}-{max(indices, default=0) + 1}.yaml"
