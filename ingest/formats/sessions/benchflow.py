"""Results of BenchFlow's rollouts: one trial in each file, with its rewards."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal

from ingest.formats.common.collector import RowCollector, part_id
from ingest.formats.common.fields import Fields, amount, finite_number, object_of, text_of
from ingest.formats.common.records import UnreadableRecordError, parsed
from ingest.formats.common.trials import NO_VERDICT, answered, end_reason
from ingest.formats.sessions.system import SUITE, system_of, trial_content_id
from ingest.reading import Reading, Reject, Stream
from warehouse.core.formats.json_text import canonical_json
from warehouse.core.formats.values import utf8
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ingest.reading import Block, ImportContext
    from warehouse.core.types import Json, JsonObject, ResultRow, ResultScoreRow

_FORMAT = "BenchFlow result"
_TABLES = ("systems", "results", "result_scores")
_PASS = 1


def read_result(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read the result of a rollout."""
    file = context.read(path)
    if file is None:
        return
    try:
        record, _ = parsed(file.data.removeprefix(b"\xef\xbb\xbf"))
        problem = _problem(record)
    except UnreadableRecordError as error:
        record, problem = None, str(error)
    if problem or not isinstance(record, dict):
        yield Reading(_FORMAT, rejects=[Reject(problem, raw=file.data)], files=[file])
        return
    trial_id = _trial_id(record) or ""
    run_id = _run_id(path, trial_id)
    yield Reading(
        _FORMAT,
        rows={"runs": [{"suite": SUITE, "run_id": run_id, "origin": "import"}]},
        run=(SUITE, run_id),
        stream=Stream(
            paths=(path,),
            tables=_TABLES,
            blocks=partial(_blocks, path, record, run_id, trial_id),
            is_run=True,
            parts=frozenset({part_id(trial_id)}),
        ),
    )


def _problem(record: Json) -> str:
    if not isinstance(record, dict):
        return "not a JSON object"
    if not _trial_id(record):
        return "has neither `rollout_name` nor `trial_name`"
    return "" if text_of(record.get("task_name")) else "has no `task_name`"


def _trial_id(record: JsonObject) -> str | None:
    return text_of(record.get("rollout_name")) or text_of(record.get("trial_name"))


def _run_id(path: Path, trial_id: str) -> str:
    """Return the run: the folder of the rollouts, or that of the file."""
    folder = path.absolute().parent
    return utf8((folder.parent if folder.name == trial_id else folder).name) or SUITE


def _blocks(path: Path, record: JsonObject, run_id: str, trial_id: str) -> Iterator[Block]:
    rows, part = RowCollector(path, run_id), part_id(trial_id)
    fields = Fields(record)
    agent = fields.text("agent_name") or fields.text("agent")
    model = fields.text("model")
    system = system_of(run_id, agent, None, [model] if model else [])
    system["content_id"] = part + system["content_id"][len(part) :]
    content_id = trial_content_id(run_id, system, trial_id, canonical_json(record))
    content_id = part + content_id[len(part) :]
    rewards = object_of(record.get("rewards"))
    for score in _reward_rows(rewards, content_id, part):
        rows.add("result_scores", score)
    for name in ("rollout_name", "trial_name"):
        if fields.peek(name) == trial_id:
            fields.value(name)
    if rewards:
        fields.value("rewards")
    row = _result_row(fields, rewards)
    row |= {
        "content_id": content_id,
        "seq": 1,
        "model": model,
        "system": system["system"],
        "trial_id": trial_id,
        "extra": fields.extra(),
    }
    rows.add("systems", system)
    rows.add("results", row)
    yield from rows.rest()


def _result_row(fields: Fields, rewards: JsonObject) -> ResultRow:
    passed = _verdict(rewards)
    error = fields.text("error")
    broken = fields.text("verifier_error")
    return {
        "task_id": fields.text("task_name"),
        "end_reason": end_reason(_cause(error), passed=passed),
        "recorded_end": error,
        # Without a verdict the agent or the verifier did not run to its end.
        **answered(passed=passed, failure=broken or error or NO_VERDICT),
        "tool_call_count": fields.integer("n_tool_calls"),
        "started_at": fields.moment("started_at"),
        "ended_at": fields.moment("finished_at"),
    }


def _verdict(rewards: JsonObject) -> bool | None:
    reward = finite_number(rewards.get("reward"))
    return None if reward is None else reward >= _PASS


def _cause(error: str | None) -> Literal["timeout", "error"] | None:
    if not error:
        return None
    words = error.lower()
    return "timeout" if "timeout" in words or "timed out" in words else "error"


def _reward_rows(rewards: JsonObject, result_id: str, part: str) -> Iterator[ResultScoreRow]:
    for position, (name, reward) in enumerate(rewards.items(), 1):
        value, text = amount(reward)
        yield {
            "content_id": part + content_hash("reward", result_id, name)[len(part) :],
            "result_id": result_id,
            "scorer": "verifier",
            "metric": utf8(name),
            "position": position,
            "value": value,
            "text": text,
            "check_class": "reward",
            "counts": name == "reward",
        }
