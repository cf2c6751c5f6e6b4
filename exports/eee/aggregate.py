"""The aggregate of an evaluation: who was evaluated how, and a result for each metric."""

from __future__ import annotations

import math
from datetime import UTC
from typing import TYPE_CHECKING

from exports.rows import Document, json_object, json_value
from warehouse.core.formats.json_text import json_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from warehouse.core.types import Row

SUITE = "eee"
VERSION = "0.3.0"
UNKNOWN = "unknown"
_DETAILS = {"deployment_type": UNKNOWN, "model_availability": UNKNOWN}
_RELATIONSHIPS = ("first_party", "third_party", "collaborative", "other")
_RESULT_FIELDS = {
    *("evaluation_result_id", "evaluation_name", "source_data", "evaluation_timestamp"),
    *("metric_config", "score_details", "generation_config"),
}
# In any file of the same result, whichever of them columns hold.
_ORDER = (
    *("evaluation_result_id", "evaluation_name", "source_data", "evaluation_timestamp"),
    *("metric_config", "score_details", "generation_config"),
    *("metric_name", "metric_kind", "lower_is_better", "score_type", "min_score", "max_score"),
    *("score", "details", "uncertainty", "standard_error", "confidence_interval", "num_samples"),
)
_NUMBERS = ("temperature", "top_p", "top_k")


def aggregate_document(
    evaluation_id: str,
    run: Row,
    model: Row,
    *,
    figures: Sequence[Row],
    publisher: Mapping[str, str],
) -> Document:
    """Return an aggregate, without what it says of its samples.

    Args:
        evaluation_id: id of the evaluation.
        run: its row of `runs`.
        model: `model`, `provider` and `parameters` of the calls.
        figures: rows of `metrics`, or of `reported_metrics` where there are no scores.
        publisher: `organization` and `relationship`.
    """
    extra = json_object(run["extra"])
    document: Document = {"schema_version": VERSION, "evaluation_id": evaluation_id}
    if run["started_at"] is not None:
        document["evaluation_timestamp"] = _unix(run["started_at"])
    return document | {
        "retrieved_timestamp": _retrieved(run, extra),
        "source_metadata": _source(run, extra, publisher),
        "eval_library": _library(run),
        "model_info": _model_info(model, extra),
        "evaluation_results": _with_distinct_ids([_result(figure, model) for figure in figures]),
    }


def _with_distinct_ids(results: list[Document]) -> list[Document]:
    """Return results of which none has the id of another: further statistics get their name."""
    known: set[object] = {None}
    for result in results:
        name = result.get("evaluation_result_id")
        if name in known and name is not None:
            details = result["score_details"].get("details", {})
            kinds = [result["metric_config"].get("metric_kind"), *details.values()]
            name = "/".join([str(name), *map(str, filter(None, kinds))])
            while name in known:
                name += "'"
            result["evaluation_result_id"] = name
        known.add(name)
    return results


def result_id(figure: Row) -> str | None:
    """Return the id of a result: its task set, if the run has several, scorer, metric and filter.

    A score that came in this format has the id as its scorer; there may be none.
    """
    if figure["suite"] == SUITE:
        scorer: str | None = figure["scorer"]
        return scorer
    names = [figure["scorer"], figure["metric"], figure["filter"]]
    while names[-1] is None:
        names.pop()
    if names[0] == names[1] or names[0] is None:
        names.pop(0)
    if figure["has_task_sets"]:
        names.insert(0, figure["task_set"])
    return "/".join("" if name is None else name for name in names)


def _result(figure: Row, model: Row) -> Document:
    extra = json_object(figure["extra"])
    task_set = figure["task_set"] or figure["suite"]
    uncertainty: Document = {}
    if figure["stderr"] is not None and math.isfinite(figure["stderr"]):
        error: Document = {"value": figure["stderr"]}
        if figure["stderr_method"] is not None:
            error["method"] = figure["stderr_method"]
        uncertainty["standard_error"] = error
    if figure["low"] is not None and figure["high"] is not None:
        uncertainty["confidence_interval"] = {
            "lower": figure["low"],
            "upper": figure["high"],
            "confidence_level": 0.95,
            "method": figure["interval_method"],
        }
    if figure["n"] is not None:
        uncertainty["num_samples"] = figure["n"]
    details: Document = {"score": figure["value"]}
    if figure["reducer"] is not None:
        parameters = figure["reducer_parameters"]
        details["details"] = {"reducer": figure["reducer"]} | (
            {} if parameters is None else {"reducer_parameters": as_text(parameters)}
        )
    if uncertainty:
        details["uncertainty"] = uncertainty
    named = result_id(figure)
    result: Document = {
        **({} if named is None else {"evaluation_result_id": named}),
        "evaluation_name": task_set,
        "source_data": {"dataset_name": task_set, "source_type": "other"},
        "metric_config": _metric_config(figure),
        "score_details": details,
    }
    if figure["suite"] == SUITE and extra:
        return _in_order(_restored(result, figure, extra))
    config = _generation_config(json_object(model["parameters"]))
    return {**result, "generation_config": config} if config else result


def _restored(result: Document, figure: Row, extra: Document) -> Document:
    """Return a result that came in this format, with the fields that no column holds."""
    lower = figure["higher_is_better"] is False
    # Its own names, kinds and bounds, or none.
    result = {**result, "metric_config": {"lower_is_better": lower}}
    restored = _merged(result, {key: extra[key] for key in extra if key in _RESULT_FIELDS})
    source = restored["source_data"]
    is_known = isinstance(source, dict) and isinstance(source.get("dataset_name"), str)
    if not is_known or source.get("source_type") not in {"url", "hf_dataset", "other"}:
        restored["source_data"] = result["source_data"]
    return _with_texts(restored)


def _in_order(value: Document) -> Document:
    """Return a result with its fields in the order in which they are written, others last."""
    names = [name for name in _ORDER if name in value]
    names += [name for name in value if name not in _ORDER]
    return {
        name: _in_order(value[name]) if isinstance(value[name], dict) else value[name]
        for name in names
    }


def _with_texts(value: Document) -> Document:
    """Return a document whose details are texts, as later versions of the format demand."""
    texts: Document = {}
    for key, item in value.items():
        if key in {"details", "additional_details"}:
            details = item if isinstance(item, dict) else {"value": item}
            texts[key] = {name: as_text(detail) for name, detail in details.items()}
        else:
            texts[key] = _with_texts(item) if isinstance(item, dict) else item
    return texts


def _merged(base: Document, more: Document) -> Document:
    merged = dict(base)
    for key, value in more.items():
        known = merged.get(key)
        both = isinstance(known, dict) and isinstance(value, dict)
        merged[key] = _merged(known, value) if both else value  # type: ignore[arg-type]  # as tested
    return merged


def _metric_config(figure: Row) -> Document:
    config: Document = {"metric_name": figure["metric"]}
    if figure["statistic"] is not None:
        config["metric_kind"] = figure["statistic"]
    config["lower_is_better"] = figure["higher_is_better"] is False
    if figure["is_binary"]:
        return {**config, "score_type": "binary", "min_score": 0, "max_score": 1}
    low, high = ("-Infinity", "Infinity") if not figure["is_share"] else (0, 1)
    return {**config, "score_type": "continuous", "min_score": low, "max_score": high}


def _generation_config(parameters: Document) -> Document:
    arguments: Document = {}
    for name in _NUMBERS:
        value = parameters.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            arguments[name] = parameters.pop(name)
    most = parameters.get("max_tokens")
    if isinstance(most, int) and not isinstance(most, bool) and most >= 1:
        arguments["max_tokens"] = parameters.pop("max_tokens")
    config: Document = {"generation_args": arguments} if arguments else {}
    if parameters:
        config["additional_details"] = {name: as_text(value) for name, value in parameters.items()}
    return config


def as_text(value: object) -> str:
    """Return a value as the text that additional details must be."""
    return value if isinstance(value, str) else json_text(value)


def _source(run: Row, extra: Document, publisher: Mapping[str, str]) -> Document:
    known = extra.get("source_metadata")
    source = dict(known) if run["suite"] == SUITE and isinstance(known, dict) else {}
    source = {key: value for key, value in source.items() if isinstance(value, str)}
    if source.get("source_type") not in {"documentation", "evaluation_run"}:
        source["source_type"] = "evaluation_run"
    source.setdefault("source_name", run["suite"])
    source.setdefault("source_organization_name", publisher["organization"])
    if source.get("evaluator_relationship") not in _RELATIONSHIPS:
        source["evaluator_relationship"] = publisher["relationship"]
    return source


def _library(run: Row) -> Document:
    versions = json_value(run["versions"])
    known = versions if isinstance(versions, dict) else {}
    if isinstance(known.get("name"), str) and isinstance(known.get("version"), str):
        return {"name": known["name"], "version": known["version"]}
    for name in ("inspect_ai", "lm_eval", "promptfoo"):
        if isinstance(known.get(name), str):
            return {"name": name, "version": known[name]}
    return {"name": run["suite"], "version": UNKNOWN}


def _model_info(model: Row, extra: Document) -> Document:
    name = model["model"] or UNKNOWN
    info: Document = {"name": name, "id": name, "developer": developer_of(name)}
    if model["provider"] is not None:
        info["inference_platform"] = model["provider"]
    given = extra.get("model_info")
    known = given if isinstance(given, dict) else {}
    kept = {key: value for key, value in known.items() if isinstance(value, str) and key != "id"}
    details = known.get("additional_details")
    texts = details if isinstance(details, dict) else {}
    allowed = {
        "deployment_type": {"self_deployed", "externally_managed"},
        "model_availability": {"open_weights", "closed_weights"},
    }
    stated = {
        key: value
        for key, value in texts.items()
        if isinstance(value, str) and (key not in allowed or value in allowed[key])
    }
    return {**info, **kept, "additional_details": {**_DETAILS, **stated}}


def developer_of(model: str) -> str:
    """Return the part of a model's name before the last slash's name, or `unknown`."""
    parts = [part for part in model.split("/") if part]
    return parts[-2] if len(parts) > 1 else UNKNOWN


def _retrieved(run: Row, extra: Document) -> str:
    """Return when the results were retrieved: for runs of ours, when they ended.

    The clock is never read, so that the same run gives the same file.
    """
    known = extra.get("retrieved_timestamp")
    if run["suite"] == SUITE and isinstance(known, str):
        return known
    moment = run["ended_at"] or run["started_at"]
    return "0" if moment is None else _unix(moment)


def _unix(moment: datetime) -> str:
    return str(moment.replace(tzinfo=UTC).timestamp())
