"""The scorers of suites of one's own: what passes, and the reason where it does not."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warehouse.engine.scoring.custom.scorers import SCORERS, score, score_batch, scorer_name

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def verdict(kind, answer, *references, **options):
    given = score(answer, {"type": kind, "references": list(references), **options})
    return given.objective_pass, given.violation


@pytest.mark.parametrize(
    ("answer", "options", "passes"),
    [
        (" New York\n", {}, True),
        ("new york", {}, False),
        ("NEW york", {"ignore_case": True}, True),
        ("New  York", {}, False),
        ("New \n York ", {"whitespace": "single"}, True),
        ("NewYork", {"whitespace": "single"}, False),
        ("NewYork", {"whitespace": "ignore"}, True),
        ("New York\n", {"whitespace": "exact"}, False),
        ("New York", {"whitespace": "exact"}, True),
    ],
)
def test_text(answer, options, passes):
    reason = None if passes else "differs from 'New York'"
    assert verdict("exact", answer, "New York", **options) == (passes, reason)


def test_case_is_ignored_in_every_script():
    assert verdict("exact", "STRASSE ΣΊΣΥΦΟΣ", "straße σίσυφος", ignore_case=True) == (True, None)


def test_any_of_several_references_may_match():
    assert verdict("exact", "Lutetia", "Paris", "Lutetia") == (True, None)
    assert verdict("exact", "Rome", "Paris", "Lutetia") == (
        False,
        "differs from all of 'Paris', 'Lutetia'",
    )
    assert verdict("number", "7", "3", "7") == (True, None)
    assert verdict("json", "[2]", [1], [2]) == (True, None)
    assert verdict("json", "[3]", [1], [2]) == (False, "differs from all of 2 references")


@pytest.mark.parametrize(
    ("answer", "reference", "options", "passes"),
    [
        ("42", "42", {}, True),
        (" 42.0\n", "42", {}, True),
        ("42.1", "42", {}, False),
        ("1,234,567.5", "1234567.5", {}, True),
        ("1,23", "123", {}, False),  # a decimal comma, or a mistake: not a number
        ("-.5", "-0.5", {}, True),
        ("6.022e23", "6.022E23", {}, True),
        ("0.3", "0.2", {"absolute": 0.1}, True),  # 0.3 - 0.2 is less than 0.1 in binary
        ("0.1", "0.3", {"absolute": 0.2}, True),  # 0.3 - 0.1 is more than 0.2 in binary
        ("0.0999", "0.3", {"absolute": 0.2}, False),
        ("99", "100", {"relative": 0.01}, True),
        ("98.9", "100", {"relative": 0.01}, False),
        ("-101", "-100", {"relative": 0.01}, True),
        ("98", "100", {"relative": 0.01, "absolute": 2}, True),
        ("0", "0", {"relative": 0.5}, True),
        ("1" + "0" * 60, "1" + "0" * 59 + "1", {}, False),
        ("1e999999", "1", {}, False),
    ],
)
def test_numbers(answer, reference, options, passes):
    assert verdict("number", answer, reference, **options)[0] is passes


def test_reasons_of_numbers():
    assert verdict("number", "42 km", "42") == (False, "not a number")
    assert verdict("number", "nan", "42") == (False, "not a number")
    assert verdict("number", "9" * 300, "42") == (False, "not a number")
    assert verdict("number", "3.2", "3.14", "9", absolute=0.01) == (
        False,
        "differs from 3.14 by 0.06, more than 0.01",
    )


@pytest.mark.parametrize(
    ("answer", "reference", "reason"),
    [
        ('{"b": [1, null], "a": 1.0}', {"a": 1, "b": [1.0, None]}, None),
        ('```json\n{"a": 1}\n```', {"a": 1}, None),
        ('Here: {"a": 1}', {"a": 1}, "not JSON: Expecting value: line 1 column 1 (char 0)"),
        ("NaN", 1, "not JSON: NaN is not JSON"),
        ("[" * 100_000, 1, "not JSON: nested too deeply"),
        ('{"a": true}', {"a": 1}, "$.a: true instead of 1"),
        ('{"a": [1, "2"]}', {"a": [1, 2]}, '$.a[1]: "2" instead of 2'),
        ('{"a": 1, "b": 2}', {"a": 1}, "$.b: not expected"),
        ("{}", {"a": 1}, "$.a: missing"),
        ("[1]", [1, 2], "$: 1 items instead of 2"),
    ],
)
def test_json(answer, reference, reason):
    assert verdict("json", answer, reference) == (reason is None, reason)


@given(json_values)
def test_json_equals_itself_in_any_layout(value):
    assert verdict("json", json.dumps(value, indent=2), value) == (True, None)


@given(st.text() | json_values.map(json.dumps), st.sampled_from(sorted(SCORERS)))
def test_no_answer_crashes_and_every_failure_has_a_reason(answer, kind):
    passes, reason = verdict(kind, answer, "1")
    assert (passes is not False) or reason


def test_a_batch_equals_its_rows():
    rules = [{"type": "exact", "references": ["a"]}, {"type": "validator", "validator": {}}]
    rows = score_batch(
        ["a", "b", None, "a", "a"],
        [*map(json.dumps, [rules[0]] * 3), json.dumps(rules[1]), '{"type": "later"}'],
    )
    assert rows == [
        {"passed": True, "reason": None},
        {"passed": False, "reason": "differs from 'a'"},
        None,
        {"passed": None, "reason": None},
        {"passed": None, "reason": "unknown_scorer: later"},
    ]


def test_names():
    assert scorer_name({"type": "json"}) == "json"
    assert scorer_name({"type": "validator", "validator": {"type": "max_words"}}) == (
        "validator max_words"
    )
