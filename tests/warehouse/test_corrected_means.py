"""What judges say of runs, corrected by labels: the figures that sync keeps, in the views."""

import numpy as np
import pytest
from corrected_cases import (
    N_TASKS,
    RUN,
    SUITE,
    add,
    drawn_at_random,
    generation,
    lenient,
    rating,
    run,
    truth,
)
from support import command, new_store

from warehouse.engine.statistics.corrected_means import corrected_mean

METRICS = """
SELECT mean, mean_low, mean_high, remark FROM metrics
WHERE metric = $metric AND scorer = 'lenient' AND run_id = $run AND reducer = 'mean'
"""


def figure(store, metric="correct (corrected)", run_id=RUN):
    store.sync()
    [row] = store.sql(METRICS, {"metric": metric, "run": run_id}).fetchall()
    return row


def stored(tmp_path, *runs):
    return add(new_store(tmp_path / "store"), *runs)


def half_labelled(**fields):
    right = truth()
    return run(right, lenient(right), drawn_at_random(200), chance=0.5, **fields)


@pytest.mark.slow
def test_labels_correct_a_lenient_judge(tmp_path):
    right = truth()
    judged, drawn = lenient(right), drawn_at_random(200)
    store = stored(tmp_path, run(right, judged, drawn, chance=0.5))
    low, high = figure(store, "correct")[1:3]
    assert low > 0.7  # the judge's interval does not hold the truth, 0.6
    mean, low, high, remark = figure(store)
    assert low < 0.6 < high
    assert high - low < 0.13
    assert remark == "corrected by 200 labels (people)"
    labels = np.where(drawn, right.astype(float), np.nan)
    expected = corrected_mean(judged.astype(float), labels, np.full(N_TASKS, 0.5))
    assert (mean, low, high) == pytest.approx((expected.mean, *expected.interval), abs=1e-12)


@pytest.mark.slow
def test_intervals_hold_the_truth_where_some_are_drawn_four_times_as_often(tmp_path):
    right = truth()
    judged = lenient(right)
    chances = np.where(judged, 0.2, 0.8)
    runs = []
    for seed in range(12):
        drawn = np.random.default_rng(seed).random(N_TASKS) < chances
        rows = run(right, judged, drawn, run_id=f"r{seed}", chance=chances)
        # The probability of the others is recorded by rows without a label.
        for n in np.flatnonzero(~drawn):
            fields = {"sampling_probability": chances[n], "status": "not_applicable"}
            rows["ratings"].append(rating(n, f"r{seed}", "human", None, **fields))
        runs.append(rows)
    store = stored(tmp_path, *runs)
    store.sync()
    holds = """
        SELECT metric, count(*) FILTER (0.6 BETWEEN mean_low AND mean_high), count(*)
        FROM metrics WHERE scorer = 'lenient' GROUP BY metric ORDER BY metric
    """
    raw, corrected = store.sql(holds).fetchall()
    assert raw == ("correct", 0, 12)
    assert corrected[1] >= 10  # of 500 seeds 97 % hold it


@pytest.mark.slow
def test_without_the_probability_of_the_others_there_is_no_figure(tmp_path):
    right = truth()
    judged = lenient(right)
    chances = np.where(judged, 0.2, 0.8)
    drawn = np.random.default_rng(3).random(N_TASKS) < chances
    store = stored(tmp_path, run(right, judged, drawn, chance=chances))
    assert figure(store)[:3] == (None, None, None)
    assert figure(store)[3].endswith("and the probabilities of the others are not recorded")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_labels", "chance", "remark"),
    [
        (29, 29 / N_TASKS, "29 of 400 tasks; it takes 30"),
        (40, None, "40 of 400 tasks, and how they were drawn is not recorded"),
        (40, 0.0, "40 of 400 tasks, and how they were drawn is not recorded"),
        (40, 0.5, "although about 200 were drawn: which are left out is not by chance"),
        (40, 1.0, "although about 400 were drawn: which are left out is not by chance"),
    ],
)
def test_labels_that_cannot_speak_for_the_others(tmp_path, n_labels, chance, remark):
    right = truth()
    rows = run(right, lenient(right), drawn_at_random(n_labels), chance=chance)
    found = figure(stored(tmp_path, rows))
    assert found[:3] == (None, None, None)
    assert found[3].startswith(f"labelled answers only: {n_labels} of 400 tasks")
    assert found[3].endswith(remark)


@pytest.mark.slow
def test_labels_of_all_answers_need_no_probability(tmp_path):
    right = truth()
    rows = run(right, lenient(right), right | True, kind="gold")
    mean, low, high, remark = figure(stored(tmp_path, rows))
    assert (mean, low < 0.6 < high) == (0.6, True)
    assert remark == "400 labels (gold) alone: the judge narrows nothing"


@pytest.mark.slow
def test_labels_on_another_scale_correct_nothing(tmp_path):
    rows = half_labelled()
    for each in rows["ratings"]:
        if each["rater_kind"] == "human":
            each |= {"scale_low": 1.0, "scale_high": 5.0}
    store = stored(tmp_path, rows)
    store.sync()
    assert store.sql("FROM metrics WHERE remark IS NOT NULL").fetchall() == []


@pytest.mark.slow
def test_attempts_that_are_labelled_in_part(tmp_path):
    rows = half_labelled()
    for n, each in enumerate(rows["results"]):
        each |= {"task_id": f"t{n // 2:03}", "attempt": n % 2 + 1}
    found = figure(stored(tmp_path, rows))
    assert found[0] is None
    assert "more in part: label all attempts and turns of a task, or none" in found[3]


@pytest.mark.slow
def test_tasks_that_depend_on_each_other(tmp_path):
    rows = half_labelled()
    tasks = [
        {"suite": SUITE, "task_set": "core", "task_set_hash": "h", "task_hash": "h"}
        | {"seq": n + 1, "content_id": str(n), "task_id": f"t{n:03}", "cluster": str(n // 4)}
        for n in range(N_TASKS)
    ]
    store = stored(tmp_path, rows)
    assert figure(store)[0] is not None
    add(store, {"tasks": tasks})
    assert figure(store)[3].endswith("some of which depend on each other")


@pytest.mark.slow
def test_labels_of_another_run_that_come_later_and_go(tmp_path):
    right = truth()
    drawn = drawn_at_random(200)
    answers = run(right, lenient(right), drawn & False)
    labels = [
        rating(n, RUN, "human", right[n], sampling_probability=0.5)
        | {"suite": "ratings", "run_id": "ann", "rated_suite": SUITE, "rated_run_id": RUN}
        for n in np.flatnonzero(drawn)
    ]
    store = stored(tmp_path / "late", answers)
    store.sync()
    assert store.sql("FROM metrics WHERE remark IS NOT NULL").fetchall() == []
    add(store, {"runs": [generation("ratings", "ann")], "ratings": labels})
    assert figure(store) == figure(stored(tmp_path / "once", half_labelled()))
    assert command(store.path, "forget", "ann", "--yes").code == 0
    store.sync()
    assert store.sql("FROM metrics WHERE remark IS NOT NULL").fetchall() == []


@pytest.mark.slow
def test_any_order_of_import_gives_the_same_figures(tmp_path):
    right = truth("bee", rate=0.7)
    runs = [
        half_labelled(),
        run(right, lenient(right), drawn_at_random(120), run_id="s", model="bee", chance=0.3),
    ]
    query = "FROM metrics WHERE remark IS NOT NULL ORDER BY ALL"
    found = []
    for name, ordered in (("forth", runs), ("back", runs[::-1])):
        for rows in ordered:
            rows["ratings"].reverse()
        store = stored(tmp_path / name, *ordered)
        store.sync()
        found.append(store.sql(query).fetchall())
    store.sync(rebuild=True)
    assert len(found[0]) == 2
    assert found == [store.sql(query).fetchall()] * 2


@pytest.mark.slow
def test_the_leaderboard_marks_corrected_figures(tmp_path):
    right = truth("bee", rate=0.7)
    few = run(right, lenient(right), drawn_at_random(20), run_id="s", model="bee", chance=0.05)
    store = stored(tmp_path, half_labelled(), few)
    store.sync()
    rows = store.sql(
        "SELECT metric, is_main, model, score, remark FROM leaderboard WHERE scorer = 'lenient'"
    ).fetchall()
    assert [row[:3] for row in rows] == [
        ("correct", True, "bee"),
        ("correct", True, "ant"),
        ("correct (corrected)", False, "ant"),
        ("correct (corrected)", False, "bee"),
    ]
    assert rows[2][3] == pytest.approx(0.6, abs=0.06)
    assert [row[3:] for row in rows[3:]] == [
        (None, "labelled answers only: 20 of 400 tasks; it takes 30")
    ]
    assert [row[4] for row in rows[:3]] == [None, None, "corrected by 200 labels (people)"]
