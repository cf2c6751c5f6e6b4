"""Transcripts as trials: a result per row, its messages, and its events as steps."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from ingest.formats.common.collector import RowCollector, id_in, part_id
from ingest.formats.common.fields import Fields, objects_of
from ingest.formats.common.records import UnreadableRecordError, decoded, parsed
from ingest.formats.common.trials import content_columns, outcome, score_row, system_row
from ingest.formats.scout.events import id_below, step_rows
from ingest.reading import Block, Reading, Reject, Stream
from warehouse.core.files import open_regular
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.secrets import find_secrets, lines_of, mask
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ingest.formats.common.trials import Cause
    from ingest.reading import ImportContext
    from warehouse.core.types import JsonObject, MessageRow, ResultRow, ResultScoreRow

SUITE = "scout"
FORMAT = "Inspect Scout transcripts"

_TABLES = ("results", "systems", "steps", "messages", "result_scores")
_ROWS = 8
# Of a damaged file, pyarrow raises OSError too.
_UNREADABLE = (pa.ArrowException, OSError, ValueError, KeyError)
_JSON = (
    "messages",
    "events",
    "events_data",
    "timelines",
    "scores",
    "model_roles",
    "sample_metadata",
)
_TIME_LIMITS = {"time", "working"}
# Columns that repeat others of the same row.
_REPEATS = ("epoch", "id", "sample_id", "eval_id", "log", "input")


def read_transcripts(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read a file of transcripts."""
    try:
        with open_regular(path) as file:
            table = pq.read_table(file, columns=["transcript_id", "source_id", "source_type"])
    except _UNREADABLE as error:
        read = context.read(path)  # reports a file that cannot be opened
        if read is not None:
            reject = Reject(f"not readable as Parquet: {error}")
            yield Reading(FORMAT, rejects=[reject], files=[read])
        return
    rows = table.to_pylist()
    yield Reading(
        FORMAT,
        run=(SUITE, _run_id(rows[0])) if rows else None,
        stream=Stream(
            paths=(path,),
            tables=_TABLES,
            blocks=partial(_blocks, path, redact=context.options.redact),
            header={"source_name": utf8(path.name)},
            parts=frozenset(part_id(str(row["transcript_id"])) for row in rows),
            has_traces=True,
        ),
    )


def _run_id(row: JsonObject) -> str:
    return utf8(str(row.get("source_id") or row.get("source_type") or "transcripts"))


def _blocks(path: Path, *, redact: bool) -> Iterator[Block]:
    runs: dict[str, RowCollector] = {}
    problems = Block(path=path, run_id=None)
    number = 0
    try:
        with open_regular(path) as file:
            for batch in pq.ParquetFile(file).iter_batches(batch_size=_ROWS):
                for row in batch.to_pylist():
                    number += 1
                    found, secrets = _searched(row, number, redact=redact)
                    problems.secrets += secrets
                    if not found.get("transcript_id"):
                        problems.rejects.append(Reject("has no transcript_id", number))
                        continue
                    run_id = _run_id(found)
                    rows = runs.setdefault(run_id, RowCollector(path, run_id))
                    _add(found, number, rows)
                    yield from rows.full()
    except (*_UNREADABLE, UnreadableRecordError) as error:
        problems.rejects.append(Reject(f"not readable after row {number}: {error}", number + 1))
    yield problems
    for rows in runs.values():
        yield from rows.rest()


def _searched(
    row: JsonObject, number: int, *, redact: bool
) -> tuple[JsonObject, list[tuple[int, str]]]:
    """Return a row with its JSON columns parsed, and its secrets, masked on demand."""
    values = {
        name: decoded(value) if name in _JSON else value
        for name, value in row.items()
        if value not in (None, "")
    }
    data = json_text(values).encode("utf-8", "replace")
    secrets = find_secrets(data)
    if redact and secrets:
        masked, _ = parsed(mask(data, secrets))
        values = masked if isinstance(masked, dict) else {}
    return values, lines_of(data, secrets, number)


def _add(row: JsonObject, number: int, rows: RowCollector) -> None:
    """Add the rows of a transcript."""
    trial_id = utf8(str(row["transcript_id"]))
    result_id = id_in(part_id(trial_id), SUITE, rows.run_id, trial_id)
    fields = Fields(row)
    messages, events = objects_of(fields.value("messages")), objects_of(fields.value("events"))
    agent, model = fields.text("agent"), fields.text("model")
    arguments = fields.value("agent_args")
    configuration: JsonObject = {"agent_args": arguments} if arguments else {}
    system = system_row(agent=agent, model=model, configuration=configuration)
    result = _result(fields, trial_id, number)
    result |= {"content_id": result_id, "model": model}
    if agent is not None:
        rows.add("systems", system)
        result["system"] = system["system"]
    _add_score(fields, result_id, rows)
    fields.drop("transcript_id", "source_id", *_REPEATS)
    rows.add("results", {**result, "extra": fields.extra()})
    seqs = {str(each["id"]): n for n, each in enumerate(messages, 1) if each.get("id")}
    rows.add("messages", *_message_rows(messages, result_id))
    rows.add("steps", *step_rows(events, seqs, result_id))


def _result(fields: Fields, trial_id: str, number: int) -> ResultRow:
    error, limit = fields.text("error"), fields.text("limit")
    cause: Cause = None if limit is None else "timeout" if limit in _TIME_LIMITS else "limit"
    row = outcome(
        passed=fields.boolean("success"),
        cause=cause if error is None else "error",
        recorded_end=limit or error,
        failure=None if error is None else "error",
        violation=error,
    )
    return row | {
        "seq": number,
        "trial_id": trial_id,
        "task_set": fields.text("task_set"),
        "task_id": fields.plain("task_id"),
        "attempt": fields.integer("task_repeat"),
        "token_scope": "tree",
        "started_at": fields.moment("date"),
        "duration_seconds": fields.number("total_time"),
    }


def _add_score(fields: Fields, result_id: str, rows: RowCollector) -> None:
    """Add the first score, as Scout has it; the scores of each scorer stay in `extra`."""
    score = fields.value("score")
    if score is not None:
        ids: ResultScoreRow = {"content_id": id_below(result_id, "score"), "result_id": result_id}
        explanation = fields.text("score_explanation")
        row = score_row("score", score) | {"position": 1, "explanation": explanation}
        rows.add("result_scores", {**row, **ids})


def _message_rows(messages: Sequence[JsonObject], result_id: str) -> Iterator[MessageRow]:
    for seq, message in enumerate(messages, 1):
        fields = Fields(message)
        calls = fields.value("tool_calls")
        row = content_columns(fields.value("content"))
        row |= {
            "content_id": id_below(result_id, "message", seq),
            "result_id": result_id,
            "seq": seq,
            "role": fields.text("role"),
            "tool_calls": json_text(calls) if calls else None,
            "tool_call_id": fields.text("tool_call_id"),
            "error": fields.plain("error"),
        }
        yield {**row, "extra": fields.extra()}
