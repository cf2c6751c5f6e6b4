"""Sides whose service was down for many calls are named next to what a comparison shows."""

import html
import json
import re

import pytest
from support import command

from exports.site.addresses import COMPARISONS, compare_page
from exports.site.pages import compare
from exports.site.site import opened_site

SAID = "half got no answer to 10 of 20 calls, which count as not passed"


def recorded(store, model, calls, suite="s", **named):
    """Record a run of a model: each task passed, failed, or None without an answer."""
    with store.record(suite=suite, model=model, **named) as run:
        for task, passed in calls.items():
            if passed is None:
                run.log(task_id=f"t{task}", prompt="?", failure="timeout")
            else:
                run.log(task_id=f"t{task}", prompt="?", output="!", passed=passed, cost_usd=1)


@pytest.fixture
def outages(store):
    """Return a store of a model with all its answers, one with half of them, one with most."""
    recorded(store, "whole", dict.fromkeys(range(20), True))
    recorded(store, "half", {task: None if task % 2 else True for task in range(20)}, run_id="r1")
    recorded(store, "most", {task: task > 0 or None for task in range(20)})
    store.sync()
    return store


def test_compare_warns_of_many_calls_without_an_answer(outages):
    ended = command(outages.path, "compare", "whole", "half")
    assert "whole passes 50 points more than half" in " ".join(ended.out.split())
    assert f"warning: {SAID}" in " ".join(ended.err.split())
    assert "no answer" not in command(outages.path, "compare", "whole", "most").err
    by_cost = command(outages.path, "compare", "whole", "half", "--metric", "cost")
    assert (by_cost.code, "no answer" in by_cost.err) == (0, False)


def test_a_side_without_any_answer_is_named(outages):
    recorded(outages, "none", dict.fromkeys(range(20)))
    outages.sync()
    said = command(outages.path, "compare", "whole", "none").err
    assert "no scored task in common; no call of 'none' got an answer" in " ".join(said.split())
    sides = ("--candidate", "none", "--baseline", "whole", "--max-drop", "0.02")
    ended = command(outages.path, "gate", *sides)
    assert (ended.code, "no answer to 20 of 20 calls" in ended.err) == (3, True)
    assert "count as not passed" not in ended.out + ended.err


def test_answers_of_a_later_run_count(outages):
    recorded(outages, "half", dict.fromkeys(range(1, 20, 2), True), run_id="r2")
    outages.sync()
    ended = command(outages.path, "compare", "whole", "half")
    assert "got no answer" not in ended.err


def test_only_calls_of_the_tasks_compared_count(outages):
    recorded(outages, "twice", {task: None if task < 10 else True for task in range(20)})
    recorded(outages, "twice", {task: task > 18 or None for task in range(10, 20)}, run_id="r2")
    recorded(outages, "some", dict.fromkeys(range(0, 20, 2), True))
    outages.sync()
    ended = command(outages.path, "compare", "whole", "twice", "--mix-runs")
    # Each task by the latest run that asked it: 10 of the first, 9 of the second.
    assert "twice got no answer to 19 of 20 calls" in " ".join(ended.err.split())
    # None of the tasks that both were asked is without an answer.
    assert "got no answer" not in command(outages.path, "compare", "some", "half").err


def test_calls_of_runs_with_all_their_answers_count(outages):
    recorded(outages, "mixed", dict.fromkeys(range(10), True))
    recorded(outages, "mixed", {task: task > 12 or None for task in range(10, 20)}, run_id="r2")
    outages.sync()
    ended = command(outages.path, "compare", "whole", "mixed", "--mix-runs")
    assert "mixed got no answer to 3 of 20 calls" in " ".join(ended.err.split())


def test_an_outage_in_one_suite_is_named_next_to_another(outages):
    for model in ("whole", "half"):
        recorded(outages, model, dict.fromkeys(range(400), True), suite="other")
    outages.sync()
    ended = command(outages.path, "compare", "whole", "half")
    assert "half (s, s) got no answer to 10 of 20 calls" in " ".join(ended.err.split())
    assert "other) got" not in ended.err


def test_calls_at_tasks_that_nothing_judges_do_not_count(outages):
    for model in ("whole", "half"):
        with outages.record(suite="s", model=model, run_id=f"{model}-more") as run:
            for task in range(60):
                is_down = model == "half" and (task % 2 or task >= 20)
                answer = {"failure": "timeout"} if is_down else {"output": "!"}
                passed = None if is_down or task >= 20 else True
                run.log(task_id=f"t{task}", prompt="?", passed=passed, **answer)
    outages.sync()
    sides = ["--candidate", "half", "--baseline", "whole"]
    ended = command(outages.path, "gate", *sides, "--max-drop", "0.05")
    said = SAID.removeprefix("half ")
    assert f"s/s: the candidate {said}" in " ".join(f"{ended.out} {ended.err}".split())


def test_boards_and_history_say_how_many_until_they_are_answered(outages):
    said = "no answer to 10 of 20 calls: not passed"
    for view in ("leaderboard", "model_history", "metrics"):
        query = f"SELECT remark FROM {view} WHERE model = 'half' AND metric = 'passed'"
        assert outages.sql(query).fetchall() == [(said,)]
    recorded(outages, "half", dict.fromkeys(range(1, 20, 2), True), run_id="r2")
    outages.sync()
    query = "SELECT remark FROM leaderboard WHERE model = 'half' AND metric = 'passed'"
    assert outages.sql(query).fetchall() == [(None,)]
    remarks = "SELECT run_id, remark FROM model_history WHERE model = 'half' AND metric = 'passed'"
    assert set(outages.sql(remarks).fetchall()) == {("r1", None), ("r2", None)}


def test_rates_charts_and_items_say_how_many(outages, tmp_path):
    query = "SELECT remark FROM pass_rates ORDER BY model"
    said = [f"no answer to {n} of 20 calls: not passed" for n in (10, 1)]
    assert outages.sql(query).fetchall() == [*((text,) for text in said), (None,)]
    ended = command(outages.path, "plot", "leaderboard", "--to", tmp_path / "board.svg")
    told = " ".join(ended.err.split())
    assert "calls that got no answer count as not passed: half 10 of 20, most 1 of 20" in told
    assert "verdicts are missing" not in told
    ended = command(outages.path, "items", "s")
    assert "no answer to 11 of 60 calls: not passed" in " ".join(ended.out.split())


def test_exports_have_rates_with_such_a_remark(outages, tmp_path):
    assert (
        command(outages.path, "export", "eee", "--suite", "s", "--to", tmp_path / "eee").code == 0
    )
    texts = [path.read_text() for path in (tmp_path / "eee").rglob("*.json")]
    scores = [json.loads(text)["evaluation_results"][0]["score_details"]["score"] for text in texts]
    assert sorted(scores) == [0.5, 0.95, 1.0]


def test_gate_names_a_side_whose_service_was_down(outages):
    for candidate, baseline, name in (
        ("half", "whole", "candidate"),
        ("whole", "half", "baseline"),
    ):
        sides = ["--candidate", candidate, "--baseline", baseline]
        ended = command(outages.path, "gate", *sides, "--max-drop", "0.05")
        said = " ".join(f"{ended.out} {ended.err}".split())
        assert said.count(f"s/s: the {name} {SAID.removeprefix('half ')}") == 1
    ended = command(outages.path, "gate", *sides, "--max-p95-ms", "1000")
    assert "max_p95_ms" in ended.out
    assert "no answer" not in ended.out + ended.err


@pytest.mark.slow
def test_pages_of_comparisons_say_so(outages):
    with opened_site(outages, [compare.PAGE_TYPE], samples="none") as site:
        pages = {
            page.path: html.unescape(re.sub("<[^>]*>", "", page.data.decode()))
            for page in site.pages(compare.PAGE_TYPE)
        }
    for path in (COMPARISONS, compare_page("s", "s")):
        text = " ".join(pages[path].replace("\N{NO-BREAK SPACE}", " ").split())
        # Next to each of two pairs, and not of the third.
        assert text.count(f"{SAID}.") == 2
        assert "p is adjusted for the" in text.replace("these", "the")
