"""A simulation of tau2, or a trial of the first tau-bench, as a result with its scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ingest.formats.common.fields import (
    Fields,
    finite_number,
    inner,
    list_of,
    object_of,
    text_of,
)
from ingest.formats.common.trials import outcome, score_row
from ingest.formats.tau_bench.conversation import Conversation, messages_of, tokens_of
from ingest.formats.tau_bench.experiment import SUITE, id_text
from warehouse.core.formats.json_text import canonical_json
from warehouse.core.formats.values import utf8
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ingest.formats.common.collector import RowCollector
    from ingest.formats.common.trials import Cause
    from ingest.formats.tau_bench.experiment import Experiment
    from warehouse.core.types import Json, JsonObject, ResultRow, ResultScoreRow

# tau2 drops these from its figures: neither the agent nor the user failed.
_INFRASTRUCTURE = "infrastructure_error"
_CAUSES: dict[str | None, Cause] = {
    "max_steps": "limit",
    "context_window_exceeded": "limit",
    "timeout": "timeout",
    "too_many_errors": "error",
    "agent_error": "error",
    "user_error": "error",
    "unexpected_error": "error",
    _INFRASTRUCTURE: "error",
}
_PASSING = 1e-6


class _Checks(NamedTuple):
    """A list of checks of `reward_info`.

    Attributes:
        member: the list.
        basis: the part of the reward that they decide.
        name: begin of their metrics.
        kind: as in `check_class`.
        passed: member with the verdict.
    """

    member: str
    basis: str
    name: str
    kind: str
    passed: str


_CHECKS = (
    _Checks("action_checks", "ACTION", "action", "action", "action_match"),
    _Checks("communicate_checks", "COMMUNICATE", "communicate", "test", "met"),
    _Checks("nl_assertions", "NL_ASSERTION", "nl_assertion", "test", "met"),
    _Checks("env_assertions", "ENV_ASSERTION", "env_assertion", "test", "met"),
)


def from_v1(record: JsonObject) -> JsonObject:
    """Return a trial of the first tau-bench as a simulation of tau2."""
    fields = Fields(record)
    info = fields.inside("info")
    verdict = info.inside("reward_info")
    found = verdict.inside("info")
    reward_info: JsonObject = {"reward": fields.value("reward"), "reward_basis": _V1_BASIS}
    matches = found.value("r_actions")
    if matches is not None:
        reward_info["db_check"] = {"db_match": bool(matches)}
    outputs = object_of(found.value("outputs"))
    if outputs:
        reward_info["communicate_checks"] = [
            {"info": text, "met": bool(met)} for text, met in outputs.items()
        ]
    verdict.drop("reward", "actions")
    info.drop("task")
    messages = fields.value("traj")
    return {
        "messages": messages,
        "reward_info": reward_info,
        "user_cost": info.value("user_cost"),
        "error": info.value("error"),
        **fields.left(),
    }


_V1_BASIS = ("DB", "COMMUNICATE")


def v1_task(record: JsonObject) -> JsonObject:
    """Return the task of a trial of the first tau-bench as a task of tau2."""
    task = Fields(inner(record, "info", "task"))
    criteria = {name: task.value(name) for name in ("actions", "outputs")}
    scenario: JsonObject = {"instructions": task.value("instruction")}
    return {
        "id": id_text(record.get("task_id")),
        "user_scenario": scenario,
        "evaluation_criteria": criteria,
        **task.left(),
    }


def problem_of(record: object) -> str:
    """Return why a record cannot be used as a trial; "" if it can."""
    if not isinstance(record, dict):
        return "not a JSON object"
    return "" if id_text(record.get("task_id")) else "has no `task_id`"


def add_trial(simulation: JsonObject, seq: int, experiment: Experiment, rows: RowCollector) -> None:
    """Add the rows of a simulation without a problem."""
    fields = Fields(simulation)
    result = _result_row(fields, experiment)
    trial_id = fields.text("id") or _made_id(simulation, experiment)
    content_id = content_hash(
        SUITE, experiment.run_id, result["system"], trial_id, canonical_json(simulation)
    )
    result |= {"content_id": content_id, "seq": seq, "trial_id": trial_id}
    messages = messages_of(simulation)
    _add_totals(result, messages)
    reward_info = fields.inside("reward_info")
    if not _is_dropped(simulation):
        _add_scores(reward_info, result, rows)
    sent, received = tokens_of(messages, "user")
    n_ticks = len(list_of(fields.value("ticks"))) or None
    fields.drop("messages", *_repeated(simulation, experiment))
    result["extra"] = fields.extra(
        user_input_tokens=sent, user_output_tokens=received, n_ticks=n_ticks
    )
    rows.add("results", result)
    conversation = Conversation(
        content_id,
        experiment.models,
        rows,
        has_tokens=result["input_tokens"] is not None or result["output_tokens"] is not None,
        has_cost=result["cost_usd"] is not None,
    )
    for message in messages:
        conversation.add(message)
    conversation.finish()


def _result_row(fields: Fields, experiment: Experiment) -> ResultRow:
    simulation = fields.left()
    task_id = id_text(fields.value("task_id"))
    end, trial = fields.text("termination_reason"), fields.integer("trial")
    error = fields.peek("error")
    cost = fields.number("agent_cost")
    task = experiment.tasks.get(task_id or "")
    row = outcome(
        passed=_verdict(simulation),
        cause="error" if error else _CAUSES.get(end),
        recorded_end=end,
        failure="error" if error else None,
    )
    return row | {
        "model": experiment.models.get("agent"),
        "system": experiment.system["system"],
        "settings": experiment.settings,
        "task_set": experiment.task_set,
        "task_id": task_id,
        "task_hash": task["task_hash"] if task else None,
        "prompt": task["prompt"] if task else None,
        "attempt": None if trial is None else trial + 1,
        "started_at": fields.moment("start_time"),
        "ended_at": fields.moment("end_time"),
        "duration_seconds": fields.number("duration"),
        "cost_usd": cost,
        "cost_source": None if cost is None else SUITE,
        "token_scope": "own",
    }


def _add_totals(result: ResultRow, messages: list[JsonObject]) -> None:
    result["input_tokens"], result["output_tokens"] = tokens_of(messages, "assistant")
    if result["cost_usd"] is None and result["input_tokens"] is None:
        result["token_scope"] = None
    if not messages:  # it has no steps that could be counted
        result["n_steps"] = result["tool_call_count"] = result["n_tool_errors"] = 0


def _is_dropped(simulation: JsonObject) -> bool:
    return simulation.get("termination_reason") == _INFRASTRUCTURE


def _verdict(simulation: JsonObject) -> bool | None:
    """Return whether the reward is 1; None where there is none, or tau2 does not count it."""
    reward = finite_number(inner(simulation, "reward_info", "reward"))
    return None if reward is None or _is_dropped(simulation) else abs(reward - 1) <= _PASSING


def _made_id(simulation: JsonObject, experiment: Experiment) -> str:
    """Return an id for a trial that has none: file, task and number of the trial."""
    task_id, trial = id_text(simulation.get("task_id")), simulation.get("trial")
    return utf8(f"{experiment.source_name}/{task_id}/{trial}")


def _repeated(simulation: JsonObject, experiment: Experiment) -> Iterator[str]:
    """Yield members that only repeat others."""
    if simulation.get("policy") == experiment.policy:
        yield "policy"
    if simulation.get("end_time") is not None:
        yield "timestamp"  # when the record was written, at once


def _add_scores(reward_info: Fields, result: ResultRow, rows: RowCollector) -> None:
    basis = reward_info.peek("reward_basis")
    given = basis if isinstance(basis, list | tuple) else None
    result_id = result["content_id"]
    for position, row in enumerate(_scores(reward_info, given), 1):
        row["content_id"] = rows.id_of("score", result_id, position)
        if row["metric"] == "reward":
            row["passed"] = result["objective_pass"]
        ids: ResultScoreRow = {"result_id": result_id, "scorer": SUITE, "position": position}
        rows.add("result_scores", {**row, **ids})


def _scores(reward_info: Fields, basis: Sequence[Json] | None) -> Iterator[ResultScoreRow]:
    def counts(part: str) -> bool | None:
        return None if basis is None else part in basis

    reward = reward_info.value("reward")
    if reward is not None:
        yield score_row("reward", reward)
    for part, share in object_of(reward_info.value("reward_breakdown")).items():
        yield score_row(f"reward {part}", share, check_class="reward", counts=counts(part))
    db = reward_info.inside("db_check")
    matches = db.boolean("db_match")
    if matches is not None:
        db.drop("db_reward")
        yield score_row("db", matches, passed=matches, check_class="db", counts=counts("DB"))
    for checks in _CHECKS:
        for number, check in enumerate(list_of(reward_info.value(checks.member)), 1):
            fields = Fields(check)
            passed = fields.boolean(checks.passed)
            row = score_row(
                f"{checks.name} {text_of(inner(check, 'action', 'action_id')) or number}",
                passed,
                passed=passed,
                check_class=checks.kind,
                counts=counts(checks.basis),
            )
            explanation = fields.text("justification")
            yield {**row, "explanation": explanation, "extra": fields.extra()}
