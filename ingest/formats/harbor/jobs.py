"""Reads the result of a Harbor job: its figures, and trials that are in it only."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ingest.formats.common.collector import RowCollector, part_id
from ingest.formats.common.documents import object_in, run_reading
from ingest.formats.common.fields import Fields, list_of, object_of, text_of
from ingest.formats.common.records import UnreadableRecordError
from ingest.formats.common.trials import figure_row
from ingest.formats.harbor.rows import (
    RESULT,
    SUITE,
    TABLES,
    add_result,
    harbor_version,
    trial_part,
)
from ingest.reading import Reading, Reject
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ingest.reading import Block, ImportContext
    from warehouse.core.types import Json, JsonObject, RunRow

FORMAT = "Harbor job"
_COUNTS = "results.extra.counts"
# The figures of a job that are sums over its trials; names of 2025 too.
_SUMS = {
    "n_completed_trials": "completed",
    "n_trials": "completed",
    "n_errored_trials": "errored",
    "n_errors": "errored",
    "n_input_tokens": "n_input_tokens",
    "n_cache_tokens": "n_cache_tokens",
    "n_output_tokens": "n_output_tokens",
    "cost_usd": "cost_usd",
}
_STATE = "the state of the job when it was written: trials that have no result, or had another"
_LISTS = {"metrics", "pass_at_k", "reward_stats", "exception_stats"}


def read_job(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read the result of a job."""
    file = context.read(path)
    if file is None:
        return
    try:
        job = object_in(file)
    except UnreadableRecordError as error:
        yield Reading(FORMAT, rejects=[Reject(str(error), raw=file.data)], files=[file])
        return
    header = _header(job, path)
    trials = [object_of(each) for each in list_of(job.get("trial_results"))]
    # What a trial's own file says is read there, with its trajectories.
    inside = [each for each in trials if not _has_file(path.parent, each)]
    blocks = partial(_blocks, path, job, header["run_id"], inside)
    parts = {part_id("job"), *map(trial_part, inside)}
    reading = run_reading(FORMAT, header, (path,), TABLES, blocks, parts=parts)
    reading.files = [file]
    yield reading


def _has_file(folder: Path, trial: JsonObject) -> bool:
    name = text_of(trial.get("trial_name"))
    return bool(name) and "/" not in str(name) and (folder / str(name) / RESULT).is_file()


def _header(job: JsonObject, path: Path) -> RunRow:
    fields = Fields(job)
    version = harbor_version(path.parent)
    fields.drop("id", "stats", "trial_results")
    # Times of a job are local, of an unknown zone: they stay in `extra`.
    return {
        "suite": SUITE,
        "run_id": text_of(job.get("id")) or utf8(path.parent.name),
        "versions": None if version is None else json_text({"harbor": version}),
        "source_name": utf8(path.parent.name),
        "extra": fields.extra(),
    }


def _blocks(path: Path, job: JsonObject, run_id: str, trials: list[JsonObject]) -> Iterator[Block]:
    for trial in trials:
        rows = RowCollector(path, run_id, part=trial_part(trial))
        add_result(trial, path.parent, rows)
        yield from rows.rest()
    rows = RowCollector(path, run_id, part=part_id("job"))
    stats = object_of(job.get("stats"))
    for name, value in {**object_of(job.get("status")), **stats}.items():
        if name != "evals":
            score = f"{_COUNTS}.{_SUMS[name]}" if name in _SUMS else None
            _add(rows, f"stats.{name}", value, score=score)
    for key, value in object_of(stats.get("evals")).items():
        _add_eval(rows, key, object_of(value))
    yield from rows.rest()


def _add_eval(rows: RowCollector, key: str, figures: JsonObject) -> None:
    """Add the figures of an agent, model and data set."""
    begin = f"evals[{utf8(key)}]"
    base = "" if '"' in key or "\\" in key else f'{_COUNTS}.evals."{utf8(key)}"'
    for name, value in figures.items():
        if name not in _LISTS:
            known = name in {"n_trials", "n_errors"} and base
            _add(rows, f"{begin}.{name}", value, score=f"{base}.{name}" if known else None)
    for metrics in list_of(figures.get("metrics")):
        for name, value in object_of(metrics).items():
            score = f'{base}.rewards."{utf8(name)}"' if '"' not in name and base else None
            if name == "mean":
                score = f"{base}.only_reward"
            _add(rows, f"{begin}.metrics.{utf8(name)}", value, score=score, per=f"{base}.all")
    for k, value in object_of(figures.get("pass_at_k")).items():
        score = f"{base}.only_reward" if base and k.isdigit() else None
        _add(rows, f"{begin}.pass_at_{utf8(k)}", value, score=score, k=k)


def _add(
    rows: RowCollector,
    metric: str,
    figure: Json,
    *,
    score: str | None,
    per: str | None = None,
    k: str | None = None,
) -> None:
    """Add a figure: a sum, a ratio of two, or a share of tasks passed in k attempts."""
    row = figure_row(
        metric,
        figure,
        score=score,
        statistic="ratio" if per is not None else "sum" if k is None else "mean",
        per=per,
        k=None if k is None or score is None else int(k),
        reason=_STATE if score is None else None,
    )
    if row is not None:
        row["content_id"] = rows.id_of("figure", metric, row["value"], row["text"])
        rows.add("reported_metrics", {**row, "seq": 1})
