"""Rows of agent trials: the tested system, how a trial ended, its scores, figures, messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from ingest.formats.common.fields import amount, texts_of
from warehouse.core.formats.json_text import canonical_json, json_text
from warehouse.core.formats.values import utf8
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from warehouse.core.types import (
        Json,
        JsonObject,
        MessageRow,
        ReportedMetricRow,
        ResultRow,
        ResultScoreRow,
        SystemRow,
    )

EndReason: TypeAlias = Literal["solved", "gave_up", "limit", "timeout", "error", "unknown"]
Cause: TypeAlias = Literal["limit", "timeout", "error"] | None

Models: TypeAlias = "Mapping[str, str | Sequence[str]]"

MAIN_ROLE = "agent"
# Why a trial without a verdict failed, if the log gives no reason.
NO_VERDICT = "no verdict"
_NOT_RECORDED = "model not recorded"
_TEST_VERDICTS = {"passed": True, "failed": False}


def system_row(
    *,
    agent: str | None,
    agent_version: str | None = None,
    harness: str | None = None,
    harness_version: str | None = None,
    model: str | None = None,
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
        model: the only model.
        models: models by role, if there are several; the main one has the role `agent`.
        configuration: settings of the agent and its environment that the log records.
        label: name of the system if the log states one that says no more than that.
        run_id: the run, which is part of the label where no model is recorded: systems of two runs
            may then have different models.
    """
    by_role = dict(models or ({MAIN_ROLE: model} if model else {}))
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


def outcome(
    *,
    passed: bool | None = None,
    cause: Cause = None,
    recorded_end: str | None = None,
    failure: str | None = None,
    violation: str | None = None,
) -> ResultRow:
    """Return what a result says of how its trial ended, and whether it gave an answer.

    Args:
        passed: the verdict; a trial that has one gave an answer, however it ended.
        cause: what ended the trial, see `end_reason`.
        recorded_end: how it ended, in the log's own word.
        failure: why it gave no answer, if the log says so, or `NO_VERDICT`.
        violation: what went wrong; a trial that passed has none.
    """
    is_answered = passed is not None or failure is None
    return {
        "objective_pass": passed,
        "end_reason": end_reason(cause, passed=passed),
        "recorded_end": recorded_end,
        "availability_status": "ok" if is_answered else "error",
        "success": is_answered,
        "failure_type": None if is_answered else failure,
        "violation": None if passed else violation,
    }


def end_reason(cause: Cause, *, passed: bool | None) -> EndReason:
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


def score_row(
    metric: str,
    score: Json,
    *,
    passed: bool | None = None,
    scorer: str | None = None,
    check_class: str | None = None,
    counts: bool | None = None,
) -> ResultScoreRow:
    """Return a score without its ids.

    Args:
        metric: its name.
        score: as recorded; true and false are 1 and 0.
        passed: whether it means a pass; None if it does not say.
        scorer: what gave it.
        check_class: kind of check.
        counts: whether it counts for the verdict; None if the log does not say.
    """
    value, text = amount(score)
    return {
        "scorer": scorer,
        "metric": utf8(metric),
        "value": value,
        "text": text,
        "passed": passed,
        "check_class": check_class,
        "counts": counts,
    }


def test_row(name: str, status: Json, *, counts: bool) -> ResultScoreRow:
    """Return the score of a test that `passed` or `failed`; of another status it has the text."""
    verdict = _TEST_VERDICTS.get(status) if isinstance(status, str) else None
    return score_row(
        name,
        status if verdict is None else verdict,
        passed=verdict,
        scorer="tests",
        check_class="test",
        counts=counts,
    )


def figure_row(
    metric: str,
    figure: Json,
    *,
    score: str | None = None,
    statistic: str = "sum",
    per: str | None = None,
    k: int | None = None,
    n: int | None = None,
    reason: str | None = None,
) -> ReportedMetricRow | None:
    """Return a figure that a log reports, without its ids; None if there is none.

    Args:
        metric: its name.
        figure: as recorded.
        score: the scores behind it.
        statistic: how it follows from them.
        per: the scores by whose sum theirs is divided, for a ratio.
        k: number of attempts, for a share of tasks passed in one of them.
        n: number of trials or tasks behind it; None if not recorded.
        reason: why it cannot be computed again; None if it can.
    """
    value, text = amount(figure)
    if value is None and text is None:
        return None
    row: ReportedMetricRow = {"metric": utf8(metric), "value": value, "text": text, "n": n}
    if reason is not None:
        return {**row, "reason": reason}
    row |= {
        "score": score,
        "statistic": statistic,
        "reducer": "none" if k is None else "pass_at_k",
    }
    if per is not None or k is not None:
        row["reducer_parameters"] = json_text({"k": k} if per is None else {"per": per})
    return row


def content_columns(content: Json) -> MessageRow:
    """Return the content of a message: its text, and its parts if it is more than text."""
    return {
        "text": texts_of(content),
        "parts": None if isinstance(content, str | None) else json_text(content),
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
