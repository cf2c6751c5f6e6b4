import json

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warehouse.core.formats.values import arrow_array, is_integer, utf8

LOST = "\ufffd" * 3
ANY_TEXT = st.text(st.characters(codec=None))


@pytest.mark.parametrize(
    ("value", "bits", "expected"),
    [
        (2**63 - 1, 64, True),
        (2**63, 64, False),
        (-(2**63), 64, True),
        (-(2**63) - 1, 64, False),
        (2**31 - 1, 32, True),
        (2**31, 32, False),
        (True, 64, False),
        (1.0, 64, False),
        ("1", 64, False),
        (None, 64, False),
    ],
)
def test_integers_that_fit_a_column(value, bits, expected):
    assert is_integer(value, bits) is expected


@settings(deadline=None)  # the first call imports pyarrow
@given(st.integers())
def test_an_integer_fits_if_arrow_accepts_it(value):
    try:
        pa.array([value], pa.int64())
        fits = True
    except OverflowError:
        fits = False
    assert is_integer(value) is fits


@given(st.text(st.characters(codec="utf-8")))
def test_valid_text_is_unchanged(text):
    assert utf8(text) == text


@given(ANY_TEXT)
def test_any_text_can_be_encoded(text):
    utf8(text).encode()


@pytest.mark.slow
@given(ANY_TEXT)
def test_cleaning_json_cleans_its_strings(text):
    assert json.loads(utf8(json.dumps(text, ensure_ascii=False))) == utf8(text)


def test_nested_surrogates_are_replaced():
    kind = pa.list_(pa.struct({"text": pa.string()}))
    column = arrow_array([[{"text": "a\ud800"}], None, [{"text": None}]], kind)
    assert column.to_pylist() == [[{"text": f"a{LOST}"}], None, [{"text": None}]]


def test_integers_out_of_range_are_refused():
    with pytest.raises(OverflowError):
        arrow_array([2**63], pa.int64())
