"""AlpacaEval: annotations as votes, from which the figures of the leaderboards follow."""

import csv
import json
from collections import defaultdict
from hashlib import sha256

import pytest
from peers import query
from preferences import (
    PREFERENCES,
    check_any_order_is_the_same,
    imported,
    needs_preferences,
    rejected,
    write_list,
)
from support import import_into

from ingest.reconciliation import FileOutcome

FOLDER = PREFERENCES / "alpaca_eval"
V1, V2 = "alpaca_eval_gpt4", "weighted_alpaca_eval_gpt4_turbo"
NOT_RECOMPUTED = {"length_controlled_winrate", "lc_standard_error", "mode"}

VOTE = {
    "instruction": "Name a colour.",
    "output_1": "Red.",
    "generator_1": "ref",
    "dataset": "toy",
    "output_2": "Blue.",
    "generator_2": "new/model",
    "annotator": "weighted_judge",
    "preference": 1.25,
    "price_per_example": 0.5,
    "time_per_example": 2.0,
    "raw_completion": {"finish_reason": "stop"},
}


def votes(store, columns="outcome, weight_b, status"):
    return query(store, f"SELECT {columns} FROM preferences ORDER BY run_id, seq")


def figures(store):
    """Return the reported figures, with their reasons, by run and metric."""
    rows = query(store, "FROM reported_metrics")
    return {(row["run_id"], row["metric"]): (row["value"], row["reason"]) for row in rows}


def check_figures(store, metrics):
    """Check that the figures of all runs with votes are recomputed; return how many runs."""
    with_votes = {row["run_id"] for row in query(store, "SELECT run_id FROM preferences")}
    audited = query(store, "FROM metric_audit")
    for row in audited:
        key = (row["run_id"], row["metric"], row["reported"], row["recomputed"])
        if row["metric"] in NOT_RECOMPUTED:
            assert row["status"] == "not recomputable", key
        elif row["run_id"] not in with_votes:
            assert (row["status"], row["reason"]) == ("samples missing", "the store has none"), key
        elif row["metric"] in metrics:
            assert row["status"] == "equal", key
    assert {row["metric"] for row in audited if row["status"] == "equal"} == metrics
    return len({row["run_id"] for row in audited if row["status"] == "equal"})


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    if not FOLDER.is_dir():
        pytest.skip("no reference data")
    store = imported(tmp_path_factory.mktemp("alpaca"), FOLDER)
    with store.reading():  # open for all tests
        yield store


def test_the_figures_of_both_boards_follow_from_the_logs(logs):
    metrics = {metric for _, metric in figures(logs)} - NOT_RECOMPUTED
    assert len(metrics) == 8
    assert check_figures(logs, metrics) == 2


def test_every_annotation_is_a_vote_with_both_answers(logs):
    paths = sorted(FOLDER.glob("results/*/*/annotations.json"))
    for path, run_id in zip(paths, [f"{V2}/gpt4_gamed", f"{V1}/text_davinci_001"], strict=True):
        records = json.loads(path.read_text("utf-8"))
        rows = query(
            logs,
            "SELECT votes.*, a.raw_output AS text_a, b.raw_output AS text_b, tasks.prompt "
            "FROM preferences AS votes "
            "JOIN results AS a ON a.run_id = votes.run_id AND a.result_id = result_a "
            "JOIN results AS b ON b.run_id = votes.run_id AND b.result_id = result_b "
            "JOIN tasks ON tasks.suite = votes.suite AND tasks.task_id = votes.task_id "
            "WHERE votes.run_id = $run_id ORDER BY votes.seq",
            run_id=run_id,
        )
        assert len(rows) == len(records) == 805
        for row, record in zip(rows, records, strict=True):
            assert row["task_id"] == sha256(record["instruction"].encode()).hexdigest()
            assert row["prompt"] == record["instruction"]
            assert (row["text_a"], row["text_b"]) == (record["output_1"], record["output_2"])
            assert (row["model_a"], row["model_b"]) == (
                record["generator_1"],
                record["generator_2"],
            )
            assert row["cost_usd"] == record["price_per_example"]
            seconds = record["time_per_example"]
            assert row["duration_ms"] == (None if seconds is None else seconds * 1000)
            assert json.loads(row["raw_output"] or "null") == record.get("raw_completion")
            if record["preference"]:
                assert row["share_b"] == record["preference"] - 1
            assert row["first_shown"] is row["extra"] is None
    assert rejected(logs) == []


@needs_preferences
@pytest.mark.slow
def test_all_entries_of_the_boards_follow_from_the_votes(tmp_path):
    records = defaultdict(list)
    for path in FOLDER.glob("compact/*.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                names = {key: row[key] for key in ("generator_1", "generator_2", "annotator")}
                preference = float(row["preference"]) if row["preference"] else None
                records[row["generator_2"], path.stem].append(
                    {
                        **names,
                        "instruction": row["instruction_sha12"],
                        "output_1": None,
                        "preference": preference,
                    }
                )
    for (model, annotator), given in records.items():
        write_list(tmp_path / "results" / model / annotator / "annotations.json", *given)
    store = imported(tmp_path, tmp_path / "results", FOLDER / "leaderboards")
    metrics = {metric for _, metric in figures(store)} - NOT_RECOMPUTED - {"avg_length"}
    assert check_figures(store, metrics) == len(records) == 42


@pytest.mark.slow
def test_what_a_preference_says(tmp_path):
    said = [1.25, 1.0000000918, 1.5, 1.5000000001, 2.0, 1, 0, None, 2.5, -1, "2", True]
    records = [{**VOTE, "preference": each, "instruction": f"q{n}"} for n, each in enumerate(said)]
    store = imported(tmp_path, write_list(tmp_path / "annotations.json", *records))
    rows = votes(store, "outcome, weight_b, share_b, status, extra")
    assert [row["outcome"] for row in rows] == ["a", "a", "tie", "b", "b", "a", "tie"] + [None] * 5
    assert [row["weight_b"] for row in rows[:4]] == [0.25, 1.0000000918 - 1, None, 1.5000000001 - 1]
    assert [row["share_b"] for row in rows[4:8]] == [1, 0, 0.5, None]
    assert [row["status"] for row in rows] == ["ok"] * 7 + ["unparsed"] * 5
    kept = [json.loads(row["extra"])["preference"] for row in rows[8:]]
    assert kept == [2.5, -1, "2", True]
    assert [row["extra"] for row in rows[:8]] == [None] * 8


@pytest.mark.slow
def test_a_model_may_be_compared_with_itself_and_judged_by_several(tmp_path):
    same = {**VOTE, "generator_2": "ref", "output_2": "Red.", "preference": 1.5, "note": [1]}
    other = {**VOTE, "annotator": "other", "preference": 2.0, "raw_completion": "[1]"}
    path = write_list(tmp_path / "annotations.json", VOTE, same, other)
    store = imported(tmp_path, path)
    found = votes(store, "run_id, model_a, model_b, outcome, answer_a, answer_b, extra, raw_output")
    assert [row["run_id"] for row in found] == [
        "other/new/model",
        "weighted_judge/new/model",
        "weighted_judge/ref",
    ]
    by_other, by_judge, of_same = found
    assert of_same["answer_a"] == of_same["answer_b"]
    assert of_same["extra"] == '{"note":[1]}'
    # The votes of both judges are about the same answers.
    assert (by_other["answer_a"], by_other["answer_b"]) == (
        by_judge["answer_a"],
        by_judge["answer_b"],
    )
    assert (by_other["raw_output"], by_judge["raw_output"]) == ("[1]", '{"finish_reason":"stop"}')
    pairs = query(store, "SELECT DISTINCT pair FROM preference_verdicts")
    assert len(pairs) == 2
    # Nothing but votes is about the answers.
    assert query(store, "SELECT DISTINCT metric FROM leaderboard") == [
        {"metric": "overall (votes, log score)"}
    ]


@pytest.mark.slow
def test_what_cannot_be_used_is_in_quarantine(tmp_path):
    path = write_list(tmp_path / "annotations.json", VOTE, {**VOTE, "generator_2": None}, 7)
    path.write_text(path.read_text()[:-2] + ",\n {broken")
    board = tmp_path / "judge_leaderboard.csv"
    board.write_text(",win_rate,n_total,mode\nm,50.0,2,x\n,1,2,y\nn,1\n")
    store = imported(tmp_path, path, board)
    assert len(votes(store)) == 1
    assert rejected(store) == [
        (2, "lacks one of instruction, annotator, generator_1 and generator_2"),
        (3, "a row without a model"),
        (3, "not a JSON object"),
        (4, "a row with other cells than there are columns"),
        (4, "after record 3: not JSON: Expecting property name enclosed in double quotes"),
    ]
    assert {key: value for key, (value, _) in figures(store).items()} == {
        ("judge/m", "win_rate"): 50,
        ("judge/m", "n_total"): 2,
        ("judge/m", "mode"): None,
    }


@pytest.mark.slow
def test_any_order_halves_and_repeats_give_equal_rows(tmp_path):
    records = [{**VOTE, "instruction": f"q{n}", "generator_2": f"m{n % 2}"} for n in range(9)]
    board = tmp_path / "weighted_judge" / "leaderboard.csv"
    first = write_list(tmp_path / "a" / "annotations.json", *records[:5])
    second = write_list(tmp_path / "b" / "annotations.json", *records[3:])
    board.parent.mkdir()
    board.write_text(",win_rate,n_total\nm0,25.0,5\nm1,25.0,4\n")
    check_any_order_is_the_same(tmp_path, [first, second, board])
    joined = write_list(tmp_path / "c" / "annotations.json", *records)
    count = "SELECT count(*) AS n, count(DISTINCT vote_id) AS n_ids FROM preferences"
    store = imported(tmp_path, first, second)
    assert query(store, count) == [{"n": 9, "n_ids": 9}]
    assert import_into(store, joined).n_results == 0
    store.sync()
    assert query(store, count) == [{"n": 9, "n_ids": 9}]


@pytest.mark.slow
def test_answers_of_a_model_are_declined_and_secrets_masked(tmp_path):
    key = "sk-proj-" + "a1B2" * 12
    outputs = {"dataset": "toy", "instruction": "q", "output": "x", "generator": "m"}
    write_list(tmp_path / "logs" / "model_outputs.json", outputs)
    write_list(tmp_path / "logs" / "annotations.json", {**VOTE, "output_2": f"key {key}"})
    store = imported(tmp_path)
    summary = import_into(store, tmp_path / "logs", redact=True)
    assert summary.outcomes[FileOutcome.DECLINED] == 1
    store.sync()
    texts = query(store, "SELECT raw_output FROM results ORDER BY raw_output")
    assert len(texts) == 2
    assert not any(key in row["raw_output"] for row in texts)


@pytest.mark.slow
def test_secrets_in_what_is_nested_too_deeply_are_masked_in_quarantine(tmp_path):
    key = "sk-proj-" + "a1B2" * 12
    nested = [key]
    for _ in range(100):
        nested = [nested]
    path = write_list(tmp_path / "annotations.json", VOTE, {**VOTE, "note": nested})
    store = imported(tmp_path)
    import_into(store, path, redact=True)
    store.sync()
    (row,) = query(store, "SELECT reason, raw FROM lake.quarantine")
    assert row["reason"].startswith("nested too deeply")
    assert b"(redacted)" in row["raw"]
    assert key.encode() not in row["raw"]
