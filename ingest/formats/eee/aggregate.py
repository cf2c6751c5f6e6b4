"""The aggregate results of an evaluation: the run's header, and a figure for each result."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from ingest.formats.common.fields import Fields, amount, iso_moment, plain_text, unix_moment
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.values import utf8
from warehouse.core.formats.yaml.fields import Violation
from warehouse.core.hashing import file_sha256

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.formats.common.collector import RowCollector
    from warehouse.core.types import Json, JsonObject, ReportedMetricRow, RunRow

# How Inspect's converter names a result; its samples have the name of the task only.
_OF_INSPECT = re.compile(r"(?P<metric>.+) on (?P<task>.+) for scorer (?P<scorer>.+)")
_MEANS = {"accuracy", "mean", "exact match", "em", "average", "pass rate"}
_PERCENT = 100
_STATISTICS = {"std": "std", "stderr": "stderr", "var": "var", "median": "median"}


def header_row(document: JsonObject, path: Path, evaluation_id: str) -> RunRow:
    """Return the header of the run of an aggregate file."""
    fields = Fields(document)
    for name in ("evaluation_id", "evaluation_results"):
        fields.value(name)
    results = _results(document)
    configs = [result.get("generation_config") for result in results]
    library = fields.value("eval_library")
    when = fields.peek("evaluation_timestamp")
    started_at = iso_moment(when) or unix_moment(when)
    if started_at is not None:
        fields.value("evaluation_timestamp")
    task_sets = {_place(result)[1] for result in results}
    return {
        "suite": "eee",
        "run_id": evaluation_id,
        "origin": "import",
        "started_at": started_at,
        "model": fields.inside("model_info").text("id"),
        "task_set": next(iter(task_sets)) if len(task_sets) == 1 else None,
        "config": _only(configs),
        "versions": None if library is None else json_text(library),
        "source_name": utf8(path.name),
        "extra": fields.extra(),
    }


def figure_rows(document: JsonObject, rows: RowCollector) -> Iterator[ReportedMetricRow]:
    """Yield a row for each result of an aggregate file.

    Args:
        document: the content of the file.
        rows: gives ids.
    """
    results = _results(document)
    is_only = len(results) == 1 and document.get("detailed_evaluation_results") is not None
    shared = Counter(_place(result)[1] for result in results)
    for seq, result in enumerate(results, 1):
        metric, task_set, scorer = _place(result)
        row = _figure(document, result, metric or task_set or "score")
        row |= {"content_id": rows.id_of("figure", result), "seq": seq}
        row["model"] = _model(document)
        if is_only:
            # All samples are its own, whatever they call it.
            task_set = scorer = None
        elif shared[task_set] == 1:
            scorer = None
        yield row | {"task_set": task_set, "scorer": scorer}


def sample_problems(document: JsonObject, path: Path) -> list[Violation]:
    """Return what the file with the samples, if it is next to the aggregate, contradicts."""
    details = Fields(document.get("detailed_evaluation_results"))
    named, checksum = details.text("file_path"), details.text("checksum")
    if named is None or checksum is None or details.text("hash_algorithm") != "sha256":
        return []
    # A path in a file must not choose what else is read.
    samples = path.with_name(Path(named.replace("\0", "")).name or "samples")
    try:
        found = file_sha256(samples)
    except OSError:
        return []
    if found == checksum.lower():
        return []
    message = f"{samples.name} has another SHA-256 than detailed_evaluation_results says"
    field = "detailed_evaluation_results.checksum"
    return [Violation(line=1, field=field, rule="checksum", message=message)]


def _figure(document: JsonObject, result: JsonObject, metric: str) -> ReportedMetricRow:
    fields = Fields(result)
    config, details = fields.inside("metric_config"), fields.inside("score_details")
    uncertainty = details.inside("uncertainty")
    error = uncertainty.inside("standard_error")
    value, text = amount(details.value("score"))
    lower = config.boolean("lower_is_better")
    is_of_inspect = _OF_INSPECT.fullmatch(str(result.get("evaluation_name"))) is not None
    stderr = error.number("value")
    method = error.text("method")
    row: ReportedMetricRow = {
        "metric": metric,
        "score": "score",
        "statistic": _statistic(config, metric),
        "value": value,
        "text": text,
        "stderr": stderr,
        "stderr_method": "sample" if method is None and is_of_inspect else method,
        "n": uncertainty.integer("num_samples"),
        "higher_is_better": None if lower is None else not lower,
        "reason": _reason(document, config),
    }
    row["extra"] = fields.extra()
    return row


def _statistic(config: Fields, metric: str) -> str | None:
    """Return how a figure follows from the samples' scores, by its usual names."""
    names = [config.peek(name) for name in ("metric_kind", "metric_name", "metric_id")]
    names += [metric, config.peek("evaluation_description")]
    words = [_plain(name) for name in names if isinstance(name, str)]
    known = next((_STATISTICS[word] for word in words if word in _STATISTICS), None)
    return known or ("mean" if _MEANS.intersection(words) else None)


def _reason(document: JsonObject, config: Fields) -> str | None:
    if Fields(document.get("source_metadata")).text("source_type") == "documentation":
        return "copied from a publication, not computed from samples"
    unit = config.peek("metric_unit")
    is_percent = isinstance(unit, str) and unit.startswith("percent")
    if is_percent or config.peek("max_score") == _PERCENT:
        return "reported in percent, and the scale of the samples is not recorded"
    return None


def _plain(name: str) -> str:
    """Return a name without its namespace, in lower case: `demo.exact_match` is `exact match`."""
    return name.rpartition(".")[2].replace("_", " ").replace("-", " ").strip().lower()


def _place(result: JsonObject) -> tuple[str | None, str | None, str | None]:
    """Return metric, task set and scorer of a result."""
    name = plain_text(result.get("evaluation_name"))
    found = _OF_INSPECT.fullmatch(name or "")
    if found is not None:
        return found["metric"], found["task"], found["scorer"]
    config = Fields(result.get("metric_config"))
    metric = config.text("metric_name") or config.text("metric_id")
    result_id = result.get("evaluation_result_id")
    return metric, name, utf8(result_id) if isinstance(result_id, str) else None


def _model(document: JsonObject) -> str | None:
    return Fields(document.get("model_info")).text("id")


def unusable_results(document: JsonObject) -> str | None:
    """Return why results of an aggregate file cannot be used; None if all can."""
    results = document.get("evaluation_results")
    if not isinstance(results, list):
        return "`evaluation_results` is not a list"
    n_others = len(results) - len(_results(document))
    return f"{n_others:,} elements of `evaluation_results` are not objects" if n_others else None


def _results(document: JsonObject) -> list[JsonObject]:
    results = document.get("evaluation_results")
    return [each for each in results if isinstance(each, dict)] if isinstance(results, list) else []


def _only(configs: list[Json]) -> str | None:
    """Return the one configuration of all results as JSON; none if there are several."""
    texts = {json_text(config) for config in configs if config is not None}
    return next(iter(texts)) if len(texts) == 1 else None
