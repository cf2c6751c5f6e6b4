"""Horizons that were published: METR's results of models, and tables of logistic fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.formats.common.fields import object_of, plain_text
from ingest.formats.common.judged_files import Figure, csv_records, figures_reader
from ingest.formats.common.records import UnreadableRecordError
from ingest.formats.metr.runs import SUITE, run_id_at
from ingest.reading import Reject
from warehouse.core.formats.json_text import canonical_json
from warehouse.core.formats.values import utf8
from warehouse.core.formats.yaml.documents import YamlError, load

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.reading import SourceFile
    from warehouse.core.types import Json, JsonObject, ReportedMetricRow

_FITTED = "a fit, which depends on weights and regularisation: see `evalstore horizon`"
_OTHER = "evalstore does not compute it"


def _audit_reason(metric: str) -> str:
    if ".ci_" in metric or "q0." in metric:
        return "random bootstrap"
    return _FITTED if metric.startswith(("p50", "p80", "coefficient", "intercept")) else _OTHER


def _result_figures(file: SourceFile) -> Iterator[Figure | Reject]:
    try:
        document = object_of(load(file.data))
    except YamlError as error:
        raise UnreadableRecordError(str(error)) from error
    run_id = plain_text(document.get("benchmark_name")) or run_id_at(file.path)
    for name, value in _leaves(object_of(document.get("doubling_time_in_days"))):
        metric = f"doubling_time_in_days.{name}"
        yield Figure(run_id, metric, value, {"reason": _OTHER})
    for model, result in object_of(document.get("results")).items():
        metrics = object_of(result).get("metrics")
        if not isinstance(metrics, dict):
            yield Reject(f"{model}: has no `metrics`", raw=canonical_json(result).encode())
            continue
        known = {key: plain_text(each) for key, each in result.items() if key != "metrics"}
        for name, value in _leaves(metrics):
            metric = name.removesuffix(".estimate")
            columns: ReportedMetricRow = {
                "model": utf8(str(model)),
                "reason": _audit_reason(metric),
                "extra": canonical_json(known),
            }
            yield Figure(run_id, metric, value, columns)


def _leaves(values: JsonObject, prefix: str = "") -> Iterator[tuple[str, Json]]:
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{prefix}{name}.")
        elif value is not None:
            yield prefix + name, value


def _fit_figures(file: SourceFile) -> Iterator[Figure | Reject]:
    for record in csv_records(file):
        if isinstance(record, Reject):
            yield record
            continue
        model = record[1].pop("agent", "")
        for metric, cell in record[1].items():
            yield Figure(
                run_id_at(file.path),
                metric,
                cell,
                {"model": model, "reason": _audit_reason(metric)},
            )


read_results = figures_reader("METR results", SUITE, _result_figures)
read_fits = figures_reader("METR fits", SUITE, _fit_figures)
