"""A user's own suite: a YAML or JSON file of prompts, and how each answer is judged.

suite: capitals
template: 'Answer with one word. {prompt}'
tasks:
- {id: fr, prompt: The capital of France?, reference: Paris}
"""

from __future__ import annotations

import asyncio
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, cast

from runners.models.addresses import (
    ADDRESS_KEYS,
    Address,
    address_problem,
    addressed,
    moved,
    named_address,
    own_address,
    with_key_of,
    without_address,
)
from runners.models.model import Model
from runners.models.model_files import choose_models
from runners.plan import Plan, Task
from runners.providers.base import Reply
from runners.providers.registry import PROVIDERS
from runners.suites.base import (
    PLACEHOLDER,
    PreparedRun,
    RunSpec,
    Suite,
    known_model_rows,
    selected,
)
from runners.suites.custom.document import SuiteFile, read_suite_file
from runners.suites.custom.functions import judge_by_function, load_function, source_hash
from runners.suites.custom.judge import judge_request, judgement_row, verdict_of
from runners.suites.custom.tasks import hashed_suite, rule_of, tasks_of
from runners.suites.registry import SUITES
from warehouse.core.errors import BadInput
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.values import utf8
from warehouse.core.hashing import content_hash
from warehouse.core.suggestions import did_you_mean
from warehouse.engine.scoring.custom.scorers import score, scorer_name
from warehouse.engine.scoring.openclaw.verdicts import as_object, to_json
from warehouse.lake.journal.journal import Entry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from runners.engine.engine import CallOutcome
    from runners.plan import Cell
    from runners.providers.base import Request
    from runners.suites.base import Ask
    from warehouse.core.types import ResultRow, Row, RunRow, TaskRow
    from warehouse.engine.scoring.custom.scorers import Rule
    from warehouse.engine.scoring.openclaw.verdicts import Verdict

FAMILY = "own"
_REPLAY = "replay"
_SUITE_KEYS = ("suite", "template", "scorer", "tasks", "prompts", *ADDRESS_KEYS)


class CustomSuite(Suite):
    """Runs the tasks of a user's file."""

    family = FAMILY

    def prepare(self, spec: RunSpec, /) -> PreparedRun:
        """Read the file."""
        path = Path(spec.suite)
        file = read_suite_file(path)
        name, template = _name_and_template(file)
        at = _address(file)
        tasks = tasks_of(file)
        chosen = selected(tasks, spec)
        models = tuple(addressed(model, own_address(model), at) for model in spec.models)
        judges = _judges(file, chosen, replace(spec, models=models), at)
        options: _Options = {"folder": str(path.parent), "judges": judges}
        plan = Plan(
            suite=name,
            family=FAMILY,
            run_date=spec.run_date,
            task_set=path.stem,
            models=models,
            tasks=chosen,
            template=template,
            attempts=spec.attempts,
            is_streamed=spec.is_streamed,
            options=options,
        )
        self.check(plan)
        shared: TaskRow = {
            "suite": name,
            "task_set": path.stem,
            "task_set_hash": content_hash(hashed_suite(file.content)),
        }
        rows = [_row(task, seq, shared) for seq, task in enumerate(tasks, start=1)]
        kept: dict[str, Sequence[Row]] = {"tasks": rows, "models": known_model_rows(spec)}
        return PreparedRun(plan, kept, path.parent, warnings=tuple(file.warnings))

    def columns(self, _plan: Plan, cell: Cell, outcome: CallOutcome, /) -> ResultRow:
        """Judge the answer by the rule of its task."""
        if not isinstance(outcome.result, Reply):
            return {}
        text = utf8(outcome.result.text)
        row: ResultRow = {"answer": text.strip()}
        rule = rule_of(cell.task)
        if rule is None:
            return row
        verdict = score(text, rule)
        parsed = to_json(as_object(verdict.parsed_output))
        return {**row, "scorer": scorer_name(rule), **_columns(verdict), "parsed_output": parsed}

    def moved(self, plan: Plan, base_url: str | None, judge_base_url: str | None, /) -> Plan:
        """Return a plan with its judges at new addresses: that of the run, or one of their own."""
        judges = cast("dict[str, Row]", plan.options.get("judges", {}))
        of_models = {None, *(model.base_url for model in plan.models)}
        changed = {}
        for key, row in judges.items():
            judge = Model(**row)
            follows = base_url if judge.base_url in of_models else None
            changed[key] = asdict(moved(judge, judge_base_url or follows))
        return replace(plan, options={**plan.options, "judges": changed})

    def later_calls(self, plan: Plan, cell: Cell, /) -> Iterator[tuple[Model, Request]]:
        """Yield the judge's call, if a model judges the answers to the task."""
        rule = rule_of(cell.task)
        if rule is not None and rule["type"] == "judge":
            judge = _judge(plan, cell, rule)
            yield judge, judge_request(rule, judge, cell, "")

    async def decide(
        self, plan: Plan, cell: Cell, result: ResultRow, ask: Ask, /
    ) -> tuple[ResultRow, Sequence[Entry]]:
        """Have the user's function or the judge of the task decide about an answer."""
        rule = rule_of(cell.task)
        if rule is None or not result["success"]:
            return {}, ()
        text = result["raw_output"] or ""
        if rule["type"] == "function":
            function = load_function(str(rule["function"]), _folder(plan))
            # In a thread: the calls in progress are being timed in this one.
            return _columns(await asyncio.to_thread(judge_by_function, function, text, rule)), ()
        if rule["type"] == "judge":
            judge = _judge(plan, cell, rule)
            outcome = await ask(judge, judge_request(rule, judge, cell, text))
            row = judgement_row(judge, cell, outcome, result)
            return _columns(verdict_of(outcome)), (Entry("judgements", row),)
        return {}, ()

    def check(self, plan: Plan, /) -> None:
        """Check that the functions of the plan can be imported."""
        for name in _functions(plan):
            load_function(name, _folder(plan))

    def run_columns(self, plan: Plan, _run_id: str, _timeout_seconds: float, /) -> RunRow:
        """Return the scorers of the run, and the hash of each function's file."""
        rules = [rule for rule in map(rule_of, plan.tasks) if rule is not None]
        config: dict[str, object] = {"scorers": sorted({scorer_name(rule) for rule in rules})}
        if names := _functions(plan):
            loaded = {name: load_function(name, _folder(plan)) for name in names}
            config["functions"] = {name: source_hash(f) for name, f in loaded.items()}
        return {"config": json_text(config)}


SUITE = CustomSuite()


class _Options(TypedDict):
    """The options of a plan: folder of the suite's file, and the judges by name and provider."""

    folder: str
    judges: dict[str, Row]


def _folder(plan: Plan) -> Path:
    return Path(str(plan.options.get("folder", ".")))


def _functions(plan: Plan) -> list[str]:
    rules = [rule_of(task) or {} for task in plan.tasks]
    return sorted({str(rule["function"]) for rule in rules if rule.get("type") == "function"})


def _columns(verdict: Verdict) -> ResultRow:
    reason = None if verdict.violation is None else utf8(verdict.violation)
    return {"objective_pass": verdict.objective_pass, "violation": reason}


def _judge(plan: Plan, cell: Cell, rule: Rule) -> Model:
    """Return the judge of a cell: replayed answers get replayed judgements, at no cost."""
    judges = cast("dict[str, Row]", plan.options["judges"])
    judge = Model(**judges[_judge_key(rule)])
    return replace(judge, provider=_REPLAY) if cell.model.provider == _REPLAY else judge


def _judge_key(rule: Rule) -> str:
    own = [str(rule[key]) for key in ADDRESS_KEYS if key in rule]
    return " ".join([str(rule.get("provider", "")), str(rule["model"]), *own])


def _judges(file: SuiteFile, tasks: tuple[Task, ...], spec: RunSpec, at: Address) -> dict[str, Row]:
    """Return the judges of the tasks, with the parameters and prices of their model files.

    They are called where the suite or the user says so, otherwise at the address of the run.
    """
    judges: dict[str, Row] = {}
    for rule in (task.scorer for task in tasks if task.scorer is not None):
        if rule["type"] != "judge" or _judge_key(rule) in judges:
            continue
        provider = str(rule["provider"]) if "provider" in rule else None
        if provider is not None and provider not in PROVIDERS:
            known = f"use {', '.join(PROVIDERS)}"
            hint = did_you_mean(provider, PROVIDERS, known)
            raise BadInput(f"{file.path}: scorer.provider: unknown provider {provider!r}; {hint}")
        name = str(rule["model"])
        places = (spec.judge_at, named_address(rule), spec.at)
        judge, *_ = choose_models([name], spec.files, provider=provider, at=places)
        judge = with_key_of(addressed(judge, own_address(judge), at), spec.models)
        is_rehearsal = all(model.provider == _REPLAY for model in spec.models)
        if judge.provider == _REPLAY and not is_rehearsal:
            raise BadInput(f"{file.path}: the judge {name} is replayed, but the models are not")
        judges[_judge_key(rule)] = asdict(judge)
    return judges


def _address(file: SuiteFile) -> Address:
    """Return the address that a file names for models without one, and for judges."""
    for key in ADDRESS_KEYS:
        problem = address_problem(key, file.content[key]) if key in file.content else None
        if problem is not None:
            file.report(key, problem)
    return named_address(file.content)


def _name_and_template(file: SuiteFile) -> tuple[str, str | None]:
    file.check_keys("", file.content, _SUITE_KEYS)
    name = file.content.get("suite", file.path.stem)
    if not isinstance(name, str) or not name or name in SUITES:
        file.report("suite", f"must be a name that no other suite has, not {name!r}")
    template = file.content.get("template")
    if template is not None and not (isinstance(template, str) and PLACEHOLDER in template):
        file.report("template", f"the {PLACEHOLDER} placeholder is missing")
    return str(name), template if isinstance(template, str) else None


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
        "scorer": json_text(without_address(task.scorer)) if task.scorer is not None else None,
    }
    return {**row, "cluster": task.cluster, "content_id": content_hash("task", row)}
