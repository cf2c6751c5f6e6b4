"""Trajectories of SWE-agent and mini-swe-agent: a trial each, with its steps; and settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.formats.common.documents import read_json, read_object
from ingest.formats.common.fields import (
    Fields,
    inner,
    list_of,
    object_of,
    plain_text,
    text_of,
    unix_moment,
)
from ingest.formats.common.records import decoded
from ingest.formats.common.trials import outcome, system_row
from ingest.formats.swe_bench.messages import add_mini_steps, message_row
from ingest.formats.swe_bench.trials import TrialRows, end_cause, run_name
from ingest.reading import Reading, Reject
from warehouse.core.formats.json_text import canonical_json
from warehouse.core.formats.values import utf8
from warehouse.core.formats.yaml.documents import YamlError, load

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ingest.reading import ImportContext
    from warehouse.core.types import Json, JsonObject, ResultRow, StepRow

_SWE_AGENT = "SWE-agent trajectory"
_MINI = "mini-swe-agent trajectory"
_SETTINGS = "SWE-bench settings"
_AGENT_SETTINGS = "args.yaml"


def read_swe_agent(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read a trajectory of SWE-agent, old or of version 1."""
    value = yield from read_object(path, context, _SWE_AGENT)
    if value is None:
        return
    if not list_of(value.get("trajectory")) and not object_of(value.get("info")):
        context.decline(path, "a demonstration: it has no trajectory, so that it is no trial")
    else:
        yield _swe_agent(value, path, context).reading(_SWE_AGENT, {})


def read_mini(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read a trajectory of mini-swe-agent, of version 1 or 2, or its messages only."""
    value = yield from read_json(path, context, _MINI, _problem_of_mini)
    if value is not None:
        document: JsonObject = {"messages": value} if isinstance(value, list) else object_of(value)
        yield _mini(document, path).reading(_MINI, {})


def _problem_of_mini(value: Json) -> str:
    is_usable = isinstance(value, list) or isinstance(inner(value, "messages"), list)
    return "" if is_usable else "without a list of messages"


def read_settings(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read what describes a run; it becomes the run's configuration."""
    file = context.read(path)
    if file is None:
        return
    try:
        config = canonical_json(object_of(load(file.data)))
    except YamlError as error:
        yield Reading(_SETTINGS, rejects=[Reject(str(error), raw=file.data)], files=[file])
        return
    yield TrialRows(path, run_name(path)).reading(_SETTINGS, {"config": config})


def _recorded_model(path: Path, context: ImportContext) -> str | None:
    """Return the model that the settings beside a trajectory of SWE-agent name, if any."""
    settings = path.with_name(_AGENT_SETTINGS)
    file = context.read(settings) if settings.is_file() else None
    try:
        config = object_of(load(file.data)) if file is not None else {}
    except YamlError:
        return None  # its own import says what is wrong
    return text_of(inner(config, "agent", "model", "model_name")) or None


def _swe_agent(value: JsonObject, path: Path, context: ImportContext) -> TrialRows:
    fields = Fields({name: value[name] for name in value if name != "history"})
    info = fields.inside("info")
    recorded = decoded(fields.value("replay_config"))
    config = {"text": recorded} if isinstance(recorded, str) else object_of(recorded)
    agent = object_of(config.get("agent"))
    model = plain_text(inner(agent, "model", "name")) or _recorded_model(path, context)
    # The agent's name is that of the instance, in some versions.
    shown = {name: each for name, each in agent.items() if name != "name"}
    trials = TrialRows(path, label := run_name(path))
    system = system_row(
        agent="SWE-agent",
        agent_version=info.text("swe_agent_version"),
        model=model,
        configuration=shown or None,
        label=label,
    )
    trials.add_system(system)
    elements = list_of(fields.value("trajectory"))
    left = {name: each for name, each in config.items() if name != "agent"}
    row: ResultRow = {**_ending(info), "model": model, "n_steps": len(elements)}
    row["extra"] = fields.extra(replay_config=left or None)
    result_id = trials.add_result("trajectory", label, utf8(path.stem), row)
    for seq, message in enumerate(_opening(value.get("history")), 1):
        trials.add_part("messages", result_id, message_row(message, seq), "message", seq)
    for at, element in enumerate(elements, 1):
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
    fields.drop("query", "messages")  # the whole conversation up to here, in each element
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
    model = text_of(inner(config, "model", "model_name")) or None
    system = system_row(
        agent="mini-swe-agent",
        agent_version=info.text("mini_version"),
        model=model,
        configuration=_without_outputs(config),
    )
    trials = TrialRows(path, run_name(path))
    label = trials.add_system(system)
    instance = fields.text("instance_id") or utf8(path.name.removesuffix(".traj.json"))
    messages = list_of(fields.value("messages"))
    times = [unix_moment(inner(message, "extra", "timestamp")) for message in messages]
    known = [time for time in times if time is not None]
    row: ResultRow = {
        **_ending(info),
        "model": model,
        "n_steps": len(messages),
        "started_at": min(known, default=None),
        "ended_at": max(known, default=None),
    }
    row["extra"] = fields.extra()
    result_id = trials.add_result("trajectory", label, instance, row)
    add_mini_steps(messages, result_id, model, trials)
    return trials


def _without_outputs(config: JsonObject) -> JsonObject | None:
    """Return the configuration without the answers of a scripted model, which the steps have."""
    model = object_of(config.get("model"))
    shown = {name: each for name, each in model.items() if name != "outputs"}
    return {**config, "model": shown} if "outputs" in model else config or None


def _ending(info: Fields) -> ResultRow:
    """Return how a trial ended, and what it took."""
    stats = info.inside("model_stats")
    sent, received = stats.integer("tokens_sent"), stats.integer("tokens_received")
    cost, end = stats.number("instance_cost"), info.text("exit_status")
    cause = end_cause(end)
    failure = f"error:{end}" if cause == "error" else None
    row = outcome(cause=cause, recorded_end=end, failure=failure)
    return row | {
        # An agent that was replayed, or a person, counts no tokens: zero is unknown.
        "input_tokens": sent or None,
        "output_tokens": received or None,
        "cost_usd": cost if cost or sent or received else None,
        "token_scope": "own",
        "raw_output": info.text("submission"),
    }
