"""`evalstore rank`: ranks by votes, of models whose strength is known."""

import json
import math
import random

import pytest
from peers import query
from preferences import PREFERENCES, needs_preferences
from support import add_rows, command, new_store

from warehouse.app.store import Store
from warehouse.engine.statistics import bradley_terry

KEY = {"suite": "arena", "run_id": "r", "generation": "root"}
STRENGTHS = {"ant": 1.5, "bee": 0.0, "cat": 0.0, "dog": -1.5}


def vote(number, model_a, model_b, outcome, *, rater="ann", kind="human", task=0):
    return {
        **KEY,
        "content_id": f"vote {number}",
        "seq": number,
        "task_set": "core",
        "task_id": f"t{task}",
        "criterion": "overall",
        "status": "ok",
        "model_a": model_a,
        "model_b": model_b,
        "rater": rater,
        "rater_kind": kind,
        "outcome": outcome,
    }


def drawn_votes(n, seed=1, **columns):
    draw = random.Random(seed)
    for number in range(n):
        a, b = draw.sample(sorted(STRENGTHS), 2)
        chance = 1 / (1 + math.exp(STRENGTHS[b] - STRENGTHS[a]))
        yield vote(number, a, b, "a" if draw.random() < chance else "b", task=number, **columns)


def ranked(tmp_path, votes, *options, **tables):
    store = new_store(tmp_path / "store")
    add_rows(store.lake, runs=[{**KEY, "content_id": "run"}], preferences=votes, **tables)
    store.sync()
    return command(store.path, "rank", *options, "--format", "json")


@pytest.mark.slow
def test_ranks_are_those_of_the_strengths_and_equal_models_are_not_told_apart(tmp_path):
    ended = ranked(tmp_path, drawn_votes(2000))
    rows = json.loads(ended.out)
    assert [row["model"] for row in rows][::3] == ["ant", "dog"]
    ranges = {row["model"]: (row["rank_low"], row["rank_high"]) for row in rows}
    assert ranges == {"ant": (1, 1), "bee": (2, 3), "cat": (2, 3), "dog": (4, 4)}
    for row in rows:
        assert row["log_score_low"] < STRENGTHS[row["model"]] < row["log_score_high"]
    assert ended.err.startswith("votes of people in arena, overall; a tie is half a win each; ")
    assert "by tasks (2,000); they say nothing of other people than this one" in ended.err


@pytest.mark.slow
def test_how_many_people_voted_may_not_be_known(tmp_path):
    ended = ranked(tmp_path, drawn_votes(200, rater=None))
    assert "by tasks (200); how many people voted is not recorded" in ended.err


@pytest.mark.slow
def test_few_tasks_leave_all_ranks_open(tmp_path):
    ended = ranked(tmp_path, drawn_votes(15))
    assert {row["rank_low"] for row in json.loads(ended.out)} == {None}
    assert "no intervals, for lack of enough tasks (15)" in ended.err


@pytest.mark.slow
def test_raters_are_clusters_where_tasks_are_few(tmp_path):
    votes = [
        vote | {"task_id": "t", "rater": f"p{n % 25}"} for n, vote in enumerate(drawn_votes(500))
    ]
    ended = ranked(tmp_path, votes)
    assert {row["clustered_by"] for row in json.loads(ended.out)} == {"rater"}
    assert "intervals by raters (25); they say nothing of other tasks than this one" in ended.err


@pytest.mark.slow
def test_votes_of_nobody_in_particular_are_not_clustered_by_rater(tmp_path):
    votes = [vote | {"rater": None, "slot": 1 + n % 30} for n, vote in enumerate(drawn_votes(60))]
    ended = ranked(tmp_path, votes, "--cluster", "rater")
    assert ended.code == 2
    assert "--cluster rater: the votes do not say whose they are" in ended.err


@pytest.mark.slow
def test_models_that_no_vote_connects_are_refused(tmp_path):
    votes = [vote(1, "ant", "bee", "tie"), vote(2, "cat", "dog", "tie")]
    ended = ranked(tmp_path, votes)
    assert ended.code == 2
    assert "ant" in ended.err
    assert "cat" in ended.err


@pytest.mark.slow
def test_several_judges_have_to_be_told_apart(tmp_path):
    votes = [
        *drawn_votes(30, rater="j", kind="judge"),
        *(
            each | {"content_id": f"k {each['seq']}", "rater": "k"}
            for each in drawn_votes(30, kind="judge")
        ),
    ]
    ended = ranked(tmp_path, votes)
    assert ended.code == 2
    assert "votes of several raters: choose one by --rater: j, k" in ended.err
    store = tmp_path / "store"
    assert command(store, "rank", "--rater", "k").code == 0
    unknown = command(store, "rank", "--rater", "kk")
    assert unknown.code == 2
    assert "no votes have the rater 'kk'; did you mean 'k'" in unknown.err


def test_without_votes_it_says_so(tmp_path):
    new_store(tmp_path / "store")
    ended = command(tmp_path / "store", "rank")
    assert (ended.code, ended.out) == (2, "")
    assert "the store has no votes between two models" in ended.err


def votes_for_length(n, *, without_text=()):
    """Return votes and results: of equal models, whose longer answer gains 3 logits."""
    draw = random.Random(3)
    results, votes = [], []
    for number in range(n):
        a, b = draw.sample(["ant", "bee", "cat"], 2)
        # Answers of ants are long, those of cats short.
        lengths = [draw.randint(100, 400) + 150 * ["cat", "bee", "ant"].index(m) for m in (a, b)]
        for model, length in zip((a, b), lengths, strict=True):
            text = None if number in without_text else "x" * length
            result_id = f"{number} {model}"
            row = {"task_id": f"t{number}", "seq": number + 1, "model": model, "attempt": 1}
            results.append({**KEY, **row, "content_id": result_id, "raw_output": text})
        effect = 3 * math.tanh((lengths[0] - lengths[1]) / 200)
        outcome = "a" if draw.random() < 1 / (1 + math.exp(-effect)) else "b"
        results_of_pair = {"result_a": f"{number} {a}", "result_b": f"{number} {b}"}
        votes.append(vote(number, a, b, outcome, task=number) | results_of_pair)
    return votes, results


@pytest.mark.slow
def test_at_equal_length_models_that_only_write_more_are_equal(tmp_path):
    votes, results = votes_for_length(600)
    plain = ranked(tmp_path / "plain", votes, results=results)
    assert [row["rank_low"] for row in json.loads(plain.out)] == [1, 2, 3]
    assert {row["control"] for row in json.loads(plain.out)} == {None}
    ended = ranked(tmp_path / "equal", votes, "--control", "length", results=results)
    rows = json.loads(ended.out)
    assert {(row["rank_low"], row["rank_high"]) for row in rows} == {(1, 3)}
    assert {row["control"] for row in rows} == {"length"}
    [(effect, error)] = {(row["control_effect"], row["control_stderr"]) for row in rows}
    assert abs(effect - 3) < 3 * error < 1.5
    assert f"at equal length: a much longer answer gains +{effect:.2f} in logits" in ended.err


@pytest.mark.slow
def test_turning_the_answers_of_votes_changes_no_score_at_equal_length(tmp_path):
    votes, results = votes_for_length(200)
    turned = [
        each
        | {"model_a": each["model_b"], "model_b": each["model_a"]}
        | {"result_a": each["result_b"], "result_b": each["result_a"]}
        | {"outcome": {"a": "b", "b": "a"}[each["outcome"]]}
        for each in votes
    ]
    control = ("--control", "length")
    given, found = (
        json.loads(ranked(tmp_path / name, rows, *control, results=results).out)
        for name, rows in (("given", votes), ("turned", turned))
    )
    assert [row["log_score"] for row in found] == pytest.approx([row["log_score"] for row in given])


@pytest.mark.slow
def test_without_the_texts_of_answers_there_is_no_equal_length(tmp_path):
    votes, results = votes_for_length(40, without_text=[7])
    votes[9] |= {"result_a": None}
    ended = ranked(tmp_path, votes, "--control", "length", results=results)
    assert (ended.code, ended.out) == (2, "")
    assert "of 2 of 40 votes the store lacks the text of an answer" in ended.err


@pytest.mark.slow
@needs_preferences
@pytest.mark.parametrize("ties", ["half", "davidson"])
def test_scores_are_those_of_evalica(tmp_path, ties):
    store = new_store(tmp_path / "store")
    assert command(store.path, "import", PREFERENCES / "llmfao" / "llmfao.csv", "--yes").code == 0
    ended = command(store.path, "rank", "--ties", ties, "--format", "json")
    ours = {row["model"]: row["log_score"] for row in json.loads(ended.out)}
    oracle = json.loads((PREFERENCES / "llmfao" / "oracle.json").read_text("utf-8"))
    name = "bradley_terry" if ties == "half" else "newman"
    logs = {model: math.log(score) for model, score in oracle["evalica"][name]["scores"].items()}
    mean = sum(logs.values()) / len(logs)
    assert ours == pytest.approx({model: log - mean for model, log in logs.items()}, abs=1e-6)


_ANSWERS = [
    {**KEY, "content_id": name, "seq": n, "model": name, "task_id": "t0", "task_set": "core"}
    | {"raw_output": name, "success": True}
    for n, name in enumerate(STRENGTHS, 1)
]
_BOARD = """
SELECT model, score AS log_score, score_low AS log_score_low, score_high AS log_score_high
FROM leaderboard WHERE metric = 'overall (votes, log score)'
"""


def on_board(store):
    return {row["model"]: row for row in query(store, _BOARD)}


@pytest.mark.slow
def test_the_board_has_the_scores_of_rank(tmp_path):
    ended = ranked(tmp_path, drawn_votes(200), results=_ANSWERS)
    rows = {row["model"]: row for row in json.loads(ended.out)}
    store = Store(tmp_path / "store")
    assert on_board(store) == {
        model: {name: row[name] for name in on_board(store)[model]} for model, row in rows.items()
    }
    assert rows["ant"]["log_score_low"] > 0


@pytest.mark.slow
def test_only_suites_with_other_votes_are_fitted_again(tmp_path, monkeypatch):
    fitted = []
    fit = bradley_terry.bradley_terry

    def noted(names, *rest, **options):
        fitted.append(names)
        return fit(names, *rest, **options)

    monkeypatch.setattr(bradley_terry, "bradley_terry", noted)
    ranked(tmp_path, drawn_votes(60), results=_ANSWERS)
    store = Store(tmp_path / "store")
    before = on_board(store)
    # Answers without votes, and votes of another suite.
    fitted.clear()
    new = {**KEY, "run_id": "new"}
    answers = [{**row, "run_id": "new", "content_id": f"new {row['seq']}"} for row in _ANSWERS]
    add_rows(store.lake, runs=[{**new, "content_id": "new"}], results=answers)
    other = {**KEY, "suite": "other"}
    pair = [vote(n, "x", "y", outcome) | other for n, outcome in enumerate("ab")]
    add_rows(store.lake, runs=[{**other, "content_id": "other"}], preferences=pair)
    store.sync()
    assert fitted == [["x", "y"]]
    assert {model: row["log_score"] for model, row in on_board(store).items()} == {
        model: row["log_score"] for model, row in before.items()
    }
    # More votes on the same answers.
    more = [vote(1000, "dog", "ant", "a") | new | {"run_id": "more"}]
    add_rows(store.lake, runs=[{**new, "run_id": "more", "content_id": "more"}], preferences=more)
    store.sync()
    assert fitted[1:] == [sorted(STRENGTHS)]
    assert on_board(store)["ant"]["log_score"] < before["ant"]["log_score"]
    after = on_board(store)
    store.sync(rebuild=True)
    assert on_board(store) == after
    assert command(store.path, "forget", "more", "--yes").code == 0
    assert on_board(store)["ant"] == before["ant"]


@pytest.mark.slow
def test_sides_that_name_no_model_are_not_ranked(tmp_path):
    pair = [vote(n, "output_1", "output_2", outcome) for n, outcome in enumerate("ab")]
    store = new_store(tmp_path / "store")
    key = {**KEY, "suite": "llmbar"}
    votes = [each | {"suite": "llmbar"} for each in pair]
    add_rows(store.lake, runs=[{**key, "content_id": "run"}], preferences=votes)
    store.sync()
    assert "no votes between two models" in command(store.path, "rank").err
