"""`evalstore items`: the items that deserve a look, with evidence, and the matrix."""

import csv
import json
import re

import numpy as np
import pyarrow.parquet
import pytest
from support import add_rows, command, new_store

from warehouse.analysis.items.work_list import work_lists

N_SYSTEMS = 12
# The ranks of the systems that pass each item, and what those that fail answer.
ITEMS = {
    "all-pass": (range(N_SYSTEMS), "x"),
    "dead": ((), "\x1b[31mred"),
    "wrong": ((0,), "the right one"),
    "reversed": (range(N_SYSTEMS // 2), None),
    **{f"sound-{n}": (range(n + 1, N_SYSTEMS), None) for n in range(10)},
}

USELESS = ("nobody passes", "all pass")


def fill(
    store, n_systems=N_SYSTEMS, suite="quiz", *, is_sparse=False, has_answers=True, adaptive=()
):
    """Write a run for each system, the weakest first; sparse, each was asked two items of three."""
    key = {"suite": suite, "generation": "root"}
    tasks = [
        {"suite": suite, "task_set": "mcq", "task_set_hash": "v", "task_id": task, "seq": at}
        | {"content_id": task, "task_hash": task, "target": "key", "question": f"Which {task}?"}
        for at, task in enumerate(ITEMS)
    ]
    tasks[-1]["question"] = "which  SOUND-8?"
    results = [
        {**key, "run_id": f"r{rank}", "content_id": f"{rank}-{task}", "seq": at}
        | {"model": f"m{rank:02}", "task_set": "mcq", "task_id": task, "task_hash": task}
        | {"objective_pass": rank in passing}
        | ({"answer": "key" if rank in passing else failed or f"no {rank}"} if has_answers else {})
        for rank in range(n_systems)
        for at, (task, (passing, failed)) in enumerate(ITEMS.items())
        if not is_sparse or (rank + at) % 3
    ]
    runs = [
        {**key, "run_id": f"r{rank}", "content_id": f"r{rank}"}
        | ({"plan": '{"adaptive": {}}'} if rank in adaptive else {})
        for rank in range(n_systems)
    ]
    add_rows(store.lake, runs=runs, tasks=tasks, results=results)


@pytest.fixture(scope="module")
def quiz(tmp_path_factory):
    store = new_store(tmp_path_factory.mktemp("quiz") / "store")
    fill(store)
    return store


def rows(store, **options):
    with store.reading("item_responses item_answers flaky_tasks") as connection:
        [listed] = work_lists(connection, "quiz", **options)
    return {row["task_id"]: row for row in listed.rows}


@pytest.mark.slow
def test_each_kind_of_item_is_found(quiz):
    found = {task: [str(each) for each in row["findings"]] for task, row in rows(quiz).items()}
    assert found["all-pass"] == ["all pass"]
    assert found["dead"] == ["wrong key suspected", "nobody passes"]
    assert found["wrong"] == ["wrong key suspected"]
    assert found["reversed"] == ["stronger models fail"]
    assert found["sound-8"] == found["sound-9"] == ["same text as another"]
    assert all(found[f"sound-{n}"] == [] for n in range(8))


@pytest.mark.slow
def test_the_worst_come_first(quiz):
    names = [name for name, row in rows(quiz).items() if row["findings"]]
    assert names[2:] == ["reversed", "sound-9", "sound-8", "all-pass"]
    assert set(names[:2]) == {"dead", "wrong"}


@pytest.mark.slow
def test_figures_of_items(quiz):
    found = rows(quiz)
    assert found["wrong"]["n_agreeing"] == N_SYSTEMS - 1
    assert found["wrong"]["rival_answer"] == "the right one"
    assert found["wrong"]["rate_of_passing"] < found["wrong"]["rate_of_agreeing"]
    assert found["sound-3"]["pass_rate"] == pytest.approx(8 / N_SYSTEMS)
    assert found["sound-3"]["discrimination"] > 0.5
    assert found["dead"]["discrimination"] is found["all-pass"]["discrimination"] is None
    assert found["sound-9"]["duplicates"] == ["sound-8"]
    assert found["sound-3"]["rival_answer"] is None


@pytest.mark.parametrize(
    ("copies", "named"), [("B", "B"), ("BC", "B, C"), ("BCDEF", "B, C, D and 2 more")]
)
def test_an_item_does_not_name_itself_as_a_copy(tmp_path, copies, named):
    store = new_store(tmp_path / "store")
    lines = [f"{model},{task},Which?,{task == 'A'}" for model in "mn" for task in f"A{copies}"]
    path = tmp_path / "own.csv"
    path.write_text("\n".join(["model,task,prompt,passed", *lines, "m,Z,Why?,true"]), "utf-8")
    assert command(store.path, "import", "--yes", "--suite", "own", path).code == 0
    said = " ".join(command(store.path, "items", "own").out.split())
    assert f"It has the text and choices of {named}." in said


def test_the_view_has_the_same_figures(quiz):
    names = ("pass_rate", "pass_rate_low", "discrimination")
    found = rows(quiz)
    for task, *figures in quiz.sql(
        f"SELECT task_id, {', '.join(names)} FROM item_quality"
    ).fetchall():
        assert figures == pytest.approx([found[task][name] for name in names], abs=1e-9)


@pytest.mark.slow
def test_adaptive_runs_are_counted_and_in_no_rate(store):
    """The weakest system was adaptive, and is the only one that passes `wrong`."""
    fill(store, adaptive=[0])
    found = rows(store)
    assert (found["wrong"]["n_systems"], found["wrong"]["pass_rate"]) == (N_SYSTEMS, 0)
    assert "nobody passes" not in found["wrong"]["findings"]
    assert found["sound-3"]["pass_rate"] == pytest.approx(8 / (N_SYSTEMS - 1))
    names = ("n_systems", "pass_rate", "pass_rate_low", "pass_rate_high", "discrimination")
    listed = store.sql(f"SELECT task_id, status, {', '.join(names)} FROM item_quality").fetchall()
    for task, status, *figures in listed:
        assert figures == pytest.approx([found[task][name] for name in names], abs=1e-9)
        assert (status == "dead") == ("nobody passes" in found[task]["findings"])
        assert (status == "saturated") == ("all pass" in found[task]["findings"])
    assert "of 1 adaptive run" in " ".join(command(store.path, "items", "quiz").out.split())


@pytest.mark.slow
def test_an_item_of_adaptive_runs_only_has_no_rate(store):
    fill(store, adaptive=range(N_SYSTEMS))
    assert {row["pass_rate"] for row in rows(store).values()} == {None}
    assert store.sql("SELECT DISTINCT pass_rate, pass_rate_low FROM item_quality").fetchall() == [
        (None, None)
    ]
    assert "No pass rate: only adaptive runs" in command(store.path, "items", "quiz").out


@pytest.mark.slow
def test_the_view_has_the_same_figures_of_a_sparse_matrix(store):
    fill(store, is_sparse=True)
    names = ("n_systems", "pass_rate", "pass_rate_low", "pass_rate_high")
    listed = store.sql(f"SELECT task_id, status, {', '.join(names)} FROM item_quality").fetchall()
    found = rows(store)
    assert {task for task, *_ in listed} == set(found)
    assert not store.sql("FROM item_quality WHERE discrimination IS NOT NULL").fetchall()
    for task, status, *figures in listed:
        assert figures == pytest.approx([found[task][name] for name in names], abs=1e-9)
        said = {"dead": ["nobody passes"], "saturated": ["all pass"]}.get(status, [])
        assert [each for each in found[task]["findings"] if each in USELESS] == said


def test_intervals_are_written_as_elsewhere(quiz):
    shown = command(quiz.path, "items", "quiz").out
    assert re.search(r"Pass rate \d+\.\d % \[\d+\.\d, \d+\.\d\]", " ".join(shown.split()))


def test_the_list_shows_answers_without_their_control_characters(quiz):
    result = command(quiz.path, "items", "quiz")
    assert result.code == 0
    assert '11 of 12 systems answer "the right one", expected is "key"' in result.out
    assert "\\x1b[31mred" in result.out
    assert "\x1b" not in result.out
    assert "None of 12 systems passes it." in result.out
    assert "\n1 item: all pass\nall-pass\n" in result.out


def test_all_items_as_rows(quiz):
    result = command(quiz.path, "items", "quiz", "--format", "json")
    listed = json.loads(result.out)
    assert len(listed) == len(ITEMS)
    assert listed[0]["findings"][0] == "wrong key suspected"


@pytest.mark.slow
def test_an_item_that_all_systems_pass_and_fail_is_flaky(store):
    """Two attempts at ten items: at one of them each system passes once, at the others as ever."""
    key = {"suite": "quiz", "generation": "root"}
    results = [
        {**key, "run_id": f"r{rank}", "content_id": f"{rank}-{task}-{attempt}", "seq": attempt}
        | {"model": f"m{rank}", "task_set": "mcq", "task_id": f"t{task}", "attempt": attempt}
        | {"objective_pass": rank > task or (task == 0 and attempt == 1)}
        | ({"objective_pass": attempt == 1} if task == 5 else {})
        for rank in range(N_SYSTEMS)
        for task in range(10)
        for attempt in (1, 2)
    ]
    runs = [{**key, "run_id": f"r{rank}", "content_id": f"r{rank}"} for rank in range(N_SYSTEMS)]
    add_rows(store.lake, runs=runs, results=results)
    found = {task for task, row in rows(store).items() if "flaky" in row["findings"]}
    assert found == {"t5"}
    assert "12 systems both passed and failed it" in command(store.path, "items", "quiz").out


@pytest.mark.slow
def test_a_single_system_is_refused(store):
    fill(store, 1)
    result = command(store.path, "items", "quiz")
    assert result.code == 2
    assert "quiz, mcq: only one system was asked" in result.err


@pytest.mark.slow
def test_a_few_systems_are_not_tested(store):
    fill(store, 7)
    result = command(store.path, "items", "quiz")
    assert result.code == 0
    assert "with fewer than 8 systems, discrimination is not tested" in result.out
    assert "Cronbach" not in result.out
    assert "wrong key" not in result.out
    assert "stronger models fail" not in result.out


def test_one_of_a_thing_is_counted_in_the_singular(store):
    for model, verdicts in {"a": (True, None), "b": (False,)}.items():
        with store.record(suite="s", model=model) as run:
            for attempt, passed in enumerate(verdicts, 1):
                run.log(task_id="t", prompt="?", output="!", passed=passed, attempt=attempt)
    store.sync()
    said = " ".join(command(store.path, "items", "s").out.split())
    assert "2 systems, 1 item; " in said
    assert "; 1 unjudged attempt is left out; " in said


def test_alpha_is_said_of_enough_systems(quiz):
    assert "Cronbach's alpha" in command(quiz.path, "items", "quiz").out


@pytest.mark.slow
def test_without_answers_the_list_says_that_no_key_can_be_suspected(quiz, store):
    fill(store, has_answers=False)
    assert "no key can be suspected" in command(store.path, "items", "quiz").out
    assert "no key can be suspected" not in command(quiz.path, "items", "quiz").out


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_matrix_for_other_programs(quiz, tmp_path, suffix):
    target = tmp_path / f"matrix.{suffix}"
    assert command(quiz.path, "items", "quiz", "--matrix", target).code == 0
    if suffix == "csv":
        header, *lines = csv.reader(target.read_text("utf-8").splitlines())
    else:
        table = pyarrow.parquet.read_table(target)
        header, lines = table.column_names, [list(row.values()) for row in table.to_pylist()]
    assert [line[0] for line in lines] == [f"m{rank:02}" for rank in range(N_SYSTEMS)]
    found = np.array([line[1:] for line in lines], dtype=float)
    of_items = {row["item"]: task for task, row in rows(quiz).items()}
    for item, column in zip(header[1:], found.T, strict=True):
        passing, _ = ITEMS[of_items[item]]
        assert column.tolist() == [float(rank in passing) for rank in range(N_SYSTEMS)]


def test_the_matrix_needs_a_known_format(quiz, tmp_path):
    result = command(quiz.path, "items", "quiz", "--matrix", tmp_path / "matrix.xlsx")
    assert result.code == 2
    assert "the name must end in .csv or .parquet" in result.err


def test_unknown_names_are_refused(quiz):
    assert "did you mean 'quiz'?" in command(quiz.path, "items", "quizz").err
    assert "did you mean 'mcq'?" in command(quiz.path, "items", "quiz", "--task-set", "mcqq").err
