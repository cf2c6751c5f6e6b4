"""OpenClaw prompt files: a JSON list of prompts, each with its validator."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from warehouse.core.formats.json_text import is_exact, json_text
from warehouse.core.formats.values import is_integer, utf8
from warehouse.core.formats.yaml.fields import Violation
from warehouse.core.hashing import content_hash
from warehouse.engine.scoring.openclaw.prompt_check import check_prompts
from warehouse.engine.scoring.openclaw.tools import expected_tools

if TYPE_CHECKING:
    from warehouse.core.types import Row
    from warehouse.engine.scoring.openclaw.prompt_check import Problem

SUITE = "openclaw"

_COLUMNS = {"id", "name", "prompt", "validator"}


def is_prompt_list(document: object) -> bool:
    """Return whether JSON is a prompt file: a list of objects with an id and a prompt."""
    return (
        isinstance(document, list)
        and any(isinstance(item, dict) for item in document)
        and all(item.keys() >= {"id", "prompt"} for item in document if isinstance(item, dict))
    )


def prompt_rows(document: list[object], *, task_set: str) -> tuple[list[Row], list[Violation]]:
    """Return a row of table `tasks` for each prompt, and the prompts' violations.

    Args:
        document: the file's JSON value.
        task_set: the file's name without its suffix.
    """
    violations = [
        Violation(1, utf8(f"{p.prompt_id}.{p.field}".strip(".")), "prompt", _message(p))
        for p in check_prompts(document)
    ]
    shared = {"suite": SUITE, "task_set": task_set, "task_set_hash": task_set_hash(document)}
    prompts = [prompt for prompt in document if isinstance(prompt, dict)]
    rows = [
        {**shared, **_row(prompt), "seq": seq}
        for seq, prompt in enumerate(prompts, 1)
        # No result can refer to a task without an id, which is among the violations.
        if prompt["id"] is not None
    ]
    return [_identified(row) for row in rows], violations


def recorded_prompt_rows(config: dict[str, object], *, task_set: str) -> list[Row]:
    """Return the rows of table `tasks` for the prompts that a run's config.json holds.

    They equal those of the prompt file, so that a run and its file describe one task set.

    Args:
        config: config.json of one of our runs; others name the prompt file only, and give no rows.
        task_set: name of the task set.
    """
    items = config.get("prompts")
    if not isinstance(items, list) or not is_prompt_list(items):
        return []
    items = [item for item in items if isinstance(item, dict)]
    rows, _ = prompt_rows([_recorded_prompt(item) for item in items], task_set=task_set)
    recorded_hash = config.get("prompts_hash")
    shared = {"task_set_hash": utf8(recorded_hash)} if isinstance(recorded_hash, str) else {}
    positions = [item.get("position") for item in items]
    return [
        _identified({**row, **shared, "seq": position if is_integer(position) else row["seq"]})
        for row in rows
        for position in (positions[row["seq"] - 1],)
    ]


def _recorded_prompt(item: dict[str, Any]) -> dict[str, Any]:
    """Return a prompt as its file had it, or as much of it as the config holds."""
    try:
        prompt = json.loads(item["source"])
    except (KeyError, TypeError, ValueError, RecursionError):
        prompt = None
    if isinstance(prompt, dict) and prompt.keys() >= {"id", "prompt"}:
        return prompt
    prompt = {key: item[key] for key in ("id", "name", "prompt", "validator") if key in item}
    return prompt | {"expected_tool_calls": item.get("expected_tools")}


def task_set_hash(document: object) -> str:
    """Return the hash of a prompt file's content, which identifies a version of the task set."""
    return content_hash(document)


def _identified(row: Row) -> Row:
    content = {name: value for name, value in row.items() if name != "content_id"}
    return {**content, "content_id": content_hash("task", content)}


def _message(problem: Problem) -> str:
    places = (f"prompt {problem.prompt_id}" if problem.prompt_id else "", problem.field)
    return utf8(": ".join([*filter(None, places), problem.message]))


def _row(prompt: dict[str, object]) -> Row:
    validator = prompt.get("validator")
    extra = {key: value for key, value in prompt.items() if key not in _COLUMNS}
    return {
        "task_id": _text(prompt["id"]),
        "task_name": _text(prompt.get("name")),
        "task_hash": content_hash(prompt),
        "prompt": _text(prompt["prompt"]),
        "validator": None if validator is None else json_text(validator),
        "expected_tools": [
            utf8(name) for name in expected_tools(validator, prompt.get("expected_tool_calls"))
        ],
        "record_keys": json_text(list(prompt)),
        "extra": json_text(extra) if extra else None,
        "source": None if is_exact(prompt) else utf8(json.dumps(prompt)),
    }


def _text(value: object) -> str | None:
    return value if value is None else utf8(value) if isinstance(value, str) else json_text(value)
