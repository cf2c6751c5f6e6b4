"""The lines of BFCL files as rows.

A file of scores holds the failures only. Passes follow from both files, which may come in any
order: they are computed in the warehouse (`sql/scores/bfcl/`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.formats.common.fields import (
    Fields,
    amount,
    finite_number,
    plain_text,
    task_position,
    texts_of,
)
from warehouse.core.formats.json_text import canonical_json, json_text
from warehouse.core.formats.values import is_integer, utf8
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.formats.bfcl.layout import Place
    from ingest.formats.common.collector import RowCollector
    from ingest.formats.common.records import LineRecord
    from warehouse.core.types import (
        EventRow,
        Json,
        JsonObject,
        ReportedMetricRow,
        ResultRow,
        TaskRow,
    )

# What the program writes instead of an answer.
_ERROR = "Error during inference:"
# How the figures follow from the verdicts.
_STATISTICS = {"accuracy": "mean", "correct_count": "sum", "total_count": "count"}
# Of the category that asks the same questions with prompts of several configurations.
_CONFIGURATION = "configuration"
_ID_PARTS = 3  # `format_sensitivity_0:<configuration>:simple_python_94`
_SPREADS = {"accuracy_max_delta", "accuracy_variance", "accuracy_std"}


def add_result(record: LineRecord, place: Place, rows: RowCollector) -> None:
    """Add the row of a line of results."""
    value = record.value
    if not isinstance(value, dict) or not isinstance(value.get("id"), str):
        rows.rejects.append(record.rejected("not a result with an id"))
        return
    if "result" not in value:
        rows.rejects.append(record.rejected("has no result"))
        return
    fields = Fields(value)
    result = fields.value("result")
    is_error = isinstance(result, str) and result.startswith(_ERROR)
    called = list(_functions(result))
    row: ResultRow = {
        "content_id": rows.id_of("result", place.model, place.category, value),
        "seq": record.line,
        "model": place.model,
        "task_set": place.task_set,
        "task_id": fields.text("id"),
        "attempt": 1,
        "raw_output": plain_text(result),
        "parsed_output": None if isinstance(result, str) else json_text(result),
        "availability_status": "error" if is_error else "ok",
        "success": not is_error,
        "failure_type": "error" if is_error else None,
        "tool_calls": called,
        "tool_call_count": len(called),
        "duration_seconds": _total(fields, "latency"),
        "input_tokens": _whole(_total(fields, "input_token_count")),
        "output_tokens": _whole(_total(fields, "output_token_count")),
        "source": record.source,
    }
    row["extra"] = fields.extra(**{_CONFIGURATION: _configuration(str(value["id"]))})
    rows.add("results", row)


def add_score(record: LineRecord, place: Place, rows: RowCollector) -> None:
    """Add the rows of a line of scores: the figures in the first, a failure in each other."""
    value = record.value
    if not isinstance(value, dict):
        rows.rejects.append(record.rejected("not a JSON object"))
    elif "accuracy" in value and "id" not in value:
        for row in _figures(value, place, record.line, rows):
            rows.add("reported_metrics", row)
    elif isinstance(value.get("id"), str):
        _add_failure(record, value, place, rows)
    else:
        rows.rejects.append(record.rejected("neither figures nor a failure with an id"))


def _figures(
    figures: JsonObject, place: Place, line: int, rows: RowCollector
) -> Iterator[ReportedMetricRow]:
    for name, figure in figures.items():
        if isinstance(figure, dict) and _STATISTICS.keys() & figure:
            by = json_text({"by": f"$.{_CONFIGURATION}"})
            for each in figure:
                row = _figure(each, figure, place, line, rows, group=name)
                yield row | {"task_group": utf8(name), "reducer_parameters": by}
        else:
            yield _figure(name, figures, place, line, rows)


def _figure(
    name: str,
    figures: JsonObject,
    place: Place,
    line: int,
    rows: RowCollector,
    *,
    group: str | None = None,
) -> ReportedMetricRow:
    value, text = amount(figures[name])
    total = figures.get("total_count")
    statistic = _STATISTICS.get(name)
    of_group = () if group is None else (group,)
    return {
        "content_id": rows.id_of(
            "figure", place.model, place.category, *of_group, name, value, text
        ),
        "seq": line,
        "model": place.model,
        "task_set": place.task_set,
        "metric": utf8(name),
        "score": "passed" if statistic else None,
        "statistic": statistic,
        "value": value,
        "text": text,
        "n": total if statistic and is_integer(total) else None,
        "reason": None if statistic else _reason(name),
    }


def _reason(name: str) -> str:
    if name in _SPREADS:
        return "rounded, and computed from the accuracies of the configurations"
    return "how it is computed is not known"


def _configuration(task_id: str) -> str | None:
    """Return how the prompt of a task was made; None where all are made alike."""
    parts = task_id.split(":")
    return utf8(parts[1]) if len(parts) == _ID_PARTS else None


def _add_failure(record: LineRecord, failure: JsonObject, place: Place, rows: RowCollector) -> None:
    row: EventRow = {
        "content_id": rows.id_of("failure", place.model, place.category, failure),
        "seq": record.line,
        "event": "failure",
        "tag": f"{place.task_set} {place.model or ''}",
        "document": json_text(failure),
        "source": record.source,
    }
    rows.add("events", row)
    task = _task(failure, place)
    if task is not None:
        rows.add("tasks", task)


def _task(failure: JsonObject, place: Place) -> TaskRow | None:
    """Return the task of a failure; None if the line does not have it."""
    asked = Fields(failure.get("prompt"))
    question = _question(asked.peek("question"))
    answer = failure.get("possible_answer", failure.get("ground_truth"))
    if question is None and answer is None:
        return None
    reference = None if answer is None else canonical_json(answer)
    functions = asked.peek("function")
    task_hash = content_hash("task", question, reference, functions)
    set_hash = content_hash("bfcl", place.version, place.category)
    return {
        "content_id": content_hash("task", set_hash, failure["id"], task_hash),
        "suite": "bfcl",
        "task_set": place.task_set,
        "task_set_hash": set_hash,
        "seq": task_position(str(failure["id"])),
        "task_id": utf8(str(failure["id"])),
        "task_hash": task_hash,
        "question": question,
        "reference": reference,
        "target": reference,
        "extra": None if functions is None else json_text({"function": functions}),
    }


def _question(turns: Json) -> str | None:
    """Return the texts of the user's messages, of all turns."""
    listed = turns if isinstance(turns, list) else []
    messages = [message for turn in listed if isinstance(turn, list) for message in turn]
    texts = [
        texts_of(message.get("content"))
        for message in messages
        if isinstance(message, dict) and message.get("role") == "user"
    ]
    return "\n".join(text for text in texts if text is not None) if any(texts) else None


def _functions(result: Json) -> Iterator[str]:
    """Yield the names of the functions that a result calls, in order, of all turns and steps."""
    if isinstance(result, list):
        for each in result:
            yield from _functions(each)
    elif isinstance(result, dict):
        yield from map(utf8, result)


def _total(fields: Fields, name: str) -> float | None:
    """Take a number, or return the sum of a nested list of numbers, which stays in `extra`."""
    value = fields.peek(name)
    if isinstance(value, list):
        found = list(_numbers(value))
        return sum(found) if found else None
    return fields.number(name)


def _numbers(value: Json) -> Iterator[float]:
    if isinstance(value, list):
        for each in value:
            yield from _numbers(each)
    else:
        number = finite_number(value)
        if number is not None:
            yield number


def _whole(number: float | None) -> int | None:
    whole = None if number is None or not number.is_integer() else int(number)
    return whole if is_integer(whole) else None
