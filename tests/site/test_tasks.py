"""The pages of tasks: every answer of every model, and which tasks have a page."""

import html
import re

import pytest

from exports.site.addresses import task_page
from exports.site.pages import task
from exports.site.site import opened_site
from exports.site.tasks import shown_tasks
from warehouse.core.text.formatting import visible_lines


def pages_of(store):
    with opened_site(store, [task.PAGE_TYPE], samples="none") as site:
        return {page.path: page.data.decode() for page in site.pages(task.PAGE_TYPE)}


def test_a_page_has_every_answer_of_its_task(examples):
    pages = pages_of(examples)
    rows = examples.sql(
        """
        SELECT suite, task_set, task_id, results.answer, verdicts.passed
        FROM verdicts JOIN results USING (suite, run_id, result_id, task_set, task_id)
        WHERE verdicts.duplicate_of IS NULL AND NOT verdicts.is_replay
        """
    ).fetchall()
    assert len(rows) > 50
    for suite, task_set, task_id, answer, passed in rows:
        page = pages[task_page(suite, task_set, task_id)]
        verdict = {True: "passed", False: "failed", None: "not judged"}[passed]
        assert f">{verdict}</td>" in page
        assert answer is None or html.escape(visible_lines(answer)) in page
    shown = sum(len(re.findall(r">(?:passed|failed|not judged)</td>", p)) for p in pages.values())
    assert shown == len(rows)


def log(store, suite, model, passed):
    with store.record(suite=suite, model=model) as run:
        for n, right in enumerate(passed):
            run.log(task_id=f"t{n:03}", output=f"{model} {n}", passed=right)


@pytest.mark.slow
def test_tasks_on_which_models_differ_have_pages_first(store):
    # The first 30 tasks are passed by both, the next 110 by one of them.
    log(store, "own", "a", [True] * 140)
    log(store, "own", "b", [True] * 30 + [False] * 110)
    log(store, "small", "a", [True])
    with opened_site(store, [task.PAGE_TYPE], samples="none") as site:
        shown = shown_tasks(site)
    own = [row["task_id"] for row in shown if row["suite"] == "own"]
    assert own == [f"t{n:03}" for n in range(30, 130)]
    assert [row["task_id"] for row in shown if row["suite"] == "small"] == ["t000"]
    page = pages_of(store)["tasks/index.html"]
    assert "40 more tasks without a page" in page


@pytest.mark.slow
def test_a_store_without_verdicts_has_no_page(store):
    with store.record(suite="own", model="a") as run:
        run.log(task_id="t", output="x")
    with opened_site(store, [task.PAGE_TYPE], samples="none") as site:
        assert not site.has("task")
