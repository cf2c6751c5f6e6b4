"""The rows of a Terminal-Bench trial: the same from the run's file and from the trial's own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ingest.formats.common.collector import id_in, part_id
from ingest.formats.common.fields import Fields, object_of, text_of, whole_number
from ingest.formats.common.trials import NO_VERDICT, outcome, test_row
from ingest.formats.terminal_bench.setup import SUITE
from warehouse.core.formats.json_text import canonical_json, json_text
from warehouse.core.formats.values import utf8
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from ingest.formats.common.collector import RowCollector
    from ingest.formats.common.trials import Cause
    from ingest.formats.terminal_bench.setup import RunSetup
    from warehouse.core.types import Json, JsonObject, ResultRow, TaskRow

_NAME = re.compile(r"(?P<task>.+)\.(?P<attempt>\d{1,6})-of-\d{1,6}(\.(?P<run>.+))?", re.DOTALL)
_CAUSES: dict[str | None, Cause] = {
    "agent_timeout": "timeout",
    "test_timeout": "timeout",
    "context_length_exceeded": "limit",
    "output_length_exceeded": "limit",
    "unknown_agent_error": "error",
    "parse_error": "error",
    "fatal_llm_parse_error": "error",
    "agent_installation_failed": "error",
}
_PHASES = ("agent", "test")


def problem_of(record: Json) -> str:
    """Return why a record cannot be used as a trial; "" if it can."""
    if not isinstance(record, dict):
        return "not a JSON object"
    if trial_id(record) is None:
        return "has neither `id` nor `uuid` nor `trial_name`"
    return "" if text_of(record.get("task_id")) else "has no `task_id`"


def trial_id(record: JsonObject) -> str | None:
    """Return the id of a trial: `id`, in older logs `uuid`; without either its name."""
    names = (text_of(record.get(key)) for key in ("id", "uuid", "trial_name"))
    return next(filter(None, names), None)


def named_run(record: JsonObject) -> str | None:
    """Return the run that a trial names: where its recording is, else the end of its name."""
    path = (text_of(record.get("recording_path")) or "").split("/")
    if len(path) > 1 and path[0]:
        return path[0]
    name = _NAME.fullmatch(text_of(record.get("trial_name")) or "")
    return name["run"] if name else None


def part_of(record: JsonObject) -> str:
    """Return how the ids of the rows of a trial begin."""
    return part_id(f"trial {trial_id(record)}")


def add_trial(record: JsonObject, seq: int, setup: RunSetup, rows: RowCollector) -> None:
    """Add the rows of a trial without a problem."""
    part = part_of(record)
    content_id = id_in(part, SUITE, setup.run_id, canonical_json(record))
    fields = Fields(record)
    task = _task_row(record, setup)
    rows.add("tasks", task)
    tests = object_of(fields.peek("parser_results"))
    if tests:
        fields.drop("parser_results")
    for position, (test, status) in enumerate(tests.items(), 1):
        score = test_row(test, status, counts=True)
        score["content_id"] = id_in(part, "test", content_id, test)
        rows.add("result_scores", {**score, "result_id": content_id, "position": position})
    result = _result_row(fields, setup, trial_id(record))
    result |= {"content_id": content_id, "seq": seq, "task_hash": task["task_hash"]}
    is_resolved = result["objective_pass"] is True
    result["extra"] = fields.extra(
        counts={"resolved": int(is_resolved), "unresolved": int(not is_resolved)}
    )
    rows.add("results", result)


def _result_row(fields: Fields, setup: RunSetup, own_id: str | None) -> ResultRow:
    for key in ("id", "uuid"):
        fields.drop_equal(key, own_id)
    passed, end = fields.boolean("is_resolved"), fields.text("failure_mode")
    name = _NAME.fullmatch(text_of(fields.peek("trial_name")) or "")
    # Without a verdict the tests did not run to their end, or nobody could read them.
    row = outcome(
        passed=passed,
        cause=_CAUSES.get(end),
        recorded_end=end,
        failure=end or NO_VERDICT,
    )
    return row | {
        "model": setup.model,
        "system": setup.system["system"],
        "trial_id": own_id,
        "task_set": setup.task_set,
        "task_id": fields.text("task_id"),
        "attempt": int(name["attempt"]) if name else None,
        "prompt": fields.text("instruction"),
        "phases": _phases(fields),
        "started_at": fields.moment("trial_started_at"),
        "ended_at": fields.moment("trial_ended_at"),
        "input_tokens": _known_tokens(fields, "total_input_tokens"),
        "output_tokens": _known_tokens(fields, "total_output_tokens"),
    }


def _known_tokens(fields: Fields, name: str) -> int | None:
    """Take a number of tokens; 0 stays, since it says that the agent does not report them."""
    return fields.integer(name) if whole_number(fields.peek(name)) else None


def _phases(fields: Fields) -> str | None:
    phases: list[Json] = []
    for name in _PHASES:
        times = [fields.text(f"{name}_{end}_at") for end in ("started", "ended")]
        if any(times):
            phases.append({"name": name, "started_at": times[0], "ended_at": times[1]})
    return json_text(phases) if phases else None


def _task_row(record: JsonObject, setup: RunSetup) -> TaskRow:
    task_id, prompt = utf8(str(record["task_id"])), text_of(record.get("instruction"))
    task_hash = content_hash("task", task_id, prompt)
    set_hash = content_hash(SUITE, setup.task_set)
    return {
        "content_id": content_hash("task", set_hash, task_hash),
        "suite": SUITE,
        "task_set": setup.task_set,
        "task_set_hash": set_hash,
        "seq": 1,
        "task_id": task_id,
        "task_hash": task_hash,
        "prompt": prompt,
    }
