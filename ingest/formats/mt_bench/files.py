"""The files of MT-Bench: judgements, questions, and tables of figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.formats.common.fields import Fields, list_of
from ingest.formats.common.judged_files import (
    Figure,
    csv_records,
    figures_reader,
    records_reader,
)
from ingest.formats.mt_bench.judgements import SUITE, add_judgement, task_set_of
from ingest.reading import Reject
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.formats.common.judged_files import JudgedRuns
    from ingest.reading import SourceFile
    from warehouse.core.types import JsonObject, ReportedMetricRow

_OF_MODEL = "model"
_OF_LABELS = "the table calls judges by labels, which no judgement has"
_LABELS = ("judge", "language", "protocol", "row_type", "row_order", "row_id", "row_label")


def _add_question(record: JsonObject, _: int, runs: JudgedRuns) -> str | None:
    fields = Fields(record)
    number, turns = fields.integer("question_id"), list_of(fields.peek("turns"))
    if number is None or not turns or not all(isinstance(turn, str) for turn in turns):
        return "has no question_id, or no texts as turns"
    rows = runs.of("", task_set_of(runs.path))
    prompt = "\n\n".join(map(utf8, turns))
    rows.add_task(str(number), prompt, seq=max(number, 1), extra=fields.extra())
    return None


def _figures(file: SourceFile) -> Iterator[Figure | Reject]:
    """Yield the figures of a table, which is a run: it has labels of judges that no log has."""
    for each in csv_records(file):
        if isinstance(each, Reject):
            yield each
            continue
        _, record = each
        labels = Fields({name: record.pop(name) or None for name in _LABELS if name in record})
        language, row_id = labels.text("language"), labels.text("row_id")
        is_of_model = labels.peek("row_type") == _OF_MODEL
        columns: ReportedMetricRow = {
            "model": row_id if is_of_model else None,
            "task_set": language and f"{SUITE}/{language}",
            "task_group": labels.text("protocol") or (None if is_of_model else row_id),
            "scorer": labels.text("judge"),
            "reason": _OF_LABELS,
            "extra": labels.extra(),
        }
        run_id = utf8(file.path.stem)
        yield from (Figure(run_id, name, cell, columns) for name, cell in record.items())


read_judged = records_reader("MT-Bench judgements", SUITE, add_judgement, is_list=False)
read_questions = records_reader("MT-Bench questions", SUITE, _add_question, is_list=False)
read_table = figures_reader("MT-Bench table", SUITE, _figures)
