"""WildBench: scores as ratings, battles as votes, and the figures of its leaderboards."""

import csv
import json

import pytest
from peers import query
from preferences import (
    PREFERENCES,
    check_any_order_is_the_same,
    figures,
    imported,
    needs_preferences,
    rejected,
    write_list,
)
from support import import_into

FOLDER = PREFERENCES / "wildbench"
SCORES, BATTLES = "score.v2/eval=judge", "pairwise.v2/eval=judge/ref=base"

SCORE = {
    "session_id": "s1",
    "parsed_result": {"strengths": "Short.", "weaknesses": "Empty.", "score": "7"},
    "meta_data": {
        "batch_req_id": "batch_req_1",
        "usage": {"prompt_tokens": 30, "completion_tokens": 5, "total_tokens": 35},
        "error": None,
    },
    "model_test": "org/new",
    "score": "7",
    "model_output": "Hello",
}
BATTLE = {
    "session_id": "s1",
    "parsed_result": {"choice": "A++"},
    "meta_data": SCORE["meta_data"],
    "model_A": "new",
    "model_B": "base",
    "winner": "new",
    "extent": 2,
    "model_outputs": {"new": "four", "base": "three"},
}


def audited(store):
    """Return status, reason and recomputed figure, by run, model and metric, without groups."""
    rows = query(store, "FROM metric_audit WHERE task_group IS NULL")
    return {
        (row["run_id"], row["model"], row["metric"]): (
            row["status"],
            row["reason"],
            row["recomputed"],
        )
        for row in rows
    }


@pytest.mark.slow
@needs_preferences
def test_scores_of_the_board_follow_from_all_ratings(tmp_path):
    with (FOLDER / "score_matrix.csv").open(encoding="utf-8", newline="") as file:
        matrix = list(csv.DictReader(file))
    models = sorted(matrix[0].keys() - {"session_id"})
    shown = {**SCORE, "model_output": None}  # the matrix has no texts
    for model in models:
        records = [
            {**shown, "session_id": row["session_id"], "model_test": model, "score": row[model]}
            for row in matrix
            if row[model]
        ]
        write_list(tmp_path / "score.v2" / "eval=gpt-4o-2024-05-13" / f"{model}.json", *records)
    store = imported(tmp_path, tmp_path / "score.v2", FOLDER)
    expected = json.loads((FOLDER / "oracle.json").read_text("utf-8"))["models"]
    rows = query(
        store,
        "SELECT model, avg(value) AS score, 2 * (avg(value) - 5) AS adjusted_score, "
        "count(value) AS total FROM ratings GROUP BY model",
    )
    assert sorted(row["model"] for row in rows) == models
    reported, reasons = figures(store)
    found = audited(store)
    n_published = 0
    for row in rows:
        oracle = expected[row["model"]]
        assert row["score"] == pytest.approx(oracle["mean"], rel=1e-12)
        assert row["total"] == oracle["n"]
        if oracle["published"] is None:
            continue
        n_published += 1
        for metric in ("score", "adjusted_score", "total"):
            assert found["score", row["model"], metric][0] == "equal", (row["model"], metric)
        status, reason, _ = found["score", row["model"], "avg_len"]
        assert (status, reason) == (
            "not recomputable",
            "the texts of some answers are not in the store",
        )
    assert n_published == 7
    assert {metric for run, _, metric in reported if run == "score"} - reasons.keys() == {
        "score",
        "adjusted_score",
        "total",
        "avg_len",
    }
    assert {"task_macro_score", "adjusted_task_macro_score", "task_categorized_scores"} < set(
        reasons
    )
    assert {metric for run, _, metric in reported if run != "score"} - reasons.keys() == {
        *("win_much", "win", "tie", "lose", "lose_much", "total", "reward", "avg_len")
    }
    assert len({model for run, model, _ in reported if run == "pairwise-haiku-K=-1"}) == 53


@pytest.mark.slow
def test_the_reward_follows_from_battles(tmp_path):
    battles = [("new", 2), ("new", 1), ("new", 1), ("tie", 0), ("base", 1), ("base", 2), ("new", 2)]
    records = [
        {**BATTLE, "session_id": f"s{n}", "winner": winner, "extent": extent}
        for n, (winner, extent) in enumerate(battles)
    ]
    turned = {"model_A": "base", "model_B": "new"}
    records[1] |= turned
    records[5] |= turned
    board = tmp_path / "pairwise-base-K=-1.json"
    counts = {"win_much": 2, "win": 2, "tie": 1, "lose": 1, "lose_much": 1}
    categories = {"Math": {"win_much": 2, "lose": 1}}
    figure = {
        "model": "new",
        **counts,
        "total": 7,
        "avg_len": 4.0,
        "reward": 1.5 / 7,
        "K": -1,
        "task_categorized_results": categories,
        "task_categorized_rewards": {"Math": 0.5},
    }
    board.write_text(json.dumps({"new": figure}))
    path = write_list(tmp_path / BATTLES / "new.json", *records)
    store = imported(tmp_path, path, board)
    reported, reasons = figures(store)
    for key in reported:
        if key[2] in figure and key[2] not in reasons:
            assert audited(store)[key][0] == "equal", key
    assert reasons == {
        "K": "the margin of lengths, a setting",
        **dict.fromkeys(
            [
                "task_categorized_results.win_much",
                "task_categorized_results.lose",
                "task_categorized_rewards",
            ],
            "the tags of the tasks are in a data set, not in the logs",
        ),
    }
    votes = query(store, "SELECT * FROM preferences ORDER BY seq")
    assert {row["run_id"] for row in votes} == {"eval=judge/ref=base/new"}
    assert {(row["rater"], row["judge_model"]) for row in votes} == {("judge", "judge")}
    assert [row["first_shown"] for row in votes] == ["a"] * 7
    assert [row["is_for_first"] for row in votes] == [True, False, True, None, False, True, True]
    assert [row["strength"] for row in votes] == [2, 1, 1, None, 1, 2, 2]


@pytest.mark.slow
def test_a_board_of_one_of_several_judges_or_of_a_margin_is_not_recomputed(tmp_path):
    counts = {"win_much": 1, "win": 0, "tie": 0, "lose": 0, "lose_much": 0, "total": 1}
    counts |= {"avg_len": 4.0, "task_categorized_results": {}}
    for name, margin in (("pairwise-base-K=-1", -1), ("pairwise-base-K=500", 500)):
        (tmp_path / f"{name}.json").write_text(json.dumps({"new": {**counts, "K": margin}}))
    scores = {"score": 7.0, "total": 2, "avg_len": 5, "task_categorized_scores": {}}
    (tmp_path / "score.json").write_text(json.dumps({"new": scores}))
    files = [
        write_list(tmp_path / BATTLES / "new.json", BATTLE),
        write_list(tmp_path / SCORES / "new.json", SCORE),
    ]
    store = imported(tmp_path, *files, *tmp_path.glob("*.json"))
    found = audited(store)
    assert found["pairwise-base-K=-1", "new", "win_much"] == ("equal", None, 1)
    margin = "the margin of lengths made ties of some slight wins"
    assert found["pairwise-base-K=500", "new", "win"] == ("not recomputable", margin, None)
    assert found["score", "new", "score"] == ("samples missing", "the store has 1 of 2", 7)
    other = tmp_path / "pairwise.v2/eval=other/ref=base/new.json"
    import_into(store, write_list(other, {**BATTLE, "extent": 1}))
    store.sync()
    several = "the store has judgements of several judges, and the board names none"
    assert audited(store)["pairwise-base-K=-1", "new", "win"] == (
        "not recomputable",
        several,
        None,
    )


@pytest.mark.slow
def test_what_a_score_becomes(tmp_path):
    scores = ["7", "7.5", 8, None, "N/A", True, ""]
    records = [{**SCORE, "session_id": f"s{n}", "score": each} for n, each in enumerate(scores)]
    failed = {**SCORE["meta_data"], "error": "time out"}
    records[3] |= {"meta_data": failed, "parsed_result": None, "note": "x"}
    store = imported(tmp_path, write_list(tmp_path / SCORES / "new.json", *records))
    rows = query(store, "SELECT * FROM ratings ORDER BY seq")
    assert [row["value"] for row in rows] == [7, 7.5, 8, None, None, None, None]
    assert [row["status"] for row in rows] == ["ok"] * 3 + ["error"] + ["unparsed"] * 3
    first, error, text = rows[0], rows[3], rows[4]
    assert (first["run_id"], first["model"], first["rater"]) == (
        "eval=judge/new",
        "org/new",
        "judge",
    )
    assert (first["scale_low"], first["scale_high"]) == (1, 10)
    assert (first["input_tokens"], first["output_tokens"]) == (30, 5)
    assert (first["criterion"], first["turn"], first["extra"]) == ("overall", None, None)
    assert json.loads(first["raw_output"]) == SCORE["parsed_result"]
    assert (error["reason"], error["raw_output"]) == ("time out", None)
    assert json.loads(error["extra"]) == {"note": "x"}
    assert json.loads(text["extra"]) == {"score": "N/A"}
    answers = query(store, "SELECT raw_output FROM results")
    assert [row["raw_output"] for row in answers] == ["Hello"] * 7


@pytest.mark.slow
def test_battles_without_an_order_and_of_equal_models(tmp_path):
    unordered = {**BATTLE, "model_A": None, "model_B": None}
    equal = {"model_A": "new", "model_B": "new", "model_outputs": {"new": "four"}}
    records = [
        unordered,
        {**unordered, "winner": "base", "model_outputs": {"base": "three", "new": "four"}},
        {**BATTLE, **equal, "winner": "tie", "extent": 0},
        {**BATTLE, **equal},
        {**BATTLE, "winner": "neither", "extent": 3},
        {**unordered, "model_outputs": {}},
        {**SCORE, "session_id": 3},
        {**SCORE, "model_test": None},
    ]
    store = imported(tmp_path, write_list(tmp_path / BATTLES / "new.json", *records))
    votes = query(store, "SELECT * FROM preferences ORDER BY seq")
    assert [row["seq"] for row in votes] == [1, 2, 3, 5]
    names = [(row["model_a"], row["model_b"], row["first_shown"], row["outcome"]) for row in votes]
    assert names == [
        ("base", "new", None, "b"),
        ("base", "new", None, "a"),
        ("new", "new", "a", "tie"),
        ("new", "base", "a", None),
    ]
    assert (votes[3]["status"], votes[3]["strength"]) == ("unparsed", None)
    assert json.loads(votes[3]["extra"]) == {"winner": "neither", "extent": 3}
    unclear = "which of two answers won is not recorded"
    assert rejected(store) == [
        (4, unclear),
        (6, unclear),
        (7, "has no session_id"),
        (8, "has neither model_test nor model_outputs"),
    ]


@pytest.mark.slow
def test_any_order_halves_and_repeats_give_equal_rows(tmp_path):
    scores = [{**SCORE, "session_id": f"s{n}", "score": str(n)} for n in range(1, 8)]
    battles = [{**BATTLE, "session_id": f"s{n}"} for n in range(6)]
    files = [
        write_list(tmp_path / SCORES / "new.json", *scores),
        write_list(tmp_path / "more" / SCORES / "new.json", *scores[2:]),
        write_list(tmp_path / BATTLES / "new.json", *battles),
    ]
    check_any_order_is_the_same(tmp_path, files)


def test_a_board_that_is_broken_is_in_quarantine(tmp_path):
    board = tmp_path / "score.json"
    board.write_text('{"m": {"avg_len": 1, "task_categorized_scores": {}')
    store = imported(tmp_path, board)
    ((line, reason),) = rejected(store)
    assert line is None
    assert reason.startswith("not JSON")
