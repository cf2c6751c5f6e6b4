"""The figures in a log's header as rows of `reported_metrics`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ingest.formats.common.fields import finite_number, list_of, object_of
from ingest.formats.inspect.documents import as_count, as_text
from ingest.formats.inspect.statistics import derivation
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from ingest.formats.inspect.documents import LogObject
    from ingest.formats.inspect.header import Evaluation
    from warehouse.core.types import ReportedMetricRow

_REDUCER = re.compile(r"(at_least|pass_at|pass_k)_(\d{1,9})")
_REDUCERS = {"at_least": "at_least_k", "pass_at": "pass_at_k", "pass_k": "pass^k"}
# From this version on, `pass_at` takes each score of at least 1 for a pass; before, only 1 itself.
_PASSES_FROM_ONE = (0, 3, 101)
_VERSION = re.compile(r"(\d{1,9})\.(\d{1,9})\.(\d{1,9})")
_METRIC_IN_COLUMNS = {"value"}
_SCORE_IN_COLUMNS = {"name", "scorer", "reducer", "metrics"}


def figure_rows(header: LogObject, shared: Evaluation) -> Iterator[ReportedMetricRow]:
    """Yield a row for each figure in the header of a log."""
    seq = 0
    of_model: ReportedMetricRow = {
        "provider": shared.provider,
        "model": shared.model,
        "task_set": shared.task_set,
    }
    declared = _declared_metrics(object_of(header.value.get("eval")))
    for score in _scores(object_of(header.value.get("results"))):
        of_scorer = declared.get(as_text(score.get("scorer")) or "", ())
        metrics = score.get("metrics")
        named = metrics.items() if isinstance(metrics, dict) else enumerate(list_of(metrics), 1)
        for key, given in named:
            seq += 1
            metric = given if isinstance(given, dict) else {"value": given}
            yield {**_row(header, score, str(key), metric, of_scorer), **of_model, "seq": seq}


def _declared_metrics(spec: Mapping[str, Any]) -> dict[str, frozenset[str]]:
    """Return the names of the metrics of each scorer, as declared, with their packages.

    Args:
        spec: `eval` of the header. A task's own `metrics` take the place of those of its scorers.
    """
    of_task = frozenset(_metric_names(spec.get("metrics")))
    scorers = map(object_of, list_of(spec.get("scorers")))
    return {
        name: of_task or frozenset(_metric_names(scorer.get("metrics")))
        for scorer in scorers
        if (name := as_text(scorer.get("name"))) is not None
    }


def _metric_names(metrics: object) -> Iterator[str]:
    """Yield the names of metrics: a list, or one for each part of the score, or both."""
    of_parts = [metrics, *list_of(metrics)]
    lists = [each for parts in of_parts if isinstance(parts, dict) for each in parts.values()]
    for each in (*list_of(metrics), *(each for of_part in lists for each in list_of(of_part))):
        name = as_text(object_of(each).get("name"))
        if name is not None:
            yield name


def _row(
    header: LogObject,
    score: Mapping[str, Any],
    key: str,
    metric: Mapping[str, Any],
    declared: Collection[str],
) -> ReportedMetricRow:
    name = (as_text(metric.get("name")) or key).removeprefix("inspect_ai/")
    scorer = as_text(score.get("scorer")) or as_text(score.get("name"))
    score_name = as_text(score.get("name")) or scorer
    reducer, parameters = _reducer(as_text(score.get("reducer")), header)
    derived = derivation(name, metric, declared)
    parameters |= derived.parameters
    value = metric.get("value")
    number = finite_number(value)
    extra = {k: v for k, v in metric.items() if k not in _METRIC_IN_COLUMNS and v not in ({}, None)}
    of_score = {
        k: v for k, v in score.items() if k not in _SCORE_IN_COLUMNS and v not in ({}, None)
    }
    if of_score:
        extra["score"] = of_score
    return {
        "content_id": header.digest([scorer, score_name, score.get("reducer"), key, value, extra]),
        "task_group": derived.group,
        "scorer": scorer and utf8(scorer),
        "metric": utf8(key),
        "score": score_name and utf8(score_name),
        "statistic": derived.statistic,
        "reducer": reducer,
        "reducer_parameters": json_text(parameters) if parameters else None,
        "value": number,
        "text": None if number is not None or value is None else _text(header, value),
        "n": _tasks(header, score),
        "reason": derived.reason,
        "extra": header.as_json(extra) if extra else None,
    }


def _scores(results: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the scores of all versions of the format."""
    yield from map(object_of, list_of(results.get("scores")))
    yield from map(object_of, list_of(results.get("scorers")))
    if "metrics" in results:
        yield {**object_of(results.get("scorer")), "metrics": results["metrics"]}


def _reducer(recorded: str | None, header: LogObject) -> tuple[str | None, dict[str, str | int]]:
    found = _REDUCER.fullmatch(recorded or "")
    if found is None:
        return recorded and utf8(recorded), {}
    parameters: dict[str, str | int] = {"k": int(found[2])}
    if found[1] == "pass_at" and _version(header) < _PASSES_FROM_ONE:
        parameters["pass"] = 1
    return _REDUCERS[found[1]], parameters


def _version(header: LogObject) -> tuple[int, ...]:
    """Return the version of Inspect; the newest possible if it is not recorded."""
    packages = object_of(object_of(header.value.get("eval")).get("packages"))
    found = _VERSION.match(as_text(packages.get("inspect_ai")) or "")
    return tuple(map(int, found.groups())) if found is not None else (10**9,)


def _tasks(header: LogObject, score: Mapping[str, Any]) -> int | None:
    """Return the number of tasks behind a figure: of samples that differ, not of epochs."""
    scored = as_count(score.get("scored_samples"))
    if scored is not None:
        return scored
    total = as_count(object_of(header.value.get("results")).get("total_samples"))
    config = object_of(object_of(header.value.get("eval")).get("config"))
    return total and (total // (as_count(config.get("epochs")) or 1) or None)


def _text(header: LogObject, value: Any) -> str:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        return utf8(value)
    return str(value) if isinstance(value, float) else header.as_json(value)
