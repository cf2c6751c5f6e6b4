"""The figures of a Terminal-Bench run: trials without a verdict count as not resolved."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ingest.formats.common.collector import part_id
from ingest.formats.common.fields import amount, object_of
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.values import utf8
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warehouse.core.types import Json, JsonObject, ReportedMetricRow

_RESOLVED = "results.extra.counts.resolved"
_UNRESOLVED = "results.extra.counts.unresolved"
_SUMS = {
    "n_resolved": _RESOLVED,
    "n_unresolved": _UNRESOLVED,
    "resolved_ids": _RESOLVED,
    "unresolved_ids": _UNRESOLVED,
}
_K = re.compile(r"[1-9]\d{0,5}")


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
    figures = [*_plain(document, n_trials), *_pass_at_k(document, n_tasks)]
    for seq, row in enumerate(figures, 1):
        row["content_id"] = part + content_hash("figure", json_text(row))[len(part) :]
        row |= {"seq": seq, "extra": json_text({"file": file})}
        yield row


def _plain(document: JsonObject, n_trials: int | None) -> Iterator[ReportedMetricRow]:
    for name in ("accuracy", *_SUMS):
        figure = document.get(name)
        # A list of ids counts trials: a task stands in it once for each of its attempts.
        value, text = amount(len(figure) if isinstance(figure, list) else figure)
        if value is not None or text is not None:
            yield {
                "metric": name,
                "value": value,
                "text": text,
                "n": n_trials,
                "score": _SUMS.get(name, _RESOLVED),
                "statistic": "sum" if name in _SUMS else "mean",
                "reducer": "none",
            }


def _pass_at_k(document: JsonObject, n_tasks: int | None) -> Iterator[ReportedMetricRow]:
    for k, figure in object_of(document.get("pass_at_k")).items():
        value, text = amount(figure)
        if value is None and text is None:
            continue
        row: ReportedMetricRow = {
            "metric": f"pass@{utf8(k)}",
            "value": value,
            "text": text,
            "n": n_tasks,
        }
        if _K.fullmatch(k):
            parameters: JsonObject = {"k": int(k)}
            row |= {
                "score": _RESOLVED,
                "statistic": "mean",
                "reducer": "pass_at_k",
                "reducer_parameters": json_text(parameters),
            }
        else:
            row["reason"] = "how many attempts it allows is not recorded"
        yield row


def n_distinct(trials: list[JsonObject]) -> int:
    """Return the number of tasks of trials."""
    tasks: set[Json] = {str(trial.get("task_id")) for trial in trials}
    return len(tasks)
