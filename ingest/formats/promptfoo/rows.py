"""The rows of a promptfoo result: the same, whether it came from an export or the database."""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING

from ingest.formats.common.fields import (
    Fields,
    amount,
    finite_number,
    plain_text,
    whole_number,
)
from ingest.formats.common.records import UnreadableRecordError, parsed
from ingest.formats.promptfoo.tests import test_row
from warehouse.core.formats.json_text import canonical_json, json_text
from warehouse.core.formats.values import utf8
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ingest.formats.common.collector import RowCollector
    from warehouse.core.types import ArtifactRow, Json, JsonObject, ResultRow, ResultScoreRow

_ERROR = 2  # of `failureReason`: not a failed assertion
# Assertions that compare the answers of all columns, after those about one answer.
_COMPARISONS = ("select-best", "max-score")
_LONGEST_LABEL = 60
# Fields that both exports and the database have. Others are kept apart, so that a result is the
# same whichever it was read from.
COMMON = (
    *("id", "promptIdx", "testIdx", "promptId", "latencyMs", "cost", "error", "success", "score"),
    *("failureReason", "testCase", "prompt", "provider", "response", "gradingResult"),
    *("namedScores", "metadata"),
)
# What a result is recognised by, wherever it was written.
_IDENTITY = (
    *("id", "promptIdx", "testIdx", "success", "namedScores", "failureReason"),
    *("prompt", "response", "gradingResult", "latencyMs", "error"),
)


def add_row(
    row: JsonObject, *, seq: int, task_set: str, columns: Collection[int], rows: RowCollector
) -> ResultRow:
    """Add the rows of a result of promptfoo, and return that of `results`.

    Args:
        row: as in an export.
        seq: position in the evaluation, from 1.
        task_set: task set of the evaluation.
        columns: the indices of prompts that their label and provider do not distinguish.
        rows: collects the rows.
    """
    fields = Fields({name: row[name] for name in COMMON if name in row})
    score = finite_number(row.get("score"))  # the database has 1.0 for 1
    content_id = rows.id_of("result", score, [row.get(name) for name in _IDENTITY])
    test = test_row(row, task_set)
    rows.add("tasks", test)
    for each in _scores(row, content_id, rows):
        rows.add("result_scores", each)
    result = _result(fields, row, columns)
    result |= {"content_id": content_id, "seq": seq, "source": None}
    result |= {
        "task_set": task_set,
        "task_id": test["task_id"],
        "task_name": test["task_name"],
        "task_hash": test["task_hash"],
    }
    result["extra"] = canonical_json({**fields.left(), "counts": _counts(row)})
    rows.add("results", result)
    _add_others(row, result, rows)
    return result


def _add_others(row: JsonObject, result: ResultRow, rows: RowCollector) -> None:
    """Keep the fields that only an export, or only the database has."""
    others = {name: value for name, value in row.items() if name not in COMMON}
    test, response, provider = row.get("testCase"), row.get("response"), row.get("provider")
    if isinstance(test, dict) and test.get("vars") == others.get("vars"):
        others.pop("vars", None)
    used = others.get("tokenUsage")
    if (isinstance(response, dict) and response.get("tokenUsage") == used) or _is_zero(used):
        others.pop("tokenUsage", None)
    if isinstance(provider, dict) and provider.get("config") is not None:
        others["provider_config"] = provider["config"]
    others = {name: value for name, value in others.items() if value is not None}
    if others:
        text = canonical_json(others)
        artifact: ArtifactRow = {
            "content_id": rows.id_of("others", result["content_id"], text),
            "model": result["model"],
            "task_id": result["task_id"],
            "kind": "row",
            "name": f"results/{result['content_id']}",
            "content": text.encode(),
        }
        rows.add("artifacts", artifact)


def settings_of(
    prompt: Json, provider_label: Json, index: Json, columns: Collection[int]
) -> str | None:
    """Return what distinguishes the columns of an evaluation: prompt, label of the provider."""
    known = Fields(prompt)
    label = known.peek("label") or known.peek("display") or known.peek("raw")
    settings: JsonObject = {}
    if isinstance(label, str):
        settings["prompt"] = _short(label)
    if isinstance(provider_label, str) and provider_label:
        settings["provider_label"] = utf8(provider_label)
    if whole_number(index) in columns:
        settings["column"] = index
    return canonical_json(settings) if settings else None


def provider_of(provider: Json) -> tuple[str | None, str | None]:
    """Return id and label of a provider, which is an object or, in old versions, a text."""
    if isinstance(provider, str):
        return utf8(provider), None
    fields = Fields(provider)
    return fields.text("id"), fields.text("label")


def is_error(row: JsonObject) -> bool:
    """Return whether the provider failed; a failed assertion is not an error of it."""
    reason = row.get("failureReason")
    if reason is not None:
        return reason == _ERROR
    response = row.get("response")
    failed = isinstance(response, dict) and response.get("error") is not None
    return failed or not isinstance(row.get("gradingResult"), dict)


@lru_cache(maxsize=64)
def _short(label: str) -> str:
    """Return a label that fits a column; a long one is the whole text of a prompt.

    If that is JSON, some versions and some of their files write it again, and others do not.
    """
    label = utf8(label).strip()
    if label.startswith(("[", "{")):
        with suppress(UnreadableRecordError):
            label = json_text(parsed(label.encode())[0])
    if len(label) <= _LONGEST_LABEL:
        return label
    return f"{label[:_LONGEST_LABEL]}… {content_hash(label)[:8]}"


def _result(fields: Fields, row: JsonObject, columns: Collection[int]) -> ResultRow:
    response, grading = fields.inside("response"), fields.inside("gradingResult")
    usage = response.inside("tokenUsage")
    model, label = provider_of(row.get("provider"))
    failed, passed = is_error(row), fields.boolean("success")
    cost = fields.number("cost")
    whole_ms = fields.integer("latencyMs")
    prompt = fields.inside("prompt")
    result: ResultRow = {
        "model": model,
        "settings": settings_of(row.get("prompt"), label, row.get("promptIdx"), columns),
        "prompt": prompt.text("raw"),
        "availability_status": "error" if failed else "ok",
        "success": not failed,
        "failure_type": "error" if failed else None,
        "e2e_ms": whole_ms,
        "duration_seconds": None if whole_ms is not None else _seconds(fields),
        # Of a provider whose prices are not known, promptfoo says 0.
        "cost_usd": cost or None,
        "cost_source": "promptfoo" if cost else None,
        "is_cached": _is_cached(response, usage),
        "input_tokens": usage.integer("prompt"),
        "output_tokens": usage.integer("completion"),
        "raw_output": _output(response),
        "objective_pass": None if failed else passed,
        "violation": grading.text("reason") if passed is False and not failed else None,
    }
    _drop_repeated(fields, row)
    return result


def _drop_repeated(fields: Fields, row: JsonObject) -> None:
    """Take what the row says twice, or what is in rows of other tables."""
    provider = row.get("provider")
    if isinstance(provider, str) or not set(Fields(provider).left()) - {"id", "label", "config"}:
        fields.value("provider")
    for name in ("testCase", "score", "namedScores"):
        fields.value(name)
    fields.inside("gradingResult").value("componentResults")
    fields.inside("prompt").value("label")


def _is_zero(usage: Json) -> bool:
    if isinstance(usage, dict):
        return all(map(_is_zero, usage.values()))
    return not usage


def _seconds(fields: Fields) -> float | None:
    found = fields.number("latencyMs")
    return None if found is None else found / 1000


def _output(response: Fields) -> str | None:
    return plain_text(response.value("output"))


def _is_cached(response: Fields, usage: Fields) -> bool | None:
    cached = response.peek("cached")
    n_cached = finite_number(usage.peek("cached"))
    if cached is True or (n_cached is not None and n_cached > 0):
        return True
    return False if cached is False or n_cached is not None else None


def _scores(row: JsonObject, result_id: str, rows: RowCollector) -> Iterator[ResultScoreRow]:
    named = row.get("namedScores")
    scores = [("score", row.get("score"))]
    scores += list(named.items()) if isinstance(named, dict) else []
    for metric, score in scores:
        value, text = amount(score)
        if value is not None or text is not None:
            yield {
                "content_id": rows.id_of("score", result_id, metric, value, text),
                "result_id": result_id,
                "metric": utf8(metric),
                "value": value,
                "text": text,
            }
    for at, component in enumerate(components_of(row)):
        yield _assertion(component, at, result_id, rows)


def _assertion(
    component: JsonObject, at: int, result_id: str, rows: RowCollector
) -> ResultScoreRow:
    fields = Fields(component)
    assertion = fields.inside("assertion")
    kind, metric = assertion.text("type"), assertion.text("metric")
    value, text = amount(fields.value("score"))
    return {
        "content_id": rows.id_of("assertion", result_id, at, component),
        "result_id": result_id,
        "scorer": kind,
        "metric": f"assertion {metric or kind or 'set'}",
        "value": value,
        "text": text,
        "passed": fields.boolean("pass"),
        "explanation": fields.text("reason"),
        "weight": assertion.number("weight"),
        "extra": fields.extra(),
    }


def components_of(row: JsonObject) -> list[JsonObject]:
    """Return the results of a row's assertions.

    Where the provider failed, a comparison with other answers is the whole of `gradingResult`.
    """
    grading = row.get("gradingResult")
    if not isinstance(grading, dict):
        return []
    components = grading.get("componentResults")
    if components is None and is_comparison(grading):
        return [grading]
    listed = components if isinstance(components, list) else []
    return [each for each in listed if isinstance(each, dict)]


def is_comparison(component: JsonObject) -> bool:
    """Return whether an assertion compares the answers of all columns."""
    return Fields(component.get("assertion")).peek("type") in _COMPARISONS


def _counts(row: JsonObject) -> JsonObject:
    """Return what promptfoo's figures add up, so that the audit can: see `figures`."""
    components = components_of(row)
    n_passed = sum(bool(component.get("pass")) for component in components)
    passed, failed = row.get("success") is True, is_error(row)
    counts: JsonObject = {
        "passed": int(passed),
        "error": int(failed),
        "failed": int(not passed and not failed),
        "not_passed": int(not passed),
        "assertions_passed": n_passed,
        "assertions_failed": len(components) - n_passed,
    }
    named = row.get("namedScores")
    if isinstance(named, dict) and named:
        counts["named"] = {name: max(_n_named(components, name), 1) for name in named}
        counts["scores"] = named
        counts["weighted"] = {name: _weighted(row, name, named[name]) for name in named}
    return counts


def _n_named(components: list[JsonObject], name: str) -> int:
    return sum(
        isinstance(component.get("assertion"), dict)
        and Fields(component["assertion"]).peek("metric") == name
        for component in components
    )


def _weighted(row: JsonObject, name: str, score: Json) -> float | None:
    """Return a named score times its weight, as newer versions add it up."""
    value = finite_number(score)
    grading = row.get("gradingResult")
    weights = grading.get("namedScoreWeights") if isinstance(grading, dict) else None
    weight = finite_number(weights.get(name)) if isinstance(weights, dict) else None
    return value if value is None or weight is None else value * weight
