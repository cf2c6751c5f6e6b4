"""Annotations of AlpacaEval as votes, and the figures of its leaderboards."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from ingest.formats.common.fields import Fields, finite_number, plain_text, whole_number
from ingest.formats.common.judged import rater_config
from ingest.formats.common.judged_files import (
    Figure,
    csv_records,
    figures_reader,
    number_in,
    records_reader,
)
from ingest.reading import Reject
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.formats.common.judged_files import JudgedRuns
    from ingest.reading import SourceFile
    from warehouse.core.types import JsonObject, PreferenceRow, ReportedMetricRow

SUITE = TASK_SET = "alpaca_eval"

_SUFFIX = "_leaderboard"
_BARE_NAME = "leaderboard"
_PLAIN = {0: 0.5, 1: 0.0, 1.5: 0.5, 2: 1.0}
_EVEN = 0.5
_BY_REGRESSION = "a regression over all models, with weights that only the tool has"
_REASONS = {
    "length_controlled_winrate": _BY_REGRESSION,
    "lc_standard_error": _BY_REGRESSION,
    "mode": "a label",
}


def _add(record: JsonObject, position: int, runs: JudgedRuns) -> str | None:
    """Add the vote of an annotation, with its task and answers."""
    fields = Fields(record)
    instruction, annotator = fields.text("instruction"), fields.text("annotator")
    model_a, model_b = fields.text("generator_1"), fields.text("generator_2")
    if instruction is None or annotator is None or model_a is None or model_b is None:
        return "lacks one of instruction, annotator, generator_1 and generator_2"
    folder = runs.path.parent
    # Where a judge changed its name, folders and boards have the old one.
    judge = utf8(folder.name) if utf8(folder.parent.name) == model_b else annotator
    rows = runs.of(_run_id(judge, model_b), TASK_SET)
    task_id = hashlib.sha256(instruction.encode()).hexdigest()
    dataset = fields.text("dataset")
    extra = None if dataset is None else json_text({"dataset": dataset})
    rows.add_task(task_id, instruction, seq=1, extra=extra)
    seconds = fields.number("time_per_example")
    vote: PreferenceRow = {
        "seq": position,
        "task_id": task_id,
        "model_a": model_a,
        "model_b": model_b,
        "result_a": rows.add_answer(task_id, model_a, fields.text("output_1")),
        "result_b": rows.add_answer(task_id, model_b, fields.text("output_2")),
        "rater": annotator,
        "rater_kind": "judge",
        "rater_config": rater_config(annotator=annotator),
        "raw_output": plain_text(fields.value("raw_completion")),
        "cost_usd": fields.number("price_per_example"),
        "duration_ms": None if seconds is None else seconds * 1000,
    }
    rows.add_vote({**vote, **_outcome(fields), "extra": fields.extra()})
    return None


def _run_id(annotator: str, model: str) -> str:
    return f"{annotator}/{model}"


def _outcome(fields: Fields) -> PreferenceRow:
    """Return what a preference says: 1 for a, 2 for b, between them the weight of b.

    Old files have 0 for a tie. A value that is none of these stays in `extra`.
    """
    preference = finite_number(fields.peek("preference"))
    if preference is None or not (preference == 0 or 1 <= preference <= 2):  # noqa: PLR2004
        return {"status": "unparsed"}
    fields.value("preference")
    # Exact: the tool's own annotators give three of the values without a weight.
    weight = _PLAIN.get(preference, preference - 1)
    vote: PreferenceRow = {
        "outcome": "tie" if weight == _EVEN else "b" if weight > _EVEN else "a",
    }
    return vote if preference in _PLAIN else {**vote, "weight_b": weight}


def _figures(file: SourceFile) -> Iterator[Figure | Reject]:
    """Yield the figures of a leaderboard, of one annotator, which the file or folder names."""
    stem = utf8(file.path.stem)
    annotator = utf8(file.path.parent.name) if stem == _BARE_NAME else stem.removesuffix(_SUFFIX)
    for each in csv_records(file):
        if isinstance(each, Reject):
            yield each
            continue
        line, record = each
        model, n = record.pop(""), whole_number(number_in(record.get("n_total")))
        if not model:
            yield Reject("a row without a model", line)
            continue
        for name, cell in record.items():
            columns: ReportedMetricRow = {"model": model, "task_set": TASK_SET, "n": n}
            reason = _REASONS.get(name)
            yield Figure(_run_id(annotator, model), name, cell, {**columns, "reason": reason})


read_annotations = records_reader("AlpacaEval annotations", SUITE, _add, is_list=True)
read_leaderboard = figures_reader("AlpacaEval leaderboard", SUITE, _figures)
