"""The YAML writer: independent readers load what was written."""

import json
import math

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML
from support import PALINDROME, needs_reference

from exports.palindrome.yaml_text import UnwritableError, dump
from warehouse.core.formats.yaml.documents import load

STYLE = PALINDROME / "yaml_style.jsonl"


def style_cases():
    """Return the cases; one record of the file spans three lines and is left out."""
    if not STYLE.exists():
        return []
    cases = []
    for line in STYLE.read_bytes().split(b"\n"):
        try:
            cases.append(json.loads(line))
        except ValueError:
            continue
    return cases


def readings(text):
    return {
        "YAML 1.1, PyYAML": yaml.load(text, yaml.SafeLoader),
        "YAML 1.1, libyaml": yaml.load(text, yaml.CSafeLoader),
        "YAML 1.2, ruamel": YAML(typ="safe", pure=True).load(text),
        "YAML 1.2, ours": load(text.encode()),
    }


def same(left, right):
    """Return whether values are equal, including types, signs of zero and NaN."""
    if isinstance(left, dict) and isinstance(right, dict):
        return list(left) == list(right) and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, float) and isinstance(right, float):
        nan = math.isnan(left) and math.isnan(right)
        return nan or (left == right and math.copysign(1, left) == math.copysign(1, right))
    return type(left) is type(right) and left == right


def assert_same_for_all(document):
    text = dump(document)
    for reader, value in readings(text).items():
        assert same(value, document), (reader, text, value)
    assert text.endswith("\n")
    assert dump(load(text.encode())) == text


# Characters that some reader interprets, more often than by chance.
TRICKY = st.text(st.sampled_from(" \n\t\r-:#?,[]{}'\"\\&*!|>%@`~=<0123456789._eExoTZabfn+yY\x85 é"))
ANY_TEXT = st.text() | TRICKY | st.text("\n \ta#-:", max_size=12)
# Words, numbers, dates and indicators of any version of YAML.
TOKENS = """y Y yes No ON off true False NULL null ~ << = .inf -.INF .NaN 0 1 -1 +1 0x1F 0o17 017
0b11 1_000 1e3 1.5 1. .5 ._ 12:30 190:20:30.15 2024-12-01 2024-1-1 --- ... - ? : :x -x ?x a:b a# #a
%a @a `a 0. +.5 -0 1e 0x 1:2:3 2001-12-14t21:59:43.10-05:00"""
WORDS = st.sampled_from(TOKENS.split())
SCALARS = (
    ANY_TEXT | WORDS | st.integers(-(10**30), 10**30) | st.floats() | st.booleans() | st.none()
)
KEYS = st.text(max_size=30) | TRICKY | WORDS
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(KEYS.filter(lambda k: len(k) < 99), inner)
    ),
    max_leaves=8,
)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(ANY_TEXT | WORDS)
def test_any_text_reads_back_in_every_position(text):
    assert_same_for_all({"key": text, "list": [text, {"key": text}, [text, "end"]], "end": "x"})


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.dictionaries(KEYS, VALUES, max_size=4))
def test_any_document_reads_back(document):
    assert_same_for_all(document)


@settings(max_examples=300, deadline=None)
@given(st.floats())
def test_any_float_is_written_without_exponent(number):
    text = dump({"x": number})
    assert_same_for_all({"x": number})
    assert "." in text
    assert math.isinf(number) or math.isnan(number) or "e" not in text


@needs_reference
@pytest.mark.parametrize("case", style_cases(), ids=lambda case: repr(case["value"])[:30])
def test_reference_values_read_back(case):
    assert_same_for_all({"tasks": [{case["kind"]: case["value"]}]})


@needs_reference
def test_reference_texts_are_reproduced_except_where_yaml_1_1_differs():
    cases = [case for case in style_cases() if case["kind"] == "answer" and case["lossless"]]
    # The original writes these plain, and YAML 1.1 readers load them as booleans.
    different = {
        case["value"] for case in cases if dump(load(case["yaml"].encode())) != case["yaml"]
    }
    assert different == {"no", "Y"}


def test_every_kind_of_value_has_one_form():
    document = {
        "date": "2024-12-01",
        "template": "Line one\nLine {prompt}",
        "kept": "a\n\n",
        "indented": " a\nb\n",
        "tasks": [
            {"prompt": "Ii: mikä?", "answer": "", "is_correct": True, "metadata": {}},
            {"prompt": "'n", "duration_seconds": 4.0, "cost_usd": 1e-7, "tokens": 12, "extra": []},
            ["a", ["b"]],
        ],
        "nothing": None,
    }
    assert dump(document) == (
        "date: '2024-12-01'\n"
        "template: |-\n  Line one\n  Line {prompt}\n"
        "kept: |+\n  a\n\n"
        "indented: |2\n   a\n  b\n"
        "tasks:\n"
        "  - prompt: 'Ii: mikä?'\n    answer: ''\n    is_correct: true\n    metadata: {}\n"
        '  - prompt: "\'n"\n    duration_seconds: 4.0\n    cost_usd: 0.0000001\n'
        "    tokens: 12\n    extra: []\n"
        "  - - a\n    - - b\n"
        "nothing: null\n"
    )
    assert dump({}) == "{}\n"


def test_long_text_is_never_wrapped():
    text = "sana " * 2_000 + "loppu"
    assert dump({"a": text}) == f"a: {text}\n"
    assert_same_for_all({"a": text, "b": f"{text}: {text}", "c": f"\t{text}"})


def test_the_deepest_document_written_can_be_read():
    document = {"a": 1}
    for _ in range(63):
        document = {"a": document}
    assert load(dump(document).encode()) == document
    with pytest.raises(UnwritableError, match="64 levels"):
        dump({"a": document})


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"tasks": [{"answer": "\ud83d"}]}, r"tasks\[0\]\.answer: lone surrogate"),
        ({"a\udc00": 1}, "surrogate"),
        ({"a": {1: 2}}, "must be text, not int"),
        ({"a": [b"x"]}, r"a\[0\]: bytes cannot be written"),
        ({"k" * 1_001: 1}, "key longer than 1,000 characters"),
        ({"a": 10**5_000}, "a: integer too long"),
    ],
)
def test_unwritable_values_are_refused_with_their_location(document, message):
    with pytest.raises(UnwritableError, match=message):
        dump(document)


def test_a_document_that_contains_itself_is_refused():
    document = {}
    document["a"] = [document]
    with pytest.raises(UnwritableError, match="64 levels"):
        dump(document)
