"""Terminal-Bench: every reference row of the submissions' files, and every published figure."""

import json
from datetime import UTC, datetime

import pytest
from peers import query, same
from support import import_into, queried_store
from trials import TRIALS, needs_trials, reference_rows

LOGS = TRIALS / "terminal-bench"
PLAIN = ("task_id", "agent", "agent_version", "passed", "n_steps", "n_tool_calls", "n_tool_errors")
# Not a log: a text for people, which no reader claims.
NO_LOG = {"README.md"}

pytestmark = [needs_trials, pytest.mark.slow]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    made = queried_store(tmp_path_factory.mktemp("terminal-bench") / "store")
    summary = import_into(made, LOGS)
    assert summary.n_quarantined == 0
    return made


def moment(text):
    return (
        None if text is None else datetime.fromisoformat(text).astimezone(UTC).replace(tzinfo=None)
    )


def tokens(row, name):
    return row[name] or None if row["tokens_known"] else None


def test_every_reference_trial_is_one_row_with_equal_values(store):
    found = {row["trial_id"]: row for row in query(store, "FROM trials")}
    expected = reference_rows("terminal-bench", "trial")
    assert found.keys() == {row["trial_id"] for row in expected}
    for row in expected:
        trial = found[row["trial_id"]]
        assert {name: trial[name] for name in PLAIN} == {name: row[name] for name in PLAIN}
        assert trial["recorded_end"] == row["failure"]
        assert [trial["model"]] == (row["models"] or [None])
        assert trial["input_tokens"] == tokens(row, "input_tokens")
        assert trial["output_tokens"] == tokens(row, "output_tokens")
        assert trial["cost_usd"] == row["cost_usd"]
        assert trial["started_at"] == moment(row["started_at"])
        assert trial["ended_at"] == moment(row["ended_at"])


def test_phases_and_tests_of_every_reference_trial_are_equal(store):
    phases, checks = {}, {}
    for row in query(store, "SELECT trial_id, phases FROM results"):
        listed = json.loads(row["phases"] or "[]")
        phases[row["trial_id"]] = {
            each["name"]: [each["started_at"], each["ended_at"]] for each in listed
        }
    for row in query(
        store,
        "SELECT trial_id, metric, passed FROM lake.result_scores AS scores"
        " JOIN results USING (suite, run_id) WHERE scores.result_id = results.result_id",
    ):
        word = "passed" if row["passed"] else "failed"
        checks.setdefault(row["trial_id"], {})[row["metric"]] = word
    for row in reference_rows("terminal-bench", "trial"):
        held = phases[row["trial_id"]]
        for name in ("agent", "test"):
            times = [row.get(f"{name}_started_at"), row.get(f"{name}_ended_at")]
            assert held.get(name, [None, None]) == times
        tests = checks.get(row["trial_id"], {})
        if row["tests"] is not None:
            assert tests == row["tests"]
        if row["n_tests"] is not None:
            assert len(tests) == row["n_tests"]
            assert list(tests.values()).count("passed") == row["n_tests_passed"]


def test_every_published_figure_is_reported_and_recomputed(store):
    audit = query(
        store,
        "SELECT a.*, files.path, m.extra ->> '$.file' AS file FROM metric_audit AS a"
        " JOIN reported_metrics AS m USING (suite, run_id, reported_id)"
        " JOIN files ON files.sha256 = m.file_sha256",
    )
    assert {row["status"] for row in audit} == {"equal"}
    found = {(row["path"].removeprefix(f"{LOGS}/"), row["metric"]): row for row in audit}
    for row in reference_rows("terminal-bench", "figure"):
        if row["file"].rpartition("/")[2] in NO_LOG:
            assert not row["recomputable"]
            continue
        figure = found[row["file"], row["figure"]]
        assert same(figure["reported"], row["value"])
        assert same(figure["recomputed"], row["recomputed"])
