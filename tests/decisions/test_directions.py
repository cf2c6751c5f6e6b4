"""Scores of which less is better, as their logs say: the lowest is first, and called better."""

import json
import re

import pytest
from support import add_rows, command, new_store

from exports.site.addresses import compare_page
from exports.site.pages import compare, model
from exports.site.site import opened_site
from warehouse.analysis.charts.panels import panels_of
from warehouse.analysis.charts.registry import CHARTS
from warehouse.lake.lake import Lake

SUITE = {"suite": "speech", "generation": "root"}
ERRORS = {"low": 0, "middle": 3, "high": 6}


def add_run(store, run_id, least, **header):
    """Add a run with an error rate for each of 30 tasks, from `least` on."""
    run = {**SUITE, "run_id": run_id}
    results = [
        {**run, "content_id": f"{run_id}{task}", "seq": task, "task_id": f"t{task}"}
        | {"cost_usd": 1.0 + least}
        for task in range(30)
    ]
    scores = [
        {**run, "content_id": f"{run_id}{task}s", "result_id": f"{run_id}{task}"}
        | {"metric": "wer", "value": least + task % 3}
        for task in range(30)
    ]
    reported = {**run, "content_id": f"{run_id}r", "seq": 0, "task_set": "speech", "metric": "wer"}
    tables = {
        "runs": [{**run, "content_id": run_id, **header}],
        "results": results,
        "result_scores": scores,
        "reported_metrics": [reported | {"higher_is_better": False}],
    }
    add_rows(Lake(store.path), **tables)
    store.sync()


@pytest.fixture
def errors(store):
    """Return a store of three models with error rates."""
    for name, least in ERRORS.items():
        add_run(store, name, least, model=name)
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


def test_a_missing_score_is_not_counted_as_the_best(errors):
    sides = ("compare", "low", "high", "--metric", "wer", "--missing", "fail")
    ended = command(errors.path, *sides)
    assert (ended.code, "would count as the best" in " ".join(ended.err.split())) == (2, True)


def test_pages_of_comparisons_say_which_side_is_better(errors):
    path = compare_page("speech", "speech")
    with opened_site(errors, [], samples="none") as site:
        [page] = site.pages(compare.PAGE_TYPE, {path: (path,)})
    first = page.data.decode().partition("</section>")[0]
    ends = re.findall(r"<small dir=.auto.>(low|middle) better</small>", first)
    # The mark is at -3, on the left.
    assert ends == ["low", "middle"]
    tones = re.findall(r'<b class="(good|bad)">(\d)</b>', first)
    assert {(tone, int(value) < 3) for tone, value in tones} == {("good", True), ("bad", False)}


def test_less_errors_than_before_are_a_gain(errors):
    add_run(errors, "later", 0, model="high", run_date="2030-01-01")
    with opened_site(errors, [], samples="none") as site:
        addresses = model.PAGE_TYPE.addresses(site)
        [path] = [path for path, about in addresses.items() if about == ("high",)]
        [page] = site.pages(model.PAGE_TYPE, {path: ("high",)})
    assert re.findall(r'<b class="(good|bad)">-', page.data.decode()) == ["good"]


def test_an_export_keeps_the_direction(errors, tmp_path):
    command(errors.path, "export", "eee", "--to", tmp_path / "eee")
    again = new_store(tmp_path / "again")
    command(again.path, "import", tmp_path / "eee")
    again.sync()
    board = "SELECT model FROM leaderboard WHERE metric <> 'passed'"
    assert again.sql(board).fetchall() == [(name,) for name in ERRORS]
