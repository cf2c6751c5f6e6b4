import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openclaw_cases import FOLDER
from support import needs_reference

from warehouse.engine.scoring.openclaw.json_keys import RULE_TYPES
from warehouse.engine.scoring.openclaw.prompt_check import Problem, check_prompts
from warehouse.engine.scoring.openclaw.validators import CHECKS

GOOD = {"id": "P0", "name": "n", "prompt": "Say ok.", "validator": {"type": "exact", "value": "ok"}}


def found(**changes):
    return [(problem.field, problem.message) for problem in check_prompts([{**GOOD, **changes}])]


def test_a_valid_file_has_no_problems():
    assert check_prompts([GOOD, {**GOOD, "id": "P1", "validator": None}]) == []


@needs_reference
@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("prompts_v1", []),
        ("prompts_tool_use_v1", []),
        ("prompts_tool_use_enhanced", []),
        ("prompts_phase3b", []),
        ("prompts_badregex", [("B1", "validator.pattern")]),
        (
            "prompts_custom",
            [
                ("C3", "validator.type"),
                ("C5", "validator.value"),
                ("C6", "validator.values"),
                ("C7", "validator.value"),
                ("C12", "validator.expected_tools"),
            ],
        ),
    ],
)
def test_reference_files(name, fields):
    path = FOLDER / "prompts" / f"{name}.json"
    problems = check_prompts(json.loads(path.read_text("utf-8")))
    assert [(problem.prompt_id, problem.field) for problem in problems] == fields


@pytest.mark.parametrize(
    ("validator", "field", "words"),
    [
        ("exact", "validator", "must be an object, not a string"),
        ({"value": "x"}, "validator.type", "nothing is validated"),
        ({"type": "sha256"}, "validator.type", "unknown validator type 'sha256'"),
        ({"type": ["exact"]}, "validator.type", "unknown validator type"),
        ({"type": "exact"}, "validator.value", "missing"),
        ({"type": "exact", "value": 5}, "validator.value", "a number"),
        ({"type": "one_of", "values": "ok"}, "validator.values", "a list of strings"),
        ({"type": "one_of", "values": ["a", None]}, "validator.values[1]", "null"),
        ({"type": "max_words", "value": True}, "validator.value", "an integer"),
        ({"type": "max_words", "value": -1}, "validator.value", "negative"),
        ({"type": "regex_fullmatch", "pattern": "["}, "validator.pattern", "unterminated"),
        ({"type": "regex_fullmatch", "pattern": 5}, "validator.pattern", "a number"),
        (
            {"type": "json_keys", "required_keys": ["a"], "key_rules": {"a": {"type": "date"}}},
            "validator.key_rules.a.type",
            "unknown rule type 'date'",
        ),
        (
            {"type": "json_keys", "required_keys": [], "key_rules": {"a": {"type": "one_of"}}},
            "validator.key_rules.a.values",
            "a list, not null",
        ),
        (
            {"type": "json_keys", "required_keys": [], "key_rules": {"a": "number"}},
            "validator.key_rules.a",
            "must be an object",
        ),
    ],
)
def test_a_wrong_validator_is_named(validator, field, words):
    ((where, message),) = found(validator=validator)
    assert where == field
    assert words in message


def test_a_wrong_prompt_is_named():
    assert found(prompt=" ") == [("prompt", "empty")]
    assert found(prompt=None, name=3) == [
        ("prompt", "missing"),
        ("name", "must be a string, not a number"),
    ]
    assert found(expected_tool_calls="free") == [
        ("expected_tool_calls", "must be a list of strings, not a string")
    ]
    assert check_prompts({}) == [Problem("", "", "the file is not a list of prompts")]
    assert check_prompts([5])[0].prompt_id == "#1"


def test_an_id_used_twice_is_named_once():
    assert check_prompts([GOOD, GOOD, GOOD]) == [
        Problem("P0", "id", "the id 'P0' is used more than once")
    ]


@pytest.mark.slow
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["id", "prompt", "validator", "type", "value", "key_rules"]), inner
            )
        ),
    )
)
def test_no_document_crashes(document):
    check_prompts(document)
    check_prompts([document])


def test_the_docs_name_every_validator_and_rule():
    text = (Path(__file__).parents[3] / "docs" / "openclaw.md").read_text("utf-8")
    _, _, validators = text.partition("\n## Validators\n")
    assert [name for name in {*CHECKS, *RULE_TYPES} if f"`{name}`" not in validators] == []
