"""What readers of agent trials share: systems, ends, scores, figures, large objects."""

import json

import pytest

from ingest.formats.atif.steps import FIGURES, Totals
from ingest.formats.atif.trajectories import _recomputed
from ingest.formats.common import trials  # pytest would take the name test_row for a test
from ingest.formats.common.binary import without_binary
from ingest.formats.common.collector import RowCollector
from ingest.formats.common.fields import Fields, inner, known_sum
from ingest.formats.common.large_objects import large_object
from ingest.formats.common.records import decoded
from ingest.formats.common.trials import (
    end_reason,
    figure_row,
    outcome,
    score_row,
    system_row,
)


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


@pytest.mark.parametrize(
    ("passed", "failure", "expected"),
    [
        (True, "crash", ("ok", True, None, None)),
        (False, "crash", ("ok", True, None, "lost")),
        (None, "crash", ("error", False, "crash", "lost")),
        (None, None, ("ok", True, None, "lost")),
    ],
)
def test_a_trial_with_a_verdict_gave_an_answer(passed, failure, expected):
    row = outcome(
        passed=passed, cause="error", recorded_end="end", failure=failure, violation="lost"
    )
    columns = ("availability_status", "success", "failure_type", "violation")
    assert tuple(row[name] for name in columns) == expected
    assert (row["objective_pass"], row["end_reason"]) == (passed, "error")
    assert row["recorded_end"] == "end"


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("passed", (1.0, None, True)),
        ("failed", (0.0, None, False)),
        ("skipped", (None, "skipped", None)),
        (["passed"], (None, '["passed"]', None)),
        (None, (None, None, None)),
    ],
)
def test_a_test_has_a_verdict_or_its_status(status, expected):
    row = trials.test_row("t", status, counts=True)
    assert (row["value"], row["text"], row["passed"]) == expected
    assert (row["scorer"], row["check_class"], row["counts"]) == ("tests", "test", True)


def test_a_score_that_is_no_number_is_kept_as_text():
    row = score_row("m", float("nan"), passed=True)
    assert (row["value"], row["text"], row["passed"]) == (None, "NaN", True)


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({}, ("sum", "none", None)),
        ({"statistic": "ratio", "per": "n"}, ("ratio", "none", {"per": "n"})),
        ({"statistic": "mean", "k": 2}, ("mean", "pass_at_k", {"k": 2})),
        ({"statistic": "mean", "reason": "lost"}, (None, None, None)),
    ],
)
def test_a_figure_says_how_it_follows_from_scores_or_why_not(facts, expected):
    row = figure_row("f", 0.5, score="s", **facts)
    parameters = row.get("reducer_parameters")
    found = (row.get("statistic"), row.get("reducer"), parameters and json.loads(parameters))
    assert found == expected
    assert row.get("score") == (None if "reason" in facts else "s")
    assert figure_row("f", None, **facts) is None


def test_fields_that_only_repeat_others_are_dropped():
    fields = Fields({"a": 1, "b": 2, "c": {"d": 3}, "e": "x"})
    fields.drop("a", "none")
    fields.drop_equal("b", 3)
    fields.drop_equal("e", "x")
    assert fields.json("c") == '{"d":3}'
    assert fields.left() == {"b": 2}


def test_values_below_names_sums_and_texts_of_json():
    assert inner({"a": {"b": 1}}, "a", "b") == 1
    assert inner({"a": [1]}, "a", "b") is inner(None, "a") is None
    assert (known_sum([None, 1, None, 2]), known_sum([None])) == (3, None)
    assert decoded('{"a": 1}') == {"a": 1}
    assert decoded("[1", "[") == "[1"
    assert decoded(" [1]", "{") == " [1]"


def test_a_large_object_says_where_what_it_cannot_use_is(tmp_path):
    key = "sk-" + "proj-" + "Ab1" * 16
    path = tmp_path / "a.json"
    text = '{"a": 1,\n"list": [{"n": 1},\n 5,\n {"n": "%s" x}],\n"b": [,],\n"c": "%s"}'
    path.write_text(text % (key, key))
    found, rows = large_object(path, {"list"}, is_masked=True), RowCollector(path, "r")
    assert found.root == {"a": 1, "c": "(redacted)"}
    assert [(each.line, each.byte_offset) for each in found.rejects] == [
        (5, path.read_text().index('"b"'))
    ]
    assert list(found.objects("list", rows, "thing")) == [(1, {"n": 1})]
    broken, others = rows.rejects
    assert broken.reason.startswith("thing 2: not JSON")
    assert (broken.line, broken.raw) == (4, b'{"n": "(redacted)" x}')
    assert others.reason == "1 list are not objects"
    assert [line for line, _ in (*found.secrets, *rows.secrets)] == [6, 4]
    assert found.first("list") == b'{"n": 1}'


@pytest.mark.parametrize("is_masked", [True, False])
def test_the_place_of_a_member_is_known_by_a_masked_key_too(tmp_path, is_masked):
    key = "sk-" + "proj-" + "Ab1" * 16
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"a": 1, key: {"b": 2}}))
    found = large_object(path, (), is_masked=is_masked)
    name = "(redacted)" if is_masked else key
    assert found.root == {"a": 1, name: {"b": 2}}
    start, end = found.value_place(name)
    assert path.read_bytes()[start:end] == b'{"b": 2}'


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


NOT_OF_THE_FILE = "it covers calls that are no steps of the file"


@pytest.mark.parametrize(
    ("own", "of_agents", "expected"),
    [
        (5, 3, (5, None)),
        (2, 3, (5, None)),
        (None, 5, (5, None)),
        (4, 3, (4, None)),  # neither is it
        (
            1,
            3,
            (None, f"{NOT_OF_THE_FILE}: of other trajectories, or lost"),
        ),
        (None, None, (None, "no step says it")),
    ],
)
def test_a_total_of_a_trajectory_is_that_of_its_steps_or_of_those_of_its_agents_too(
    own, of_agents, expected
):
    name = "total_prompt_tokens"
    assert name in FIGURES
    tree = [Totals({name: own}), Totals({name: of_agents})]
    assert _recomputed(name, 5, tree) == expected
    assert _recomputed("total_luck", 5, tree) == (None, "how it is computed is not known")
