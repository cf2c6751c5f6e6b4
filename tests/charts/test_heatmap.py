"""The heat map: which cells it draws, in which order, and how large it gets."""

import random
import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from warehouse.analysis.charts.chart import Drawing, Panel
from warehouse.analysis.charts.kinds.clusters import clustered
from warehouse.analysis.charts.kinds.heatmap import CHART
from warehouse.analysis.charts.kinds.shares import step_of
from warehouse.analysis.charts.svg import as_svg
from warehouse.analysis.charts.theme import WIDTH

SHARES = st.sampled_from([0.0, 0.25, 0.5, 1.0, float("nan")])
MATRICES = arrays.arrays(float, st.tuples(st.integers(1, 12), st.integers(1, 8)), elements=SHARES)


def panel(cells):
    """Return a panel of cells: {(model, task): share}, with the means that its query gives."""

    def mean(place, name):
        values = [share for key, share in cells.items() if key[place] == name]
        return sum(values) / len(values)

    tasks = {task: mean(1, task) for _, task in cells}
    models = {model: mean(0, model) for model, _ in cells}
    return panel_of(cells, tasks, models)


def lines_of(drawn, n_tasks):
    """Return what a picture shows: for each model its cells from left to right, as steps."""
    document = drawn.chart().to_dict()
    [rows] = (
        document["datasets"].values() if "datasets" in document else [document["data"]["values"]]
    )
    lines = {}
    for row in rows:
        line = lines.setdefault(row["label"], [None] * n_tasks)
        for start, end in re.findall(r"M([\d.e-]+),0H([\d.e-]+)", row["path"]):
            first, last = (round(float(x) * n_tasks / document["width"]) for x in (start, end))
            for place in range(first, last):
                assert line[place] is None
                line[place] = step_of(row["value"])
    return lines


def test_every_cell_is_drawn_once_in_its_colour():
    chance = random.Random(5)
    cells = {
        (f"m{m}", f"t{t:03}"): chance.choice([0, 0, 1, 1, 0.5])
        for m in range(20)
        for t in range(130)
        if chance.random() < 0.9
    }
    lines = lines_of(CHART.draw(panel(cells)), 130)
    # The picture does not name its tasks: as sets of columns, it and the cells are equal.
    models = sorted(lines)
    drawn = zip(*(lines[model] for model in models), strict=True)
    steps = {key: step_of(float(share)) for key, share in cells.items()}
    asked = [tuple(steps.get((model, f"t{t:03}")) for model in models) for t in range(130)]
    assert sorted(drawn, key=repr) == sorted(asked, key=repr)


def test_models_that_pass_the_same_tasks_are_neighbours_the_better_first():
    # Odd models pass the first 40 tasks, even ones the other 60, each but for a task of its own.
    cells = {
        (f"m{m}", f"t{t:03}"): float((t < 40) == (m % 2 == 1) and t % 10 != m)
        for m in range(8)
        for t in range(100)
    }
    lines = lines_of(CHART.draw(panel(cells)), 100)
    assert [int(label[1:]) % 2 for label in lines] == [0] * 4 + [1] * 4
    # The tasks are two blocks: most of a line has the colour of its neighbour.
    changes = sum(a != b for line in lines.values() for a, b in pairwise(line))
    assert changes < 8 * 14


@pytest.mark.slow
@settings(deadline=None)  # the first call loads scipy
@given(MATRICES)
def test_an_order_has_each_line_once(shares):
    assert sorted(clustered(shares)) == list(range(len(shares)))


@pytest.mark.slow
@settings(deadline=None)  # the first call loads scipy
@given(st.permutations(range(9)))
def test_the_order_does_not_depend_on_that_of_the_lines(places):
    chance = np.random.default_rng(3)
    lines = chance.random((9, 30))  # no two means or distances are equal
    order = [list(places)[place] for place in clustered(lines[list(places)])]
    assert order == clustered(lines)


def test_lines_without_a_common_column_are_apart():
    nan = float("nan")
    lines = np.array([[1, 1, nan, nan], [nan, nan, 1, 1], [1, 0.9, nan, nan], [nan, nan, 0, 1]])
    order = clustered(lines)
    assert {frozenset(order[:2]), frozenset(order[2:])} == {frozenset({0, 2}), frozenset({1, 3})}


@pytest.mark.slow
def test_the_largest_picture_is_below_a_megabyte():
    chance = random.Random(1)
    cells = {
        (f"m{m}", f"t{t}"): float(chance.random() < 0.5) for m in range(52) for t in range(2100)
    }
    models, tasks = (dict.fromkeys(names, 0.5) for names in zip(*cells, strict=True))
    drawn = CHART.draw(panel_of(cells, tasks, models))
    assert "the best 50 of 52 models" in drawn.notes[0]
    assert "the 2000 of 2100 tasks on which models differ most" in drawn.notes[1]
    drawing = Drawing(
        title="t", pictures=[drawn.chart], width=WIDTH, words=[], notes=[], columns=(), rows=[]
    )
    # Noise, the worst case: half of all neighbours differ.
    assert len(as_svg(drawing)) < 1_000_000


def panel_of(cells, task_means, model_means):
    """Return a panel of cells with the means of its tasks and models."""
    task_ids = sorted(task_means, key=lambda task: (-task_means[task], task))
    of_board = {"task_ids": task_ids, "task_means": [task_means[task] for task in task_ids]}
    places = {task: place for place, task in enumerate(task_ids)}
    asked = {model: {} for model in model_means}
    for (model, task), share in cells.items():
        asked[model][places[task]] = share
    rows = [
        {"label": model, "model_mean": mean, "task_ids": None, "task_means": None}
        | {"places": sorted(asked[model]),
           "scores": [share for _, share in sorted(asked[model].items())]}
        for model, mean in model_means.items()
    ]  # fmt: skip
    first, *others = sorted(rows, key=lambda row: (-row["model_mean"], row["label"]))
    rows = [first | of_board, *others]
    return Panel(title="suite", metric="passed", is_rate=True, rows=rows, width=WIDTH)


def test_the_table_behind_has_the_first_cells_of_all_models_and_counts_the_others():
    cells = {
        (f"m{m:02}", f"t{t:03}"): 1.0 for m in range(60) for t in range(100) if (m, t) != (0, 5)
    }
    drawn = CHART.draw(panel(cells))
    rows = list(drawn.rows)
    assert (len(rows), drawn.n_left_out) == (5_000, 999)
    # The cell that was not asked is left out, and models that are not drawn are in the table, too.
    assert [row["task_id"] for row in rows[4:6]] == ["t004", "t006"]
    few = {key: share for key, share in cells.items() if key[1] < "t010"}
    drawn = CHART.draw(panel(few))
    assert (len({row["label"] for row in drawn.rows}), drawn.n_left_out) == (60, 0)
