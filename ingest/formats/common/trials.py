"""Rows of agent trials: the tested system, how a trial ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from warehouse.core.formats.json_text import canonical_json
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from warehouse.core.types import JsonObject, ResultRow, SystemRow

EndReason: TypeAlias = Literal["solved", "gave_up", "limit", "timeout", "error", "unknown"]

Models: TypeAlias = "Mapping[str, str | Sequence[str]]"

MAIN_ROLE = "agent"
# Why a trial without a verdict failed, if the log gives no reason.
NO_VERDICT = "no verdict"
_NOT_RECORDED = "model not recorded"


def system_row(
    *,
    agent: str | None,
    agent_version: str | None = None,
    harness: str | None = None,
    harness_version: str | None = None,
    models: Models | None = None,
    configuration: JsonObject | None = None,
    label: str | None = None,
    run_id: str | None = None,
) -> SystemRow:
    """Return the row of a system; results name it by its `system`.

    Args:
        agent: name of the agent, or of the scaffold.
        agent_version: its version, not that of the harness.
        harness: program that ran the trials.
        harness_version: its version.
        models: models by role; the main one has the role `agent`.
        configuration: settings of the agent and its environment that the log records.
        label: name of the system if the log states one that says no more than that.
        run_id: the run, which is part of the label where no model is recorded: systems of two runs
            may then have different models.
    """
    by_role = dict(models or {})
    main = by_role.get(MAIN_ROLE)
    row: SystemRow = {
        "system": label or system_label(agent, agent_version, by_role, run_id),
        "agent": agent,
        "agent_version": agent_version,
        "harness": harness,
        "harness_version": harness_version,
        "model": main if isinstance(main, str) else None,
        "models": canonical_json(by_role) if by_role else None,
        "configuration": canonical_json(configuration) if configuration else None,
    }
    row["content_id"] = content_hash("system", *row.values())
    return row


def end_reason(
    cause: Literal["limit", "timeout", "error"] | None, *, passed: bool | None
) -> EndReason:
    """Return how a trial ended.

    Args:
        cause: `limit` (of steps, tokens or cost), `timeout`, `error`, or None where the agent
            stopped by itself or the log names no cause.
        passed: the verdict; a trial may pass although its time was over.
    """
    if cause is not None:
        return cause
    if passed is None:
        return "unknown"
    return "solved" if passed else "gave_up"


def answered(
    *, passed: bool | None, failure: str | None, violation: str | None = None
) -> ResultRow:
    """Return whether a trial gave an answer, and how it was judged.

    Args:
        passed: the verdict; a trial that has one gave an answer, however it ended.
        failure: why it gave none, if the log says so.
        violation: what went wrong; a trial that passed has none.
    """
    is_answered = passed is not None or failure is None
    return {
        "objective_pass": passed,
        "availability_status": "ok" if is_answered else "error",
        "success": is_answered,
        "failure_type": None if is_answered else failure,
        "violation": None if passed else violation,
    }


def system_label(
    agent: str | None, version: str | None, models: Models, run_id: str | None = None
) -> str:
    """Return the label of a system: `openhands 0.51 (claude-sonnet-4, user gpt-4.1)`."""
    name = " ".join(filter(None, (agent or "agent not recorded", version)))
    roles = [MAIN_ROLE, *sorted(models.keys() - {MAIN_ROLE})]
    parts = [_role_text(role, models[role]) for role in roles if models.get(role)]
    if not models.get(MAIN_ROLE):
        parts.insert(0, _NOT_RECORDED)
        parts += [f"run {run_id}"] if run_id else []
    return f"{name} ({', '.join(parts)})"


def _role_text(role: str, models: str | Sequence[str]) -> str:
    names = models if isinstance(models, str) else " + ".join(models)
    return names if role == MAIN_ROLE else f"{role} {names}"
