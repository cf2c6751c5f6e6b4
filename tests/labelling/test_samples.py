"""Samples of answers: who is drawn, with which probability, and that a draw is kept."""

from collections import Counter

import pytest
from label_cases import request, result, sample_of
from support import add_rows

from warehouse.app.labelling.draws import mixed_numbers
from warehouse.app.labelling.labels import read_labels
from warehouse.app.labelling.samples import _draw, _strata, read_samples
from warehouse.core.errors import BadInput
from warehouse.core.rating_scales import parse_scale


def test_every_answer_is_drawn_as_often_as_its_probability_says(answers):
    drawn = Counter()
    strata = _strata(answers, request("arena"))
    assert [len(members) for members in strata] == [12]
    for seed in range(60):
        chosen = _draw(strata, request(sample=3, seed=seed))
        assert len(chosen) == 3
        assert {probability for *_, probability in chosen} == {3 / 12}
        drawn.update(tuple(answer[:3]) for answer in chosen)
    assert len(drawn) == 12
    # Binomial, 60 draws with 0.25: 15 ± 3.4; outside of 2 to 30 once in 10,000 times.
    assert all(2 < n < 30 for n in drawn.values())


@pytest.mark.slow
def test_strata_have_equal_numbers_and_their_own_probability(answers):
    more = [result("ant-9000", task) for task in range(7, 31)]
    header = {"suite": "arena", "run_id": "night-ant-9000", "generation": "root"}
    add_rows(answers.lake, runs=[{**header, "content_id": "more"}], results=more)
    answers.sync()
    sample = sample_of(answers, "arena", sample=20, stratified=True)
    of_run = Counter((each.run_id, each.probability) for each in sample.answers.values())
    # Six of bee-large is all that there are.
    assert of_run == {("night-bee-large", 1.0): 6, ("night-ant-9000", 14 / 30): 14}
    with pytest.raises(BadInput, match="--sample must be 2 or more"):
        sample_of(answers, "arena", sample=1, stratified=True)


@pytest.mark.slow
def test_a_sample_stays_as_it_was_drawn(answers):
    first = sample_of(answers, "arena", sample=4)
    n_batches = len(answers.lake.batch_names())
    header = {"suite": "arena", "run_id": "night-bee-large", "generation": "root"}
    more = [result("bee-large", 99)]
    add_rows(answers.lake, runs=[{**header, "content_id": "more"}], results=more)
    again = sample_of(answers, "arena", sample=4)
    assert list(again.answers.items()) == list(first.answers.items())
    assert len(answers.lake.batch_names()) == n_batches + 1
    other = sample_of(answers, "arena", sample=4, seed=1)
    assert other.answers.keys().isdisjoint(first.answers)
    assert (first.n_answers, other.n_answers) == (12, 13)
    assert {each.run_id for each in read_samples(answers)} == {first.run_id, other.run_id}


@pytest.mark.slow
def test_what_has_no_text_or_failed_or_is_a_copy_is_not_drawn(answers):
    header = {"suite": "arena", "run_id": "extra", "generation": "root", "content_id": "x"}
    rows = [
        result("ant-9000", 1, run_id="extra", content_id="no text", raw_output=None),
        result("ant-9000", 2, run_id="extra", content_id="failed", success=False),
        result("ant-9000", 3, run_id="extra", content_id="empty", raw_output=""),
    ]
    add_rows(answers.lake, runs=[header], results=rows)
    sample = sample_of(answers, "extra")
    assert [each.result_id for each in sample.answers.values()] == ["empty"]


@pytest.mark.parametrize(
    ("targets", "asked", "message"),
    [
        (["aren"], {}, "no suite and no run 'aren'; did you mean 'arena'"),
        (["arena"], {"scale": "good"}, "2 to 10 different ones"),
        (["arena"], {"scale": "0..10"}, "2 to 10 different ones"),
        (["arena"], {"scale": "5..1"}, "2 to 10 different ones"),
        (["arena"], {"scale": "a,,b"}, "write pass/fail"),
        (["arena"], {"scale": "a,A"}, "2 to 10 different ones"),
        (["arena"], {"criterion": " "}, "--criterion: write one line"),
    ],
)
def test_what_cannot_be_drawn_says_why(answers, targets, asked, message):
    with pytest.raises(BadInput, match=message):
        sample_of(answers, *targets, **asked)


@pytest.mark.parametrize(
    ("scale", "text", "label", "columns"),
    [
        ("pass/fail", " Pass", "pass", {"value": 1.0, "scale_low": 0.0, "scale_high": 1.0}),
        ("1..5", "4.0", "4", {"value": 4.0, "scale_low": 1.0, "scale_high": 5.0}),
        ("1..10", "10", "10", {"value": 10.0, "scale_low": 1.0, "scale_high": 10.0}),
        (
            "bad, fair ,good",
            "FAIR",
            "fair",
            {"label": "fair", "scale_labels": ["bad", "fair", "good"]},
        ),
    ],
)
def test_a_label_is_a_number_or_a_word_of_the_scale(scale, text, label, columns):
    parsed = parse_scale(scale)
    assert parsed.label(text) == label
    assert parsed.columns(label) == columns
    assert parsed.label_of(columns.get("value"), columns.get("label")) == label
    assert parsed.label("other") is None
    assert parse_scale(parsed.text) == parsed


def test_keys_are_letters_digits_or_places():
    assert parse_scale("pass/fail").keys() == {"p": "pass", "f": "fail"}
    assert parse_scale("0..5").keys() == {str(n): str(n) for n in range(6)}
    assert parse_scale("1..10").keys() == {str(n % 10): str(n) for n in range(1, 11)}
    assert parse_scale("bad,good").keys() == {"1": "bad", "2": "good"}


def judged(store, values):
    """Store a judge's ratings of answers of the first run, by task."""
    key = {"suite": "ratings", "run_id": "judge", "generation": "root"}
    of_answer = {"rated_suite": "arena", "rated_run_id": "night-ant-9000"}
    rows = [
        {
            **key,
            **of_answer,
            "content_id": f"judged {task}",
            "seq": task,
            "result_id": f"ant-9000/{task}",
            "criterion": "overall",
            "rater": "judge",
            "rater_kind": "judge",
            "status": "ok",
            "value": value,
            "scale_low": 0.0,
            "scale_high": 1.0,
        }
        for task, value in values.items()
    ]
    add_rows(store.lake, runs=[{**key, "content_id": "judge"}], ratings=rows)


@pytest.mark.slow
def test_answers_that_a_judge_is_unsure_of_are_favoured(answers):
    judged(answers, {1: 0.5, 2: 0.3, 3: 0.9, 4: 0.0})
    sample = sample_of(answers, "arena", sample=4, draw="unsure")
    probabilities = {each.result_id: each.probability for each in sample.answers.values()}
    assert {key: p for key, p in probabilities.items() if p == 1.0} == {
        "ant-9000/1": 1.0,
        "ant-9000/2": 1.0,
    }
    assert sorted(probabilities.values()) == [0.2, 0.2, 1.0, 1.0]
    rows = answers.sql(
        "SELECT result_id, sampling_probability FROM ratings WHERE run_id = $run_id",
        {"run_id": sample.run_id},
    ).fetchall()
    assert dict(rows) == dict.fromkeys(probabilities, 0.2) | probabilities | {
        f"{model}/{task}": 0.2
        for model in ("ant-9000", "bee-large")
        for task in range(1, 7)
        if f"{model}/{task}" not in probabilities
    }
    assert sample_of(answers, "arena", sample=4, draw="unsure") == sample
    assert answers.sql("SELECT count(*) FROM rating_means WHERE run_id <> 'judge'").fetchall() == [
        (0,)
    ]


@pytest.mark.slow
def test_tasks_that_models_disagree_on_are_favoured(answers):
    with answers.record(suite="own", run_id="a", model="ant") as run:
        for task in range(40):
            run.log(task_id=f"t{task}", output="x", passed=task % 20 > 0)
    with answers.record(suite="own", run_id="b", model="bee") as run:
        for task in range(40):
            run.log(task_id=f"t{task}", output="x", passed=True)
    sample = sample_of(answers, "own", sample=8, draw="disagree")
    names = dict(answers.sql("SELECT result_id, task_id FROM results").fetchall())
    by_task = Counter((names[each.result_id], each.probability) for each in sample.answers.values())
    assert {key: n for key, n in by_task.items() if key[1] == 1.0} == {
        ("t0", 1.0): 2,
        ("t20", 1.0): 2,
    }
    assert {p for _, p in by_task} == {1.0, 4 / 76}


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"draw": "unsure"}, "no judge is unsure of an answer of these runs: draw at random"),
        ({"draw": "disagree"}, "there is no task that some answers of these runs pass"),
        ({"draw": "disagree", "stratified": True}, "draw either by strata, or with"),
        ({"draw": "best"}, "write one of random, unsure, disagree"),
    ],
)
def test_draws_that_cannot_favour_say_why(answers, asked, message):
    with pytest.raises(BadInput, match=message):
        sample_of(answers, "arena", **asked)


@pytest.mark.parametrize("n_favoured", [1, 10, 39, 200, 400])
@pytest.mark.parametrize("n_others", [0, 1, 50, 400])
def test_no_answer_has_a_smaller_probability_than_five_percent(n_favoured, n_others):
    sizes = [n_favoured, n_others]
    n_drawn_at = []
    for n_wanted in range(1, sum(sizes) + 1):
        try:
            numbers = mixed_numbers("unsure", sizes, n_wanted)
        except BadInput:
            assert not n_drawn_at  # only too small samples are refused
            continue
        n_drawn_at.append(n_wanted)
        assert sum(numbers) == n_wanted
        for n_drawn, size in zip(numbers, sizes, strict=True):
            assert 0.05 * size <= n_drawn <= size
    assert n_drawn_at[0] == -(-n_favoured // 20) + -(-n_others // 20)


@pytest.mark.slow
def test_a_withdrawn_label_hides_the_one_before(answers):
    sample = sample_of(answers, "arena")
    labels = read_labels(answers, sample, "Anna")
    answer_id = next(iter(sample.answers))
    labels.save(answers, answer_id, "pass")
    scores = "SELECT count(*) FROM result_scores WHERE scorer = 'people'"
    assert answers.sql(scores).fetchall() == [(1,)]
    labels.save(answers, answer_id, "")
    assert answers.sql(scores).fetchall() == [(0,)]
    assert answers.sql("SELECT value FROM ratings WHERE is_current").fetchall() == [(None,)]
    assert read_labels(answers, sample, "Anna").newest == {}
