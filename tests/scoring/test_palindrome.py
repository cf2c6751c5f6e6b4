"""Answers and verdicts of palindrome tasks: reference cases and cases by hand."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import PALINDROME, needs_reference

from warehouse.engine.connection import open_for_writing
from warehouse.engine.scoring import palindrome
from warehouse.engine.scoring.registry import UDFS


@pytest.fixture
def connection(tmp_path):
    with open_for_writing(tmp_path / "any.duckdb", wait_seconds=0) as connection:
        yield connection


@pytest.fixture(scope="module")
def cases():
    lines = (PALINDROME / "answers.jsonl").read_bytes().split(b"\n")
    return [json.loads(line) for line in lines if line]


@needs_reference
def test_every_reference_case(cases):
    assert len(cases) > 300
    for case in cases:
        extracted = palindrome.extract_answer(case["response"])
        assert extracted == case["extracted"], case["id"]
        assert palindrome.logged_answer(extracted, case["reference"]) == case["answer"], case["id"]
        assert palindrome.is_correct(extracted, case["reference"]) is case["is_correct"], case["id"]
        # The answer in a log, in lower case and truncated, gets the same verdict.
        assert palindrome.is_correct(case["answer"], case["reference"]) is case["is_correct"]


@needs_reference
def test_every_reference_case_in_sql(cases, connection):
    rows = connection.execute(
        """
        SELECT palindrome_answer(response) AS answer, palindrome_correct(answer, reference)
        FROM (SELECT unnest($responses) AS response, unnest($references) AS reference)
        """,
        {
            "responses": [case["response"] for case in cases],
            "references": [case["reference"] for case in cases],
        },
    ).fetchall()
    assert rows == [(case["extracted"], case["is_correct"]) for case in cases]


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("<PALINDROMI> Ii </PALINDROMI> ja <PALINDROMI>muu</PALINDROMI>", "Ii"),
        ("<palindromi>a\nb</Palindromi>", "a\nb"),
        ("  ei tageja \n", "ei tageja"),
        ("<PALINDROMI>auki", "<PALINDROMI>auki"),
        ("< PALINDROMI>Ii</PALINDROMI>", "< PALINDROMI>Ii</PALINDROMI>"),
        ("<PALINDROMI>a<PALINDROMI>b</PALINDROMI>", "a<PALINDROMI>b"),
        ("<PALINDROMI></PALINDROMI>", ""),
        ("", ""),
    ],
)
def test_where_the_answer_is(response, answer):
    assert palindrome.extract_answer(response) == answer


@pytest.mark.parametrize(
    ("answer", "reference", "correct"),
    [
        ("II!", "ii", True),
        ('"Ii".', "Ii", True),
        ("”ii”", "ii", False),  # only ASCII punctuation is removed
        ("a  b", "a b", False),  # inner spaces count
        ("a-b_c", "abc", True),  # punctuation is deleted, which joins the words
        ("a\u0308", "ä", False),  # no Unicode normalisation
        ("", ".", True),
        ("ii\u200b", "ii", False),
    ],
)
def test_what_counts_as_correct(answer, reference, correct):
    assert palindrome.is_correct(answer, reference) is correct


def test_long_answers_are_truncated_in_the_middle():
    # 1,001 > max(1000, 5 * 2): the first and last 200 are kept, 601 are removed.
    assert palindrome.logged_answer("a" * 1000, "ii") == "a" * 1000
    assert palindrome.logged_answer("A" * 1001, "ii") == (
        "a" * 200 + "...[601 chars truncated]..." + "a" * 200
    )
    assert palindrome.logged_answer("a" * 1500, "b" * 300) == "a" * 1500
    assert len(palindrome.logged_answer("a" * 1501, "b" * 300)) < 500


@given(st.text())
def test_the_answer_in_tags_is_extracted(text):
    if "</palindromi>" not in text.lower():
        assert palindrome.extract_answer(f"x<PALINDROMI>{text}</PALINDROMI>y") == text.strip()


def test_null_gives_null_in_sql(connection):
    assert connection.execute(
        "SELECT palindrome_answer(NULL), "
        "palindrome_correct(NULL, 'a'), palindrome_correct('a', NULL)"
    ).fetchall() == [(None, None, None)]


def test_an_empty_column_gives_an_empty_column(connection):
    assert (
        connection.execute(
            "SELECT palindrome_correct(a, a) FROM (SELECT 'x' AS a WHERE false)"
        ).fetchall()
        == []
    )


def test_each_function_of_the_suite_is_tested():
    assert {udf.name for udf in UDFS if udf.name.startswith("palindrome_")} == {
        "palindrome_answer",
        "palindrome_correct",
    }
