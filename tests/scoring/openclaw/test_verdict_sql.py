"""Verdicts and tools in SQL equal those of the Python functions to the last byte."""

import json

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openclaw_cases import json_values, pieces, read_cases, validators

from warehouse.engine.connection import open_for_writing
from warehouse.engine.scoring.openclaw.rules import read_rules
from warehouse.engine.scoring.openclaw.text_checks import WHITESPACE, count_sentences
from warehouse.engine.scoring.openclaw.tools import detect_tools
from warehouse.engine.scoring.openclaw.validators import validate_batch
from warehouse.engine.scoring.regex.matching import full_match_batch
from warehouse.engine.views.sql_files import shipped_sql

CHARACTERS = (
    "ab -.!?\n\r\t\v\f\"'`$#<[{}\\/:,1\0\x1b\x1c\x1f\x7f\x85\xa0\u2028\u3000\ufeffé\U0001f600"
)
answers = st.lists(
    st.sampled_from([*CHARACTERS, "```json", "null", "true", '{"a": 1}', "- ", ". ", "`ls`"])
    | pieces,
    max_size=30,
).map("".join)
SETTINGS = settings(max_examples=30, deadline=None)


@pytest.fixture(scope="module")
def connection(tmp_path_factory):
    path = tmp_path_factory.mktemp("sql") / "warehouse.duckdb"
    with open_for_writing(path, wait_seconds=0) as connection:
        for file in shipped_sql():
            if file.is_function:
                connection.execute(file.sql)
        yield connection


def of_each(connection, expression, texts):
    connection.register("texts", pa.table({"text": pa.array(texts, pa.string())}))
    return [value for (value,) in connection.execute(f"SELECT {expression} FROM texts").fetchall()]


def scored(connection, texts, validators):
    """Run the SQL of the score, and return its rows in order."""
    numbers = [f"{number:06}" for number in range(len(texts))]
    inputs = {"content_id": numbers, "raw_output": texts, "validator": validators}
    given = pa.table(inputs, pa.schema([(name, pa.string()) for name in inputs]))
    connection.register("given", given)
    connection.execute(
        "CREATE OR REPLACE TEMP VIEW inputs AS "
        "SELECT 'openclaw' AS suite, 'run' AS run_id, * FROM given"
    )
    (sql,) = (file.sql for file in shipped_sql() if file.qualified == "scores.openclaw_verdicts")
    columns = "objective_pass, violation, parsed_output"
    return connection.execute(f"SELECT {columns} FROM ({sql}) ORDER BY content_id").fetchall()


def in_python(texts, validators):
    return [
        (None, None, None) if row is None else tuple(row.values())
        for row in validate_batch(texts, validators)
    ]


@pytest.mark.slow
def test_reference_cases(connection):
    cases = [(case["output"], json.dumps(case["validator"])) for case in read_cases("validators")]
    texts, rules = zip(*(case for case in cases if is_storable(case[0] or "")), strict=True)
    assert scored(connection, texts, rules) == in_python(texts, rules)


@pytest.mark.slow
@SETTINGS
@given(st.lists(st.tuples(st.none() | answers, validators | json_values), min_size=1))
def test_verdicts(connection, pairs):
    texts = [text for text, _ in pairs]
    rules = [json.dumps(validator) for _, validator in pairs]
    assert scored(connection, texts, rules) == in_python(texts, rules)


COMMON = [
    {"type": "exact", "value": "ab"},
    {"type": "one_of", "values": ["a", "b", 1, None]},
    {"type": "max_words", "value": 2},
    {"type": "max_sentences", "value": 2},
    {"type": "exact_bullets", "value": 1},
    {"type": "json_keys", "required_keys": ["a"]},
    {"type": "regex_fullmatch", "pattern": "[a-b ]*"},
    {"type": "regex_fullmatch", "pattern": "["},
    {"type": "tool_invocation", "expected_tools": ["LS", "ab"]},
    {"type": "tool_invocation"},
]


@pytest.mark.slow
@SETTINGS
@given(st.lists(answers, min_size=1, max_size=20))
def test_verdicts_of_common_validators(connection, column):
    texts = [text for text in column for _ in COMMON]
    rules = [json.dumps(validator) for validator in COMMON] * len(column)
    assert scored(connection, texts, rules) == in_python(texts, rules)


@SETTINGS
@given(st.lists(answers | st.none(), max_size=50))
def test_tools(connection, column):
    expected = [None if text is None else detect_tools(text) for text in column]
    assert of_each(connection, "openclaw_tools(text)", column) == expected


@SETTINGS
@given(st.lists(answers, max_size=50))
def test_counts(connection, column):
    sentences = "sentence_count(stripped(text, whitespace_class()))"
    row = f"(word_count(text), {sentences}, nonblank_lines(text))"
    assert of_each(connection, row, column) == [
        (
            len(text.split()),
            count_sentences(text),
            [line.rstrip() for line in text.splitlines() if line.strip()],
        )
        for text in column
    ]


@pytest.mark.slow
def test_every_character_is_classified_like_in_python(connection):
    letters = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    is_whitespace = of_each(
        connection, "regexp_matches(text, '[' || whitespace_class() || ']')", letters
    )
    assert is_whitespace == [letter.isspace() for letter in letters]
    few = letters[:0x3100]
    row = "(word_count('a' || text || 'b'), stripped(text || 'a', ' \\t\\r\\n'), to_json(text))"
    for letter, (words, text, quoted) in zip(few, of_each(connection, row, few), strict=True):
        assert words == len(f"a{letter}b".split()), hex(ord(letter))
        assert text == f"{letter}a".strip(WHITESPACE), hex(ord(letter))
        # The rest is left to Python.
        assert "\\u00" in quoted or quoted == json.dumps(letter, ensure_ascii=False)


def is_storable(text):
    """Return whether a column can hold a text: it has no lone surrogate."""
    return text == text.encode("utf-8", "replace").decode()


def test_rules_that_sql_cannot_apply():
    unusual = [
        None,
        "{",
        "[1]",
        '{"type": 1}',
        '{"type": "other"}',
        '{"type": "one_of", "values": "abc"}',
        '{"type": "exact", "value": "\\ud800"}',
        '{"type": "max_words", "value": "many"}',
        '{"type": "max_words", "value": 9223372036854775808}',
        '{"type": "regex_fullmatch", "pattern": "["}',
        '{"type": "tool_invocation", "expected_tools": [1]}',
    ]
    assert read_rules(unusual) == [None] * len(unusual)


@pytest.mark.slow
def test_patterns_of_rows():
    rows = full_match_batch(
        ["a+", None, "a+", "[", "(x+x+)+(?=y)y"], ["aa", "a", "b", "a", "x" * 40]
    )
    assert rows[:3] == [{"matched": True, "reason": None}, None, {"matched": False, "reason": None}]
    assert rows[3]["reason"].startswith("invalid: ")
    assert rows[4] == {"matched": None, "reason": "regex_timeout"}
