"""The heat map of models and tasks: those that are alike next to each other."""

from __future__ import annotations

from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

import altair as alt
import numpy as np

from warehouse.analysis.charts.axes import MODELS, figure, picture
from warehouse.analysis.charts.chart import Chart, DrawnPanel, Panel, PanelRow
from warehouse.analysis.charts.kinds.clusters import clustered
from warehouse.analysis.charts.kinds.shares import shares, step_of
from warehouse.analysis.charts.theme import GRID
from warehouse.core.text.formatting import visible

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAX_MODELS = 50
_MAX_TASKS = 2000
_NAMED = 30  # tasks: the names of more would not be readable
_MAX_NAME = 40  # characters
_MORE = 40  # pixels: cells are narrow
_ROW = 14
_GAP = 1  # pixels between rows, so that those of models that pass everything can be counted
_DRAWN = ("label", "task", "place", "value")
_OF_LINES = ("label", "x", "value", "path")


def _draw(panel: Panel) -> DrawnPanel:
    models = list(dict.fromkeys(row["label"] for row in panel.rows))[:_MAX_MODELS]
    tasks = _tasks(panel.rows)
    return DrawnPanel(
        chart=partial(_chart, panel, models, tasks),
        words=_words(panel),
        notes=_notes(panel, models, tasks),
    )


def _chart(panel: Panel, models: list[str], tasks: list[str | None]) -> alt.Chart:
    cells = _cells(panel.rows, models, tasks)
    models = [models[place] for place in clustered(cells)]
    tasks = [tasks[place] for place in clustered(cells.T)]
    cells = _cells(panel.rows, models, tasks)
    width = panel.width + _MORE
    if len(tasks) <= _NAMED:
        return _squares(cells, models, tasks, width)
    return _lines(cells, models, width)


def _tasks(rows: list[PanelRow]) -> list[str | None]:
    """Return the tasks that are shown: if there are too many, those that models differ on most."""
    means: dict[str | None, float] = {row["task_id"]: row["task_mean"] for row in rows}
    apart = sorted(means, key=lambda task: (abs(means[task] - 0.5), task or ""))
    return sorted(apart[:_MAX_TASKS], key=lambda task: (-means[task], task or ""))


def _cells(rows: list[PanelRow], models: list[str], tasks: list[str | None]) -> NDArray[np.float64]:
    """Return the share of each model (line) on each task (column); NaN where it was not asked."""
    lines = {label: place for place, label in enumerate(models)}
    columns = {task: place for place, task in enumerate(tasks)}
    cells = np.full((len(models), len(tasks)), np.nan)
    for row in rows:
        if row["label"] in lines and row["task_id"] in columns:
            cells[lines[row["label"]], columns[row["task_id"]]] = row["value"]
    return cells


def _squares(
    cells: NDArray[np.float64], models: list[str], tasks: list[str | None], width: int
) -> alt.Chart:
    """Return a square for each cell, below them the names of the tasks."""
    places = {task: place for place, task in enumerate(tasks)}
    rows = [
        {"label": label, "task": _name(task, places), "place": place, "value": float(value)}
        for label, line in zip(models, cells, strict=True)
        for (task, place), value in zip(places.items(), line, strict=True)
        if not np.isnan(value)
    ]
    axis = alt.Axis(domain=False, ticks=False, labelAngle=-90, labelLimit=110)
    x = alt.X("task:N", sort=alt.SortField("place"), axis=axis, title=_n_tasks(len(tasks)))
    y = MODELS.copy()
    y["scale"] = alt.Scale(paddingInner=_GAP / _ROW)
    chart = picture(rows, _DRAWN, width=width, height=alt.Step(_ROW))
    squares: alt.Chart = chart.mark_rect(stroke=GRID).encode(x=x, y=y, color=shares("score"))
    return squares


def _n_tasks(n: int) -> str:
    return "1 task" if n == 1 else f"{n} tasks"


def _lines(cells: NDArray[np.float64], models: list[str], width: int) -> alt.Chart:
    """Return a mark for each model and colour: one for each cell would make files of 20 MB."""
    scale = width / cells.shape[1]
    rows = [
        {"label": label, "x": 0, "value": value, "path": path}
        for label, line in zip(models, cells, strict=True)
        for value, path in _paths(line, scale)
    ]
    chart = picture(rows, _OF_LINES, width=width, height=alt.Step(_ROW))
    # A symbol of the size 4 is drawn as its path says, in pixels.
    lines: alt.Chart = chart.mark_point(
        filled=False, strokeWidth=_ROW - _GAP, strokeCap="butt", opacity=1, size=4
    ).encode(
        x=alt.X(
            "x:Q",
            title=_n_tasks(cells.shape[1]),
            axis=alt.Axis(domain=False, ticks=False, labels=False, grid=False),
            scale=alt.Scale(domain=[0, 1]),
        ),
        y=MODELS,
        shape=alt.Shape("path:N", scale=None, legend=None),
        color=shares("score"),
    )
    return lines


def _paths(line: NDArray[np.float64], scale: float) -> list[tuple[float, str]]:
    """Return for each colour of a line a value of that colour, and the path of its cells."""
    paths: dict[int, list[str]] = {}
    values: dict[int, float] = {}
    start = 0
    for step, group in groupby(step_of(float(value)) for value in line):
        end = start + sum(1 for _ in group)
        if step is not None:
            values.setdefault(step, float(line[start]))
            paths.setdefault(step, []).append(f"M{start * scale:.5g},0H{end * scale:.5g}")
        start = end
    return [(values[step], "".join(paths[step])) for step in sorted(paths)]


def _name(task: str | None, places: dict[str | None, int]) -> str:
    """Return a short name, unique by the task's place: two long names may begin alike."""
    text = visible((task or "?")[:_MAX_NAME])
    return text if len(task or "?") <= _MAX_NAME else f"{text}… {places[task] + 1}"


def _words(panel: Panel) -> str:
    means = {row["label"]: row["model_mean"] for row in panel.rows}
    models = (f"{label} {figure(panel, mean)}" for label, mean in list(means.items())[:5])
    return f"mean over the tasks asked: {'; '.join(models)}"


def _notes(panel: Panel, models: list[str], tasks: list[str | None]) -> list[str]:
    notes = []
    n_models = len({row["label"] for row in panel.rows})
    if n_models > len(models):
        notes.append(f"{panel.title}: the best {len(models)} of {n_models} models")
    n_tasks = len({row["task_id"] for row in panel.rows})
    if n_tasks > len(tasks):
        notes.append(
            f"{panel.title}: the {len(tasks)} of {n_tasks} tasks on which models differ most"
        )
    return notes


CHART = Chart(
    name="heatmap",
    title="Models and tasks",
    purpose="every model on every task, with those that are alike next to each other",
    columns=("label", "model", "settings", "task_id", "value", "task_mean", "model_mean"),
    draw=_draw,
)
