"""Rollouts of Codex: a file is a run and a trial; its items of the conversation are the steps."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from ingest.formats.common.binary import without_binary
from ingest.formats.common.collector import RowCollector
from ingest.formats.common.documents import opened, run_reading
from ingest.formats.common.fields import (
    Fields,
    inner,
    iso_moment,
    list_of,
    object_of,
    text_of,
    texts_of,
    whole_number,
)
from ingest.formats.common.records import decoded, json_lines
from ingest.formats.sessions.consent import require_consent
from ingest.formats.sessions.content import said, unsaid
from ingest.formats.sessions.trials import SUITE, TABLES, add_trial, system_of
from warehouse.core.formats.json_text import canonical_json, json_text
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

    from ingest.formats.common.records import LineRecord
    from ingest.reading import Block, ImportContext, Reading
    from warehouse.core.types import Json, JsonObject, ResultRow, RunRow, StepRow

_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_ROLES = {"user": "user", "assistant": "model"}
_TOKENS = {
    "input_tokens": "input_tokens",
    "cached_tokens": "cached_input_tokens",
    "output_tokens": "output_tokens",
    "reasoning_tokens": "reasoning_output_tokens",
}


@dataclass(slots=True)
class _Rollout:
    meta: JsonObject = field(default_factory=dict)
    started_at: datetime | None = None
    models: dict[str, None] = field(default_factory=dict)
    prompt: str | None = None
    open_calls: dict[str, None] = field(default_factory=dict)


def read_rollout(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read a rollout.

    Raises:
        BadInput: the user has not said what happens to secrets.
    """
    require_consent(path, context)
    redact = context.options.redact
    rollout = opened(path, context, partial(_outline, path, redact=redact))
    if rollout is None:
        return
    run_id = text_of(rollout.meta.get("id")) or utf8(path.stem)
    blocks = partial(_blocks, path, run_id, rollout, redact=redact)
    header: RunRow = {"suite": SUITE, "run_id": run_id}
    yield run_reading("Codex rollout", header, (path,), TABLES, blocks)


def _outline(path: Path, *, redact: bool) -> _Rollout:
    rollout = _Rollout()
    for block in json_lines(path, redact=redact):
        for record in block.records:
            line = object_of(record.value)
            kind, payload = line.get("type"), object_of(line.get("payload"))
            rollout.started_at = rollout.started_at or iso_moment(line.get("timestamp"))
            if kind == "session_meta":
                # A fork repeats the lines of the rollout that it goes on from.
                rollout.meta = rollout.meta or payload
            elif kind == "turn_context" and text_of(payload.get("model")):
                rollout.models[utf8(payload["model"])] = None
            elif kind == "response_item":
                _note_call(rollout, payload)
            elif payload.get("type") == "user_message" and rollout.prompt is None:
                rollout.prompt = text_of(payload.get("message"))
    return rollout


def _note_call(rollout: _Rollout, item: JsonObject) -> None:
    kind, call_id = str(item.get("type")), str(item.get("call_id"))
    if kind in _CALLS:
        rollout.open_calls[call_id] = None
    elif kind.endswith("_output"):
        rollout.open_calls.pop(call_id, None)


def _blocks(path: Path, run_id: str, rollout: _Rollout, *, redact: bool) -> Iterator[Block]:
    rows = RowCollector(path, run_id)
    version = text_of(rollout.meta.get("cli_version"))
    system = system_of(run_id, "codex", version, list(rollout.models))
    row: ResultRow = {
        "trial_id": run_id,
        "prompt": rollout.prompt,
        "token_scope": "own",
        "started_at": rollout.started_at,
    }
    open_calls = list(rollout.open_calls)
    items = _Items(add_trial(rows, system, row, shared=rollout.meta, open_ends=open_calls), rows)
    yield from rows.add_lines(json_lines(path, redact=redact), items.add)
    items.finish()
    yield from rows.rest()


class _Items:
    """Makes the rows of a rollout's lines."""

    def __init__(self, result_id: str, rows: RowCollector) -> None:
        self._result_id = result_id
        self._rows = rows
        self._total: dict[str, int] = {}
        self._open: dict[str, StepRow] = {}

    def add(self, record: LineRecord) -> None:
        """Add the rows of a line."""
        line = object_of(record.value)
        payload = line.get("payload")
        if not isinstance(payload, dict) or not isinstance(line.get("type"), str):
            self._rows.rejects.append(record.rejected("not a line of a rollout"))
            return
        at = iso_moment(line.get("timestamp"))
        info = object_of(payload.get("info"))
        if line["type"] == "response_item":
            self._add_item(record, payload, at)
        elif line["type"] == "compacted":
            self._add(record, at, {"kind": "compaction", "text": text_of(payload.get("message"))})
        elif payload.get("type") == "token_count" and info.get("total_token_usage"):
            row = self._used(object_of(info["total_token_usage"]))
            self._add(record, at, {"kind": "other", "name": "token_count", **row})
        elif line["type"] != "session_meta":
            self._keep(record, line)

    def finish(self) -> None:
        """Add the calls of tools that have no result."""
        self._rows.add("steps", *self._open.values())

    def _add(self, record: LineRecord, at: datetime | None, row: StepRow) -> None:
        self._rows.add("steps", {"is_counted": False, **self._new_row(record, at), **row})

    def _new_row(self, record: LineRecord, at: datetime | None) -> StepRow:
        return {
            "content_id": self._rows.id_of("step", self._result_id, record.line),
            "result_id": self._result_id,
            "seq": record.line,
            "step_id": str(record.line),
            "started_at": at,
        }

    def _add_item(self, record: LineRecord, item: JsonObject, at: datetime | None) -> None:
        fields = Fields(item)
        kind, call_id = fields.text("type") or "", fields.text("call_id")
        row: StepRow = {**self._new_row(record, at), "kind": "other", "name": kind}
        if kind == "message":
            content = fields.value("content")
            role = _ROLES.get(fields.text("role") or "", "system")
            rest = unsaid(content)
            row |= {"kind": role, "name": None, "text": said(content)}
            row["extra"] = fields.extra(content=rest or None)
        elif kind == "reasoning":
            summary = [inner(part, "text") or None for part in list_of(fields.value("summary"))]
            row["reasoning"] = texts_of(summary)
            row["extra"] = json_text(without_binary(fields.left()))
        elif kind in _CALLS:
            given = fields.value("arguments") or fields.value("input") or fields.value("action")
            row |= {"kind": "tool", "name": fields.text("name") or kind, "call_id": call_id}
            arguments = canonical_json(without_binary(_decoded(given)))
            row |= {"arguments": arguments, "extra": fields.extra()}
            if call_id and call_id not in self._open:
                self._open[call_id] = row
                return
        elif kind.endswith("_output") and call_id in self._open:
            row["name"] = "tool_result"
            self._end_call(self._open.pop(call_id), fields.value("output"), at)
        else:
            row["extra"] = json_text(without_binary(item))
        self._rows.add("steps", row)

    def _end_call(self, row: StepRow, output: Json, at: datetime | None) -> None:
        found = _decoded(output)
        text = found.get("output") if isinstance(found, dict) else output
        row |= {
            "ended_at": at,
            "text": said(text) if isinstance(text, str | list) else json_text(text),
            "exit_code": whole_number(inner(found, "metadata", "exit_code")),
        }
        self._rows.add("steps", row)

    def _used(self, total: JsonObject) -> StepRow:
        """Return what cumulative usage adds to the one before: its sum is the last."""
        row: dict[str, int] = {}
        for column, name in _TOKENS.items():
            number = whole_number(total.get(name))
            if number is not None and number >= 0:
                row[column] = number - self._total.get(column, 0)
                self._total[column] = number
        return {**row}  # type: ignore[typeddict-item]

    def _keep(self, record: LineRecord, line: JsonObject) -> None:
        self._rows.add(
            "events",
            {
                "content_id": self._rows.id_of("event", record.line, line),
                "seq": record.line,
                "event": utf8(str(object_of(line.get("payload")).get("type") or line["type"])),
                "document": json_text(without_binary(line)),
            },
        )


def _decoded(text: Json) -> Json:
    """Return what a text holds that is a JSON object; any other value as it is."""
    return decoded(text) if isinstance(text, str) and text.startswith("{") else text
