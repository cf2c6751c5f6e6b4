"""The panels of a chart: the rows of its query by suite, task set and metric."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING

from warehouse.analysis.charts.chart import Panel
from warehouse.core.paths import SQL
from warehouse.core.text.formatting import visible
from warehouse.core.text.text_width import fold
from warehouse.engine.query import query_errors, rows_by_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    import duckdb

    from warehouse.analysis.charts.chart import Chart
    from warehouse.core.types import Row

_BY = ("suite", "task_set", "metric", "scorer", "filter")
_LABEL = 30  # cells, as on a terminal
_TITLE = 44  # wider in bold letters than the narrowest picture otherwise


def panels_of(
    connection: duckdb.DuckDBPyConnection, chart: Chart, wanted: Mapping[str, str | None]
) -> list[Panel]:
    """Return the panels of a chart.

    Args:
        connection: an open warehouse.
        chart: the chart.
        wanted: values of the parameters of its query.
    """
    query = (SQL / "charts" / f"{chart.name}.sql").read_text("utf-8")
    with query_errors(is_users=False):
        rows = rows_by_name(connection.execute(query, dict(wanted)))
    return [_panel(list(group)) for _, group in groupby(rows, key=_place)]


def _place(row: Row) -> list[object]:
    return [row.get(column) for column in _BY]


def _panel(rows: list[Row]) -> Panel:
    labels = _labels(rows)
    metric = _metric(rows[0])
    sets = [row for row in (rows[0]["suite"], rows[0].get("task_set")) if row is not None]
    title = " · ".join([*dict.fromkeys(sets), *filter(None, [metric])])
    return Panel(
        title=_short(title, _TITLE),
        metric=_short(metric, _TITLE),
        is_rate=bool(rows[0].get("is_rate")),
        rows=[{**row, "label": labels[_model(row)]} for row in rows],
    )


def _metric(row: Row) -> str:
    """Return the metric's name, with scorer and filter if they are known."""
    parts = [row.get(column) for column in ("metric", "scorer", "filter")]
    return ", ".join(dict.fromkeys(part for part in parts if part))


def _model(row: Row) -> tuple[str | None, ...]:
    return row["provider"], row["model"], row["settings"]


def _labels(rows: list[Row]) -> dict[tuple[str | None, ...], str]:
    """Return a label for each model: its name, with settings and provider where they differ."""
    models = list(dict.fromkeys(map(_model, rows)))
    n_settings = Counter(model for model, _ in {(model, settings) for _, model, settings in models})
    n_providers = Counter(
        model for model, _ in {(model, provider) for provider, model, _ in models}
    )
    labels: dict[tuple[str | None, ...], str] = {}
    for provider, model, settings in models:
        apart = [provider or "no provider"] if n_providers[model] > 1 else []
        apart += [settings or "no settings"] if n_settings[model] > 1 else []
        text = (model or "unknown") + (f" ({', '.join(apart)})" if apart else "")
        labels[provider, model, settings] = _unique(_short(text), set(labels.values()))
    return labels


def _unique(text: str, taken: set[str]) -> str:
    """Return a text that is not taken yet: long names may be cut to the same."""
    free, n = text, 1
    while free in taken:
        n += 1
        free = f"[{n}] {text}"
    return free


def _short(text: str, width: int = _LABEL) -> str:
    """Return a text that can be drawn: control characters escaped, without the middle if long."""
    return fold(visible(text), width)
