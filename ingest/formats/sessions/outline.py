"""A session of Claude Code, read once to see its trials, branches and calls without a result."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingest.formats.common.fields import iso_moment, list_of, object_of, text_of
from ingest.formats.common.records import json_lines
from ingest.formats.sessions.content import parts_of, said
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from warehouse.core.types import Json, JsonObject

_CLEAR = "<command-name>/clear</command-name>"
_SYNTHETIC = "<synthetic>"
_MESSAGES = ("user", "assistant", "system")
# Facts of a session that its lines repeat.
SHARED = ("cwd", "gitBranch", "userType", "slug", "version", "entrypoint", "agentId")


@dataclass(slots=True)
class Conversation:
    """A trial of a session: all of it, or what follows a `/clear`.

    Attributes:
        trial_id: id of the session, with a number after a `/clear`.
        models: its models, in the order of their first use.
        shared: what its first line says and most lines repeat.
        started_at: time of its first line that has one.
        prompt: what the user asked first.
        open_calls: calls of tools without a result.
        has_sidechains: whether lines of sub-agents are among its own.
    """

    trial_id: str
    models: dict[str, None] = field(default_factory=dict)
    shared: JsonObject = field(default_factory=dict)
    started_at: datetime | None = None
    prompt: str | None = None
    open_calls: dict[str, None] = field(default_factory=dict)
    has_sidechains: bool = False


@dataclass(slots=True)
class _Node:
    parent: str | None
    is_sidechain: bool
    trajectory: str | None


@dataclass(slots=True)
class Outline:
    """What a session is made of.

    Attributes:
        run_id: id of the session; that of a sub-agent has its own id after it.
        is_agent: whether it is the session of a sub-agent.
        conversations: its trials by id.
        trajectories: by line, the branch or sub-agent that it belongs to, if not the main one.
    """

    run_id: str = ""
    is_agent: bool = False
    conversations: dict[str, Conversation] = field(default_factory=dict)
    trajectories: dict[str, str] = field(default_factory=dict)


class TrialNames:
    """Which trial each line of a session belongs to: a `/clear` begins another.

    Args:
        suffix: what the ids of all trials of a sub-agent's file end in.
    """

    def __init__(self, suffix: str = "") -> None:
        self._suffix = suffix
        self._numbers: dict[str, int] = {}
        self._answered: set[str] = set()

    def name(self, line: JsonObject) -> str:
        """Return the id of the trial of the next line."""
        session = text_of(line.get("sessionId")) or ""
        number = self._numbers.get(session, 1)
        if session in self._answered and _is_clear(line):
            number += 1
            self._numbers[session] = number
            self._answered.discard(session)
        if line.get("type") == "assistant":
            self._answered.add(session)
        return session + self._suffix + (f"#{number}" if number > 1 else "")


def is_line(value: Json) -> bool:
    """Return whether a value is a line of a conversation: it has ids of its own and its session."""
    return isinstance(value, dict) and all(
        isinstance(value.get(name), str) and value[name] for name in ("uuid", "sessionId", "type")
    )


def is_message(line: JsonObject) -> bool:
    """Return whether a line is of the conversation: of the user, the model or the program."""
    return line.get("type") in _MESSAGES


def is_human(line: JsonObject) -> bool:
    """Return whether a line is a turn of the user: not a tool's result or a program's text."""
    content = object_of(line.get("message")).get("content")
    is_made = any(line.get(name) for name in ("isMeta", "isCompactSummary", "isSidechain"))
    return line.get("type") == "user" and not is_made and not parts_of(content, "tool_result")


def model_of(line: JsonObject) -> str | None:
    """Return the model of a line; None for a text that the program made."""
    model = text_of(object_of(line.get("message")).get("model"))
    return None if model == _SYNTHETIC else model


def parent_of(line: JsonObject) -> str | None:
    """Return the line that a line follows, also across a compaction."""
    return text_of(line.get("parentUuid")) or text_of(line.get("logicalParentUuid"))


def agent_suffix(line: JsonObject, path: Path) -> str:
    """Return what the trial of a sub-agent's file ends in; "" if its first line is no sub-agent's.

    Args:
        line: the first line of the file.
        path: the file; its name has the id if the line does not.
    """
    if not line.get("isSidechain"):
        return ""
    named = path.stem.removeprefix("agent-") if path.stem.startswith("agent-") else None
    return utf8(f"/{text_of(line.get('agentId')) or named or line['uuid']}")


def outline_of(path: Path, *, redact: bool) -> Outline:
    """Read a session and return what it is made of; one without conversations has no `run_id`.

    Raises:
        OSError: the file cannot be read.
    """
    outline, names = Outline(), TrialNames()
    tree = _Tree()
    for block in json_lines(path, redact=redact):
        for record in block.records:
            line = record.value
            if not is_line(line) or not isinstance(line, dict):
                continue
            if not outline.run_id:
                suffix = agent_suffix(line, path)
                outline.is_agent, names = bool(suffix), TrialNames(suffix)
            trial_id = names.name(line)
            outline.run_id = outline.run_id or trial_id
            trial = outline.conversations.setdefault(trial_id, Conversation(trial_id))
            _note(trial, line, is_agent=outline.is_agent)
            tree.add(line, is_agent=outline.is_agent)
    outline.trajectories = tree.trajectories()
    return outline


def _note(trial: Conversation, line: JsonObject, *, is_agent: bool) -> None:
    if not trial.shared:
        trial.shared = {name: line[name] for name in SHARED if line.get(name) is not None}
    trial.started_at = trial.started_at or iso_moment(line.get("timestamp"))
    content = object_of(line.get("message")).get("content")
    if trial.prompt is None and (is_agent or is_human(line)) and not _is_clear(line):
        trial.prompt = said(content) if line.get("type") == "user" else None
    trial.has_sidechains |= bool(line.get("isSidechain")) and not is_agent
    model = model_of(line) if line.get("type") == "assistant" else None
    if model and (is_agent or not line.get("isSidechain")):
        trial.models[model] = None
    for call in parts_of(content, "tool_use"):
        trial.open_calls[str(call.get("id"))] = None
    for result in parts_of(content, "tool_result"):
        trial.open_calls.pop(str(result.get("tool_use_id")), None)


def _is_clear(line: JsonObject) -> bool:
    if line.get("type") not in ("user", "system") or line.get("isSidechain"):
        return False
    content = object_of(line.get("message")).get("content") or line.get("content")
    texts = [content, *(object_of(part).get("text") for part in list_of(content))]
    return any(isinstance(text, str) and _CLEAR in text for text in texts)


class _Tree:
    """The tree of a session's lines: where the user went back and asked anew, branches part."""

    def __init__(self) -> None:
        self._nodes: dict[str, _Node] = {}
        self._turns: dict[str, list[str]] = {}
        self._last: tuple[str, str] = ("", "")

    def add(self, line: JsonObject, *, is_agent: bool) -> None:
        """Add a line; one that is repeated counts once."""
        uuid, parent = utf8(str(line["uuid"])), parent_of(line)
        if uuid in self._nodes:
            return
        is_sidechain = bool(line.get("isSidechain")) and not is_agent
        trajectory = None
        if is_sidechain:
            above = self._nodes.get(parent or "")
            inherited = above.trajectory if above and above.is_sidechain else None
            trajectory = text_of(line.get("agentId")) or inherited or f"sidechain {uuid}"
        elif is_message(line):
            self._last = max((text_of(line.get("timestamp")) or "", uuid), self._last, key=_time)
        self._nodes[uuid] = _Node(parent, is_sidechain, trajectory)
        if parent and is_human(line):
            self._turns.setdefault(parent, []).append(uuid)

    def trajectories(self) -> dict[str, str]:
        """Return the branch or sub-agent of each line that is not of the final branch."""
        final, abandoned = self._path(), set()
        for turns in self._turns.values():
            kept = next((turn for turn in turns if turn in final), turns[-1])
            abandoned |= {turn for turn in turns if turn != kept}
        for uuid, node in self._nodes.items():
            above = self._nodes.get(node.parent or "")
            if uuid in abandoned:
                node.trajectory = f"branch {uuid}"
            elif node.trajectory is None and above and not above.is_sidechain:
                node.trajectory = above.trajectory
        return {uuid: node.trajectory for uuid, node in self._nodes.items() if node.trajectory}

    def _path(self) -> set[str]:
        """Return the lines of the branch that ends last."""
        path: set[str] = set()
        at: str | None = self._last[1]
        while at and at in self._nodes and at not in path:
            path.add(at)
            at = self._nodes[at].parent
        return path


def _time(last: tuple[str, str]) -> str:
    return last[0]
