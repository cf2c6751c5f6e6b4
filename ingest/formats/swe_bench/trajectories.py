"""Trajectories of SWE-agent and mini-swe-agent: a trial each, with its steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.formats.common.fields import Fields, list_of, object_of, plain_text, unix_moment
from ingest.formats.common.records import UnreadableRecordError, parsed
from ingest.formats.common.trials import end_reason, system_row
from ingest.formats.swe_bench.messages import add_mini_steps, message_row
from ingest.formats.swe_bench.settings import recorded_model
from ingest.formats.swe_bench.trials import (
    TrialRows,
    end_cause,
    of_memory,
    read_json,
    rejecting,
    run_name,
)
from warehouse.core.formats.json_text import canonical_json
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ingest.reading import ImportContext, Reading
    from warehouse.core.types import Json, JsonObject, ResultRow, StepRow


def read_swe_agent(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read a trajectory of SWE-agent, old or of version 1."""
    value, problem = read_json(path, context)
    if problem is not None:
        yield problem
    elif not isinstance(value, dict):
        if value is not None:
            yield rejecting(path, "not a JSON object", None)
    elif not list_of(value.get("trajectory")) and not object_of(value.get("info")):
        context.decline(path, "a demonstration: it has no trajectory, so that it is no trial")
    else:
        yield of_memory("SWE-agent trajectory", path, _swe_agent(value, path, context), {})


def read_mini(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read a trajectory of mini-swe-agent, of version 1 or 2, or its messages only."""
    value, problem = read_json(path, context)
    if isinstance(value, list):
        value = {"messages": value}
    if problem is not None:
        yield problem
    elif not isinstance(value, dict) or not isinstance(value.get("messages"), list):
        if value is not None:
            yield rejecting(path, "without a list of messages", None)
    else:
        yield of_memory("mini-swe-agent trajectory", path, _mini(value, path), {})


def _swe_agent(value: JsonObject, path: Path, context: ImportContext) -> TrialRows:
    fields = Fields({name: value[name] for name in value if name != "history"})
    info = fields.inside("info")
    config = _object(fields.value("replay_config"))
    agent = object_of(config.get("agent"))
    model = plain_text(object_of(agent.get("model")).get("name")) or recorded_model(path, context)
    # The agent's name is that of the instance, in some versions.
    shown = {name: each for name, each in agent.items() if name != "name"}
    trials = TrialRows(path, label := run_name(path))
    system = system_row(
        agent="SWE-agent",
        agent_version=info.text("swe_agent_version"),
        models={"agent": model} if model else None,
        configuration=shown or None,
        label=label,
    )
    trials.add_system(system)
    trajectory = fields.peek("trajectory")
    fields.value("trajectory")
    row = _result(info, instance=utf8(path.stem), label=label, model=model)
    row["n_steps"] = len(list_of(trajectory))
    left = {name: each for name, each in config.items() if name != "agent"}
    row["extra"] = fields.extra(replay_config=left or None)
    result_id = trials.add_result("trajectory", row)
    for seq, message in enumerate(_opening(value.get("history")), 1):
        trials.add_part("messages", result_id, message_row(message, seq), "message", seq)
    for at, element in enumerate(list_of(trajectory), 1):
        _add_element(Fields(element), at, result_id, trials)
    return trials


def _opening(history: Json) -> Iterator[JsonObject]:
    """Yield what the agent was told before its first step; the steps have the rest."""
    for message in list_of(history):
        if not isinstance(message, dict):
            continue
        if message.get("role") == "assistant" and not message.get("is_demo"):
            return
        yield message


def _add_element(fields: Fields, at: int, result_id: str, trials: TrialRows) -> None:
    """Add a call of the model, and of the tool that it chose."""
    thought, response = fields.text("thought"), fields.text("response")
    action, observation = fields.text("action"), fields.value("observation")
    for repeated in ("query", "messages"):  # the whole conversation up to here, in each element
        fields.value(repeated)
    seconds = fields.number("execution_time")
    is_in = thought is not None and response is not None and thought.strip() in response
    step: StepRow = {
        "seq": 2 * at - 1,
        "step_id": str(at),
        "kind": "model",
        "text": response,
        "reasoning": None if is_in else thought,
        "extra": fields.extra(),
    }
    trials.add_part("steps", result_id, step, "step", at)
    words = (action or "").split(maxsplit=1)
    call: StepRow = {
        "seq": 2 * at,
        "step_id": f"{at}.1",
        "parent_id": str(at),
        "kind": "tool",
        "name": words[0][:100] if words else None,
        "arguments": canonical_json({"command": action}),
        "text": plain_text(observation),
        "is_counted": False,
        "extra": None if seconds is None else canonical_json({"execution_time": seconds}),
    }
    trials.add_part("steps", result_id, call, "call", at)


def _mini(value: JsonObject, path: Path) -> TrialRows:
    fields = Fields(value)
    info = fields.inside("info")
    config = object_of(info.value("config"))
    name = object_of(config.get("model")).get("model_name")
    model = utf8(name) if isinstance(name, str) and name else None
    system = system_row(
        agent="mini-swe-agent",
        agent_version=info.text("mini_version"),
        models={"agent": model} if model else None,
        configuration=_without_outputs(config),
    )
    trials = TrialRows(path, run_name(path))
    label = trials.add_system(system)
    instance = fields.text("instance_id") or utf8(path.name.removesuffix(".traj.json"))
    messages = list_of(fields.value("messages"))
    row = _result(info, instance=instance, label=label, model=model)
    row["n_steps"] = len(messages)
    times = [
        moment
        for message in messages
        if (moment := unix_moment(object_of(object_of(message).get("extra")).get("timestamp")))
    ]
    if times:
        row |= {"started_at": min(times), "ended_at": max(times)}
    row["extra"] = fields.extra()
    result_id = trials.add_result("trajectory", row)
    add_mini_steps(messages, result_id, model, trials)
    return trials


def _without_outputs(config: JsonObject) -> JsonObject | None:
    """Return the configuration without the answers of a scripted model, which the steps have."""
    model = object_of(config.get("model"))
    shown = {name: each for name, each in model.items() if name != "outputs"}
    return {**config, "model": shown} if "outputs" in model else config or None


def _result(info: Fields, *, instance: str, label: str, model: str | None) -> ResultRow:
    stats = info.inside("model_stats")
    sent, received = stats.integer("tokens_sent"), stats.integer("tokens_received")
    cost = stats.number("instance_cost")
    end = info.text("exit_status")
    cause = end_cause(end)
    # An agent that was replayed, or a person, counts no tokens: zero is unknown.
    is_unknown = not cost and not sent and not received
    is_error = cause == "error"
    return {
        "system": label,
        "trial_id": instance,
        "task_id": instance,
        "model": model,
        "availability_status": "error" if is_error else "ok",
        "failure_type": f"error:{end}" if is_error else None,
        "end_reason": end_reason(cause, passed=None),
        "recorded_end": end,
        "input_tokens": sent or None,
        "output_tokens": received or None,
        "cost_usd": None if is_unknown else cost,
        "token_scope": "own",
        "raw_output": info.text("submission"),
    }


def _object(value: Json) -> JsonObject:
    """Return an object, which may be written as JSON text."""
    if isinstance(value, str):
        try:
            value, _ = parsed(value.encode())
        except (UnreadableRecordError, UnicodeEncodeError):
            return {"text": value}
    return object_of(value)
