"""Palindrome task files: a title, a prompt template, and tasks with their references."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.yaml.documents import MappingNode, Node, SequenceNode, value_of
from warehouse.core.formats.yaml.fields import Fields
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from warehouse.core.formats.yaml.fields import Violation
    from warehouse.core.types import TaskRow

SUITE = "palindrome"

_TASK_KEYS = {"prompt", "reference"}
_SET_KEYS = {"title", "system_prompt", "tasks"}


def is_task_file(node: Node) -> bool:
    """Return whether YAML is a task file: it has tasks with prompts and references."""
    if not isinstance(node, MappingNode):
        return False
    tasks = dict(node.items).get("tasks")
    return isinstance(tasks, SequenceNode) and any(
        isinstance(task, MappingNode) and dict(task.items).keys() >= _TASK_KEYS
        for task in tasks.items
    )


def task_rows(node: MappingNode, *, task_set: str) -> tuple[list[TaskRow], list[Violation]]:
    """Return a row of table `tasks` for each task of a file, and the file's violations."""
    header = Fields(node, "")
    violations = header.violations
    shared: TaskRow = {
        "suite": SUITE,
        "task_set": task_set,
        "task_set_hash": content_hash(value_of(node)),
        "set_title": header.scalar_text("title"),
        "set_template": header.text("system_prompt"),
    }
    set_extra = header.unknown(_SET_KEYS)
    tasks = header.node("tasks")
    rows: list[TaskRow] = []
    for index, task in enumerate(tasks.items if isinstance(tasks, SequenceNode) else []):
        fields = Fields(
            task if isinstance(task, MappingNode) else _EMPTY, f"tasks[{index}].", violations
        )
        row = _task_row(fields, seq=index + 1)
        extra = fields.unknown(_TASK_KEYS) | ({"set": set_extra} if set_extra else {})
        row["extra"] = json_text(extra) if extra else None
        rows.append({**shared, **row, "content_id": content_hash("task", shared, row)})
    return rows, violations


_EMPTY = MappingNode([], 0, 0, [])


def _task_row(fields: Fields, *, seq: int) -> TaskRow:
    prompt = fields.text("prompt", required=True)
    reference = fields.text("reference", required=True)
    return {
        "seq": seq,
        "task_id": prompt or "",
        "task_hash": content_hash(prompt, reference),
        "prompt": prompt,
        "reference": reference,
    }
