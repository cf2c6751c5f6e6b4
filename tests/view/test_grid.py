"""The grid: of each model the run of the leaderboard, tasks on which verdicts differ first."""

import re

import pytest
from starlette.testclient import TestClient
from support import add_rows, new_store

from exports.view.guard import Access
from exports.view.server import server_parts, view_app
from exports.view.store_pages import StorePages

TOKEN = "a token of this test"
N_TASKS = 100
# By run: its model, and whether it passed a task; None is no verdict.
RUNS = {
    "old": ("a", lambda n: n % 2 == 0),
    "new": ("a", lambda n: n % 3 == 0),
    "partial": ("a", lambda _: True),  # of ten tasks only
    "other": ("<b>b</b>", lambda n: n % 3 == 0 if n % 5 else n % 2 == 0),
    "third": ("c", lambda n: None if n % 4 else n % 3 == 0),
}


def _results():
    for day, (run, (model, passes)) in enumerate(RUNS.items(), 1):
        for n in range(10 if run == "partial" else N_TASKS):
            yield {
                "suite": "s",
                "run_id": run,
                "generation": "root",
                "content_id": f"{run} {n}",
                "seq": n,
                "model": model,
                "provider": "litellm",
                "task_id": f"task {n:03}",
                "prompt": f"question {n}?",
                "raw_output": f"{run} says {n}",
                "run_date": f"2026-01-{day:02}",
                "is_correct": passes(n),
            }


@pytest.fixture(scope="module")
def get(tmp_path_factory):
    store = new_store(tmp_path_factory.mktemp("grid") / "store")
    runs = [
        {
            "suite": "s",
            "run_id": run,
            "generation": "root",
            "content_id": run,
            "run_date": f"2026-01-{day:02}",
        }
        for day, run in enumerate(RUNS, 1)
    ]
    add_rows(store.lake, runs=runs, results=list(_results()))
    pages = StorePages(store.path, name="store", server=server_parts)
    access = Access(token=TOKEN, hosts=frozenset(), cookie="evalstore")
    client = TestClient(view_app(pages, access))
    client.get("/", params={"token": TOKEN})
    yield lambda **given: client.get("/view/grid", params=given)
    pages.close()


def listed(get, **given):
    """Return the numbers of the tasks of all pages, in order, and whether each is marked."""
    tasks, page = [], 1
    while True:
        answer = get(suite="s", task_set="s", page=page, **given)
        assert answer.status_code == 200, answer.text
        rows = re.findall(r'<th scope="row".*?</th>', answer.text, re.DOTALL)
        tasks += [(int(re.search(r"question (\d+)", row)[1]), "differs" in row) for row in rows]
        if ">next</a>" not in answer.text:
            return tasks
        page += 1


def differing(models):
    def outcomes(n):
        found = {RUNS[run][1](n) for run in models}
        return found - {None}

    return [n for n in range(N_TASKS) if len(outcomes(n)) > 1]


@pytest.mark.parametrize(
    ("models", "runs"),
    [
        ([], ["new", "other", "third"]),
        (["a", "<b>b</b>"], ["new", "other"]),
        (["a", "c"], ["new", "third"]),
    ],
)
def test_tasks_that_differ_come_first_and_are_marked(get, models, runs):
    expected = differing(runs)
    tasks = listed(get, model=models)
    assert [n for n, is_marked in tasks if is_marked] == expected
    assert [n for n, _ in tasks[: len(expected)]] == expected
    assert sorted(n for n, _ in tasks) == list(range(N_TASKS))
    assert listed(get, model=models, differ="1") == [(n, True) for n in expected]


def test_cells_have_the_answers_of_the_run_of_the_leaderboard(get):
    page = get(suite="s", task_set="s").text
    assert "new says" in page
    assert "old says" not in page
    assert "partial says" not in page
    assert "&lt;b&gt;b&lt;/b&gt;" in page
    assert "<b>b</b>" not in page
    assert "no verdict" in page


def test_without_verdicts_of_two_models_nothing_is_said_to_differ(get):
    page = get(suite="s", task_set="s", model="c").text
    assert "which differ is not known" in page
    assert "came out differently" not in page


def test_task_sets_are_listed(get):
    page = get().text
    assert 'href="grid?suite=s&amp;task_set=s"' in page
    assert "3 models, 2026-01-05" in page
    assert '<details class="menu" open>' in page  # it has the page that is shown


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"suite": "s"}, "both of the parameters"),
        ({"suite": "s", "task_set": "nope"}, "no model was asked this task set"),
        ({"suite": "s", "task_set": "s", "model": "nope"}, "'nope' was not asked"),
        ({"suite": "s", "task_set": "s", "page": "4"}, "there is no page 4"),
        ({"suite": "s", "task_set": "s", "differ": "2"}, "'differ' is 1, or left out"),
        ({"other": "1"}, "unknown parameter 'other'"),
    ],
)
def test_what_cannot_be_asked_is_said(get, given, message):
    answer = get(**given)
    assert (answer.status_code, message in answer.text) == (400, True), answer.text
