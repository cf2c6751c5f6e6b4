"""The tests of a promptfoo evaluation as tasks: variables, and what is asserted of the answer.

Repetitions of a test have places of their own in promptfoo, and nothing says that they are the same
test. A task is therefore named by its content, so that they are attempts at it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.formats.common.fields import Fields, plain_text
from warehouse.core.formats.json_text import canonical_json, json_text
from warehouse.core.formats.values import utf8
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from warehouse.core.types import Json, JsonObject, TaskRow

_ID_DIGITS = 12
_LONGEST_NAME = 80
# Variables that hold the question, by their usual names.
_QUESTIONS = ("question", "query", "input", "q")
# Assertions whose value is the right answer.
_EXACT = {"equals", "iequals"}


def test_row(row: JsonObject, task_set: str) -> TaskRow:
    """Return the task of a result of promptfoo.

    Args:
        row: as in an export.
        task_set: task set of the evaluation.
    """
    test = row.get("testCase")
    case = Fields(test if isinstance(test, dict) else {})
    variables = case.value("vars")
    if variables is None:
        variables = _without_conversation(row.get("vars"))
    assertions = case.value("assert")
    description = case.text("description")
    task_hash = content_hash("test", variables, assertions, description)
    expected = _expected(assertions)
    return {
        "content_id": content_hash("test", task_set, task_hash),
        "suite": "promptfoo",
        "task_set": task_set,
        "task_set_hash": content_hash("promptfoo", task_set),
        # Repetitions of a test have several positions.
        "seq": 1,
        "task_id": task_hash[:_ID_DIGITS],
        "task_name": description or _name(variables),
        "task_hash": task_hash,
        "question": _question(variables),
        "reference": expected,
        "target": expected,
        "validator": None if assertions is None else json_text(assertions),
        "extra": case.extra(vars=variables),
    }


def _without_conversation(variables: Json) -> Json:
    """Return variables without the one that promptfoo adds: the conversation so far."""
    if not isinstance(variables, dict):
        return variables
    return {name: value for name, value in variables.items() if name != "_conversation"}


def _question(variables: Json) -> str | None:
    if not isinstance(variables, dict):
        return None
    named = next((variables[name] for name in _QUESTIONS if name in variables), None)
    only = next(iter(variables.values())) if len(variables) == 1 else None
    question = named if named is not None else only
    return utf8(question) if isinstance(question, str) else None


def _expected(assertions: Json) -> str | None:
    """Return the right answer, if assertions demand one."""
    listed = assertions if isinstance(assertions, list) else []
    values = [
        assertion.get("value")
        for assertion in listed
        if isinstance(assertion, dict) and str(assertion.get("type")) in _EXACT
    ]
    values = [value for value in values if value is not None]
    if not values:
        return None
    return plain_text(values[0]) if len(values) == 1 else canonical_json(values)


def _name(variables: Json) -> str | None:
    text = canonical_json(variables) if variables else None
    return text if text is None or len(text) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME]}…"
