"""Sessions of Claude Code: a file is a run, each of its conversations a trial."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ingest.formats.common.collector import RowCollector
from ingest.formats.common.documents import opened, run_reading
from ingest.formats.common.records import json_lines
from ingest.formats.sessions.consent import require_consent
from ingest.formats.sessions.outline import TrialNames, agent_suffix, is_line, outline_of
from ingest.formats.sessions.steps import StepRows
from ingest.formats.sessions.trials import SUITE, TABLES, add_trial, system_of
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ingest.formats.common.records import LineRecord
    from ingest.formats.sessions.outline import Conversation, Outline
    from ingest.reading import Block, ImportContext, Reading
    from warehouse.core.types import JsonObject, ResultRow, RunRow


def read_session(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read a session, or the file of one of its sub-agents.

    Raises:
        BadInput: the user has not said what happens to secrets.
    """
    require_consent(path, context)
    redact = context.options.redact
    outline = opened(path, context, partial(outline_of, path, redact=redact))
    if outline is None:
        return
    if not outline.run_id:
        context.decline(path, "summaries of sessions, without a conversation")
        return
    header: RunRow = {
        "suite": SUITE,
        "run_id": outline.run_id,
        "started_at": next(iter(outline.conversations.values())).started_at,
        "source_name": utf8(path.name),
    }
    blocks = partial(_blocks, path, outline, redact=redact)
    yield run_reading("Claude Code session", header, (path,), TABLES, blocks)


def _blocks(path: Path, outline: Outline, *, redact: bool) -> Iterator[Block]:
    rows = RowCollector(path, outline.run_id)
    results = {
        trial.trial_id: _add_trial(trial, seq, outline, rows)
        for seq, trial in enumerate(outline.conversations.values(), 1)
    }
    lines = _Lines(path, outline, StepRows(outline, results, rows), rows)
    yield from rows.add_lines(json_lines(path, redact=redact), lines.add)
    lines.steps.finish()
    yield from rows.rest()


def _add_trial(trial: Conversation, seq: int, outline: Outline, rows: RowCollector) -> str:
    """Add the rows of a trial and its system, and return the id of its result."""
    version = trial.shared.get("version")
    system = system_of(
        outline.run_id,
        "claude-code",
        version if isinstance(version, str) else None,
        list(trial.models),
    )
    branches = sorted({each for each in outline.trajectories.values() if each[:6] == "branch"})
    row: ResultRow = {
        "seq": seq,
        "trial_id": trial.trial_id,
        "prompt": trial.prompt,
        "token_scope": "tree" if trial.has_sidechains else "own",
        "started_at": trial.started_at,
    }
    open_ends = [list(trial.open_calls), branches]
    return add_trial(rows, system, row, shared=trial.shared, open_ends=open_ends)


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
        self._rows.add(
            "events",
            {
                "content_id": self._rows.id_of("event", line),
                "seq": record.line,
                "event": utf8(str(line["type"])),
                "document": json_text(line),
                "source": record.source,
            },
        )
