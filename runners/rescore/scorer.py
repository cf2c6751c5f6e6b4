"""The scorer of a re-score: the rules of a suite's file, with a name and a version."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runners.suites.base import PLACEHOLDER
from runners.suites.custom.document import SuiteFile, read_suite_file
from runners.suites.custom.functions import judge_by_function, load_function, source_hash
from runners.suites.custom.tasks import rule_of, tasks_of
from warehouse.core.errors import BadInput
from warehouse.core.hashing import content_hash
from warehouse.core.suggestions import did_you_mean
from warehouse.engine.openclaw_prompts import SUITE
from warehouse.engine.scoring.custom.scorers import score

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from pathlib import Path

    from runners.judging.answers import StoredAnswer
    from runners.plan import Task
    from warehouse.engine.scoring.custom.scorers import Rule
    from warehouse.engine.scoring.openclaw.verdicts import Verdict

_NAME = re.compile(r"[\w][\w ./-]{0,99}")
_VERSION_DIGITS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRule:
    """How the answers to a task are judged.

    Attributes:
        prompts: the prompt, as it is and in the suite's template; answers to others are not judged.
        rule: the rule, as tasks store it.
    """

    prompts: frozenset[str]
    rule: Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class FileScorer:
    """The scorer that a suite's file defines.

    Attributes:
        name: its name.
        version: hash of its rules, and of the files of a user's functions.
        suite: suite of the answers.
        rules: by ID and prompt of the task, with and without a template; tasks that nothing
            judges are left out.
        task_ids: the IDs of their tasks.
        folder: folder of the file, where a user's modules are.
    """

    name: str
    version: str
    suite: str
    rules: Mapping[tuple[str, str], Rule]
    task_ids: frozenset[str]
    folder: Path

    def judge(self, rule: Rule, answer: str) -> Verdict:
        """Judge an answer by one of the rules."""
        if rule["type"] == "function":
            function = load_function(str(rule["function"]), self.folder)
            return judge_by_function(function, answer, rule)
        return score(answer, rule)


def read_scorer(
    path: Path, *, name: str | None, suite: str | None, suites: Collection[str]
) -> FileScorer:
    """Read the scorer of a suite's file, or of an openclaw prompt file.

    Args:
        path: the file.
        name: name of the scorer; by default, that of the file.
        suite: suite of the answers; by default, the one that the file names.
        suites: the suites that the store has runs of.

    Raises:
        BadInput: the file has mistakes, a model would have to judge, or the store has no answers of
            the suite.
    """
    file = read_suite_file(path)
    rules = {
        task.task_id: TaskRule(prompts=_prompts(file, task), rule=rule)
        for task in tasks_of(file)
        if (rule := _rule(file, task)) is not None
    }
    if not rules:
        raise BadInput(f"{path}: no task has a scorer, a validator or a reference")
    return FileScorer(
        name=_scorer_name(path, name),
        version=_version(rules, path.parent),
        suite=_suite(file, suite, suites),
        rules={(key, text): one.rule for key, one in rules.items() for text in one.prompts},
        task_ids=frozenset(rules),
        folder=path.parent,
    )


def read_bare_scorer(
    path: Path, *, name: str | None, suite: str, answers: Iterable[StoredAnswer]
) -> FileScorer:
    """Read a file that has a scorer and no tasks: they, and their references, are the store's.

    Its version does not depend on the tasks. A task whose references do not suit the scorer, as
    text does not suit `number`, has no rule.

    Args:
        path: the file.
        name: name of the scorer; by default, that of the file.
        suite: suite of the answers.
        answers: the answers that are to be judged.

    Raises:
        BadInput: the file has mistakes, or a model would have to judge.
    """
    file = read_suite_file(path)
    file.check_keys("", file.content, ("scorer",))
    if "scorer" not in file.content or {"tasks", "prompts"} & {*file.content}:
        file.report("", "must have a `scorer`, and no tasks: theirs are in the store")
        file.raise_problems()

    def rule(item: dict[str, object]) -> Rule | None:
        content = {"scorer": file.content["scorer"], "tasks": [{"id": "stored", **item}]}
        (task,) = tasks_of(SuiteFile(path, content, file.lines))
        return _rule(file, task)

    rule({"prompt": "?"})  # raises if the scorer itself has mistakes
    rules: dict[tuple[str, str], Rule] = {}
    for answer in answers:
        given = {"references": [*answer.references]} if answer.references else {}
        with suppress(BadInput):
            if (found := rule({"prompt": answer.prompt, **given})) is not None:
                rules[answer.task_id, answer.prompt] = found
    kind = next(iter(rules.values()), {})
    function = load_function(str(kind["function"]), path.parent) if "function" in kind else None
    source = None if function is None else source_hash(function)
    version = content_hash("bare scorer", file.content["scorer"], source)[:_VERSION_DIGITS]
    return FileScorer(
        name=_scorer_name(path, name),
        version=version,
        suite=suite,
        rules=rules,
        task_ids=frozenset(task_id for task_id, _ in rules),
        folder=path.parent,
    )


def _scorer_name(path: Path, name: str | None) -> str:
    chosen = path.stem if name is None else name
    if not _NAME.fullmatch(chosen):
        raise BadInput(
            f"{chosen!r} cannot be the name of a scorer: choose another with --name, of up to 100 "
            "letters, digits, spaces and _ - . /"
        )
    return chosen


def _rule(file: SuiteFile, task: Task) -> Rule | None:
    rule = rule_of(task)
    if rule is not None and rule["type"] == "judge":
        raise BadInput(
            f"{file.path}: task {task.task_id!r} is judged by a model, and a re-score calls none; "
            "`evalstore run` does"
        )
    return rule


def _prompts(file: SuiteFile, task: Task) -> frozenset[str]:
    """Return what may have been asked: runs of ours record the prompt, others what was sent."""
    template = file.content.get("template")
    sent = template.replace(PLACEHOLDER, task.prompt) if isinstance(template, str) else task.prompt
    return frozenset({task.prompt, sent})


def _version(rules: Mapping[str, TaskRule], folder: Path) -> str:
    names = {str(one.rule["function"]) for one in rules.values() if one.rule["type"] == "function"}
    sources = {name: source_hash(load_function(name, folder)) for name in sorted(names)}
    judged = {task_id: (sorted(one.prompts), one.rule) for task_id, one in rules.items()}
    return content_hash("scorer", judged, sources)[:_VERSION_DIGITS]


def _suite(file: SuiteFile, suite: str | None, suites: Collection[str]) -> str:
    """Return the suite of the answers; a list of prompts with validators is one of openclaw."""
    given = suite if suite is not None else file.content.get("suite")
    if given is None:
        given = file.path.stem if file.path.stem in suites else SUITE
    if given not in suites:
        known = f"its suites are: {', '.join(sorted(suites))}" if suites else "it has no runs"
        hint = did_you_mean(str(given), suites, known)
        raise BadInput(f"the store has no runs of suite {given!r}; {hint}")
    return str(given)
