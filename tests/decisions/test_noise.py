"""`evalstore plan --noise`: a sentence only where the figures support it."""

import numpy as np
import pytest
from support import add_rows, command, new_store


def noise(path, rates, n_attempts, n_runs=1, shift=0.0):
    """Return what is said of verdicts of one model, drawn with these rates; a later run shifts.

    Args:
        path: the folder of the store.
        rates: pass rate of each task, or of each attempt at it.
        n_attempts: attempts at each task in a run.
        n_runs: runs.
        shift: what each run has more than the one before.
    """
    random = np.random.default_rng(5)
    rates = np.broadcast_to(np.array(rates).reshape(len(rates), -1), (len(rates), n_attempts))
    rows = [
        {
            "suite": "own",
            "run_id": f"r{run}",
            "generation": "root",
            "content_id": f"{run}-{task}-{attempt}",
            "seq": 1,
            "task_set": "core",
            "task_id": f"t{task}",
            "model": "ant",
            "attempt": attempt + 1,
            "raw_output": "an answer",
            "success": True,
            "is_correct": bool(random.random() < rates[task, attempt] + run * shift),
        }
        for run, task, attempt in np.ndindex(n_runs, len(rates), n_attempts)
    ]
    runs = [
        {"suite": "own", "run_id": f"r{run}", "generation": "root", "content_id": f"run{run}"}
        for run in range(n_runs)
    ]
    store = new_store(path / "store")
    add_rows(store.lake, runs=runs, results=rows)
    said = command(store.path, "plan", "--noise", "own")
    assert said.code == 0
    return " ".join(said.out.split())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rates", "n_attempts", "said"),
    [
        ([0, 1] * 20, 1, "no task has two attempts with a score"),
        ([0, 1] * 20, 3, "No two attempts at a task differ."),
        ([0.5] * 60, 2, "More attempts help: without limit they narrow it by"),
        (
            [0.02, 0.98] * 60,
            4,
            "More attempts do not help: however many, they narrow",
        ),
    ],
)
def test_whether_more_attempts_help(tmp_path, rates, n_attempts, said):
    text = noise(tmp_path, rates, n_attempts)
    assert said in text
    assert f"{3 * len(rates)} more tasks like these would halve it" in text
    assert "shift" not in text


@pytest.mark.slow
def test_few_tasks_have_no_verdict_on_attempts(tmp_path):
    text = noise(tmp_path, [0.5] * 8, 2)
    assert "(no interval, for too few tasks" in text
    assert "ttempts do not help" not in text
    assert "ore attempts" not in text


@pytest.mark.slow
@pytest.mark.parametrize(("shift", "said"), [(0.4, True), (0.0, False)])
def test_runs_that_shift(tmp_path, shift, said):
    text = noise(tmp_path, [0.3] * 80, 2, n_runs=2, shift=shift)
    assert ("Another run shifts a model's whole score by" in text) is said
    assert ("That another run shifts scores is not shown" in text) is not said


def test_noise_stands_alone(tmp_path):
    said = command(new_store(tmp_path / "store").path, "plan", "ant", "--noise", "own")
    assert said.code == 2
    assert "--noise plans nothing" in said.err


def test_a_share_is_at_most_all(tmp_path):
    # Both attempts at 40 tasks differ; of ten, neither passes.
    text = noise(tmp_path, [[1, 0], [0, 1]] * 20 + [[0, 0]] * 10, 2)
    assert "of the variance of one answer, 100 % (95 % interval 100 % to 100 %) is" in text
    # Means of 40 tasks are 1/2, of ten 0: their standard deviation is 0.202, over √50.
    assert "standard error of 2.9 points" in text
