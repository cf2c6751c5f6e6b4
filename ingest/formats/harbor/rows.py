"""The rows of a trial that its result says: the same in the trial's file and in the job's."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Literal

from ingest.formats.atif.steps import plus
from ingest.formats.common.fields import (
    Fields,
    amount,
    finite_number,
    iso_moment,
    list_of,
    object_of,
    text_of,
    whole_number,
)
from ingest.formats.common.trials import answered, end_reason, system_row
from ingest.formats.harbor.layout import SUITE
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.formats.common.collector import RowCollector
    from warehouse.core.types import Json, JsonObject, ResultRow, ResultScoreRow, SystemRow

PHASES = ("environment_setup", "agent_setup", "agent_execution", "verifier")
_REWARD = "reward"
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - as in columns, which are UTC
_LIMITS = {"ContextLengthExceededError", "OutputLengthExceededError", "AgentContextLimitError"}
_TIMEOUT = "AgentTimeoutError"
_AMOUNTS = ("n_input_tokens", "n_cache_tokens", "n_output_tokens", "cost_usd")


def trial_system(trial: JsonObject, version: str | None) -> SystemRow:
    """Return the row of the system that a trial tested.

    Args:
        trial: the trial's result.
        version: version of Harbor.
    """
    info = object_of(trial.get("agent_info"))
    model = model_name(trial)
    settings = object_of(object_of(trial.get("config")).get("agent"))
    kept = {name: settings[name] for name in ("import_path", "kwargs") if settings.get(name)}
    return system_row(
        agent=text_of(info.get("name")) or text_of(settings.get("name")),
        agent_version=text_of(info.get("version")),
        harness="harbor",
        harness_version=version,
        models={} if model is None else {"agent": model},
        configuration=kept,
    )


def model_name(trial: JsonObject) -> str | None:
    """Return the model of a trial with its provider; None if it has none."""
    model = object_of(object_of(trial.get("agent_info")).get("model_info"))
    name, provider = text_of(model.get("name")), text_of(model.get("provider"))
    return f"{provider}/{name}" if name and provider else name


def eval_key(trial: JsonObject) -> str:
    """Return the key of the figures of a job that a trial is part of."""
    info = object_of(trial.get("agent_info"))
    model = text_of(object_of(info.get("model_info")).get("name"))
    names = [text_of(info.get("name")), model, text_of(trial.get("source")) or "adhoc"]
    return "__".join(name for name in names if name)


def trial_row(trial: JsonObject, system: SystemRow, rows: RowCollector) -> ResultRow:
    """Return the row of a trial.

    Args:
        trial: its result.
        system: what it tested.
        rows: gives ids.
    """
    fields = Fields(trial)
    trial_id = fields.text("id") or fields.peek("trial_name")
    passed, failure = verdict(rewards_of(trial)), _failure(trial)
    amounts = _amounts(trial)
    is_known = any(amounts.get(name) for name in ("n_input_tokens", "n_output_tokens"))
    tokens = {name: whole_number(amounts.get(name)) if is_known else None for name in _AMOUNTS}
    phases = _phases(trial)
    for name in (*PHASES, "task_id"):
        fields.value(name)
    row: ResultRow = {
        "content_id": rows.id_of("trial", SUITE, rows.run_id, system["system"], trial_id),
        "seq": _position(trial),
        "model": system["model"],
        "system": system["system"],
        "trial_id": text_of(trial_id),
        "task_set": fields.text("source") or "adhoc",
        "task_id": fields.text("task_name"),
        "task_hash": fields.text("task_checksum"),
        "end_reason": end_reason(_cause(failure), passed=passed),
        "recorded_end": failure,
        **answered(passed=passed, failure=failure),
        "started_at": fields.moment("started_at"),
        "ended_at": fields.moment("finished_at"),
        "input_tokens": tokens["n_input_tokens"],
        "cached_tokens": tokens["n_cache_tokens"],
        "output_tokens": tokens["n_output_tokens"],
        "cost_usd": finite_number(amounts.get("cost_usd")) if is_known else None,
        "phases": json_text(phases) if phases else None,
        "extra": None,
    }
    task = object_of(trial.get("task_id"))
    row["extra"] = fields.extra(counts=_counts(trial, amounts), task=task or None)
    return row


def _position(trial: JsonObject) -> int:
    """Return the place of a trial among those of its job: milliseconds of its start since 1970.

    Attempts are numbered by it. A trial does not know its number, and files come in any order.
    """
    started = iso_moment(trial.get("started_at"))
    return 1 if started is None else int((started - _EPOCH).total_seconds() * 1000)


def score_rows(trial: JsonObject, result_id: str, rows: RowCollector) -> Iterator[ResultScoreRow]:
    """Yield the rewards of a trial, and those of its steps, which do not count by themselves."""
    rewards = rewards_of(trial)
    for name, reward in rewards.items():
        yield _reward(name, reward, result_id, rows, counts=name in _deciding(rewards))
    for index, value in enumerate(list_of(trial.get("step_results"))):
        step = object_of(value)
        place = text_of(step.get("step_name")) or text_of(step.get("name")) or f"step {index + 1}"
        for name, reward in rewards_of(step).items():
            yield _reward(f"{place}/{name}", reward, result_id, rows, counts=False)


def rewards_of(trial: JsonObject) -> JsonObject:
    """Return the rewards of a trial or of one of its steps."""
    return object_of(object_of(trial.get("verifier_result")).get("rewards"))


def verdict(rewards: JsonObject) -> bool | None:
    """Return whether a trial passed: its deciding rewards are 1; None without one."""
    found = [finite_number(rewards[name]) for name in _deciding(rewards)]
    numbers = [number for number in found if number is not None]
    return all(number >= 1 for number in numbers) if numbers else None


def _deciding(rewards: JsonObject) -> list[str]:
    """Return the names of the rewards that decide: `reward`, else all of them."""
    return [_REWARD] if _REWARD in rewards else list(rewards)


def _reward(
    name: str, reward: Json, result_id: str, rows: RowCollector, *, counts: bool
) -> ResultScoreRow:
    value, text = amount(reward)
    return {
        "content_id": rows.id_of("reward", result_id, name, value, text),
        "result_id": result_id,
        "scorer": "verifier",
        "metric": utf8(name),
        "value": value,
        "text": text,
        "check_class": "reward",
        "counts": counts,
    }


def _failure(trial: JsonObject) -> str | None:
    """Return the type of a trial's exception, else that of the first of its steps."""
    steps = list_of(trial.get("step_results"))
    for part in (trial, *map(object_of, steps)):
        name = text_of(object_of(part.get("exception_info")).get("exception_type"))
        if name is not None:
            return name
    return None


def _cause(failure: str | None) -> Literal["limit", "timeout", "error"] | None:
    if failure is None:
        return None
    if failure == _TIMEOUT:
        return "timeout"
    return "limit" if failure in _LIMITS else "error"


def _amounts(trial: JsonObject) -> dict[str, float | None]:
    """Return the tokens and the cost of a trial, or the sums over its steps."""
    steps = list_of(trial.get("step_results"))
    parts = [trial] if trial.get("agent_result") is not None else map(object_of, steps)
    sums: dict[str, float | None] = dict.fromkeys(_AMOUNTS)
    for part in parts:
        result = object_of(part.get("agent_result"))
        for name in _AMOUNTS:
            sums[name] = plus(sums[name], finite_number(result.get(name)))
    return sums


def _phases(trial: JsonObject) -> list[JsonObject]:
    phases: list[JsonObject] = []
    for index, value in enumerate((trial, *list_of(trial.get("step_results")))):
        part = object_of(value)
        name = text_of(part.get("step_name")) or text_of(part.get("name")) or f"step {index}"
        for phase in PHASES:
            times = object_of(part.get(phase))
            if iso_moment(times.get("started_at")) is not None:
                phases.append(
                    {
                        "name": f"{name}/{phase}" if index else phase,
                        "started_at": times.get("started_at"),
                        "ended_at": times.get("finished_at"),
                    }
                )
    return phases


def _counts(trial: JsonObject, amounts: dict[str, float | None]) -> JsonObject:
    """Return what a job's figures add up, so that the audit can: see `jobs`."""
    rewards = rewards_of(trial)
    is_failed = trial.get("exception_info") is not None
    values = {name: finite_number(value) for name, value in rewards.items()}
    first = next(iter(values.values())) if len(values) == 1 else None
    return {
        "completed": 1,
        "errored": int(is_failed),
        **amounts,
        "evals": {
            eval_key(trial): {
                "all": 1,
                "n_trials": int(bool(rewards)),
                "n_errors": int(is_failed),
                "only_reward": 0 if not rewards else first,
                "rewards": values,
            }
        },
    }
