"""The heat map of models and tasks: best models at the top, easiest tasks on the left."""

from __future__ import annotations

import altair as alt

from warehouse.charts.axes import MAX_MODELS, MODELS, figure, picture
from warehouse.charts.chart import Chart, DrawnPanel, Panel, PanelRow
from warehouse.charts.shares import shares
from warehouse.charts.theme import GRID, WIDTH
from warehouse.output.formatting import visible

_MAX_TASKS = 150
_NAMED = 30  # tasks: the names of more would not be readable
_MAX_NAME = 40  # characters
_WIDE = WIDTH + 120
_ROW = 14
_DRAWN = ("label", "task", "place", "value")


def _draw(panel: Panel) -> DrawnPanel:
    models = list(dict.fromkeys(row["label"] for row in panel.rows))
    tasks = _tasks(panel.rows)
    places = {task: place for place, task in enumerate(tasks)}
    shown = set(models[:MAX_MODELS])
    rows = [
        {**row, "place": places[row["task_id"]], "task": _name(row["task_id"], places)}
        for row in panel.rows
        if row["label"] in shown and row["task_id"] in places
    ]
    is_named = len(tasks) <= _NAMED
    axis = alt.Axis(domain=False, ticks=False, labels=is_named, labelAngle=-90, labelLimit=110)
    x = alt.X("task:N", sort=alt.SortField("place"), axis=axis, title=f"{len(tasks)} tasks")
    line = alt.Undefined if len(tasks) > _NAMED else GRID
    chart = picture(rows, _DRAWN, width=_WIDE, height=alt.Step(_ROW))
    # The rows apart, so that those of models that pass everything can be counted.
    y = MODELS.copy()
    y["scale"] = alt.Scale(paddingInner=0.1)
    squares = chart.mark_rect(stroke=line).encode(x=x, y=y, color=shares("score"))
    return DrawnPanel(chart=squares, words=_words(panel), notes=_notes(panel, models, tasks))


def _tasks(rows: list[PanelRow]) -> list[str | None]:
    """Return the tasks that are shown: if there are too many, those that models differ on most."""
    means: dict[str | None, float] = {row["task_id"]: row["task_mean"] for row in rows}
    apart = sorted(means, key=lambda task: (abs(means[task] - 0.5), task or ""))
    return sorted(apart[:_MAX_TASKS], key=lambda task: (-means[task], task or ""))


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
    if len(models) > MAX_MODELS:
        notes.append(f"{panel.title}: the best {MAX_MODELS} of {len(models)} models")
    n_tasks = len({row["task_id"] for row in panel.rows})
    if n_tasks > len(tasks):
        notes.append(
            f"{panel.title}: the {len(tasks)} of {n_tasks} tasks on which models differ most"
        )
    return notes


CHART = Chart(
    name="heatmap",
    title="Models and tasks",
    purpose="every model on every task, the best models and the easiest tasks first",
    columns=("label", "model", "settings", "task_id", "value", "task_mean", "model_mean"),
    draw=_draw,
)
