"""Scores of WildBench as ratings, battles as votes, and the figures of its leaderboards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.formats.common.documents import object_in
from ingest.formats.common.fields import Fields, object_of, text_of, whole_number
from ingest.formats.common.judged import rater_config
from ingest.formats.common.judged_files import Figure, figures_reader, number_in, records_reader
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.formats.common.judged import JudgedRows
    from ingest.formats.common.judged_files import JudgedRuns
    from ingest.reading import SourceFile
    from warehouse.core.types import (
        Json,
        JsonObject,
        PreferenceRow,
        RaterColumns,
        RatingRow,
        ReportedMetricRow,
    )

SUITE = TASK_SET = "wildbench"

_JUDGE = "eval="
_LOWEST, _HIGHEST = 1.0, 10.0
_REASONS = {"K": "the margin of lengths, a setting"}
_BY_TAGS = "the tags of the tasks are in a data set, not in the logs"


def _add(record: JsonObject, position: int, runs: JudgedRuns) -> str | None:
    """Add a score or battle; folders named `eval=JUDGE` and `ref=MODEL` say what it is."""
    fields = Fields(record)
    task_id = fields.text("session_id")
    if task_id is None:
        return "has no session_id"
    names = [utf8(part) for part in runs.path.with_suffix("").parts]
    judged_by = next((n for n, name in enumerate(names) if name.startswith(_JUDGE)), -1)
    judge = names[judged_by].removeprefix(_JUDGE) if judged_by >= 0 else None
    rows = runs.of("/".join(names[judged_by:]), TASK_SET)
    reply = fields.value("parsed_result")
    meta = fields.inside("meta_data")
    usage = meta.inside("usage")
    # The first is the provider's number of the request, the second a sum.
    for each, name in ((meta, "batch_req_id"), (usage, "total_tokens")):
        each.value(name)
    error = meta.text("error")
    common: RaterColumns = {
        "task_id": task_id,
        "rater": judge,
        "rater_kind": "judge",
        "rater_config": rater_config(model=judge),
        "raw_output": None if reply is None else json_text(reply),
        "reason": error,
        "status": "unparsed" if error is None else "error",
        "input_tokens": usage.integer("prompt_tokens"),
        "output_tokens": usage.integer("completion_tokens"),
    }
    add = _add_vote if "model_outputs" in record else _add_score
    return add(fields, position, common, rows)


def _add_score(fields: Fields, position: int, common: RaterColumns, rows: JudgedRows) -> str | None:
    model, task_id = fields.text("model_test"), str(common["task_id"])
    if model is None:
        return "has neither model_test nor model_outputs"
    scale: RatingRow = {"scale_low": _LOWEST, "scale_high": _HIGHEST}
    rating: RatingRow = {**common, **scale, "seq": position, "model": model}
    value = number_in(fields.peek("score"))
    if value is not None:
        fields.value("score")
        rating |= {"value": value, "status": "ok"}
    rating["result_id"] = rows.add_answer(task_id, model, fields.text("model_output"))
    rows.add_rating({**rating, "extra": fields.extra()})
    return None


def _add_vote(fields: Fields, position: int, common: RaterColumns, rows: JudgedRows) -> str | None:
    texts = {utf8(name): text for name, text in object_of(fields.value("model_outputs")).items()}
    model_a, model_b = fields.text("model_A"), fields.text("model_B")
    is_ordered = model_a is not None and model_b is not None
    if not is_ordered:
        model_a, model_b = min(texts, default=None), max(texts, default=None)
    winner, task_id = text_of(fields.peek("winner")), str(common["task_id"])
    if model_a is None or model_b is None or (model_a == model_b == winner):
        return "which of two answers won is not recorded"
    outcome = {model_a: "a", model_b: "b", "tie": "tie"}.get(winner or "")
    vote: PreferenceRow = {
        "seq": position,
        "model_a": model_a,
        "model_b": model_b,
        "result_a": rows.add_answer(task_id, model_a, text_of(texts.get(model_a))),
        "result_b": rows.add_answer(task_id, model_b, text_of(texts.get(model_b))),
        "first_shown": "a" if is_ordered else None,
    }
    if outcome is not None:
        fields.value("winner")
        extent = fields.integer("extent")
        strength = extent if outcome != "tie" else None
        vote |= {"outcome": outcome, "strength": strength, "status": "ok"}
    rows.add_vote({**common, **vote, "extra": fields.extra()})
    return None


def _figures(file: SourceFile) -> Iterator[Figure]:
    """Yield the figures of a leaderboard, which is a run: it does not say who the judge was."""
    for model, row in object_in(file).items():
        figures = object_of(row)
        total = whole_number(figures.get("total"))
        for metric, group, figure in _cells(figures):
            columns: ReportedMetricRow = {
                "model": utf8(model),
                "task_set": TASK_SET,
                "task_group": group,
                "n": None if group else total,
                "reason": _BY_TAGS if "task" in metric else _REASONS.get(metric),
            }
            yield Figure(utf8(file.path.stem), metric, figure, columns)


def _cells(figures: JsonObject) -> Iterator[tuple[str, str | None, Json]]:
    """Yield metric, group of tasks and figure; a group may have several figures."""
    for name, figure in figures.items():
        if not isinstance(figure, dict):
            if name != "model":
                yield name, None, figure
            continue
        for group, inner in figure.items():
            if isinstance(inner, dict):
                yield from ((f"{name}.{each}", utf8(group), inner[each]) for each in inner)
            else:
                yield name, utf8(group), inner


read_judged = records_reader("WildBench judgements", SUITE, _add, is_list=True)
read_leaderboard = figures_reader("WildBench leaderboard", SUITE, _figures)
