"""The tasks of a suite's file, each with the rule by which its answers are judged."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from runners.models.addresses import ADDRESS_KEYS, address_problem, without_address
from runners.plan import Task
from warehouse.core.formats.json_text import json_text
from warehouse.core.hashing import content_hash
from warehouse.core.suggestions import did_you_mean
from warehouse.engine.scoring.custom.options import OptionError
from warehouse.engine.scoring.custom.scorers import SCORERS
from warehouse.engine.scoring.openclaw.prompt_check import check_prompts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runners.suites.custom.document import SuiteFile
    from warehouse.engine.scoring.custom.scorers import Rule, Scorer

_TASK_KEYS = (
    "id",
    "name",
    "cluster",
    "prompt",
    "reference",
    "references",
    "scorer",
    "validator",
    "expected_tool_calls",
)
# Scorers by the name that a file may give; a validator has a key of its own.
_NAMED = tuple(name for name in SCORERS if name != "validator")


def tasks_of(file: SuiteFile) -> list[Task]:
    """Return the tasks of a file.

    Raises:
        BadInput: the file has mistakes; the message has the line and field of each.
    """
    key = "tasks" if "tasks" in file.content else "prompts"
    items = file.content.get(key)
    if not isinstance(items, list) or not items:
        file.report("tasks", "must be a list of tasks, each with a prompt")
        items = []
    default = file.content.get("scorer")
    if default is not None and _scorer(file, "scorer", default) is None:
        default = None
    _check_ids(file, key, items)
    tasks = [_task(file, f"{key}[{n}]", item, default) for n, item in enumerate(items)]
    file.raise_problems()
    return [task for task in tasks if task is not None]


def hashed_suite(content: Mapping[str, object]) -> dict[str, object]:
    """Return what makes a version of a suite: not the addresses of its models and judges."""
    hashed = without_address(_hashed(content))
    for key in ("tasks", "prompts"):
        items = content.get(key)
        if isinstance(items, list):
            hashed[key] = [_hashed(item) if isinstance(item, dict) else item for item in items]
    return hashed


def rule_of(task: Task) -> Rule | None:
    """Return the rule of a task; older plans hold only its validator or its reference."""
    if task.scorer is not None:
        return task.scorer
    if task.validator is not None:
        return {"type": "validator", "validator": task.validator}
    if task.reference is not None:
        return {"type": "exact", "references": [task.reference]}
    return None


def _check_ids(file: SuiteFile, key: str, items: list[object]) -> None:
    ids = [str(item.get("id", item.get("prompt"))) for item in items if isinstance(item, dict)]
    for task_id, n_times in sorted(Counter(ids).items()):
        if n_times > 1:
            last = max(n for n, name in enumerate(ids) if name == task_id)
            file.report(f"{key}[{last}].id", f"the id {task_id!r} is used twice")


def _task(file: SuiteFile, place: str, item: object, default: object) -> Task | None:
    if not isinstance(item, dict) or not isinstance(item.get("prompt"), str):
        file.report(place, "has no prompt")
        return None
    file.check_keys(place, item, _TASK_KEYS)
    if not isinstance(item.get("name"), str | None):
        file.report(f"{place}.name", "must be text; put it in quotes")
    cluster = item.get("cluster")
    if "cluster" in item and (not isinstance(cluster, str | int) or isinstance(cluster, bool)):
        file.report(f"{place}.cluster", "must be a name that tasks share: text or a whole number")
    for problem in check_prompts([{**item, "id": str(item.get("id", "task"))}]):
        file.report(f"{place}.{problem.field}", problem.message)
    rule = _rule(file, place, item, default)
    # Which version of a task it is depends on how it is judged, too.
    is_default = rule is not None and default is not None and "scorer" not in item
    judged = {key: value for key, value in item.items() if key != "cluster"}
    references = (rule or {}).get("references")
    return Task(
        str(item.get("id", item["prompt"])),
        item["prompt"],
        task_hash=content_hash(_hashed({**judged, "scorer": rule} if is_default else judged)),
        name=item.get("name"),
        cluster=None if cluster is None else str(cluster),
        reference=_reference_text(references, item),
        validator=item.get("validator"),
        scorer=rule,
    )


def _hashed(item: Mapping[str, object]) -> Mapping[str, object]:
    """Return a task, or a suite, without the address of its judge."""
    scorer = item.get("scorer")
    return {**item, "scorer": without_address(scorer)} if isinstance(scorer, dict) else item


def _rule(
    file: SuiteFile, place: str, item: Mapping[str, object], default: object
) -> dict[str, object] | None:
    """Return the rule of a task; None if nothing judges it."""
    if item.get("validator") is not None:
        if item.get("scorer") is not None:
            file.report(f"{place}.scorer", "a task has a scorer or a validator, not both")
        return {"type": "validator", "validator": item["validator"]}
    given = item.get("scorer")
    has_reference = item.get("reference") is not None or item.get("references") is not None
    chosen = given if given is not None else default
    if chosen is None:
        chosen = "exact" if has_reference else None
    if chosen is None:
        return None
    where = f"{place}.scorer" if given is not None else "scorer"
    scorer = _scorer(file, where, chosen) if given is not None else SCORERS[_kind(chosen)]
    if scorer is None:
        return None
    references = _references(file, place, item, scorer)
    if scorer.needs_reference and not references:
        if given is not None:
            file.report(where, f"type {_kind(chosen)} needs a reference")
        return None
    options = chosen if isinstance(chosen, dict) else {}
    read = {key: value for key, value in options.items() if key != "type"}
    return {
        "type": _kind(chosen),
        "references": references,
        **{key: scorer.options[key](value) for key, value in read.items() if key in scorer.options},
    }


def _kind(given: object) -> str:
    return str(given.get("type")) if isinstance(given, dict) else str(given)


def _scorer(file: SuiteFile, place: str, given: object) -> Scorer | None:
    """Return the scorer that a file names; None, and report it, if it has mistakes."""
    options = given if isinstance(given, dict) else {"type": given}
    kind = options.get("type")
    field = f"{place}.type" if isinstance(given, dict) else place
    if not isinstance(kind, str) or kind not in _NAMED:
        known = f"use {', '.join(_NAMED)}"
        hint = did_you_mean(str(kind), _NAMED, known) if kind is not None else known
        file.report(field, f"unknown scorer {kind!r}; {hint}" if kind is not None else hint)
        return None
    scorer = SCORERS[kind]
    n_before = len(file.problems)
    for key, value in options.items():
        if key == "type":
            continue
        if key not in scorer.options:
            known = f"{kind} has {', '.join(scorer.options) or 'no options'}"
            file.report(
                f"{place}.{key}", f"unknown option; {did_you_mean(key, scorer.options, known)}"
            )
            continue
        try:
            scorer.options[key](value)
        except OptionError as error:
            file.report(f"{place}.{key}", str(error))
            continue
        problem = address_problem(key, value) if key in ADDRESS_KEYS else None
        if problem is not None:
            file.report(f"{place}.{key}", problem)
    for key in scorer.required:
        if key not in options:
            file.report(f"{place}.{key}", f"missing; type {kind} needs it")
    return scorer if len(file.problems) == n_before else None


def _references(
    file: SuiteFile, place: str, item: Mapping[str, object], scorer: Scorer
) -> list[object]:
    several = item.get("references")
    if several is not None and item.get("reference") is not None:
        file.report(f"{place}.references", "a task has one reference or references, not both")
    if several is not None and (not isinstance(several, list) or not several):
        file.report(f"{place}.references", "must be a list")
        return []
    given = [(f"{place}.reference", item["reference"])] if "reference" in item else []
    if isinstance(several, list):
        given = [(f"{place}.references[{n}]", value) for n, value in enumerate(several)]
    references = []
    for where, value in given:
        try:
            references.append(scorer.reference(value))
        except OptionError as error:
            file.report(where, str(error))
    return references


def _reference_text(references: object, item: Mapping[str, object]) -> str | None:
    """Return references as one text; None without any."""
    if not isinstance(references, list):
        value = item.get("reference")
        return value if isinstance(value, str) else None
    if not references:
        return None
    only = references[0] if len(references) == 1 else references
    return only if isinstance(only, str) else json_text(only)
