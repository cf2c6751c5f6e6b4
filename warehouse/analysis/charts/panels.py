"""The panels of a chart: the rows of its query by suite, task set and metric."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias

from warehouse.analysis.charts.chart import Panel
from warehouse.core.paths import SQL
from warehouse.core.text.formatting import visible
from warehouse.core.text.text_width import fold
from warehouse.engine.query import query_errors

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import duckdb

    from warehouse.analysis.charts.chart import Chart
    from warehouse.core.types import Row

_Values: TypeAlias = tuple[Any, ...]
BOARD_SCORES = "scores.board_scores"
_BY = ("suite", "task_set", "metric", "scorer", "filter")
_MODEL = ("provider", "model", "settings")
_LABEL = 30  # cells, as on a terminal
_TITLE = 44  # wider in bold letters than the narrowest picture otherwise


def panels_of(
    connection: duckdb.DuckDBPyConnection,
    chart: Chart,
    wanted: Mapping[str, str | None],
    *,
    scores: str = BOARD_SCORES,
) -> list[Panel]:
    """Return the panels of a chart.

    Args:
        connection: an open warehouse.
        chart: the chart.
        wanted: values of the parameters of its query.
        scores: the table or view that has the rows of `BOARD_SCORES` which its query reads.
    """
    query = (SQL / "charts" / f"{chart.name}.sql").read_text("utf-8").replace(BOARD_SCORES, scores)
    with query_errors(is_users=False):
        executed = connection.execute(query, dict(wanted))
        names = [column[0] for column in executed.description or ()]
        rows = executed.fetchall()
    place = itemgetter(*(names.index(name) for name in _BY if name in names))
    return [_panel(names, list(group)) for _, group in groupby(rows, key=place)]


def _panel(names: Sequence[str], rows: list[_Values]) -> Panel:
    models = list(map(itemgetter(*map(names.index, _MODEL)), rows))
    labels = _labels(dict.fromkeys(models))
    first = dict(zip(names, rows[0], strict=True))
    metric = _metric(first)
    sets = [each for each in (first["suite"], first.get("task_set")) if each is not None]
    title = " · ".join([*dict.fromkeys(sets), *filter(None, [metric])])
    keys = (*names, "label")
    return Panel(
        title=_short(title, _TITLE),
        metric=_short(metric, _TITLE),
        is_rate=bool(first.get("is_rate")),
        rows=[
            dict(zip(keys, (*row, labels[each]), strict=True))
            for row, each in zip(rows, models, strict=True)
        ],
    )


def _metric(row: Row) -> str:
    """Return the metric's name, with scorer and filter if they are known."""
    parts = [row.get(column) for column in ("metric", "scorer", "filter")]
    return ", ".join(dict.fromkeys(part for part in parts if part))


def _labels(models: Collection[_Values]) -> dict[_Values, str]:
    """Return a label for each model: its name, with settings and provider where they differ."""
    n_settings = Counter(model for model, _ in {(model, settings) for _, model, settings in models})
    n_providers = Counter(
        model for model, _ in {(model, provider) for provider, model, _ in models}
    )
    labels: dict[_Values, str] = {}
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
