"""Agents' logs of Inspect: trials and steps made of their events, next to reference rows."""

from datetime import UTC, datetime

import pytest
from support import import_into, new_store
from trials import TRIALS, needs_trials, reference_rows

FOLDER = TRIALS / "inspect-agents"
pytestmark = needs_trials


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    store = new_store(tmp_path_factory.mktemp("inspect-agents") / "store")
    import_into(store, FOLDER / "logs")
    return store


@pytest.fixture(scope="module")
def reference():
    """Return the reference rows of trials."""
    return reference_rows("inspect-agents", "trial")


@pytest.fixture(scope="module")
def trials(store):
    query = """
        SELECT
            trial_id, task_id, attempt, agent, model, passed, recorded_end, n_steps, n_model_calls,
            n_tool_calls, n_tool_errors, input_tokens, output_tokens,
            coalesce(cached_tokens, 0) AS cached_tokens, cost_usd, started_at, ended_at, token_scope
        FROM trials
    """
    return {row["trial_id"]: row for row in store.sql(query).pl().to_dicts()}


def test_every_trial_equals_its_reference_row(trials, reference):
    assert {row["trial_id"] for row in reference} == trials.keys()
    for row in reference:
        assert trials[row["trial_id"]] == {
            "trial_id": row["trial_id"],
            "task_id": str(row["sample_id"]),
            "attempt": row["epoch"],
            "agent": row["agent"] if row["agent"] != "generate" else None,
            "model": row["models"]["main"],
            "passed": row["passed"],
            "recorded_end": row["failure"],
            "n_steps": row["n_steps"],
            "n_model_calls": row["n_model_calls"],
            "n_tool_calls": row["n_tool_calls"],
            "n_tool_errors": row["n_tool_errors"],
            "input_tokens": row["input_tokens"],
            "output_tokens": row["output_tokens"],
            "cached_tokens": row["cache_read"],
            "cost_usd": row["cost_usd"],
            "started_at": _moment(row["started_at"]),
            "ended_at": _moment(row["ended_at"]),
            "token_scope": "tree",
        }


def _moment(text):
    return datetime.fromisoformat(text).astimezone(UTC).replace(tzinfo=None)


def test_the_kinds_of_steps_are_those_of_the_events(store, reference):
    query = """
        SELECT trial_id, count(*) FILTER (kind = 'agent'), count(*) FILTER (kind = 'eval'),
            list(name ORDER BY seq) FILTER (kind = 'agent')
        FROM steps JOIN trials USING (suite, run_id, result_id) GROUP BY trial_id
    """
    found = {trial: rest for trial, *rest in store.sql(query).fetchall()}
    for row in reference:
        n_agents = row["n_agent_spans"]
        names = row["span_names"] or None
        assert found[row["trial_id"]] == [n_agents, row["events"].get("score", 0), names]


def test_steps_of_a_sub_agent_are_a_trajectory_of_their_own(store):
    query = """
        SELECT steps.agent, steps.trajectory IS NOT NULL, count(*)
        FROM steps JOIN trials USING (suite, run_id, result_id)
        WHERE task_id = 'sub-1' AND attempt = 1 AND kind IN ('model', 'tool')
        GROUP BY ALL ORDER BY ALL
    """
    rows = store.sql(query).fetchall()
    assert [(agent, is_sub) for agent, is_sub, _ in rows] == [
        ("react", False),
        ("researcher", True),
    ]


def test_a_failed_command_has_its_exit_code(store):
    query = "SELECT kind, name, exit_code FROM steps WHERE exit_code IS NOT NULL ORDER BY seq"
    assert {(kind, name) for kind, name, _ in store.sql(query).fetchall()} == {("sandbox", "exec")}
