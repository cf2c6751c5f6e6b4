"""The rows of a trial that its result says: the same in the trial's file and in the job's."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from ingest.formats.common.collector import part_id
from ingest.formats.common.documents import object_beside
from ingest.formats.common.fields import (
    Fields,
    finite_number,
    inner,
    iso_moment,
    known_sum,
    list_of,
    object_of,
    text_of,
    whole_number,
)
from ingest.formats.common.trials import outcome, score_row, system_row
from warehouse.core.formats.json_text import json_text

if TYPE_CHECKING:
    from pathlib import Path

    from ingest.formats.common.collector import RowCollector
    from ingest.formats.common.trials import Cause
    from warehouse.core.types import JsonObject, ResultRow, SystemRow

SUITE = "harbor"
RESULT = "result.json"
TABLES = ("systems", "results", "steps", "result_scores", "reported_metrics", "events")
_LOCK = "lock.json"
_PHASES = ("environment_setup", "agent_setup", "agent_execution", "verifier")
_REWARD = "reward"
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - as in columns, which are UTC
_LIMITS = {"ContextLengthExceededError", "OutputLengthExceededError", "AgentContextLimitError"}
_TIMEOUT = "AgentTimeoutError"
_AMOUNTS = ("n_input_tokens", "n_cache_tokens", "n_output_tokens", "cost_usd")


def trial_part(trial: JsonObject) -> str:
    """Return how the ids of a trial's rows begin."""
    return part_id(f"trial {trial.get('id') or trial.get('trial_name')}")


def run_id_of(trial: JsonObject, folder: Path) -> str:
    """Return the run of a trial: the id of its job, else the folder of its trials."""
    config = object_of(trial.get("config"))
    parent = (text_of(config.get("trials_dir")) or "").rstrip("/").rpartition("/")[2]
    return text_of(config.get("job_id")) or parent or folder.parent.name or "harbor"


def harbor_version(folder: Path) -> str | None:
    """Return the version of Harbor by the lock file of a job's folder; None if none says it."""
    return text_of(inner(object_beside(folder / _LOCK), "harbor", "version"))


def add_result(trial: JsonObject, folder: Path, rows: RowCollector) -> str:
    """Add the rows of what a trial's result says; return the result's id.

    Args:
        trial: the result.
        folder: that of its job.
        rows: collects the rows.
    """
    system = _system(trial, harbor_version(folder))
    row = _trial_row(trial, system, rows)
    rows.add("systems", system)
    rows.add("results", row)
    _add_rewards(trial, row["content_id"], rows)
    return row["content_id"]


def _system(trial: JsonObject, version: str | None) -> SystemRow:
    settings = object_of(inner(trial, "config", "agent"))
    model, provider = (
        text_of(inner(trial, "agent_info", "model_info", name)) for name in ("name", "provider")
    )
    return system_row(
        agent=_agent_text(trial, "name") or text_of(settings.get("name")),
        agent_version=_agent_text(trial, "version"),
        harness="harbor",
        harness_version=version,
        model=f"{provider}/{model}" if model and provider else model,
        configuration={
            name: settings[name] for name in ("import_path", "kwargs") if settings.get(name)
        },
    )


def _agent_text(trial: JsonObject, *names: str) -> str | None:
    return text_of(inner(trial, "agent_info", *names))


def _trial_row(trial: JsonObject, system: SystemRow, rows: RowCollector) -> ResultRow:
    fields = Fields(trial)
    trial_id = fields.text("id") or fields.peek("trial_name")
    passed, failure = _verdict(_rewards(trial)), _failure(trial)
    amounts = _amounts(trial)
    # Without tokens a 0 is unknown, not free; an amount is known even if the tokens are not.
    is_known = any(amounts[name] for name in ("n_input_tokens", "n_output_tokens"))
    known = {name: amount if is_known else amount or None for name, amount in amounts.items()}
    phases = _phases(trial)
    task = fields.value("task_id")
    fields.drop(*_PHASES)
    row = outcome(passed=passed, cause=_cause(failure), recorded_end=failure, failure=failure)
    row |= {
        "content_id": rows.id_of("trial", SUITE, rows.run_id, system["system"], trial_id),
        "seq": _position(trial),
        "model": system["model"],
        "system": system["system"],
        "trial_id": text_of(trial_id),
        "task_set": fields.text("source") or "adhoc",
        "task_id": fields.text("task_name"),
        "task_hash": fields.text("task_checksum"),
        "started_at": fields.moment("started_at"),
        "ended_at": fields.moment("finished_at"),
        "input_tokens": whole_number(known["n_input_tokens"]),
        "cached_tokens": whole_number(known["n_cache_tokens"]),
        "output_tokens": whole_number(known["n_output_tokens"]),
        "cost_usd": finite_number(known["cost_usd"]),
        "phases": json_text(phases) if phases else None,
    }
    counts = _counts(trial, amounts)
    row["extra"] = fields.extra(counts=counts, task=object_of(task) or None)
    return row


def _position(trial: JsonObject) -> int:
    """Return the place of a trial among those of its job: milliseconds of its start since 1970.

    Attempts are numbered by it. A trial does not know its number, and files come in any order.
    """
    started = iso_moment(trial.get("started_at"))
    return 1 if started is None else int((started - _EPOCH).total_seconds() * 1000)


def _add_rewards(trial: JsonObject, result_id: str, rows: RowCollector) -> None:
    """Add the rewards of a trial, and those of its steps, which do not count by themselves."""
    rewards = _rewards(trial)
    named = [(name, reward, name in _deciding(rewards)) for name, reward in rewards.items()]
    for name, step in _parts(trial)[1:]:
        named += [(f"{name}/{key}", reward, False) for key, reward in _rewards(step).items()]
    for name, reward, counts in named:
        score = score_row(name, reward, scorer="verifier", check_class="reward", counts=counts)
        score["content_id"] = rows.id_of("reward", result_id, name, score["value"], score["text"])
        rows.add("result_scores", {**score, "result_id": result_id})


def _parts(trial: JsonObject) -> list[tuple[str, JsonObject]]:
    """Return a trial and its steps, each with its name."""
    parts = [("", trial)]
    for number, value in enumerate(list_of(trial.get("step_results")), 1):
        step = object_of(value)
        name = text_of(step.get("step_name")) or text_of(step.get("name")) or f"step {number}"
        parts.append((name, step))
    return parts


def _rewards(trial: JsonObject) -> JsonObject:
    """Return the rewards of a trial or of one of its steps."""
    return object_of(inner(trial, "verifier_result", "rewards"))


def _verdict(rewards: JsonObject) -> bool | None:
    """Return whether a trial passed: its deciding rewards are 1; None if that is not known."""
    found = [finite_number(rewards[name]) for name in _deciding(rewards)]
    if any(number is not None and number < 1 for number in found):
        return False
    return True if found and None not in found else None


def _deciding(rewards: JsonObject) -> list[str]:
    """Return the names of the rewards that decide: `reward`, else all of them."""
    return [_REWARD] if _REWARD in rewards else list(rewards)


def _failure(trial: JsonObject) -> str | None:
    """Return the type of a trial's exception, else that of the first of its steps."""
    types = (text_of(inner(part, "exception_info", "exception_type")) for _, part in _parts(trial))
    return next((each for each in types if each is not None), None)


def _cause(failure: str | None) -> Cause:
    if failure is None:
        return None
    if failure == _TIMEOUT:
        return "timeout"
    return "limit" if failure in _LIMITS else "error"


def _amounts(trial: JsonObject) -> dict[str, float | None]:
    """Return the tokens and the cost of a trial, or the sums over its steps."""
    parts = _parts(trial)[:1] if trial.get("agent_result") is not None else _parts(trial)[1:]
    results = [object_of(part.get("agent_result")) for _, part in parts]
    return {
        name: known_sum(finite_number(result.get(name)) for result in results) for name in _AMOUNTS
    }


def _phases(trial: JsonObject) -> list[JsonObject]:
    phases: list[JsonObject] = []
    for name, part in _parts(trial):
        for phase in _PHASES:
            times = object_of(part.get(phase))
            if iso_moment(times.get("started_at")) is not None:
                phases.append(
                    {
                        "name": f"{name}/{phase}" if name else phase,
                        "started_at": times.get("started_at"),
                        "ended_at": times.get("finished_at"),
                    }
                )
    return phases


def _counts(trial: JsonObject, amounts: dict[str, float | None]) -> JsonObject:
    """Return what a job's figures add up, so that the audit can: see `jobs`."""
    rewards = _rewards(trial)
    names = (_agent_text(trial, "name"), _agent_text(trial, "model_info", "name"))
    key = "__".join(filter(None, (*names, text_of(trial.get("source")) or "adhoc")))
    is_failed = trial.get("exception_info") is not None
    values = {name: finite_number(value) for name, value in rewards.items()}
    first = next(iter(values.values())) if len(values) == 1 else None
    return {
        "completed": 1,
        "errored": int(is_failed),
        **amounts,
        "evals": {
            key: {
                "all": 1,
                "n_trials": int(bool(rewards)),
                "n_errors": int(is_failed),
                "only_reward": 0 if not rewards else first,
                "rewards": values,
            }
        },
    }
