"""Runs of tasks, each by a model or a person, with the minutes that a person needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.formats.common.fields import Fields, finite_number, unix_moment
from ingest.formats.common.judged_files import records_reader
from ingest.formats.common.trials import outcome, score_row, system_row
from warehouse.core.formats.json_text import canonical_json
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from ingest.formats.common.judged_files import JudgedRuns
    from ingest.formats.common.trials import Cause
    from warehouse.core.types import Json, JsonObject, ResultRow

SUITE = "metr"
_HUMAN = "human"
# Folders that say nothing of what is in them.
_PLAIN_FOLDERS = {"data", "raw", "processed", "external", "wrangled"}
_TASK_FACTS = ("human_minutes", "human_source", "task_source", "task_version")
# A time in seconds is smaller, one in milliseconds larger than this, from 1973 to 5138.
_LEAST_MILLISECONDS = 1e11


def run_id_at(path: Path) -> str:
    """Return the run of a file: the name of its folder, of those that say something."""
    folders = [utf8(name) for name in path.absolute().parts[1:-1]]
    return next((name for name in reversed(folders) if name not in _PLAIN_FOLDERS), path.stem)


def _add(record: JsonObject, line: int, runs: JudgedRuns) -> str | None:
    fields = Fields(record)
    task_id, alias = fields.text("task_id"), fields.text("alias")
    if not task_id or not alias:
        return "has no `task_id` or no `alias`"
    if fields.peek("score_binarized") not in (0, 1):
        return "`score_binarized` is neither 0 nor 1"
    task_set = run_id_at(runs.path)
    rows = runs.of(task_set, task_set)
    facts: JsonObject = {name: fields.peek(name) for name in _TASK_FACTS if fields.peek(name)}
    family = fields.text("task_family")
    rows.add_task(task_id, None, cluster=family, extra=canonical_json(facts) if facts else None)
    is_human = _HUMAN in (alias.lower(), str(fields.peek("model")).lower())
    model = fields.text("model")
    agent = fields.text("scaffold") or fields.text("agent")
    system = system_row(
        agent=_HUMAN if is_human else agent if agent != model else None,
        model=None if is_human else model,
        label=alias,
    )
    rows.rows.add("systems", system)
    # A person's verdict stays in `extra`: people rank nowhere among models.
    ended: ResultRow = {} if is_human else _outcome(fields)
    result_id = rows.rows.id_of("run", record, 0 if fields.peek("run_id") else line)
    rows.rows.add(
        "results",
        {
            **ended,
            "content_id": result_id,
            "seq": line,
            "task_set": task_set,
            "task_id": task_id,
            "system": alias,
            "model": model,
            "trial_id": fields.plain("run_id"),
            "started_at": _moment(fields.value("started_at")),
            "ended_at": _moment(fields.value("completed_at")),
            # Nobody counted what cost nothing.
            "cost_usd": fields.number("generation_cost") or None,
            "success": True,
            # How long the task was at this run may differ from run to run.
            "extra": fields.extra(task_family=family),
        },
    )
    if not is_human and fields.peek("score_cont") is not None:
        score = score_row("score_cont", fields.peek("score_cont"))
        score |= {"content_id": rows.rows.id_of("score", result_id), "result_id": result_id}
        rows.rows.add("result_scores", score)
    return None


def _outcome(fields: Fields) -> ResultRow:
    """Return a model's verdict; a run that an error ended counts as it says, which is 0."""
    error, passed = fields.plain("fatal_error_from"), fields.value("score_binarized") == 1
    if error is None:
        return outcome(passed=passed)
    cause: Cause = "limit" if "limit" in error.lower() else "error"
    return outcome(passed=passed, cause=cause, recorded_end=error)


def _moment(value: Json) -> datetime | None:
    """Return a time in milliseconds since 1970, or in seconds; 0 stands for an unknown one."""
    number = finite_number(value)
    if not number:
        return None
    return unix_moment(number / 1000 if abs(number) >= _LEAST_MILLISECONDS else number)


read_runs = records_reader("METR runs", SUITE, _add, is_list=False)
