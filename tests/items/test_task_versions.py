"""Versions of task sets without the tasks that people rated as wrong."""

import csv
import io
import json
from datetime import UTC, datetime

import duckdb
import pyarrow.parquet
import pytest
from support import add_rows, command, digests, new_store

from warehouse.app.filtered_warehouse import without_tasks
from warehouse.app.output.terminal import Layout
from warehouse.app.output.writers import write_query
from warehouse.engine.tables.left_out_tasks import LeftOutTask

N_TASKS = 12
GONE = {"t03", "t07"}
MODELS = ("ant", "bee", "cow", "dog")
NAMED = "quiz: 2 tasks left out as wrong (fixed)"
BOARD = "SELECT model, n_tasks_in_set, pass_rate FROM leaderboard WHERE is_main ORDER BY ALL"


def fill(store, gone=()):
    """Add runs of four models on two sets with the same ids; without some tasks of `core`."""
    runs, results, scores, tasks = [], [], [], []
    for task_set in ("core", "other"):
        left = [
            f"t{n:02}"
            for n in range(1, N_TASKS + 1)
            if task_set == "other" or f"t{n:02}" not in gone
        ]
        for task in left:
            about = {"suite": "quiz", "task_set": task_set, "task_id": task, "task_hash": task}
            tasks.append({**about, "content_id": f"{task_set}/{task}", "task_set_hash": "v"})
            tasks[-1] |= {"seq": int(task[1:]), "prompt": f"{task_set} {task}"}
        for model in MODELS:
            key = {"suite": "quiz", "run_id": f"{task_set}-{model}", "generation": "root"}
            planned = {"eval": {"dataset": {"sample_ids": left}}}
            runs.append({**key, "content_id": key["run_id"], "task_set": task_set})
            runs[-1] |= {"extra": json.dumps(planned, separators=(",", ":"))}
            for task in left:
                n = int(task[1:])
                row = {**key, "model": model, "task_id": task, "task_hash": task, "seq": n}
                row |= {"content_id": f"{model}/{task}", "raw_output": f"{model} says {n}"}
                row |= {
                    "objective_pass": (n * 5 + MODELS.index(model) * n) % 3 > 0,
                    "success": True,
                }
                results.append(row | {"task_set": task_set, "cost_usd": 0.25})
                score = {**key, "content_id": f"{model}/{task}/s", "result_id": row["content_id"]}
                scores.append(score | {"metric": "grade", "scorer": "g", "value": n / 7})
    add_rows(store.lake, runs=runs, results=results, result_scores=scores, tasks=tasks)


def rate(store, task, rater, *, is_wrong=True, run_id="queue", day=1, model="ant"):
    """Store a rating of an answer, as `evalstore view` does."""
    key = {"suite": "ratings", "run_id": run_id, "generation": "root"}
    row = {**key, "content_id": f"{task}/{rater}/{day}/{model}", "rated_suite": "quiz", "seq": 1}
    row |= {"rated_run_id": f"core-{model}", "result_id": f"{model}/{task}", "rater": rater}
    row |= {"rater_kind": "human", "criterion": "overall", "status": "not_applicable"}
    row |= {"rated_at": datetime(2026, 1, day, tzinfo=UTC), "reason": f"{rater}'s note"}
    row["extra"] = json.dumps({"task_is_wrong": True} if is_wrong else {})
    add_rows(store.lake, runs=[{**key, "content_id": run_id}], ratings=[row])


@pytest.fixture
def quiz(store):
    """A store of which two tasks are rated as wrong, one by two people."""
    fill(store)
    for task, rater in (("t03", "ann"), ("t03", "ben"), ("t07", "ben")):
        rate(store, task, rater, run_id=f"{task} {rater}")
    rate_another(store)
    return store


def rate_another(store):
    """Store a rating that was taken back."""
    rate(store, "t05", "ann", run_id="q5")
    rate(store, "t05", "ann", run_id="q6", is_wrong=False, day=2)


def said(store, *arguments, code=0):
    ended = command(store.path, *arguments)
    assert ended.code == code, ended.err
    return ended.out, ended.err


@pytest.mark.slow
def test_without_tasks_it_is_a_store_that_never_had_them(store, tmp_path):
    fill(store)
    never = new_store(tmp_path / "never")
    fill(never, GONE)
    tasks = [LeftOutTask("quiz", "core", task, task) for task in sorted(GONE)]
    with without_tasks(store, tasks) as copy:
        ours, theirs = digests(copy), digests(never)
        assert {view for view in ours if ours[view] != theirs.get(view)} == set()
        assert len(ours) > 40
        sizes = "SELECT DISTINCT n_tasks_in_set FROM leaderboard ORDER BY 1"
        assert copy.sql(sizes).fetchall() == [(N_TASKS - 2,), (N_TASKS,)]
    assert digests(store) != theirs


@pytest.mark.slow
def test_a_task_whose_text_was_changed_since_stays(store):
    fill(store)
    with without_tasks(store, [LeftOutTask("quiz", "core", "t03", "an earlier text")]) as copy:
        assert digests(copy) == digests(store)


@pytest.mark.slow
def test_a_named_version_is_said_wherever_its_figures_are_shown(quiz):
    before = quiz.sql(BOARD).fetchall()
    out, err = said(quiz, "version", "quiz", "--without-wrong", "fixed", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["task_id"], row["n_raters_wrong"]) for row in rows] == [("t03", "2"), ("t07", "1")]
    assert rows[0]["raters"] == '["ann", "ben"]'
    assert NAMED in err
    assert quiz.sql(BOARD).fetchall() == before
    version = ("--task-version", "fixed")
    for arguments in (
        ("show", "leaderboard"),
        ("show", "leaderboard", "--columns", "model"),
        ("show", "metrics", "--format", "csv"),
        ("sql", "FROM leaderboard", "--format", "json"),
        ("compare", "ant", "bee", "--format", "jsonl"),
        ("compare", "ant", "bee"),
        ("items", "quiz"),
        ("items", "quiz", "--format", "csv"),
    ):
        out, err = said(quiz, *version, *arguments)
        assert NAMED in out
        assert NAMED in err
        assert "left out as wrong" not in said(quiz, *arguments)[0]
    out, _ = said(quiz, *version, "sql", BOARD, "--format", "json")
    of_core = [row for row in json.loads(out) if row["n_tasks_in_set"] == N_TASKS - 2]
    assert [row["model"] for row in of_core] == list(MODELS)


GATE = ("gate", "--candidate", "bee", "--baseline", "ant", "--max-drop", 0.5, "--min-tasks", 5)


@pytest.fixture
def both(quiz, tmp_path):
    """Run a command on the version `fixed`, and on a store that never had its wrong tasks."""
    said(quiz, "version", "quiz", "--without-wrong", "fixed")
    never = new_store(tmp_path / "never")
    fill(never, GONE)
    rate_another(never)

    def run(*arguments, to=None):
        found = []
        for store, version in ((quiz, ("--task-version", "fixed")), (never, ())):
            folder = tmp_path / f"files of {store.path.name}"
            folder.mkdir(exist_ok=True)
            target = () if to is None else ("--to", folder / to)
            out, _ = said(store, *version, *arguments, *target)
            found.append(out if to is None else folder / to)
        return found

    return run


@pytest.mark.slow
def test_a_gate_names_the_version(both):
    ours, theirs = map(json.loads, both(*GATE, "--format", "json"))
    assert ours.pop("left_out") == NAMED
    assert ours == theirs
    assert {each["n_tasks"] for each in ours["decisions"]} == {N_TASKS - 2, N_TASKS}
    for fmt in ("table", "junit", "markdown", "github"):
        ours, theirs = both(*GATE, "--format", fmt)
        assert NAMED in ours
        assert NAMED not in theirs


@pytest.mark.slow
def test_a_chart_names_the_version(both):
    assert NAMED in both("plot", "leaderboard", to="board.svg")[0].read_text("utf-8")
    pages = [file.read_text("utf-8") for file in both("plot", "leaderboard", to="board.html")]
    assert NAMED in pages[0]
    ours, theirs = (page[page.index("<table") :] for page in pages)
    assert ours == theirs


@pytest.mark.slow
def test_every_page_of_a_report_names_the_version(both):
    ours, theirs = both("report", "--suite", "quiz", "--title", "T", to="site")
    pages = sorted(ours.rglob("*.html"))
    assert len(pages) > 10
    assert all(NAMED in page.read_text("utf-8") for page in pages)
    said_of_it = f'<p class="note">{NAMED}</p>\n'
    # The heading also counts the ratings of other tasks.
    start = '<main id="content">'
    for page in [theirs / "suites" / "quiz.html", *(theirs / "models").rglob("*.html")]:
        of_version = (ours / page.relative_to(theirs)).read_text("utf-8").replace(said_of_it, "")
        assert of_version.partition(start)[2] == page.read_text("utf-8").partition(start)[2]


@pytest.mark.slow
def test_aggregates_of_an_export_name_the_version(both):
    ours, theirs = (
        {file.name: json.loads(file.read_text("utf-8")) for file in folder.rglob("*.json")}
        for folder in both("export", "eee", "--suite", "quiz", to="files")
    )
    assert len(ours) == 2 * len(MODELS)
    for document in ours.values():
        assert document["source_metadata"].pop("additional_details") == {"left_out": NAMED}
    assert ours == theirs


def test_parquet_says_it_too():
    out = io.BytesIO()
    layout = Layout(left_out=NAMED)
    with duckdb.connect() as connection:
        query = "SELECT 1 AS left_out UNION ALL SELECT 2"
        write_query(connection, query, "parquet", out, note=pytest.fail, layout=layout)
    table = pyarrow.parquet.read_table(out)
    assert table.to_pydict() == {"left_out": [1, 2], "left_out_1": [NAMED, NAMED]}


@pytest.mark.slow
def test_later_ratings_do_not_change_a_version(quiz):
    said(quiz, "version", "quiz", "--without-wrong", "fixed")
    rate(quiz, "t03", "ann", run_id="later", is_wrong=False, day=3)
    rate(quiz, "t03", "ben", run_id="later 2", is_wrong=False, day=3)
    rate(quiz, "t01", "ann", run_id="later 3", day=3)
    assert "t03" not in said(quiz, "show", "wrong_tasks")[0]
    listed, _ = said(quiz, "version", "quiz", "--format", "csv")
    assert [row["task_id"] for row in csv.DictReader(io.StringIO(listed))] == ["t03", "t07"]
    assert NAMED in said(quiz, "--task-version", "fixed", "show", "leaderboard")[0]
    _, err = said(quiz, "version", "quiz", "--without-wrong", "fixed", code=2)
    assert "never changes: choose another name" in err
    _, err = said(quiz, "version", "quiz", "--without-wrong", "newer")
    assert "2 tasks left out as wrong (newer)" in err
    listed, _ = said(quiz, "version", "quiz")
    assert "t01" in listed


@pytest.mark.slow
def test_raters_have_to_agree_if_that_is_asked_for(quiz):
    _, err = said(quiz, "version", "quiz", "--without-wrong", "both", "--raters", 2)
    assert "1 task left out as wrong (both)" in err
    _, err = said(quiz, "version", "quiz", "--without-wrong", "three", "--raters", 3, code=2)
    assert "no task of quiz is rated as wrong by 3 raters" in err


@pytest.mark.slow
def test_what_cannot_be_used_is_refused(quiz):
    said(quiz, "version", "quiz", "--without-wrong", "fixed")
    naming = ("version", "quiz", "--without-wrong")
    for arguments, message in (
        (("--task-version", "fxed", "show", "leaderboard"), "no task version 'fxed'; did you mean"),
        (("--task-version", "fixed", "judges"), "can be used with abilities, compare"),
        (("--task-version", "fixed", "view"), "`report` writes its pages for a version"),
        (
            ("--task-version", "fixed", "export", "openclaw", "--to", "x"),
            "files of openclaw do not say that tasks are left out",
        ),
        ((*naming, "x", "core-ant"), "either a RUN or --without-wrong"),
        (("version", "quiz", "--remove"), "--remove needs a RUN"),
        ((*naming, " "), "--without-wrong: write one line"),
    ):
        assert message in said(quiz, *arguments, code=2)[1]


@pytest.mark.slow
def test_the_work_list_says_who_rated_an_item_as_wrong(quiz):
    out, _ = said(quiz, "items", "quiz", "--task-set", "core")
    assert "t03: rated as wrong" in out
    assert 'Rated as wrong by 2 of 2 raters: "ann\'s note", "ben\'s note".' in out
    assert "t05: rated as wrong" not in out
