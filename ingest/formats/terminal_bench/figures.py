"""The figures of a Terminal-Bench run: trials without a verdict count as not resolved."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ingest.formats.common.collector import id_in, part_id
from ingest.formats.common.fields import object_of
from ingest.formats.common.trials import figure_row
from warehouse.core.formats.json_text import json_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warehouse.core.types import JsonObject, ReportedMetricRow

_RESOLVED = "results.extra.counts.resolved"
_UNRESOLVED = "results.extra.counts.unresolved"
_SUMS = {
    "n_resolved": _RESOLVED,
    "n_unresolved": _UNRESOLVED,
    "resolved_ids": _RESOLVED,
    "unresolved_ids": _UNRESOLVED,
}
_K = re.compile(r"[1-9]\d{0,5}")
_UNKNOWN_K = "how many attempts it allows is not recorded"


def figure_rows(
    document: JsonObject, file: str, *, n_trials: int | None, n_tasks: int | None
) -> Iterator[ReportedMetricRow]:
    """Yield a row for each figure of a document.

    Args:
        document: content of the run's results, or of its metadata.
        file: its name, which is part of the ids.
        n_trials: number of trials behind the figures; None if not recorded.
        n_tasks: number of their tasks; None if not recorded.
    """
    part = part_id(f"figures {file}")
    for seq, row in enumerate(_figures(document, n_trials, n_tasks), 1):
        row["content_id"] = id_in(part, "figure", json_text(row))
        yield {**row, "seq": seq, "extra": json_text({"file": file})}


def _figures(
    document: JsonObject, n_trials: int | None, n_tasks: int | None
) -> Iterator[ReportedMetricRow]:
    for name in ("accuracy", *_SUMS):
        figure = document.get(name)
        # A list of ids counts trials: a task stands in it once for each of its attempts.
        figure = len(figure) if isinstance(figure, list) else figure
        statistic, score = "sum" if name in _SUMS else "mean", _SUMS.get(name, _RESOLVED)
        row = figure_row(name, figure, score=score, statistic=statistic, n=n_trials)
        if row is not None:
            yield row
    for k, figure in object_of(document.get("pass_at_k")).items():
        metric = f"pass@{k}"
        if _K.fullmatch(k):
            row = figure_row(metric, figure, score=_RESOLVED, statistic="mean", k=int(k), n=n_tasks)
        else:
            row = figure_row(metric, figure, n=n_tasks, reason=_UNKNOWN_K)
        if row is not None:
            yield row
