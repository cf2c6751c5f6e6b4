"""Logs of agent trials in the reference data, and the reference rows of their files."""

import json
from functools import cache

import pytest
from support import NO_REFERENCE, REFERENCE

TRIALS = REFERENCE / "trials"
needs_trials = pytest.mark.skipif(not TRIALS.is_dir(), reason=NO_REFERENCE)
# The reference row's name of a fact, and the column of the view `trials`.
TRIAL_COLUMNS = {
    "task_id": "task_id",
    "agent": "agent",
    "agent_version": "agent_version",
    "passed": "passed",
    "n_steps": "n_steps",
    "n_tool_calls": "n_tool_calls",
    "n_tool_errors": "n_tool_errors",
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cost_usd": "cost_usd",
    "failure": "recorded_end",
}


@cache
def reference_rows(name, kind):
    """Return the reference rows of a kind: `trial`, `figure` or `other`."""
    rows = map(json.loads, (TRIALS / name / "oracle.jsonl").read_text("utf-8").splitlines())
    return [row for row in rows if row["row"] == kind]
