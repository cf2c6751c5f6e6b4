"""Labels of systems, and how trials end."""

import json

import pytest

from ingest.formats.common.binary import without_binary
from ingest.formats.common.trials import end_reason, system_row


@pytest.mark.parametrize(
    ("facts", "label"),
    [
        ({"agent": "crab", "models": {"agent": "gpt"}}, "crab (gpt)"),
        ({"agent": "crab", "agent_version": "2.1", "models": {"agent": "gpt"}}, "crab 2.1 (gpt)"),
        (
            {"agent": "crab", "models": {"user": "sim", "agent": "gpt", "judge": ["a", "b"]}},
            "crab (gpt, judge a + b, user sim)",
        ),
        ({"agent": "crab"}, "crab (model not recorded)"),
        ({"agent": "crab", "models": {"user": "sim"}}, "crab (model not recorded, user sim)"),
        ({"agent": "crab", "run_id": "r1"}, "crab (model not recorded, run r1)"),
        ({"agent": "crab", "models": {"agent": "gpt"}, "run_id": "r1"}, "crab (gpt)"),
        ({"agent": None, "label": "swe-agent-gpt-4"}, "swe-agent-gpt-4"),
    ],
)
def test_a_label_names_agent_version_and_models(facts, label):
    assert system_row(**facts)["system"] == label


def test_the_row_of_a_system_has_its_main_model_and_all_roles():
    row = system_row(agent="crab", models={"agent": "gpt", "user": "sim"}, configuration={"n": 1})
    assert row["model"] == "gpt"
    assert json.loads(row["models"]) == {"agent": "gpt", "user": "sim"}
    other = system_row(agent="crab", models={"agent": "gpt", "user": "sim"})
    assert row["content_id"] != other["content_id"]


@pytest.mark.parametrize(
    ("cause", "passed", "expected"),
    [
        (None, True, "solved"),
        (None, False, "gave_up"),
        (None, None, "unknown"),
        ("timeout", True, "timeout"),
        ("limit", None, "limit"),
        ("error", False, "error"),
    ],
)
def test_a_trial_ends_by_its_cause_else_by_its_verdict(cause, passed, expected):
    assert end_reason(cause, passed=passed) == expected


def test_of_binary_data_the_hash_is_kept():
    data = "iVBORw0KGgo" * 20
    hashed = without_binary(data_url := f"data:image/png;base64,{data}")
    assert hashed.startswith("sha256:")
    assert without_binary(f"see {data_url} there") == f"see {hashed} there"
    kept = {"type": "text", "text": data, "data": "short", "content": data}
    assert without_binary(kept) == kept
    for value in ({"base64": "x"}, {"type": "image", "content": data}, {"data": data}):
        [*_, (name, given)] = value.items()
        found = without_binary([{"part": value}])[0]["part"][name]
        assert found.startswith("sha256:")
        assert given not in found
    words = {"type": "blob", "content": "words " * 40}
    assert without_binary(words) == words
