import math
from difflib import SequenceMatcher

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from poster_cases import read_cases
from support import needs_reference

from warehouse.engine.scoring.posters.records.text import (
    extract_json,
    normalise,
    normalise_handle,
    string_score,
)


def equal(a: object, b: object) -> bool:
    if isinstance(a, float) and isinstance(b, float) and math.isnan(a):
        return math.isnan(b)
    return a == b and type(a) is type(b)


@needs_reference
def test_extraction_equals_the_reference() -> None:
    for case in read_cases("extract_json.jsonl"):
        assert equal(extract_json(case["raw"]), case["parsed"]), case["raw"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("```json\n[1]\n```", [1]),
        ("```\n[1]", [1]),
        ('Sure: {"a": [1]} I hope this helps', {"a": [1]}),
        ("null", None),
        ("] [", None),
        ("```", None),
        ("", None),
        ("[" * 100_000, None),
        ("```json\r[1]\r```", [1]),
        ("```\u2028[1]\x85```", [1]),
        ("```\n5\n ```", None),
        ('```json\n{"a": "\u2028"}\n```', None),
    ],
)
def test_extraction(text: str, value: object) -> None:
    assert extract_json(text) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (True, "true"),
        (1.0, "1.0"),
        ([], "[]"),
        ({"A": None}, "{'a': none}"),
        ("  Straße\u3000", "straße"),
        ("a  B", "a  b"),
        ("a\\SsB", "a b"),
        ("a\\nb", "a\\nb"),
    ],
)
def test_normalisation(value: object, text: str) -> None:
    assert normalise(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("@Band", "band"),
        ("@@band", "@band"),
        ("@", ""),
        ("@ a", "a"),
        ("@ @a", "@a"),
        ("\\s", ""),
        (None, ""),
    ],
)
def test_one_at_sign_is_removed_from_a_handle(value: object, text: str) -> None:
    assert normalise_handle(value) == text


def test_whitespace() -> None:
    assert (string_score("", ""), string_score("a", ""), string_score("", "a")) == (1.0, 0.0, 0.0)


# With few letters and long texts, difflib's heuristic for popular letters takes effect.
texts = st.text("กขab ", max_size=12) | st.builds(
    lambda part, times, tail: part * times + tail,
    st.text("กab \ud800", min_size=1, max_size=9),
    st.integers(1, 60),
    st.text("abc", max_size=9),
)


@settings(deadline=None)
@given(texts, texts)
def test_similarity_equals_difflib(gold: str, prediction: str) -> None:
    if gold and prediction:
        assert string_score(gold, prediction) == SequenceMatcher(None, gold, prediction).ratio()


@given(texts)
def test_equal_texts_score_one_in_difflib_too(text: str) -> None:
    assert SequenceMatcher(None, text, text).ratio() == 1.0 == string_score(text, text)
