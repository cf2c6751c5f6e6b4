"""The files of MT-Bench: judgements, questions, and tables of figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.formats.common.fields import Fields, list_of
from ingest.formats.common.judged_files import (
    Figure,
    cell_amount,
    csv_records,
    figures_reading,
    lines_reading,
)
from ingest.formats.mt_bench.judgements import SUITE, add_judgement, task_set_of
from ingest.reading import Reject
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ingest.formats.common.judged_files import JudgedRuns
    from ingest.reading import ImportContext, Reading, SourceFile
    from warehouse.core.types import JsonObject, ReportedMetricRow

_OF_MODEL = "model"
_LABELS = ("judge", "language", "protocol", "row_type", "row_order", "row_id", "row_label")


def read_judged(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read judgements of judges, or votes of people."""
    redact = context.options.redact
    yield lines_reading("MT-Bench judgements", SUITE, path, add_judgement, redact=redact)


def read_questions(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read the questions as tasks."""
    redact = context.options.redact
    yield lines_reading("MT-Bench questions", SUITE, path, _add_question, redact=redact)


def _add_question(record: JsonObject, _: int, runs: JudgedRuns) -> str | None:
    fields = Fields(record)
    number, turns = fields.integer("question_id"), list_of(fields.peek("turns"))
    if number is None or not turns or not all(isinstance(turn, str) for turn in turns):
        return "has no question_id, or no texts as turns"
    rows = runs.of("", task_set_of(runs.path))
    prompt = "\n\n".join(map(utf8, turns))
    rows.add_task(str(number), prompt, seq=max(number, 1), extra=fields.extra())
    return None


def read_table(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read a table, which is a run: it names judges by labels that no log has."""
    file = context.read(path)
    if file is not None:
        yield figures_reading("MT-Bench table", SUITE, file, _figures(file))


def _figures(file: SourceFile) -> Iterator[Figure | Reject]:
    for each in csv_records(file):
        if isinstance(each, Reject):
            yield each
            continue
        _, record = each
        labels = Fields({name: record.pop(name) or None for name in _LABELS if name in record})
        language, row_id = labels.text("language"), labels.text("row_id")
        is_of_model = labels.peek("row_type") == _OF_MODEL
        labelled: ReportedMetricRow = {
            "model": row_id if is_of_model else None,
            "task_set": language and f"{SUITE}/{language}",
            "task_group": labels.text("protocol") or (None if is_of_model else row_id),
            "scorer": labels.text("judge"),
            "extra": labels.extra(),
        }
        for name, cell in record.items():
            value, text = cell_amount(cell)
            row: ReportedMetricRow = {**labelled, "metric": name, "value": value, "text": text}
            yield Figure(utf8(file.path.stem), row)
