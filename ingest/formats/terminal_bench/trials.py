"""The rows of a Terminal-Bench trial: the same from the run's file and from the trial's own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from ingest.formats.common.collector import part_id
from ingest.formats.common.fields import Fields, amount, object_of, text_of, whole_number
from ingest.formats.common.trials import NO_VERDICT, answered, end_reason
from ingest.formats.terminal_bench.setup import SUITE
from warehouse.core.formats.json_text import canonical_json, json_text
from warehouse.core.formats.values import utf8
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.formats.common.collector import RowCollector
    from ingest.formats.terminal_bench.setup import RunSetup
    from warehouse.core.types import Json, JsonObject, ResultRow, ResultScoreRow, TaskRow

_NAME = re.compile(r"(?P<task>.+)\.(?P<attempt>\d{1,6})-of-\d{1,6}(\.(?P<run>.+))?", re.DOTALL)
_CAUSES: dict[str | None, Literal["limit", "timeout", "error"]] = {
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
_TEST_VERDICTS = {"passed": True, "failed": False}


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
    content_id = part + content_hash(SUITE, setup.run_id, canonical_json(record))[len(part) :]
    fields = Fields(record)
    task = _task_row(record, setup)
    rows.add("tasks", task)
    for score in _test_rows(fields, content_id, part):
        rows.add("result_scores", score)
    result = _result_row(fields, setup, trial_id(record))
    result |= {"content_id": content_id, "seq": seq, "task_hash": task["task_hash"]}
    is_resolved = result["objective_pass"] is True
    result["extra"] = fields.extra(
        counts={"resolved": int(is_resolved), "unresolved": int(not is_resolved)}
    )
    rows.add("results", result)


def _result_row(fields: Fields, setup: RunSetup, own_id: str | None) -> ResultRow:
    for key in ("id", "uuid"):
        if fields.peek(key) == own_id:
            fields.value(key)
    passed = fields.boolean("is_resolved")
    recorded_end = fields.text("failure_mode")
    name = _NAME.fullmatch(text_of(fields.peek("trial_name")) or "")
    row: ResultRow = {
        "model": setup.model,
        "system": setup.system["system"],
        "trial_id": own_id,
        "task_set": setup.task_set,
        "task_id": fields.text("task_id"),
        "attempt": int(name["attempt"]) if name else None,
        "prompt": fields.text("instruction"),
        "end_reason": end_reason(_CAUSES.get(recorded_end), passed=passed),
        "recorded_end": recorded_end,
        # Without a verdict the tests did not run to their end, or nobody could read them.
        **answered(passed=passed, failure=recorded_end or NO_VERDICT),
        "phases": _phases(fields),
        "started_at": fields.moment("trial_started_at"),
        "ended_at": fields.moment("trial_ended_at"),
        "input_tokens": _known_tokens(fields, "total_input_tokens"),
        "output_tokens": _known_tokens(fields, "total_output_tokens"),
    }
    return row


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


def _test_rows(fields: Fields, result_id: str, part: str) -> Iterator[ResultScoreRow]:
    tests = object_of(fields.peek("parser_results"))
    if tests:
        fields.value("parser_results")
    for position, (test, verdict) in enumerate(tests.items(), 1):
        passed = _TEST_VERDICTS.get(verdict) if isinstance(verdict, str) else None
        value, text = amount(verdict if passed is None else passed)
        yield {
            "content_id": part + content_hash("test", result_id, test)[len(part) :],
            "result_id": result_id,
            "scorer": "tests",
            "metric": utf8(test),
            "position": position,
            "value": value,
            "text": text,
            "passed": passed,
            "check_class": "test",
            "counts": True,
        }


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
