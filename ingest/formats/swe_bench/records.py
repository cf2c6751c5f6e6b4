"""Records of instances: predictions, and rows of what an agent took."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ingest.formats.common.documents import NO_OBJECT, read_json
from ingest.formats.common.fields import Fields, known_sum, object_of
from ingest.formats.common.records import json_lines
from ingest.formats.common.trials import outcome, system_row
from ingest.formats.swe_bench.trials import (
    TrialRows,
    end_cause,
    has_file,
    objects,
    reading,
    run_name,
)
from ingest.reading import Reject
from warehouse.core.formats.json_text import canonical_json
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from ingest.formats.common.records import LineRecord
    from ingest.reading import Block, ImportContext, Reading
    from warehouse.core.types import JsonObject, RunRow

    # Adds a record, and returns why it cannot be used, if so.
    Add = Callable[[JsonObject, TrialRows], str | None]

_OF_SWE_AGENT = ("{0}.traj", "{0}/{0}.traj")
_OF_MINI = ("{0}.traj.json", "{0}/{0}.traj.json")


def read_predictions(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read the patches that a system proposes; they have no verdict."""
    yield from _read("SWE-bench predictions", path, context, _add_prediction)


def read_rows(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read what an agent took for each instance, and its tool's verdicts."""
    yield from _read("SWE-bench tool rows", path, context, _add_row)


def _read(form: str, path: Path, context: ImportContext, add: Add) -> Iterator[Reading]:
    run_id = run_name(path)
    header: RunRow = {"source_name": utf8(path.name)}
    if path.suffix == ".jsonl":
        blocks = partial(_blocks, path, run_id, add, redact=context.options.redact)
        yield reading(form, path, run_id, blocks, header)
        return
    value = yield from read_json(path, context, form, lambda _: "")
    if value is None:
        return
    trials = TrialRows(path, run_id)
    for at, record in objects(value):
        reason = add(record, trials)
        if reason is not None:
            raw = canonical_json(record).encode()
            trials.rows.rejects.append(Reject(f"record {at}: {reason}", raw=raw))
    yield trials.reading(form, header)


def _blocks(path: Path, run_id: str, add: Add, *, redact: bool) -> Iterator[Block]:
    trials = TrialRows(path, run_id)

    def add_line(record: LineRecord) -> None:
        value = record.value
        reason = add(value, trials) if isinstance(value, dict) else NO_OBJECT
        if reason is not None:
            trials.rows.rejects.append(record.rejected(reason))

    yield from trials.rows.add_lines(json_lines(path, redact=redact), add_line)
    yield from trials.rows.rest()


def _add_prediction(record: JsonObject, trials: TrialRows) -> str | None:
    fields = Fields(record)
    instance, label = fields.text("instance_id"), fields.text("model_name_or_path")
    patch = fields.peek("model_patch")
    if not instance or not label:
        return "a prediction without instance_id or model_name_or_path"
    if patch is not None and not isinstance(patch, str):
        return "model_patch is not a text"
    trial = trials.name_trial(label, instance, record)
    if trial is None:
        return None
    if _has_trajectory(trials.path.parent, instance, label):
        # The trajectory is the trial; the prediction is what was taken from it.
        name, text = f"predictions/{instance}", canonical_json(record)
        kept = {"kind": "prediction", "name": name, "content": text.encode(), "task_id": instance}
        trials.add("artifacts", f"prediction {label} {trial}", kept, text)
        return None
    trials.add_system(system_row(agent=None, label=label))
    row = outcome()
    row["raw_output"] = fields.text("model_patch")
    row["extra"] = fields.extra()
    trials.add_result("prediction", label, instance, row, trial)
    return None


def _has_trajectory(folder: Path, instance: str, label: str) -> bool:
    """Return whether the trajectory of a prediction is beside it.

    SWE-agent names the folder by the label; in that of mini-swe-agent, the label is the model.
    """
    is_swe_agent = label == folder.name and has_file(folder, instance, *_OF_SWE_AGENT)
    return is_swe_agent or has_file(folder, instance, *_OF_MINI)


def _add_row(record: JsonObject, trials: TrialRows) -> str | None:
    if "instanceId" in record:
        return _add_tool_row(record, trials)
    return _add_metrics(record, trials)


def _add_tool_row(record: JsonObject, trials: TrialRows) -> str | None:
    fields = Fields(record)
    instance, model, agent = (fields.text(name) for name in ("instanceId", "model", "agent"))
    if not instance:
        return "instanceId is not a text"
    label = trials.add_system(system_row(agent=agent, model=model))
    trial = trials.name_trial(label, instance, record)
    if trial is None:
        return None
    milliseconds, calls = fields.number("durationMs"), fields.peek("toolCalls")
    counts = [n for n in object_of(calls).values() if isinstance(n, int)]
    cached, written = fields.integer("cacheReadTokens"), fields.integer("cacheCreationTokens")
    new = fields.integer("inputTokens")
    row = outcome(passed=fields.boolean("resolved")) | {
        "model": model,
        "n_steps": fields.integer("numTurns"),
        "tool_call_count": sum(counts) if isinstance(calls, dict) else None,
        # The tool counts what came from the cache, or went into it, apart.
        "input_tokens": None if new is None else known_sum((new, cached, written)),
        "cached_tokens": cached,
        "output_tokens": fields.integer("outputTokens"),
        "cost_usd": fields.number("costUsd"),
        "duration_seconds": None if milliseconds is None else milliseconds / 1000,
        "raw_output": fields.text("modelPatch"),
        "extra": fields.extra(cacheCreationTokens=written),
    }
    trials.add_result("tool row", label, instance, row, trial)
    return None


def _add_metrics(record: JsonObject, trials: TrialRows) -> str | None:
    fields = Fields(record)
    instance, model = fields.text("instance_id"), fields.text("model")
    if not instance:
        return "instance_id is not a text"
    system = system_row(agent=None, model=model, label=run_name(trials.path))
    label = trials.add_system(system)
    trial = trials.name_trial(label, instance, record)
    if trial is None:
        return None
    metrics = fields.inside("metrics")
    end = fields.plain("error")
    cause = end_cause(end)
    failure = "error" if cause == "error" else None
    row = outcome(cause=cause, recorded_end=end, failure=failure)
    row |= {
        "model": model,
        "n_steps": metrics.integer("turns"),
        # Zero tokens mean that nobody counted them.
        "input_tokens": metrics.integer("input_tokens") or None,
        "output_tokens": metrics.integer("output_tokens") or None,
        "cost_usd": metrics.number("cost_usd"),
        "duration_seconds": metrics.number("duration_sec"),
        "ended_at": fields.moment("timestamp"),
    }
    trials.add_result("metrics", label, instance, {**row, "extra": fields.extra()}, trial)
    return None
