"""The heat map of models and tasks: those that are alike next to each other."""

from __future__ import annotations

from functools import partial
from itertools import islice, pairwise
from typing import TYPE_CHECKING, NamedTuple

import altair as alt
import numpy as np

from warehouse.analysis.charts.axes import MODELS, figure, picture
from warehouse.analysis.charts.chart import MOST_ROWS, Chart, DrawnPanel, Panel, PanelRow
from warehouse.analysis.charts.kinds.clusters import clustered
from warehouse.analysis.charts.kinds.shares import shares, step_of
from warehouse.analysis.charts.theme import GRID
from warehouse.core.text.formatting import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

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


class _Board(NamedTuple):
    """What a heat map shows: models, tasks, and the score of each model on each task."""

    models: list[str]
    tasks: list[str | None]
    cells: NDArray[np.float64]


def _draw(panel: Panel) -> DrawnPanel:
    board = _board(panel.rows)
    n_cells = sum(len(row["places"]) for row in panel.rows)
    return DrawnPanel(
        chart=partial(_chart, panel, board),
        words=_words(panel),
        notes=_notes(panel, board),
        rows=islice(_table_rows(panel.rows), MOST_ROWS),
        n_left_out=max(n_cells - MOST_ROWS, 0),
    )


def _board(rows: list[PanelRow]) -> _Board:
    """Return the best models on the tasks that are shown.

    If there are too many tasks, those that models differ on most. A cell is NaN where a model was
    not asked.
    """
    shown = rows[:_MAX_MODELS]
    names, means = rows[0]["task_ids"], rows[0]["task_means"]
    cells = np.full((len(shown), len(names)), np.nan)
    for line, row in zip(cells, shown, strict=True):
        line[row["places"]] = row["scores"]
    apart = sorted(range(len(names)), key=lambda at: (abs(means[at] - 0.5), names[at] or ""))
    kept = sorted(apart[:_MAX_TASKS], key=lambda at: (-means[at], names[at] or ""))
    return _Board([row["label"] for row in shown], [names[at] for at in kept], cells[:, kept])


def _table_rows(rows: list[PanelRow]) -> Iterator[PanelRow]:
    """Yield the cells of all models, as the table behind the picture has them."""
    names, means = rows[0]["task_ids"], rows[0]["task_means"]
    for row in rows:
        for place, score in zip(row["places"], row["scores"], strict=True):
            of_task = {"task_id": names[place], "task_mean": means[place]}
            yield {**row, **of_task, "value": score}


def _chart(panel: Panel, board: _Board) -> alt.Chart:
    lines, columns = clustered(board.cells), clustered(board.cells.T)
    models = [board.models[place] for place in lines]
    tasks = [board.tasks[place] for place in columns]
    cells = board.cells[np.ix_(lines, columns)]
    width = panel.width + _MORE
    if len(tasks) <= _NAMED:
        return _squares(cells, models, tasks, width)
    return _lines(cells, models, width)


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
    n_tasks = cells.shape[1]
    ends = [f"{place * width / n_tasks:.5g}" for place in range(n_tasks + 1)]
    rows = [
        {"label": label, "x": 0, "value": value, "path": path}
        for label, line in zip(models, cells.tolist(), strict=True)
        for value, path in _paths(line, ends)
    ]
    chart = picture(rows, _OF_LINES, width=width, height=alt.Step(_ROW))
    # A symbol of the size 4 is drawn as its path says, in pixels.
    lines: alt.Chart = chart.mark_point(
        filled=False, strokeWidth=_ROW - _GAP, strokeCap="butt", opacity=1, size=4
    ).encode(
        x=alt.X(
            "x:Q",
            title=_n_tasks(n_tasks),
            axis=alt.Axis(domain=False, ticks=False, labels=False, grid=False),
            scale=alt.Scale(domain=[0, 1]),
        ),
        y=MODELS,
        shape=alt.Shape("path:N", scale=None, legend=None),
        color=shares("score"),
    )
    return lines


def _paths(line: list[float], ends: list[str]) -> list[tuple[float, str]]:
    """Return for each colour of a line a value of that colour, and the path of its cells."""
    paths: dict[int, list[str]] = {}
    values: dict[int, float] = {}
    steps = list(map(step_of, line))
    changes = [at for at in range(1, len(line)) if steps[at] != steps[at - 1]]
    for start, end in pairwise([0, *changes, len(line)]):
        step = steps[start]
        if step is not None:
            values.setdefault(step, line[start])
            paths.setdefault(step, []).append(f"M{ends[start]},0H{ends[end]}")
    return [(values[step], "".join(paths[step])) for step in sorted(paths)]


def _name(task: str | None, places: dict[str | None, int]) -> str:
    """Return a short name, unique by the task's place: two long names may begin alike."""
    text = visible((task or "?")[:_MAX_NAME])
    return text if len(task or "?") <= _MAX_NAME else f"{text}… {places[task] + 1}"


def _words(panel: Panel) -> str:
    models = (f"{row['label']} {figure(panel, row['model_mean'])}" for row in panel.rows[:5])
    return f"mean over the tasks asked: {'; '.join(models)}"


def _notes(panel: Panel, board: _Board) -> list[str]:
    notes = []
    n_shown, n_models = len(board.models), len(panel.rows)
    if n_models > n_shown:
        notes.append(f"{panel.title}: the best {n_shown} of {n_models} models")
    n_shown, n_tasks = len(board.tasks), len(panel.rows[0]["task_ids"])
    if n_tasks > n_shown:
        notes.append(f"{panel.title}: the {n_shown} of {n_tasks} tasks on which models differ most")
    return notes


CHART = Chart(
    name="heatmap",
    title="Models and tasks",
    purpose="every model on every task, with those that are alike next to each other",
    columns=("label", "model", "settings", "task_id", "value", "task_mean", "model_mean"),
    draw=_draw,
)
