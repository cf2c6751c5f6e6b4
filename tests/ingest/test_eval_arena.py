"""eval-arena: k of n attempts are a score, and a verdict only where n is 1."""

import json

import pytest
from peers import query
from preferences import imported, rejected, write_lines
from support import NO_REFERENCE, REFERENCE

FOLDER = REFERENCE / "items" / "eval_arena"
BOARD = """
SELECT model, metric, pass_rate, score, n_tasks FROM leaderboard
WHERE suite = 'eval-arena' AND task_set = '{}' AND is_main
"""


def cell(**fields):
    plain = {"benchmark_id": "b", "model": "m", "example_id": "i1", "pass1": 1.0, "count": 1}
    return {**plain, **fields}


@pytest.mark.slow
def test_attempts_are_counted_and_not_invented(tmp_path):
    path = write_lines(
        tmp_path / "items.jsonl",
        cell(),
        cell(example_id="i2", pass1=0),
        cell(model="five", pass1=0.4, count=5, odd="kept"),
        cell(model="five", example_id="i2", pass1=0.0, count=5, correct=0),
        cell(model="third", pass1=0.33, count=3),
    )
    rows = query(
        imported(tmp_path, path),
        "SELECT calls.model, calls.task_id, objective_pass, scores.value, calls.extra "
        "FROM results AS calls JOIN result_scores AS scores USING (suite, run_id, result_id) "
        "WHERE metric = 'pass1' ORDER BY calls.seq",
    )
    assert [tuple(row.values()) for row in rows] == [
        ("m", "i1", True, 1.0, '{"correct":1,"count":1}'),
        ("m", "i2", False, 0.0, '{"correct":0,"count":1}'),
        ("five", "i1", None, 0.4, '{"correct":2,"count":5,"odd":"kept"}'),
        ("five", "i2", None, 0.0, '{"correct":0,"count":5}'),
        ("third", "i1", None, 0.33, '{"correct":1,"count":3}'),
    ]


@pytest.mark.slow
def test_the_board_ranks_by_the_mean_share_of_attempts(tmp_path):
    lines = [cell(model="five", pass1=k / 5, count=5, example_id=f"i{k}") for k in (0, 1, 5)]
    [row] = query(imported(tmp_path, write_lines(tmp_path / "x.jsonl", *lines)), BOARD.format("b"))
    assert row["pass_rate"] is None
    assert (row["metric"], row["n_tasks"]) == ("pass1", 3)
    assert row["score"] == pytest.approx(0.4)


@pytest.mark.slow
def test_models_with_one_attempt_and_with_several_meet_on_the_board_of_shares(tmp_path):
    lines = [
        cell(model=model, pass1=pass1, count=count, example_id=item)
        for model, count in (("one", 1), ("five", 5))
        for item, pass1 in (("i1", 1.0), ("i2", 0.0 if count == 1 else 0.4))
    ]
    store = imported(tmp_path, write_lines(tmp_path / "x.jsonl", *lines))
    rows = query(store, "SELECT model, metric, pass_rate, score FROM leaderboard ORDER BY ALL")
    assert [tuple(row.values()) for row in rows] == [
        ("five", "pass1", None, pytest.approx(0.7)),
        ("five", "passed", None, None),
        ("one", "pass1", None, 0.5),
        ("one", "passed", 0.5, None),
    ]


@pytest.mark.slow
def test_cells_that_contradict_themselves_go_to_quarantine(tmp_path):
    path = write_lines(
        tmp_path / "items.jsonl",
        cell(),
        cell(pass1=0.5),
        cell(pass1=0.4, count=5, correct=3),
        cell(pass1=1.2),
        cell(pass1=True),
        cell(count=0),
        cell(model=None),
        "text",
    )
    store = imported(tmp_path, path)
    assert len(query(store, "FROM results")) == 1
    no_share = "`pass1` is not a share from 0 to 1, or `count` not a number of attempts"
    assert rejected(store) == [
        (2, "`pass1` 0.5 is not a share of 1 attempts"),
        (3, "`correct` is not `pass1` times `count`"),
        (4, no_share),
        (5, no_share),
        (6, no_share),
        (7, "has no `benchmark_id`, `model` or `example_id`"),
        (8, "not a JSON object"),
    ]


@pytest.mark.slow
@pytest.mark.skipif(not FOLDER.is_dir(), reason=NO_REFERENCE)
@pytest.mark.parametrize("name", ["swebench-bash-only", "terminal-bench-1.0"])
def test_accuracies_are_those_of_the_oracle(tmp_path, name):
    oracle = json.loads((FOLDER / "oracle.json").read_text())[name]
    board = query(imported(tmp_path, FOLDER / f"{name}.jsonl"), BOARD.format(name))
    found = {row["model"]: row["score"] or row["pass_rate"] for row in board}
    assert found == pytest.approx(oracle.get("accuracy") or oracle["mean_pass1"], abs=1e-9)


@pytest.mark.slow
def test_items_have_all_attempts_and_no_share_is_taken_for_one(tmp_path):
    lines = [
        cell(model="one"),
        cell(model="five", pass1=0.4, count=5),
        cell(model="five", pass1=1.0, count=5, example_id="i2"),
    ]
    found = query(
        imported(tmp_path, write_lines(tmp_path / "x.jsonl", *lines)),
        "SELECT system, task_id, metric, n_passed, n_attempts, n_unjudged FROM item_responses "
        "ORDER BY ALL",
    )
    assert [tuple(row.values()) for row in found] == [
        ("five", "i1", "passed", 2, 5, 0),
        ("five", "i2", "passed", 5, 5, 0),
        ("one", "i1", "passed", 1, 1, 0),
    ]


@pytest.mark.slow
@pytest.mark.skipif(not FOLDER.is_dir(), reason=NO_REFERENCE)
def test_items_of_the_reference_are_those_of_its_file(tmp_path):
    path = FOLDER / "terminal-bench-1.0.jsonl"
    cells = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    expected = {(c["model"], c["example_id"]): (c["pass1"], c["count"]) for c in cells}
    found = query(
        imported(tmp_path, path),
        "SELECT model, task_id, n_passed / n_attempts AS share, n_attempts FROM item_responses",
    )
    ours = {(r["model"], r["task_id"]): (r["share"], r["n_attempts"]) for r in found}
    assert ours.keys() == expected.keys()
    for key, (share, n_attempts) in expected.items():
        assert ours[key] == (pytest.approx(share, abs=1e-9), n_attempts)
