"""Runs without any answer are named where the figures of the run before still stand."""

import json
import re

import pytest
from openclaw_cases import CONFIG, line, write_run
from support import command, import_into

from exports.site.addresses import model_page, run_page, suite_page
from exports.site.boards import boards
from exports.site.pages import model, overview, run, suite, task
from exports.site.site import opened_site
from warehouse.app.commands.history_chart import chart

DAY_MS = 86_400_000
SAID = (
    "openclaw, prompts: the latest 2 runs of m:1b got no answers, since 2026-02-15; figures are "
    "those of run day0."
)


@pytest.fixture
def outage(store, tmp_path):
    """Return a store of a run with answers, and two later ones without."""
    for day in range(3):
        failed = {"availability_status": "error", "success": False, "failure_type": "timeout"}
        failed |= {"objective_pass": None, "raw_output": None}
        fields = {"run_id": f"day{day}", "started_at_ms": 1771027248569 + day * DAY_MS}
        lines = [
            line(**fields, **(failed if day else {}), prompt_id=f"P{n}", prompt_name=f"n{n}")
            for n in range(20)
        ]
        config = {**CONFIG, "run_id": f"day{day}"}
        import_into(store, write_run(tmp_path / "runs" / f"day{day}", *lines, config=config))
    return store


@pytest.mark.slow
def test_pages_name_an_outage(outage):
    with opened_site(outage, [overview.PAGE_TYPE, suite.PAGE_TYPE], samples="none") as site:
        pages = [*site.pages(overview.PAGE_TYPE), *site.pages(suite.PAGE_TYPE)]
    texts = [page.data.decode() for page in pages if page.path.endswith(".html")]
    assert [re.sub("<[^>]*>", "", text).count(SAID) for text in texts] == [1, 1]
    assert all("1 outage: the latest run of a model got no answers" in text for text in texts)
    [of_suite] = [text for text in texts if "<h1>openclaw" in text or ">openclaw</h1>" in text]
    assert of_suite.index("Leaderboard of prompts") < of_suite.index("1 outage")


@pytest.mark.slow
def test_what_is_named_is_linked(outage):
    types = [overview.PAGE_TYPE, suite.PAGE_TYPE, model.PAGE_TYPE, run.PAGE_TYPE]
    with opened_site(outage, types, samples="none") as site:
        [page] = site.pages(overview.PAGE_TYPE)
    [line] = re.findall('<p class="warn".*</p>', page.data.decode())
    links = re.findall('<a href="([^"]*)">([^<]*)</a>', line)
    assert links == [
        (suite_page("openclaw"), "openclaw"),
        (model_page("m:1b"), "m:1b"),
        (run_page("openclaw", "day0"), "day0"),
    ]


def recorded(store, name, calls, **named):
    """Record a run of a model: each task passed, failed, or None without an answer."""
    with store.record(suite="s", model=name, **named) as writing:
        for at, passed in enumerate(calls):
            if passed is None:
                writing.log(task_id=f"t{at}", prompt="?", failure="timeout")
            else:
                writing.log(task_id=f"t{at}", prompt="?", output="!", passed=passed)


@pytest.mark.slow
def test_calls_without_an_answer_are_named_next_to_the_rate(store):
    recorded(store, "whole", [True] * 8)
    recorded(store, "half", [True, None] * 4)
    recorded(store, "down", [None] * 8)
    recorded(store, "part", [True] * 3)
    store.sync()
    types = [each.PAGE_TYPE for each in (overview, suite, model, run, task)]
    with opened_site(store, types, samples="none") as site:
        pages = {
            page.path: " ".join(re.sub("<[^>]*>", " ", page.data.decode()).split())
            for kind in types
            for page in site.pages(kind)
            if page.path.endswith(".html")
        }
    said = "half no answer to 4 of 8 calls: not passed"
    # In the picture, and in the table.
    assert pages["index.html"].count(said) == 2
    assert "down no answers 8" in pages["index.html"]
    assert "part not the same tasks 100.0 %" in pages["index.html"]
    assert said in pages[suite_page("s")]
    assert "no answer to 4 of 8 calls: not passed" in pages[model_page("half")]
    assert "not ranked no answers" in pages[model_page("down")]
    assert "counts missing verdicts against the model that is ahead" in pages[model_page("half")]
    [listed] = (text for path, text in pages.items() if path.endswith("runs/index.html"))
    assert "down 8 8 no answers 8" in listed
    assert sum("passed no answers" in text for text in pages.values()) == 1
    # Two of four models, on each second task.
    of_tasks = [text for path, text in pages.items() if path.startswith("tasks/s_")]
    assert sum(text.count("no answer timeout") for text in of_tasks) == 4 + 8
    assert not any("not judged" in text for text in of_tasks)


@pytest.mark.slow
def test_board_without_any_answer_says_so(store):
    recorded(store, "down", [None] * 8)
    store.sync()
    with opened_site(store, [suite.PAGE_TYPE], samples="none") as site:
        [board] = boards(site)
    assert board.claim == "No call got an answer"


@pytest.mark.slow
def test_board_of_scores_says_on_which_scale_it_is_drawn(store):
    for name, scores in {"low": (40, 60), "high": (80, 90)}.items():
        with store.record(suite="s", model=name) as writing:
            for at, score in enumerate(scores * 10):
                writing.log(task_id=f"t{at}", prompt="?", output="!", scores={"quality": score})
    recorded(store, "rated", [True, False], task_set="verdicts")
    store.sync()
    with opened_site(store, [suite.PAGE_TYPE], samples="none") as site:
        texts = [page.data.decode() for page in site.pages(suite.PAGE_TYPE)]
        scores, rates = sorted(boards(site), key=lambda board: board.is_rate)
    low, high = scores.scale
    # The ends of the intervals: nothing is drawn beyond them.
    assert 40 < float(low) < 50
    assert 85 < float(high) < 90
    said = f"95&nbsp;% interval <small>drawn from {low} to {high}</small>"
    assert (rates.is_rate, sum(text.count(said) for text in texts)) == (True, 1)
    assert sum(text.count("drawn from") for text in texts) == 1


@pytest.mark.slow
def test_history_names_an_outage(outage):
    ended = command(outage.path, "history", "m:1b")
    assert " ".join(ended.err.split()) == f"warning: {SAID}"


@pytest.mark.slow
def test_history_has_rows_of_runs_without_answers(outage):
    ended = command(outage.path, "history", "m:1b", "--format", "json")
    rows = json.loads(ended.out)
    found = [(row["run_id"], row["n_unanswered"], row["pass_rate"] is None) for row in rows]
    assert found == [("day0", 0, False), ("day1", 20, True), ("day2", 20, True)]
    day0, day1, _ = chart(rows, 80, encoding="utf-8")[2:]
    assert ("no answers" in day0, "no answers" in day1, "●" in day1) == (False, True, False)


@pytest.mark.slow
def test_a_plan_is_made_by_the_run_with_answers(outage):
    assert command(outage.path, "plan", "m:1b", "--difference", "0.1").code == 0
