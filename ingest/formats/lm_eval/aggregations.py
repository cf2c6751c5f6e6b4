"""How lm-evaluation-harness aggregates the scores of a metric, as its configuration says.

The names are those of `lm_eval.api.metrics` in version 0.4. A metric without an `aggregation` in
the task's configuration has the default of its name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warehouse.core.types import Json

_MEANS = {"mean", "nanmean"}
_MEAN_METRICS = {
    *("acc", "acc_norm", "acc_mutual_info", "acc_bytes", "exact_match", "em", "bypass"),
    *("likelihood", "pass@1", "percent_parseable"),
}
_CORPUS = {
    *("bleu", "chrf", "chrf++", "ter", "f1", "micro_f1", "macro_f1", "mcc", "matthews_corrcoef"),
    *("perplexity", "weighted_perplexity", "word_perplexity", "byte_perplexity", "bits_per_byte"),
    *("brier_score", "acc_all", "f1_score", "squad_exact", "squad_f1"),
}
_DEFINED = re.compile(r"(?:def|<function)\s+([^\s(]+)|functools\.partial\(<function\s+([^\s(]+)")
CODE = "computed by the task's own code"


@dataclass(frozen=True, slots=True)
class Aggregation:
    """How a figure follows from the scores of a metric.

    Attributes:
        statistic: `mean`, or `median_high`, of an even number of scores the larger one in the
            middle; None if it follows from no number of each sample.
        reason: why it cannot be computed from the scores; None if it can, or if nothing is known.
        stderr_method: how the standard error was estimated.
    """

    statistic: str | None
    reason: str | None = None
    stderr_method: str | None = "bootstrap"


_MEAN = Aggregation("mean", stderr_method="sample")


def aggregations(config: Json) -> dict[str, Aggregation]:
    """Return the aggregations of the metrics in the configuration of a task."""
    metrics = config.get("metric_list") if isinstance(config, dict) else None
    found = {}
    for entry in metrics if isinstance(metrics, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get("metric"), str):
            name = _function_name(str(entry["metric"])) or str(entry["metric"])
            found[name] = _of_entry(name, entry.get("aggregation"))
    return found


def default_aggregation(metric: str) -> Aggregation:
    """Return the aggregation of a metric that no configuration describes."""
    if metric in _MEAN_METRICS:
        return _MEAN
    if metric in _CORPUS:
        return Aggregation(None, "corpus metric")
    # What is known of it is only that most are means.
    return Aggregation(None, None, None)


def _of_entry(metric: str, aggregation: Json) -> Aggregation:
    if not isinstance(aggregation, str):
        return default_aggregation(metric) if aggregation is None else Aggregation(None, CODE)
    if aggregation in _MEANS:
        method = "sample" if aggregation == "mean" else "bootstrap"
        return Aggregation("mean", stderr_method=method)
    if aggregation == "median":
        return Aggregation("median_high")
    if aggregation in _CORPUS:
        return Aggregation(None, "corpus metric")
    return Aggregation(None, CODE)


def _function_name(text: str) -> str | None:
    found = _DEFINED.search(text)
    return (found[1] or found[2]) if found else None
