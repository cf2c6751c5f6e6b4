"""The files of every_eval_ever: aggregates, samples, and indexes of a datastore."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ingest.formats.common.collector import RowCollector, part_id
from ingest.formats.common.records import UnreadableRecordError, json_lines, parsed
from ingest.formats.eee.aggregate import (
    figure_rows,
    header_row,
    sample_problems,
    unusable_results,
)
from ingest.formats.eee.samples import SampleRows
from ingest.reading import Reading, Reject, Stream
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ingest.formats.common.records import LineRecord
    from ingest.reading import Block, ImportContext
    from warehouse.core.types import JsonObject

SUITE = "eee"
AGGREGATE = "every_eval_ever aggregate"
SAMPLES = "every_eval_ever samples"

_SAMPLE_TABLES = ("results", "result_scores", "messages", "tasks")


def read_aggregate(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read the aggregate results of an evaluation."""
    file = context.read(path)
    if file is None:
        return
    try:
        document, is_sure = parsed(file.data.removeprefix(b"\xef\xbb\xbf"))
        evaluation_id = _evaluation_id(document if isinstance(document, dict) else {})
    except UnreadableRecordError as error:
        yield Reading(AGGREGATE, rejects=[Reject(str(error), raw=file.data)], files=[file])
        return
    if not isinstance(document, dict) or evaluation_id is None:
        reason = "has no evaluation_id" if isinstance(document, dict) else "not a JSON object"
        yield Reading(AGGREGATE, rejects=[Reject(reason, raw=file.data)], files=[file])
        return
    header = header_row(document, path, evaluation_id)
    problem = unusable_results(document)
    if not is_sure:
        header["source"] = file.data.decode("utf-8", "replace")
    yield Reading(
        AGGREGATE,
        rows={"runs": [header]},
        run=(SUITE, evaluation_id),
        rejects=[] if problem is None else [Reject(problem)],
        violations=sample_problems(document, path),
        stream=Stream(
            paths=(path,),
            tables=("reported_metrics",),
            blocks=partial(_figures, path, evaluation_id, document),
            is_run=True,
            parts=frozenset({part_id("aggregate")}),
        ),
    )


def read_samples(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read the samples of one or more evaluations."""
    redact = context.options.redact
    try:
        first = next((r.value for b in json_lines(path) for r in b.records if _is_sample(r)), None)
    except OSError:
        context.read(path)  # reports why it cannot be read
        return
    first = first if isinstance(first, dict) else {}
    run_id = _evaluation_id(first) or path.stem
    # Two files may be about one evaluation: samples of two benchmarks, as some converters write.
    part = part_id(f"samples {first.get('evaluation_name')}")
    yield Reading(
        SAMPLES,
        run=(SUITE, run_id),
        stream=Stream(
            paths=(path,),
            tables=_SAMPLE_TABLES,
            blocks=partial(_blocks, path, part, redact=redact),
            header={"model": _model_of_run(first), "source_name": utf8(path.name)},
            parts=frozenset({part}),
        ),
    )


def _figures(path: Path, evaluation_id: str, document: JsonObject) -> Iterator[Block]:
    rows = RowCollector(path, evaluation_id, part=part_id("aggregate"))
    for row in figure_rows(document, rows):
        rows.add("reported_metrics", row)
    yield from rows.rest()


def _blocks(path: Path, part: str, *, redact: bool) -> Iterator[Block]:
    runs: dict[str, SampleRows] = {}
    for block in json_lines(path, redact=redact):
        problems = RowCollector(path, "")
        problems.rejects, problems.secrets = block.rejects, block.secrets
        for record in block.records:
            if not _is_sample(record):
                problems.rejects.append(record.rejected("not a sample of an evaluation"))
                continue
            yield from _rows_of(record, path, part, runs).add(record)
        for found in problems.rest():
            found.run_id = None
            yield found
    for rows in runs.values():
        yield from rows.rest()


def _rows_of(record: LineRecord, path: Path, part: str, runs: dict[str, SampleRows]) -> SampleRows:
    value = record.value if isinstance(record.value, dict) else {}
    run_id = _evaluation_id(value) or ""
    if run_id not in runs:
        runs[run_id] = SampleRows(RowCollector(path, run_id, part=part), _model_of_run(value))
    return runs[run_id]


def _model_of_run(sample: JsonObject) -> str | None:
    """Return the model of all samples of the run; None if its id does not name the model.

    Where it does not, samples of several models may have the same id.
    """
    run_id, model = _evaluation_id(sample) or "", _text(sample, "model_id")
    return model if model and model.replace("/", "_") in run_id.replace("/", "_") else None


def _is_sample(record: LineRecord) -> bool:
    value = record.value
    return (
        isinstance(value, dict)
        and _evaluation_id(value) is not None
        and _text(value, "sample_id") is not None
        and _text(value, "evaluation_name") is not None
    )


def _evaluation_id(document: JsonObject) -> str | None:
    return _text(document, "evaluation_id") or None


def _text(document: JsonObject, name: str) -> str | None:
    value = document.get(name)
    return utf8(value) if isinstance(value, str) else None
