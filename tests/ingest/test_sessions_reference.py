"""Sessions of coding agents: every reference row of the sample files."""

from datetime import UTC, datetime

import pytest
from peers import query
from support import import_into, queried_store
from trials import TRIALS, needs_trials, reference_rows

from ingest.formats.sessions.consent import KeepSecrets

LOGS = TRIALS / "sessions"
PLAIN = ("task_id", "agent", "agent_version", "passed", "cost_usd")
SUMS = ("n_steps", "n_tool_calls", "n_tool_errors", "input_tokens", "output_tokens")
# Where a trial is not what the reference rows have: a file is one row there.
DIFFERENT = {
    # A sub-agent has a file, and so an id, of its own; its session has the same id there.
    "agent-atest01.jsonl": ["test-session-004/atest01"],
    # A `/clear` begins another trial: the row of the file is the sum of both.
    "slug_clear_session.jsonl": ["session-clear", "session-clear#2"],
    "slug_multi_clear_file1.jsonl": ["session-mc1", "session-mc1#2"],
}

pytestmark = needs_trials


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    made = queried_store(tmp_path_factory.mktemp("sessions") / "store")
    summary = import_into(made, LOGS, format_options=(KeepSecrets(),))
    assert summary.n_quarantined == 0
    others = {row["file"] for row in reference_rows("sessions", "other")}
    assert all(any(file in message for message in summary.messages) for file in others)
    assert len(others) == len(summary.messages)
    return made


def moment(text):
    found = datetime.fromisoformat(text)
    return found.astimezone(UTC).replace(tzinfo=None) if found.tzinfo else found


def total(values):
    return None if None in values else sum(values)


@pytest.mark.slow
def test_every_reference_trial_has_equal_values(store):
    rows = {row["trial_id"]: row for row in query(store, "FROM trials")}
    expected = reference_rows("sessions", "trial")
    ids = [DIFFERENT.get(row["file"].rpartition("/")[2], [row["trial_id"]]) for row in expected]
    assert sorted(rows) == sorted(name for names in ids for name in names)
    for names, row in zip(ids, expected, strict=True):
        trials = [rows[name] for name in names]
        for trial in trials:
            assert {name: trial[name] for name in PLAIN} == {name: row[name] for name in PLAIN}
            assert [trial["model"]] == row["models"]
            assert trial["recorded_end"] == row["failure"]
        for name in SUMS:
            assert total([trial[name] for trial in trials]) == row[name], name
        assert trials[0]["started_at"] == moment(row["started_at"])
        assert trials[-1]["ended_at"] == moment(row["ended_at"])


def test_every_reference_compaction_is_a_step(store):
    rows = query(
        store,
        "SELECT trial_id, count(*) AS n FROM steps JOIN trials USING (suite, run_id, result_id)"
        " WHERE kind = 'compaction' GROUP BY trial_id",
    )
    found = {row["trial_id"]: row["n"] for row in rows}
    expected = reference_rows("sessions", "trial")
    counts = {row["trial_id"]: row.get("n_compactions") for row in expected}
    assert found == {name: n for name, n in counts.items() if n}


def test_every_reference_reward_is_a_score(store):
    [row] = query(store, "SELECT metric, value, check_class, counts FROM lake.result_scores")
    assert row == {"metric": "reward", "value": 0.0, "check_class": "reward", "counts": True}
