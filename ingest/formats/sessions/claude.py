"""Sessions of Claude Code: a file is a run, each of its conversations a trial."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ingest.formats.common.collector import RowCollector
from ingest.formats.common.records import json_lines
from ingest.formats.common.trials import end_reason
from ingest.formats.sessions.consent import require_consent
from ingest.formats.sessions.outline import TrialNames, agent_suffix, is_line, outline_of
from ingest.formats.sessions.steps import StepRows
from ingest.formats.sessions.system import SUITE, system_of, trial_content_id
from ingest.reading import Reading, Stream
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ingest.formats.common.records import LineRecord
    from ingest.formats.sessions.outline import Conversation, Outline
    from ingest.reading import Block, ImportContext
    from warehouse.core.types import EventRow, JsonObject, ResultRow

_FORMAT = "Claude Code session"
_AGENT = "claude-code"
_TABLES = ("systems", "results", "steps", "events")


def read_session(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read a session, or the file of one of its sub-agents.

    Raises:
        BadInput: the user has not said what happens to secrets.
    """
    require_consent(path, context)
    redact = context.options.redact
    try:
        outline = outline_of(path, redact=redact)
    except OSError:
        context.read(path)  # reports why it cannot be read
        return
    if not outline.run_id:
        context.decline(path, "summaries of sessions, without a conversation")
        return
    first = next(iter(outline.conversations.values()))
    yield Reading(
        _FORMAT,
        rows={
            "runs": [
                {
                    "suite": SUITE,
                    "run_id": outline.run_id,
                    "origin": "import",
                    "started_at": first.started_at,
                    "source_name": utf8(path.name),
                }
            ]
        },
        run=(SUITE, outline.run_id),
        stream=Stream(
            paths=(path,),
            tables=_TABLES,
            blocks=partial(_blocks, path, outline, redact=redact),
            is_run=True,
        ),
    )


def _blocks(path: Path, outline: Outline, *, redact: bool) -> Iterator[Block]:
    rows = RowCollector(path, outline.run_id)
    results = {}
    for seq, trial in enumerate(outline.conversations.values(), 1):
        results[trial.trial_id] = _add_trial(trial, seq, outline, rows)
    lines = _Lines(path, outline, StepRows(outline, results, rows), rows)
    yield from rows.add_lines(json_lines(path, redact=redact), lines.add)
    lines.steps.finish()
    yield from rows.rest()


def _add_trial(trial: Conversation, seq: int, outline: Outline, rows: RowCollector) -> str:
    """Add the rows of a trial and its system, and return the id of its result.

    What grows with a session (its end, tokens, steps) is summed up from the steps: the result of a
    session that goes on stays the same.
    """
    version = trial.shared.get("version")
    models = list(trial.models)
    system = system_of(
        outline.run_id, _AGENT, version if isinstance(version, str) else None, models
    )
    branches = sorted({each for each in outline.trajectories.values() if each[:6] == "branch"})
    open_ends = [list(trial.open_calls), branches]
    row: ResultRow = {
        "content_id": trial_content_id(outline.run_id, system, trial.trial_id, open_ends),
        "seq": seq,
        "model": models[0] if len(models) == 1 else None,
        "system": system["system"],
        "trial_id": trial.trial_id,
        "prompt": trial.prompt,
        "availability_status": "ok",
        "success": True,
        "end_reason": end_reason(None, passed=None),
        "token_scope": "tree" if trial.has_sidechains else "own",
        "started_at": trial.started_at,
        "extra": json_text(trial.shared) if trial.shared else None,
    }
    rows.add("systems", system)
    rows.add("results", row)
    return row["content_id"]


class _Lines:
    """The lines of a session, in their order: steps, and events that are no part of a trial."""

    def __init__(self, path: Path, outline: Outline, steps: StepRows, rows: RowCollector) -> None:
        self.steps = steps
        self._path = path
        self._outline = outline
        self._rows = rows
        self._names: TrialNames | None = None

    def add(self, record: LineRecord) -> None:
        """Add the rows of a line."""
        line = record.value
        if not isinstance(line, dict):
            self._rows.rejects.append(record.rejected("not a JSON object"))
        elif is_line(line):
            if self._names is None:
                self._names = TrialNames(agent_suffix(line, self._path))
            self.steps.add(line, self._names.name(line))
        elif isinstance(line.get("type"), str):
            self._keep(record, line)
        else:
            self._rows.rejects.append(record.rejected("neither a line of a session nor an event"))

    def _keep(self, record: LineRecord, line: JsonObject) -> None:
        row: EventRow = {
            "content_id": self._rows.id_of("event", line),
            "seq": record.line,
            "event": utf8(str(line["type"])),
            "document": json_text(line),
            "source": record.source,
        }
        self._rows.add("events", row)
