"""The final report of an openai/evals run: which scores each figure follows from, if any."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.formats.common.fields import amount
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ingest.formats.common.collector import RowCollector
    from warehouse.core.types import Json, JsonObject, ReportedMetricRow

# The figures of the program's own classes that are means over all events, by the score's metric.
_MEANS = {
    "Match": {"accuracy": "passed"},
    "Includes": {"accuracy": "passed"},
    "FuzzyMatch": {"accuracy": "accuracy", "f1_score": "f1_score"},
    "JsonMatch": {"accuracy": "accuracy"},
    "JsonValidator": {"accuracy": "accuracy"},
    "MatchWithSolvers": {"accuracy": "passed"},
    "MultipleChoice": {"accuracy": "passed"},
    "Lambada": {"accuracy": "passed"},
    "Translate": {"accuracy": "passed"},
    "ModelBasedClassify": {"score": "score", "metascore": "metascore"},
}
_BOOTSTRAP = ("boostrap_std", "bootstrap_std")
_USAGE = {
    "usage_prompt_tokens": "results.input_tokens",
    "usage_completion_tokens": "results.output_tokens",
}
_PREFIX = "usage_"


def scorer_of(spec: JsonObject) -> str | None:
    """Return the class of the eval, without its module."""
    config = spec.get("run_config")
    eval_spec = config.get("eval_spec") if isinstance(config, dict) else None
    name = eval_spec.get("cls") if isinstance(eval_spec, dict) else None
    return utf8(name.rpartition(":")[2]) or None if isinstance(name, str) else None


def task_set_of(spec: JsonObject) -> str | None:
    """Return the task set of a run: the eval and its split."""
    names = [spec.get(name) for name in ("base_eval", "split")]
    return utf8(".".join(name for name in names if isinstance(name, str))) or None


def figure_rows(
    report: Mapping[str, Json], spec: JsonObject, line: int, rows: RowCollector
) -> Iterator[ReportedMetricRow]:
    """Yield a row for each figure of a final report.

    Args:
        report: the figures by name.
        spec: what the log's first line says.
        line: the report's line.
        rows: gives ids.
    """
    scorer = scorer_of(spec)
    means = _MEANS.get(scorer or "", {})
    if scorer == "JsonValidator" and any(name in report for name in _BOOTSTRAP):
        # Since version 3.0.1 from its matches, as the bootstrap is; before, it had metrics only.
        means = _MEANS["Match"]
    for name, figure in report.items():
        value, text = amount(figure)
        row: ReportedMetricRow = {
            "content_id": rows.id_of("figure", line, name, value, text),
            "seq": line,
            "task_set": task_set_of(spec),
            "metric": utf8(name),
            "value": value,
            "text": text,
        }
        score = means.get(name)
        if score is not None:
            row |= {"scorer": scorer, "score": score, "statistic": "mean", "reducer": "none"}
        elif name.startswith(_PREFIX):
            path = f"results.extra.data.usage.{name.removeprefix(_PREFIX)}"
            row |= {"score": _USAGE.get(name, path), "statistic": "sum", "reducer": "none"}
        elif name in _BOOTSTRAP:
            row["reason"] = "random bootstrap"
        elif name.startswith("counts/"):
            row["reason"] = "counts of a choice are not computed"
        else:
            row["reason"] = f"how {scorer or 'the eval'} computes it is not known"
        yield row
