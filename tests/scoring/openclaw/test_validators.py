import json
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from openclaw_cases import (
    has_rule_the_original_ignores,
    is_refused_before_a_run,
    json_values,
    read_cases,
    validators,
)

from warehouse.engine.scoring.openclaw.json_keys import _message, json_candidate
from warehouse.engine.scoring.openclaw.rules import read_rules
from warehouse.engine.scoring.openclaw.text_checks import count_sentences
from warehouse.engine.scoring.openclaw.validators import validate, validate_batch
from warehouse.engine.scoring.openclaw.verdicts import Verdict, as_object, to_json

texts = st.text(st.sampled_from(list("ab -.!?\n\r\t\"'`{}[]:,1\x1c\x85\xa0\u2028é")), max_size=40)


def same(left, right):
    # As text: NaN equals itself, and 1, 1.0 and true differ.
    return json.dumps(left) == json.dumps(right)


@pytest.mark.slow
def test_reference_cases():
    wrong = []
    for case in read_cases("validators"):
        verdict = validate(case["output"], case["validator"])
        if "raises" in case:
            if verdict.objective_pass is not None or verdict.violation is None:
                wrong.append((case, verdict))
            continue
        ours = [verdict.objective_pass, verdict.violation, verdict.parsed_output]
        theirs = [case["objective_pass"], case["violation"], case["parsed_output"]]
        if str(ours[1]).startswith("invalid_validator: "):
            # The original judges a text that does not reach the broken part.
            if not is_refused_before_a_run(case["validator"]):
                wrong.append((case, verdict))
            continue
        extended = has_rule_the_original_ignores(case["validator"]) and "key_rule_" in str(ours[1])
        if not same(ours, theirs) and not (extended and theirs[0] is True):
            wrong.append((case, verdict))
    assert wrong == []


@pytest.mark.slow
def test_reference_cases_in_one_batch():
    cases = [case for case in read_cases("validators") if case["output"] is not None]
    rows = validate_batch(
        [case["output"] for case in cases], [json.dumps(case["validator"]) for case in cases]
    )
    for case, row in zip(cases, rows, strict=True):
        verdict = validate(case["output"], case["validator"])
        assert row["objective_pass"] is verdict.objective_pass
        assert row["parsed_output"] == to_json(as_object(verdict.parsed_output))
        json.dumps(row, ensure_ascii=False).encode()


@pytest.mark.slow
@given(texts | st.none(), validators | json_values)
def test_no_input_crashes(text, validator):
    verdict = validate(text, validator)
    assert verdict.objective_pass is not False or verdict.violation
    assert verdict.objective_pass is not True or verdict.violation is None
    to_json(as_object(verdict.parsed_output))


@pytest.mark.slow
@given(st.lists(st.tuples(st.sampled_from(["a", '{"a": 1}', None]), validators)))
def test_a_batch_equals_its_rows(pairs):
    column = [text for text, _ in pairs]
    rows = validate_batch(column, [json.dumps(validator) for _, validator in pairs])
    for (text, validator), row in zip(pairs, rows, strict=True):
        if text is None:
            assert row is None
        else:
            verdict = validate(text, json.loads(json.dumps(validator)))
            assert row["objective_pass"] is verdict.objective_pass
            assert (row["violation"] is None) is (verdict.violation is None)


def test_rows_of_a_batch_that_cannot_be_validated():
    rows = validate_batch(
        ["a", "a", None, "a"], ["{", '{"type": "regex_fullmatch", "pattern": "["}', None, None]
    )
    assert rows[0]["violation"].startswith("invalid_validator: not JSON: ")
    assert rows[1]["violation"].startswith("invalid_validator: pattern: unterminated")
    assert rows[2] is None
    assert rows[3] == {"objective_pass": None, "violation": None, "parsed_output": None}


@pytest.mark.slow
def test_a_pattern_that_times_out_is_a_reason():
    validator = {"type": "regex_fullmatch", "pattern": "(x+x+)+(?=y)y"}
    rows = validate_batch(["x" * 40, "xxy"], [json.dumps(validator)] * 2)
    assert [row["violation"] for row in rows] == ["regex_timeout", None]
    assert [row["objective_pass"] for row in rows] == [None, True]


@pytest.mark.parametrize(
    ("rule", "value", "passes"),
    [
        ("string", '"x"', True),
        ("string", "1", False),
        ("integer", "1", True),
        ("integer", "1.0", False),
        ("integer", "true", False),
        ("boolean", "false", True),
        ("boolean", "0", False),
        ("array", "[]", True),
        ("array", "{}", False),
        ("object", "{}", True),
        ("object", "null", False),
        ("null", "null", True),
        ("null", "0", False),
        ("number", "NaN", True),
        ("number", "true", False),
    ],
)
def test_rules(rule, value, passes):
    verdict = validate(
        f'{{"k": {value}}}', {"type": "json_keys", "key_rules": {"k": {"type": rule}}}
    )
    assert verdict.objective_pass is passes
    assert verdict.violation == (None if passes else f"key_rule_{rule}_failed:k")


@pytest.mark.parametrize(
    ("answer", "passed", "violation"),
    [
        ('{"k": 1}', None, "unknown_validator:date"),
        ("{}", True, None),
        ('{"k": 1, "n": "x"}', False, "key_rule_number_failed:n"),
        ("[]", False, "json_not_object"),
    ],
)
def test_an_unknown_rule_affects_only_what_depends_on_it(answer, passed, violation):
    rules = {"k": {"type": "date"}, "n": {"type": "number"}}
    verdict = validate(answer, {"type": "json_keys", "key_rules": rules})
    assert (verdict.objective_pass, verdict.violation) == (passed, violation)


@pytest.mark.parametrize(
    ("answer", "expected", "passed"),
    [
        ("Call `free`.", ["free"], True),
        ("Call `free`.", ["uptime"], False),
        ("Call `free`.", [], True),
        ("All is well.", ["free"], False),
        ("All is well.", [], False),
    ],
)
def test_a_tool_must_be_named_and_one_of_those_expected(answer, expected, passed):
    verdict = validate(answer, {"type": "tool_invocation", "expected_tools": expected})
    assert verdict.objective_pass is passed


@pytest.mark.parametrize(
    ("validator", "reason"),
    [
        ({"type": "tool_invocation", "expected_tools": [5]}, "expected_tools: a name is not"),
        ({"type": "tool_invocation", "expected_tools": 5}, "expected_tools: not a list"),
        ({"type": "json_keys", "required_keys": 5}, "required_keys: not a list"),
        ({"type": "json_keys", "required_keys": [["a"]]}, "required_keys: a key is not a string"),
        ({"type": "json_keys", "key_rules": []}, "key_rules: not an object"),
        ({"type": "json_keys", "key_rules": {"a": 5}}, "key_rules.a: not an object"),
        (
            {"type": "json_keys", "key_rules": {"a": {"type": "one_of", "values": "x"}}},
            "key_rules.a.values: not a list",
        ),
    ],
)
def test_broken_validator_gives_no_verdict_whatever_the_text(validator, reason):
    for text in ("plain", "`ls` -l", "{}", '{"a": 1}', '{"a": [1], "b": "x"}', "[1]"):
        verdict = validate(text, validator)
        assert verdict.objective_pass is None
        assert verdict.violation.startswith(f"invalid_validator: {reason}")
    assert read_rules([json.dumps(validator)]) == [None]  # SQL leaves it to this function


@given(texts)
def test_sentences_are_the_parts_between_ends(text):
    assert count_sentences(text) == sum(
        bool(part.strip()) for part in re.split(r"(?<=[.!?])\s+", text)
    )


@example("```{}``` }")
@example("x {x} x")
@given(st.text(st.sampled_from(list("`{} \njsonJSO\u017fx")), max_size=40))
def test_the_candidate_equals_the_match_of_a_pattern(text):
    fence = re.search(r"```(?:json)?\s*(\{.*?\})\s*```", text, re.DOTALL | re.IGNORECASE)
    braces = re.search(r"\{.*\}", text, re.DOTALL)
    expected = fence[1] if fence else braces[0] if braces else text.strip()
    assert json_candidate(text) == expected


@pytest.mark.parametrize(
    "piece", ["```{", "```json\n", "{", "}", "} ", "[", "- ", "a. ", '"', "\\"]
)
def test_hostile_text_takes_linear_time(piece):
    text = piece * (2_000_000 // len(piece))
    for kind in ("json_keys", "max_sentences", "exact_bullets", "tool_invocation"):
        assert validate(text, {"type": kind, "value": 1}).objective_pass is not None


@pytest.mark.parametrize(
    ("parsed", "expected"),
    [
        (None, None),
        ("x", {"text": "x"}),
        ({"a": 1}, {"a": 1}),
        ([1], {"value": [1]}),
        (False, {"value": False}),
        (0, {"value": 0}),
    ],
)
def test_parsed_output_becomes_an_object(parsed, expected):
    assert as_object(parsed) == expected


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": float("nan")}, '{"a":null}'),
        ({"a": float("inf"), "b": 2**70}, '{"a":null,"b":1180591620717411303424}'),
        ({"\ud800": ["\udfff"]}, '{"\ufffd\ufffd\ufffd":["\ufffd\ufffd\ufffd"]}'),
        ({"a": "\U0001f600"}, '{"a":"\U0001f600"}'),
    ],
)
def test_json_columns_hold_valid_json(value, text):
    assert to_json(value) == text


def test_json_nested_too_deeply_is_a_violation():
    verdict = validate('{"a":' + "[" * 100_000, {"type": "json_keys"})
    assert verdict.violation.startswith("json_parse_error: ")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            '{"a":1, \n}',
            "Expecting property name enclosed in double quotes: line 2 column 1 (char 9)",
        ),
        ('{"a":[1,]}', "Expecting value: line 1 column 9 (char 8)"),
    ],
)
def test_a_trailing_comma_has_one_message_on_every_python(answer, message):
    verdict = validate(answer, {"type": "json_keys"})
    assert verdict.violation == f"json_parse_error: {message}"


def test_messages_of_later_pythons_are_translated_to_earlier_ones():
    later = json.JSONDecodeError("Illegal trailing comma before end of object", '{"a":1, \n}', 6)
    assert str(_message(later)).endswith("double quotes: line 2 column 1 (char 9)")
    later = json.JSONDecodeError("Illegal trailing comma before end of array", "[1,]", 2)
    assert _message(later) == "Expecting value: line 1 column 4 (char 3)"


def test_nothing_to_validate():
    for validator in (None, {}, [], "", {"value": "x"}, {"type": "noop"}):
        assert validate(None, validator) == Verdict(None)
