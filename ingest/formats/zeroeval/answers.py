"""Answers of a model to the items of a data set, and the figures of all models on a board."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ingest.formats.common.documents import json_in
from ingest.formats.common.fields import Fields, list_of, object_of, plain_text, text_of
from ingest.formats.common.judged_files import Figure, figures_reader, records_reader
from ingest.formats.common.records import UnreadableRecordError, parsed
from ingest.reading import Reject
from warehouse.core.formats.json_text import canonical_json
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.formats.common.judged_files import JudgedRuns
    from ingest.reading import SourceFile
    from warehouse.core.types import Json, JsonObject, ReportedMetricRow, ResultRow

SUITE = "zeroeval"
_MODE = re.compile(r"(greedy|sampling)(@\w+)?$")
_PLAIN_MODE = "greedy"
_BRACE = re.compile(r"[{}]")
_WRITTEN = re.compile(r'"answer"\s*:\s*(?:"([^"]*)"|([^,\s]*))')
_LENGTHS = "how the board counts lengths is not recorded"
_UNSCORED = "evalstore has no scorer for this data set"
_SCORED = {"crux"}


def _add(record: JsonObject, position: int, runs: JudgedRuns) -> str | None:
    fields = Fields(record)
    item = plain_text(fields.value("id")) or plain_text(fields.value("session_id"))
    dataset, model = fields.text("dataset"), utf8(runs.path.stem)
    if not item or not dataset:
        return "has no `id` or no `dataset`"
    fields.drop_equal("session_id", item)
    asked, outputs = list_of(fields.peek("chat_history")), list_of(fields.value("output"))
    prompt = text_of(asked[0]) if len(asked) == 1 else None
    if prompt is not None:
        fields.drop("chat_history")
    folder = utf8(runs.path.absolute().parent.name)
    rows = runs.of(_run_id(dataset, folder if _MODE.match(folder) else _PLAIN_MODE), dataset)
    rows.add_task(item, prompt, question=fields.text("question"), target=fields.text("answer"))
    settings, output = fields.inside("configs"), text_of(outputs[0]) if outputs else None
    result: ResultRow = {
        "content_id": rows.rows.id_of("answer", model, record),
        "seq": position,
        "model": model,
        "provider": settings.text("engine"),
        "settings": canonical_json(settings.left()),
        "task_set": dataset,
        "task_id": item,
        "success": True,
        "raw_output": output,
        "answer": written_answer(output or ""),
    }
    settings.drop(*settings.left())
    result["extra"] = fields.extra(output=outputs[1:] or None)
    rows.rows.add("results", result)
    return None


def written_answer(output: str) -> str | None:
    """Return the answer in a reply, as ZeroEval reads it; None if there is none.

    It is `answer` in the first complete JSON object, else what follows `"answer":`.
    """
    value = object_of(_first_object(output)).get("answer")
    if value is not None:
        # As in Python, where the right answers are literals.
        return utf8(str(value))
    written = _WRITTEN.search(output)
    return None if written is None else utf8(written[1] if written[1] is not None else written[2])


def _first_object(output: str) -> Json:
    depth = start = 0
    for brace in _BRACE.finditer(output):
        if brace[0] == "{":
            start = start if depth else brace.start()
            depth += 1
        elif depth == 1:
            text = output[start : brace.end()].replace("\n", "")
            try:
                return parsed(text.encode("utf-8", "replace"))[0]
            except UnreadableRecordError:
                return None
        else:
            depth = max(0, depth - 1)
    return None


def _figures(file: SourceFile) -> Iterator[Figure | Reject]:
    dataset = file.name.removesuffix(".summary.json")
    for record in list_of(json_in(file.data)):
        fields = Fields(record)
        model, mode = fields.text("Model"), fields.text("Mode")
        if not model or not mode:
            yield Reject("has no `Model` or no `Mode`", raw=canonical_json(record).encode())
            continue
        total = fields.integer("Total")
        for metric, value in fields.left().items():
            reason = None if dataset in _SCORED else _UNSCORED
            columns: ReportedMetricRow = {
                "model": model,
                "task_set": dataset,
                "n": total,
                "reason": _LENGTHS if metric.endswith("Lens") else reason,
            }
            yield Figure(_run_id(dataset, mode), metric, value, columns)


def _run_id(dataset: str, mode: str) -> str:
    return f"{dataset} {mode}"


read_answers = records_reader("ZeroEval answers", SUITE, _add, is_list=True)
read_summary = figures_reader("ZeroEval summary", SUITE, _figures)
