"""`evalstore judges`: what is said of judges whose quality is known."""

import random
from datetime import datetime, timedelta

import duckdb
import pytest
from support import add_rows, command, new_store

KEY = {"suite": "arena", "run_id": "r", "generation": "root"}
OVERALL = {"task_set": "core", "criterion": "overall", "status": "ok"}
N_PAIRS = 100


def vote(judge, task, outcome, first="a", kind="judge"):
    return {
        **KEY,
        **OVERALL,
        "content_id": f"{judge}/{task}/{first}",
        "seq": 1,
        "task_id": f"t{task}",
        "model_a": "ant",
        "model_b": "bee",
        "rater": judge,
        "rater_kind": kind,
        "first_shown": first,
        "outcome": outcome,
    }


def rating(rater, kind, task, value):
    return {
        **KEY,
        **OVERALL,
        "content_id": f"{rater}/{task}",
        "seq": 1,
        "task_id": f"t{task}",
        "model": "ant",
        "rater": rater,
        "rater_kind": kind,
        "value": value,
        "scale_low": 0.0,
        "scale_high": 1.0,
    }


@pytest.fixture
def said(tmp_path):
    """Return what the command says of a store with these rows, a line or a paragraph each."""

    def say(**tables):
        store = new_store(tmp_path / "store")
        add_rows(store.lake, runs=[{**KEY, "content_id": "run"}], **tables)
        store.sync()
        ended = command(tmp_path / "store", "judges")
        assert (ended.code, ended.err) == (0, "")
        return ended.out.splitlines()

    return say


def test_a_task_that_two_configurations_judged_counts_once_for_a_place(said):
    votes = [
        vote("j", task, first, first)
        | {"content_id": f"{config}/{task}/{first}", "rater_config": f'{{"prompt":"{config}"}}'}
        for config, n_tasks in (("old", 6), ("new", 7))
        for task in range(n_tasks)
        for first in ("a", "b")
    ]
    lines = said(preferences=votes)
    text = lines[lines.index("j") + 1]
    # Of seven tasks, not of 13.
    assert (
        "Of 13 pairs in both orders it decides 0.0 % alike. It prefers the answer shown first: the "
        "answer shown first gains in 13 and the one shown second in 0 (p = 0.016)." in text
    )


def test_answers_of_a_task_that_people_labelled_count_together(said):
    rows = [
        rating(person, "human", task, float(person == "bob" and task < 2))
        | {"content_id": f"{person}/{task}/{model}", "model": model}
        for person in ("ann", "bob")
        for task in range(8)
        for model in ("ant", "bee", "cat")
    ]
    rows += [rating("j", "judge", task, 1.0) for task in range(8)]
    text = "\n".join(said(ratings=rows))
    # 6 of 8 tasks, with Student's quantile: Wilson's interval of 24 answers is 55.1 % to 88.0 %.
    assert "all gave the same label to 75.0 % (95 % interval 35.1 % to 94.3 %)." in text


def votes_of(judge, first_share, draw):
    """Yield votes on equal pairs in both orders: the first answer is taken with a probability."""
    for task in range(N_PAIRS):
        for first, second in (("a", "b"), ("b", "a")):
            yield vote(judge, task, first if draw.random() < first_share else second, first)


@pytest.mark.slow
def test_a_judge_that_takes_the_first_is_named_and_a_fair_one_is_not(said):
    draw = random.Random(1)
    lines = said(preferences=[*votes_of("biased", 0.7, draw), *votes_of("fair", 0.5, draw)])
    biased, fair = (lines[lines.index(name) + 1] for name in ("biased", "fair"))
    assert "It prefers the answer shown first: " in biased
    assert "adjusted for 2 tests" in biased
    assert "a preference for either place is not shown" in fair
    assert "Uncalibrated: no label of people, and no gold, is on any of these pairs." in fair


@pytest.mark.slow
def test_a_judge_is_compared_with_most_of_the_people(said):
    verdicts = [(1, (1, 1, 0)), (1, (0, 0, 1)), (0, (0, 0, 0)), (1, (1, 1, 1))] * 10
    rows = [rating("j", "judge", task, float(mine)) for task, (mine, _) in enumerate(verdicts)]
    for task, (_, people) in enumerate(verdicts):
        rows += [rating(f"p{n}", "human", task, float(value)) for n, value in enumerate(people)]
    lines = said(ratings=rows)
    text = lines[lines.index("j") + 1]
    assert text.startswith("It judged 40 answers. It agrees with people on 75.0 % (95 % interval ")
    assert "Kappa with quadratic weights, the agreement beyond chance, is 0.50 " in text


@pytest.mark.slow
def test_verdicts_of_one_person_give_sensitivity_and_specificity(said):
    verdicts = [(1, 1)] * 18 + [(0, 1)] * 2 + [(1, 0)] * 5 + [(0, 0)] * 15
    rows = [rating("j", "judge", task, float(mine)) for task, (mine, _) in enumerate(verdicts)]
    rows += [rating("ann", "human", task, float(his)) for task, (_, his) in enumerate(verdicts)]
    lines = said(ratings=rows)
    text = lines[lines.index("j") + 1]
    assert "It agrees with people on 82.5 % " in text
    # 18 of 20 and 5 of 20 by Wilson
    assert (
        "It passes 90.0 % (95 % interval 69.9 % to 97.2 %) of what people passed, and "
        "25.0 % (95 % interval 11.2 % to 46.9 %) of what people did not pass." in text
    )


@pytest.mark.parametrize(
    ("label", "sentence"),
    [
        (1.0, "of what people passed: people passed all of them."),
        (0.0, "of what people did not pass: people passed none of them."),
    ],
)
def test_where_people_passed_all_or_none_the_other_share_is_not_named(said, label, sentence):
    rows = [rating("j", "judge", task, float(task > 0)) for task in range(4)]
    rows += [rating("ann", "human", task, label) for task in range(4)]
    lines = said(ratings=rows)
    text = lines[lines.index("j") + 1]
    assert f"It passes 75.0 % (95 % interval 30.1 % to 95.4 %) {sentence}" in text


@pytest.mark.slow
def test_numbers_of_different_scales_are_not_compared(said):
    rows = [rating("j", "judge", task, 3.0) | {"scale_high": 100.0} for task in range(20)]
    rows += [rating("ann", "human", task, 3.0) | {"scale_high": 5.0} for task in range(20)]
    lines = said(ratings=rows)
    assert "Uncalibrated: " in lines[lines.index("j") + 1]


@pytest.mark.slow
def test_the_newest_rating_of_each_rater_counts(said):
    old = [rating("j", "judge", task, 0.0) | {"content_id": f"old/{task}"} for task in range(8)]
    new = [rating("j", "judge", task, task % 2.0) for task in range(8)]
    old, new = (
        [row | {"rated_at": datetime(2026, 1, day)} for row in rows]  # noqa: DTZ001
        for day, rows in ((1, old), (2, new))
    )
    people = [rating("ann", "human", task, task % 2.0) for task in range(8)]
    lines = said(ratings=[*new, *old, *people])
    text = lines[lines.index("j") + 1]
    assert "It agrees with people on 100.0 % " in text
    assert "of the 8 answers that both judged" in text


@pytest.mark.slow
def test_a_number_is_rounded_to_0_from_either_side(said):
    scale = {"scale_low": -2.0, "scale_high": 2.0}
    rows = [rating("j", "judge", task, -0.3) | scale for task in range(8)]
    rows += [rating("ann", "human", task, 0.3) | scale for task in range(8)]
    lines = said(ratings=rows)
    assert "It agrees with people on 100.0 % " in lines[lines.index("j") + 1]


def drifting_rows(earlier=None, later=None):
    """Return a judge's ratings on 80 days, right on the first 40 and at random on the others."""
    draw = random.Random(3)
    for task in range(80):
        truth = float(task % 2)
        mine = truth if task < 40 else float(draw.random() < 0.5)
        day = datetime(2026, 1, 1) + timedelta(days=task)  # noqa: DTZ001
        yield rating("j", "judge", task, mine) | {
            "rated_at": day,
            "rater_config": earlier if task < 40 else later,
        }
        yield rating("steady", "judge", task, truth) | {"rated_at": day}
        yield rating("ann", "human", task, truth)


@pytest.mark.slow
def test_a_judge_that_drifts_is_named_and_a_steady_one_is_not(said):
    lines = said(ratings=[*drifting_rows()])
    drifting, steady = (lines[lines.index(name) + 1] for name in ("j", "steady"))
    assert "Its agreement with people has fallen: kappa was 1.00 (2026-01-01 to 2026-02-09) " in (
        drifting
    )
    assert "adjusted for 2 tests" in drifting
    assert "has fallen" not in steady
    assert "has risen" not in steady


@pytest.mark.slow
def test_configurations_of_a_judge_are_compared(said):
    rows = drifting_rows('{"prompt":"old"}', '{"prompt":"new"}')
    lines = said(ratings=[*rows])
    text = lines[lines.index("j") + 1]
    assert 'kappa was 1.00 ({"prompt":"old"})' in text
    assert "These figures take 2 configurations of it (`rater_config`) together" in text
    assert "configurations" not in lines[lines.index("steady") + 1]


@pytest.mark.slow
def test_a_preference_for_length_or_family_is_what_people_do_not_share(said):
    results, votes = [], []
    for task in range(40):
        ids = {name: f"{name}/{task}" for name in ("ant", "bee")}
        for name, text in (("ant", "a long answer"), ("bee", "short")):
            found = {"content_id": ids[name], "task_id": f"t{task}", "model": name}
            results.append({**KEY, **found, "task_set": "core", "seq": 1, "raw_output": text})
        answers = {"result_a": ids["ant"], "result_b": ids["bee"]}
        outcome = "a" if task % 2 else "b"
        biased = vote("biased", task, "a") | {"rater_config": '{"model":"ant-2"}'}
        person = vote("ann", task, outcome, kind="human")
        votes += [row | answers for row in (biased, vote("fair", task, outcome), person)]
    lines = said(results=results, preferences=votes)
    biased, fair = (lines[lines.index(name) + 1] for name in ("biased", "fair"))
    counts = "100.0 % of its votes are for them, and 50.0 % of those of people on the same 40 pairs"
    assert f"It prefers longer answers more than people do: {counts}" in biased
    assert f"It prefers answers of its own model family more than people do: {counts}" in biased
    assert "adjusted for 3 tests" in biased
    assert "It prefers" not in fair


@pytest.mark.slow
def test_votes_in_one_order_say_nothing_of_a_place(said):
    lines = said(preferences=[vote("j", task, "a") for task in range(20)])
    assert "It saw each pair in one order only" in lines[lines.index("j") + 1]


@pytest.mark.slow
def test_a_reply_that_cannot_be_read_is_counted(said):
    rows = [vote("j", task, "a") for task in range(20)]
    rows[3] |= {"outcome": None, "status": "unparsed"}
    lines = said(preferences=rows)
    assert lines[lines.index("j") + 1].startswith(
        "It judged 20 pairs; 1 of its replies could not be read."
    )


def test_without_judges_it_says_so(tmp_path):
    new_store(tmp_path / "store")
    ended = command(tmp_path / "store", "judges")
    assert (ended.code, ended.out) == (0, "")
    assert "no judge has rated anything here" in ended.err


@pytest.mark.slow
def test_agreement_follows_what_is_new_and_what_is_gone(tmp_path):
    store = new_store(tmp_path / "store")
    add_rows(store.lake, runs=[{**KEY, "content_id": "run"}], preferences=[vote("j", 1, "a")])
    store.sync()
    people = vote("ann", 1, "a", kind="human") | {"run_id": "people"}
    header = {**KEY, "run_id": "people", "content_id": "people"}
    add_rows(store.lake, runs=[header], preferences=[people])
    store.sync()
    query = "SELECT judge, other, n_items FROM judge_agreement"
    assert store.sql(query).fetchall() == [("j", "people", 1)]
    rebuilt = command(tmp_path / "store", "sync", "--rebuild")
    assert rebuilt.code == 0
    assert store.sql(query).fetchall() == [("j", "people", 1)]
    ended = command(tmp_path / "store", "forget", "people", "--yes")
    assert ended.code == 0, ended.err
    store.sync()
    assert store.sql(query).fetchall() == []


@pytest.mark.slow
def test_agreement_is_computed_of_suites_that_changed(tmp_path):
    store = new_store(tmp_path / "store")

    def add(suite):
        votes = (vote("j", 1, "a"), vote("ann", 1, "a", kind="human"))
        run = {**KEY, "suite": suite, "content_id": "run"}
        add_rows(store.lake, runs=[run], preferences=[row | {"suite": suite} for row in votes])
        store.sync()

    add("arena")
    # A wrong figure stays wrong as long as nothing computes it again.
    with duckdb.connect(store.warehouse) as warehouse:
        warehouse.execute("UPDATE scores.judge_agreement SET n_items = 7")
    add("other")
    found = store.sql("SELECT suite, n_items FROM judge_agreement ORDER BY suite").fetchall()
    assert found == [("arena", 7), ("other", 1)]
