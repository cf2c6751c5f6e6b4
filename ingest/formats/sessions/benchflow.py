"""Results of BenchFlow's rollouts: one trial in each file, with its rewards."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ingest.formats.common.collector import RowCollector, id_in, part_id
from ingest.formats.common.documents import read_object, run_reading
from ingest.formats.common.fields import Fields, finite_number, object_of, text_of
from ingest.formats.common.trials import NO_VERDICT, outcome, score_row
from ingest.formats.sessions.trials import SUITE, system_of
from warehouse.core.formats.json_text import canonical_json
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ingest.formats.common.trials import Cause
    from ingest.reading import Block, ImportContext, Reading
    from warehouse.core.types import JsonObject, ResultRow, RunRow

_FORMAT = "BenchFlow result"
_TABLES = ("systems", "results", "result_scores")
_PASS = 1


def read_result(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read the result of a rollout."""
    record = yield from read_object(path, context, _FORMAT, _problem)
    if record is not None:
        trial_id = _trial_id(record)
        header: RunRow = {"suite": SUITE, "run_id": _run_id(path, trial_id)}
        blocks = partial(_blocks, path, record, header["run_id"], trial_id)
        parts = [part_id(trial_id)]
        yield run_reading(_FORMAT, header, (path,), _TABLES, blocks, parts=parts)


def _problem(record: JsonObject) -> str:
    if not _trial_id(record):
        return "has neither `rollout_name` nor `trial_name`"
    return "" if text_of(record.get("task_name")) else "has no `task_name`"


def _trial_id(record: JsonObject) -> str:
    return text_of(record.get("rollout_name")) or text_of(record.get("trial_name")) or ""


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
    rows.add("systems", system)
    label = system["system"]
    content_id = id_in(part, SUITE, run_id, label, trial_id, canonical_json(record))
    rewards = object_of(record.get("rewards"))
    for position, (name, reward) in enumerate(rewards.items(), 1):
        decides = name == "reward"
        score = score_row(name, reward, scorer="verifier", check_class="reward", counts=decides)
        score["content_id"] = id_in(part, "reward", content_id, name)
        rows.add("result_scores", {**score, "result_id": content_id, "position": position})
    for name in ("rollout_name", "trial_name"):
        fields.drop_equal(name, trial_id)
    if rewards:
        fields.drop("rewards")
    row = _result_row(fields, rewards) | {
        "content_id": content_id,
        "seq": 1,
        "model": model,
        "system": label,
        "trial_id": trial_id,
    }
    rows.add("results", {**row, "extra": fields.extra()})
    yield from rows.rest()


def _result_row(fields: Fields, rewards: JsonObject) -> ResultRow:
    reward = finite_number(rewards.get("reward"))
    error, broken = fields.text("error"), fields.text("verifier_error")
    # Without a verdict the agent or the verifier did not run to its end.
    row = outcome(
        passed=None if reward is None else reward >= _PASS,
        cause=_cause(error),
        recorded_end=error,
        failure=broken or error or NO_VERDICT,
    )
    return row | {
        "task_id": fields.text("task_name"),
        "tool_call_count": fields.integer("n_tool_calls"),
        "started_at": fields.moment("started_at"),
        "ended_at": fields.moment("finished_at"),
    }


def _cause(error: str | None) -> Cause:
    if not error:
        return None
    words = error.lower()
    return "timeout" if "timeout" in words or "timed out" in words else "error"
