"""Scores of which less is better, as their logs say: every output puts the lowest first."""

import json

import pytest
from support import add_rows, command

from exports.site.pages import model
from exports.site.site import opened_site
from warehouse.analysis.charts.panels import panels_of
from warehouse.analysis.charts.registry import CHARTS
from warehouse.lake.lake import Lake

SUITE = {"suite": "speech", "generation": "root"}
ERRORS = {"low": 0, "middle": 3, "high": 6}


@pytest.fixture
def errors(store):
    """Return a store of three models with error rates of 30 tasks each."""
    runs = [{**SUITE, "run_id": name, "content_id": name, "model": name} for name in ERRORS]
    cells = [(name, task) for name in ERRORS for task in range(30)]
    results = [
        {**SUITE, "run_id": name, "content_id": f"{name}{task}", "seq": task, "task_id": f"t{task}"}
        | {"cost_usd": 1.0 + ERRORS[name]}
        for name, task in cells
    ]
    scores = [
        {**SUITE, "run_id": name, "content_id": f"{name}{task}s", "result_id": f"{name}{task}"}
        | {"metric": "wer", "value": ERRORS[name] + task % 3}
        for name, task in cells
    ]
    reported = [
        {**SUITE, "run_id": name, "content_id": f"{name} reported", "model": name}
        | {"seq": 0, "task_set": "speech", "metric": "wer", "higher_is_better": False}
        for name in ERRORS
    ]
    tables = {"results": results, "result_scores": scores, "reported_metrics": reported}
    add_rows(Lake(store.path), runs=runs, **tables)
    store.sync()
    return store


def test_the_lowest_is_first_on_boards_and_charts(errors):
    assert errors.sql("SELECT model FROM leaderboard").fetchall() == [(name,) for name in ERRORS]
    best = errors.sql("SELECT model FROM leaderboard_groups WHERE rank_high = 1").fetchall()
    assert best == [("low",)]
    rows = {}
    with errors.reading() as connection:
        for chart in CHARTS:
            if chart.name in {"leaderboard", "costs"}:
                [panel] = panels_of(connection, chart, dict.fromkeys(chart.takes))
                rows[chart.name] = panel.rows
    assert [row["model"] for row in rows["leaderboard"]] == [*ERRORS]
    # The cheapest is the best one here.
    assert [row["model"] for row in rows["costs"] if row["is_on_front"]] == ["low"]


def test_compare_says_that_less_is_better(errors):
    sides = ("compare", *ERRORS, "--metric", "wer")
    rows = json.loads(command(errors.path, *sides, "--format", "json").out)
    assert [(row["a"], row["b"], row["conclusion"]) for row in rows] == [
        ("low", "middle", "a"), ("low", "high", "a"), ("middle", "high", "a"),
    ]  # fmt: skip
    assert all(row["less_is_better"] for row in rows)
    said = " ".join(command(errors.path, *sides).out.split())
    assert "low scores 3 less in wer than middle" in said
    ranked = json.loads(command(errors.path, *sides, "--ranks", "--format", "json").out)
    assert [(row["model"], row["rank"]) for row in ranked] == [
        ("low", 1),
        ("middle", 2),
        ("high", 3),
    ]


def test_a_gate_refuses_a_drop_of_what_should_drop(errors):
    sides = ("--candidate", "high", "--baseline", "low", "--metric", "wer", "--max-drop", "1")
    ended = command(errors.path, "gate", *sides)
    assert (ended.code, "less of wer is better in speech/speech" in ended.err) == (2, True)


def test_the_page_of_a_model_says_which_is_better(errors):
    with opened_site(errors, [], samples="none") as site:
        addresses = model.PAGE_TYPE.addresses(site)
        pages = {about[0]: path for path, about in addresses.items() if about}
        for name, better, worse in (("low", 2, 0), ("middle", 1, 1), ("high", 0, 2)):
            [page] = site.pages(model.PAGE_TYPE, {pages[name]: (name,)})
            text = page.data.decode()
            assert (text.count(">better</b>"), text.count(">worse</b>")) == (better, worse)
