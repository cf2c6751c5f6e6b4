"""tau-bench: every reference row of results of tau2, and every figure of submissions."""

import json
from datetime import datetime

import pytest
from peers import query, same
from support import import_into, queried_store
from trials import TRIAL_COLUMNS, TRIALS, needs_trials, reference_rows

LOGS = TRIALS / "tau-bench"
# The reference row's name of a column: equal in view `trials`.
EQUAL = {**TRIAL_COLUMNS, "domain": "task_set"}
# Published elsewhere: no file of these says which figure is of its trials.
ELSEWHERE = "airline.pass_1 of submission.json"

pytestmark = needs_trials


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    made = queried_store(tmp_path_factory.mktemp("tau-bench") / "store")
    return made, import_into(made, LOGS)


@pytest.fixture(scope="module")
def store(imported):
    store, summary = imported
    assert summary.n_quarantined == 0
    return store


def test_results_without_simulations_are_named(imported):
    assert any("0 simulations in this file" in each for each in imported[1].messages)


@pytest.mark.slow
def test_every_reference_trial_is_one_row_with_equal_values(store):
    found = {row["trial_id"]: row for row in query(store, "FROM trials")}
    expected = reference_rows("tau-bench", "trial")
    assert found.keys() == {row["trial_id"] for row in expected}
    for row in expected:
        trial = found[row["trial_id"]]
        assert {name: trial[column] for name, column in EQUAL.items()} == {
            name: row[name] for name in EQUAL
        }
        assert json.loads(trial["models"]) == row["models"]
        assert trial["attempt"] == row["trial_index"] + 1
        assert trial["started_at"] == datetime.fromisoformat(row["started_at"])
        assert trial["ended_at"] == datetime.fromisoformat(row["ended_at"])


def test_rewards_and_the_other_side_of_every_reference_trial_are_equal(store):
    scores = {}
    for row in query(
        store,
        "SELECT trial_id, metric, scores.value FROM lake.result_scores AS scores"
        " JOIN results USING (suite, run_id) WHERE scores.result_id = results.result_id",
    ):
        scores.setdefault(row["trial_id"], {})[row["metric"]] = row["value"]
    rows = query(store, "SELECT trial_id, duration_seconds, extra FROM results")
    found = {row["trial_id"]: row for row in rows}
    for row in reference_rows("tau-bench", "trial"):
        trial, of_trial = found[row["trial_id"]], scores[row["trial_id"]]
        extra = json.loads(trial["extra"])
        assert of_trial["reward"] == row["reward"]
        breakdown = {
            f"reward {name}": value for name, value in (row["reward_breakdown"] or {}).items()
        }
        assert breakdown.items() <= of_trial.items()
        assert extra["reward_info"].get("reward_basis") == row["reward_basis"]
        assert trial["duration_seconds"] == row["duration_s"]
        names = {"seed": "seed", "user_cost_usd": "user_cost", "n_ticks": "n_ticks"}
        names |= {"user_input_tokens": "user_input_tokens"}
        names |= {"user_output_tokens": "user_output_tokens"}
        assert {name: extra.get(other) for name, other in names.items()} == {
            name: row[name] for name in names
        }


@pytest.mark.slow
def test_every_figure_of_a_submission_is_reported_with_the_reason(store):
    audit = query(
        store,
        "SELECT a.*, files.path FROM metric_audit AS a"
        " JOIN reported_metrics AS m USING (suite, run_id, reported_id)"
        " JOIN files ON files.sha256 = m.file_sha256",
    )
    found = {(row["path"].removeprefix(f"{LOGS}/"), row["metric"]): row for row in audit}
    expected = [row for row in reference_rows("tau-bench", "figure") if row.get("why")]
    assert found.keys() == {(row["file"], row["figure"]) for row in expected}
    for row in expected:
        figure = found[row["file"], row["figure"]]
        assert (figure["reported"], figure["model"]) == (row["value"], row["model"])
        assert (figure["recomputed"], figure["reason"]) == (None, row["why"])


@pytest.mark.slow
def test_what_a_submission_would_publish_follows_from_the_trials(store):
    runs = {
        row["path"].removeprefix(f"{LOGS}/"): row["run_id"]
        for row in query(
            store,
            "SELECT DISTINCT path, run_id FROM results"
            " JOIN files ON files.sha256 = results.file_sha256",
        )
    }
    for row in reference_rows("tau-bench", "figure"):
        if row.get("why"):
            continue
        run_id, name = runs[row["file"]], row["figure"]
        if name.startswith("avg_agent_cost"):
            text = "SELECT avg(cost_usd) AS value FROM trials WHERE run_id = $run_id"
        else:
            k = 1 if name == ELSEWHERE else int(name[len("pass^")])
            text = f"SELECT pass_hat_k AS value FROM pass_at_k WHERE k = {k} AND run_id = $run_id"
        [found] = query(store, text, run_id=run_id)
        assert same(found["value"] * (100 if name == ELSEWHERE else 1), row["recomputed"])
