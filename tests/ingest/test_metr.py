"""Runs of tasks with human minutes: errors count as 0, people rank nowhere, 0.0 is no time."""

from datetime import datetime

import pytest
from peers import query
from preferences import figures, imported, rejected, write_lines
from support import NO_REFERENCE, REFERENCE

FOLDER = REFERENCE / "items" / "metr"
needs_items = pytest.mark.skipif(not FOLDER.is_dir(), reason=NO_REFERENCE)


def run(number=1, **fields):
    plain = {
        "task_id": "family/a",
        "task_family": "family",
        "run_id": f"run {number}",
        "alias": "Model A",
        "model": "org/model-a",
        "score_binarized": 1,
        "score_cont": 1.0,
        "human_minutes": 2.5,
        "human_source": "baseline",
        "generation_cost": 0.0,
        "started_at": 0.0,
    }
    return {**plain, **fields}


def results(store, columns):
    return [
        tuple(row.values())
        for row in query(store, f"SELECT {columns} FROM results ORDER BY results.seq")
    ]


@pytest.mark.slow
def test_runs_are_attempts_without_order(tmp_path):
    path = write_lines(
        tmp_path / "th" / "data" / "raw" / "runs.jsonl",
        run(1),
        run(2, score_binarized=0, score_cont=0.25, generation_cost=0.5, scaffold="modular"),
        run(3, score_binarized=0, fatal_error_from="usageLimits"),
        run(3, score_binarized=0, fatal_error_from="usageLimits"),
    )
    store = imported(tmp_path, path)
    assert results(
        store, "run_id, model, recorded_model, objective_pass, end_reason, cost_usd"
    ) == [
        ("th", "Model A", "org/model-a", True, "solved", None),
        ("th", "Model A", "org/model-a", False, "gave_up", 0.5),
        ("th", "Model A", "org/model-a", False, "limit", None),
    ]
    [row] = query(store, "SELECT pass_rate, n_trials FROM pass_rates")
    assert (row["pass_rate"], row["n_trials"]) == (pytest.approx(1 / 3), 3)
    [task] = query(store, "SELECT task_id, cluster, extra FROM tasks")
    assert (task["task_id"], task["cluster"]) == ("family/a", "family")
    assert task["extra"] == '{"human_minutes":2.5,"human_source":"baseline"}'


@pytest.mark.slow
def test_times_are_milliseconds_or_seconds_and_zero_is_none(tmp_path):
    path = write_lines(
        tmp_path / "runs.jsonl",
        run(1, started_at=1751090327000.0, completed_at=0.0),
        run(2, started_at=1751090327.0),
        run(3, started_at="soon"),
    )
    moment = datetime.fromisoformat("2025-06-28T05:58:47")
    found = results(imported(tmp_path, path), "started_at, ended_at")
    assert found == [(moment, None), (moment, None), (None, None)]


@pytest.mark.slow
def test_people_have_no_verdict_and_rank_nowhere(tmp_path):
    person = run(2, alias="human", model="human", score_cont=38.0, score_binarized=0)
    store = imported(tmp_path, write_lines(tmp_path / "runs.jsonl", run(1), person))
    assert [row["model"] for row in query(store, "FROM leaderboard")] == ["Model A"] * 2
    [row] = query(store, "SELECT * FROM results WHERE model = 'human'")
    assert row["objective_pass"] is None
    assert '"score_binarized":0' in row["extra"]
    assert '"score_cont":38.0' in row["extra"]
    [system] = query(store, "SELECT agent FROM systems WHERE system = 'human'")
    assert system["agent"] == "human"


@pytest.mark.slow
def test_what_is_no_run_goes_to_quarantine(tmp_path):
    path = write_lines(
        tmp_path / "runs.jsonl",
        run(1),
        run(2, score_binarized=0.5),
        run(3, alias=None),
        run(4, score_binarized=[1]),
        {**run(5), "human_minutes": -1},
    )
    store = imported(tmp_path, path)
    assert rejected(store) == [
        (2, "`score_binarized` is neither 0 nor 1"),
        (3, "has no `task_id` or no `alias`"),
        (4, "`score_binarized` is neither 0 nor 1"),
    ]
    assert len(results(store, "result_id")) == 2


@pytest.mark.slow
def test_published_results_name_their_models_and_their_reasons(tmp_path):
    path = tmp_path / "benchmark_results.yaml"
    path.write_text(
        "benchmark_name: H-1\n"
        "doubling_time_in_days:\n  all: {point_estimate: 200.5}\n"
        "results:\n"
        "  model_a:\n"
        "    release_date: 2025-01-02\n"
        "    metrics:\n"
        "      is_sota: true\n"
        "      p50_horizon_length: {estimate: 10.5, ci_low: 5, ci_high: 20}\n"
        "  model_b: {metrics: 3}\n",
        "utf-8",
    )
    store = imported(tmp_path, path)
    by_key, reasons = figures(store)
    assert by_key == {
        ("H-1", None, "doubling_time_in_days.all.point_estimate"): 200.5,
        ("H-1", "model_a", "is_sota"): 1.0,
        ("H-1", "model_a", "p50_horizon_length"): 10.5,
        ("H-1", "model_a", "p50_horizon_length.ci_low"): 5.0,
        ("H-1", "model_a", "p50_horizon_length.ci_high"): 20.0,
    }
    assert reasons["p50_horizon_length.ci_low"] == "random bootstrap"
    assert rejected(store) == [(None, "model_b: has no `metrics`")]


def test_a_damaged_table_of_results_goes_to_quarantine(tmp_path):
    path = tmp_path / "benchmark_results.yaml"
    path.write_text("benchmark_name: H\nresults:\n  p50_horizon_length: [\n", "utf-8")
    [(_, reason)] = rejected(imported(tmp_path, path))
    assert "line" in reason or "expected" in reason or "close" in reason


@pytest.mark.slow
@needs_items
def test_the_reference_data_are_read_whole(tmp_path):
    store = imported(tmp_path, *FOLDER.glob("*.yaml"), FOLDER / "cyber")
    assert query(store, "FROM quarantine") == []
    [row] = query(
        store, "SELECT count(*) AS n, count(DISTINCT task_id) AS n_tasks, sum(objective_pass::INT) "
        "AS n_passed, count(DISTINCT model) AS n_models FROM results",
    )  # fmt: skip
    assert tuple(row.values()) == (4721, 525, 2648, 9)
    by_key, _ = figures(store, metric="p50_horizon_length")
    key = ("METR-Horizon-v1.1", "claude_3_5_sonnet_20240620_inspect", "p50_horizon_length")
    assert by_key[key] == 10.771603
    assert figures(store, metric="p50")[0]["cyber", "GPT 2", "p50"] == 0.004522
