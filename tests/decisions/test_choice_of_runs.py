"""Which run of a model stands for it, on the board and in comparisons, from stored results."""

import json
import random

import pytest
from gate_cases import decide, drop, run_rows, write
from support import command, new_store, queried_store


class Table:
    """A store of runs, written one after the other."""

    def __init__(self, folder):
        self.store = queried_store(folder / "store")
        self.n = 0

    def run(self, model, passed):
        """Write a run; `passed` has the verdict, or the verdicts of all attempts, of each task."""
        self.n += 1
        run, [row] = run_rows(model, [0], run_id=f"r{self.n:02}", suite="quiz")
        attempts = [
            (task, attempt, verdict)
            for task, verdicts in passed.items()
            for attempt, verdict in enumerate(
                verdicts if isinstance(verdicts, list) else [verdicts], 1
            )
        ]
        rows = [
            row | {
                "content_id": f"{run['run_id']} {seq}",
                "seq": seq,
                "task_id": task,
                "task_hash": task,
                "attempt": attempt,
                "is_correct": verdict,
            }
            for seq, (task, attempt, verdict) in enumerate(attempts)
        ]  # fmt: skip
        write(self.store, (run | {"run_date": f"2026-03-{self.n:02}"}, rows))
        return run["run_id"]

    def board(self, columns):
        rows = self.store.sql(f"SELECT model, {columns} FROM leaderboard ORDER BY model").fetchall()
        return {row[0]: row[1:] for row in rows}

    def compare(self, *arguments):
        ended = command(self.store.path, "compare", *arguments, "--format", "json")
        assert ended.code == 0, ended.err
        return json.loads(ended.out), " ".join(ended.err.split())


@pytest.fixture
def table(tmp_path):
    return Table(tmp_path)


def verdicts(n, n_passed, first=0):
    return {f"t{at:03}": at < n_passed for at in range(first, n)}


RUN = "n_tasks, n_tasks_in_set, is_comparable, run_id, newer_partial_run_id, newer_partial_reason"


@pytest.mark.slow
def test_a_smoke_test_is_not_the_result(table):
    for model, n_passed in (("a", 40), ("b", 30), ("c", 13)):
        table.run(model, verdicts(50, n_passed))
    table.run("c", {"t000": True, "t001": True, "t002": True})
    board = table.board(f"pass_rate, {RUN}, version_reason")
    assert board["c"] == (0.26, 50, 50, True, "r03", "r04", "fewer_tasks", "largest")
    (row,), said = table.compare("a", "c")
    assert (row["n_tasks"], row["mean_b"]) == (50, 0.26)
    assert "note: c: the newer run r04 (3 tasks) does not count, because r03 (50 tasks)" in said
    (row,), said = table.compare("a", "c", "--mix-runs")
    assert "c: tasks of 2 runs are mixed: 47 of r03, 3 of r04" in said


@pytest.mark.slow
def test_a_run_that_lacks_a_task_does_not_replace_a_full_one(table):
    table.run("a", verdicts(60, 45))
    table.run("a", verdicts(59, 59))
    assert table.board(f"pass_rate, {RUN}")["a"] == (
        0.75, 60, 60, True, "r01", "r02", "fewer_tasks",
    )  # fmt: skip


@pytest.mark.slow
def test_three_models_agree_on_a_smaller_set(table):
    table.run("a", verdicts(50, 40))
    for model in ("b", "c"):
        table.run(model, verdicts(40, 20))
    assert table.board("n_tasks_in_set, version_reason")["b"] == (50, "largest")
    table.run("d", verdicts(40, 20))
    board = table.board("n_tasks_in_set, version_reason, is_comparable, pass_rate_in_set")
    assert board["b"] == (40, "agreed", True, None)
    # 40 of the 40 tasks of the set, 40 of its own 50
    assert board["a"] == (40, "agreed", False, 1.0)
    table.run("b", verdicts(50, 25))
    assert table.board("n_tasks_in_set, version_reason")["b"] == (50, "largest")


@pytest.mark.slow
def test_equal_sizes_are_decided_by_the_models_and_then_by_time(table):
    for model in ("a", "b"):
        table.run(model, verdicts(20, 10))
    table.run("c", verdicts(25, 20, first=5))
    assert table.board("is_comparable") == {"a": (True,), "b": (True,), "c": (False,)}
    table.run("d", verdicts(25, 20, first=5))
    assert table.board("is_comparable")["c"] == (True,)


@pytest.mark.slow
def test_failures_that_were_asked_again_are_named(table):
    chance = random.Random(5)
    for model in ("a", "b"):
        table.run(model, {f"t{n:03}": chance.random() < 0.5 for n in range(100)})
    failed = [task for task, passed in table.store.sql(
        "SELECT task_id, passed FROM verdicts WHERE model = 'b' ORDER BY task_id"
    ).fetchall() if not passed]  # fmt: skip
    before = table.compare("a", "b")[0]
    table.run("b", {task: chance.random() < 0.5 for task in failed})
    after, _ = table.compare("a", "b")
    assert after == before
    assert table.board(RUN)["b"][-2:] == ("r03", "failures_again")
    mixed, _ = table.compare("a", "b", "--mix-runs")
    assert mixed[0]["mean_b"] > after[0]["mean_b"]
    (row,) = table.store.sql("SELECT pass_rate_b FROM paired_comparisons").fetchall()
    assert row == (after[0]["mean_b"],)


@pytest.mark.slow
def test_failures_that_could_be_asked_by_chance_are_only_fewer_tasks(table):
    # With 90 of 100 failed, six failed tasks are no evidence: p = 0.52.
    table.run("a", verdicts(100, 10))
    table.run("a", dict.fromkeys(("t020", "t030", "t040", "t050", "t060", "t070"), True))
    assert table.board(RUN)["a"][-1] == "fewer_tasks"


@pytest.mark.slow
def test_of_attempts_until_a_pass_only_the_first_counts(table):
    passed = {f"t{n:03}": True for n in range(10)}
    retried = {f"t{n:03}": [False, False, True] for n in range(10, 20)}
    table.run("a", {**passed, **retried, "t020": [False] * 5})
    table.run("b", {f"t{n:03}": n < 10 for n in range(21)})
    board = table.board("pass_rate, is_first_only")
    assert board == {"a": (10 / 21, True), "b": (10 / 21, False)}
    (row,), _ = table.compare("a", "b")
    assert (row["difference"], row["n_attempts_a"]) == (0.0, 21)


@pytest.mark.slow
@pytest.mark.parametrize("attempts", [[False, True], [False, False], [True, False]])
def test_attempts_of_equal_number_all_count(table, attempts):
    table.run("a", {f"t{n:03}": attempts for n in range(20)})
    assert table.board("is_first_only, pass_rate")["a"] == (False, sum(attempts) / 2)


@pytest.mark.slow
def test_a_run_is_declared_to_have_the_tasks_that_count(table):
    for model in ("a", "b"):
        table.run(model, verdicts(50, 40))
    small = table.run("c", verdicts(20, 10))
    where = ("version", "quiz", small)
    ended = command(table.store.path, *where)
    assert (ended.code, ended.out) == (0, "")
    assert "the tasks of r03 are the version of its task sets that counts" in ended.err
    columns = "n_tasks_in_set, is_comparable, pass_rate_in_set, version_reason"
    board = table.board(columns)
    assert board["c"] == (20, True, None, "declared")
    assert board["a"] == (20, False, 1.0, "declared")
    # Of several the one declared last, also again.
    later = table.run("d", verdicts(30, 10))
    assert command(table.store.path, "version", "quiz", later).code == 0
    assert table.board("n_tasks_in_set")["c"] == (30,)
    assert command(table.store.path, *where).code == 0
    assert table.board("n_tasks_in_set")["c"] == (20,)
    for run in (small, later):
        assert command(table.store.path, "version", "quiz", run, "--remove").code == 0
    assert table.board(columns)["c"] == (50, False, None, "largest")
    ended = command(table.store.path, *where, "--remove")
    assert (ended.code, "has no tag 'task-set-version'" in ended.err) == (2, True)


@pytest.mark.slow
def test_a_history_does_not_compare_what_only_repeats_failures(table):
    luck = random.Random(3)

    def drawn(tasks):
        return {task: luck.random() < 0.6 for task in tasks}

    before = drawn(verdicts(100, 0))
    after = drawn(verdicts(100, 0))
    table.run("m", before)
    # A run that passes a task, too, is one of its own.
    passed = next(task for task in before if before[task])
    failed = [task for task in before if not before[task]]
    table.run("m", drawn(failed))
    table.run("m", after)
    table.run("m", drawn([*failed[:20], passed]))
    rows = table.store.sql(
        "SELECT n_compared, n_gained, n_lost, p_value, repeats_failures FROM model_history "
        "ORDER BY run_date"
    ).fetchall()
    assert rows[1] == (0, 0, 0, None, True)
    assert [row[4] for row in rows] == [False, True, False, False]
    gained = sum(after[task] > before[task] for task in before)
    lost = sum(after[task] < before[task] for task in before)
    assert rows[2][:3] == (100, gained, lost)
    assert rows[3][0] == 21
    changes = table.store.sql(
        "SELECT change, count(*) FROM verdict_changes WHERE run_id = 'r02' GROUP BY ALL"
    ).fetchall()
    assert changes == [(None, len(failed))]


def with_no_answer(rows, tasks):
    """Take the answers to some tasks away."""
    for row in rows:
        if row["task_id"] in tasks:
            row |= {"availability_status": "error", "success": False, "is_correct": None}
    return rows


def only_tasks(run, tasks):
    return run[0], [row for row in run[1] if row["task_id"] in tasks]


@pytest.mark.slow
def test_a_repetition_of_calls_without_an_answer_completes_its_run(tmp_path):
    store = new_store(tmp_path / "store")
    run, rows = run_rows("m", [1] * 30 + [0] * 10, run_id="r1")
    write(
        store, (run, with_no_answer(rows, {"t0", "t1", "t2"})), run_rows("n", [1] * 20 + [0] * 20)
    )
    query = (
        "SELECT run_id, n_unanswered, round(pass_rate * n_tasks), newer_partial_reason, "
        "completed_by FROM leaderboard WHERE model = 'm'"
    )
    assert store.sql(query).fetchall() == [("r1", 3, 27, None, None)]
    # One passes, one fails, and one is not answered again; of what is answered, the first counts.
    second = only_tasks(run_rows("m", [1, 0, 0], run_id="r2"), {"t0", "t1", "t2"})
    with_no_answer(second[1], {"t2"})
    write(store, second)
    write(store, only_tasks(run_rows("m", [1, 1, 1], run_id="r3"), {"t1", "t2"}))
    # A repetition of a failure, too, is no completion.
    write(store, only_tasks(run_rows("m", [1] * 40, run_id="r4"), {"t2", "t39"}))
    assert store.sql(query).fetchall() == [("r1", 0, 29, "fewer_tasks", "r2, r3")]
    [rate] = store.sql("SELECT pass_rate FROM model_history WHERE run_id = 'r1'").fetchall()
    assert rate == (29 / 40,)
    ended = command(store.path, "compare", "m", "n", "--format", "json")
    [row] = json.loads(ended.out)
    assert (row["mean_a"], row["n_tasks"]) == (29 / 40, 40)
    said = " ".join(ended.err.split())
    assert "m: answers of r2, r3 count where r1 got none" in said
    assert "the newer run r4 (2 tasks) does not count" in said
    result = decide(store, drop(), candidate="m", baseline="n")
    assert result.decisions[0].candidate_value == 29 / 40
    assert any("answers of r2, r3 count where r1 of the candidate" in note for note in result.notes)
    # As after a rebuild, and as before once the repetitions are gone.
    kept = store.sql("SELECT * FROM leaderboard").fetchall()
    store.sync(rebuild=True)
    assert store.sql("SELECT * FROM leaderboard").fetchall() == kept
    for run_id in ("r2", "r3", "r4"):
        assert command(store.path, "forget", run_id, "--yes").code == 0
    assert store.sql(query).fetchall() == [("r1", 3, 27, None, None)]


def test_the_interval_of_a_change_holds_0_unless_the_test_rejects(table):
    # Of 17 tasks 8 were failed; 3 to 8 of these pass then, and 0 or 1 of the others fails.
    for n_gained in range(3, 9):
        for n_lost in (0, 1):
            table.run(f"{n_gained} {n_lost}", verdicts(17, 9))
            passed = verdicts(17, 9 + n_gained) | {"t000": n_lost == 0}
            table.run(f"{n_gained} {n_lost}", passed)
    rows = table.store.sql(
        "SELECT model, change, change_low, change_high, p_value, newcombe_interval("
        "n_compared - n_lost - 8, n_gained, n_lost, 8 - n_gained) AS unbounded "
        "FROM model_history WHERE n_compared > 0"
    ).fetchall()
    assert len(rows) == 12
    for model, change, low, high, p_value, (narrow, wide) in rows:
        n_gained, n_lost = map(int, model.split())
        assert change == pytest.approx((n_gained - n_lost) / 17)
        assert (low > 0) == (p_value < 0.05)
        assert high == wide
        assert low == (narrow if p_value < 0.05 else min(narrow, 0))
    assert any(low == 0 and narrow > 0 for _, _, low, _, _, (narrow, _) in rows)
