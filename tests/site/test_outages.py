"""Runs without any answer are named where the figures of the run before still stand."""

import json
import re

import pytest
from openclaw_cases import CONFIG, line, write_run
from support import command, import_into

from exports.site.addresses import model_page, run_page, suite_page
from exports.site.pages import model, overview, run, suite
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
