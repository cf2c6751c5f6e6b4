"""Similar names in error messages."""

import pytest

from warehouse.core.suggestions import did_you_mean, similar_names

VIEWS = ["leaderboard", "latency", "runs", "results"]


@pytest.mark.parametrize(
    ("name", "question"),
    [
        ("leaderbord", "did you mean 'leaderboard'?"),
        ("LEADERBOARD", "did you mean 'leaderboard'?"),
        ("run", "did you mean 'runs'?"),
        ("entirely different", "see the list"),
        ("", "see the list"),
    ],
)
def test_a_question_names_the_similar_names(name, question):
    assert did_you_mean(name, VIEWS, "see the list") == question


def test_several_similar_names_are_all_named():
    question = did_you_mean("gpt-5", ["gpt-4", "claude", "gpt-5.1"])
    assert question == "did you mean 'gpt-5.1' or 'gpt-4'?"


def test_names_that_differ_in_case_only_are_all_similar():
    assert similar_names("aurora", ["Aurora", "AURORA", "kaamos"]) == ["Aurora", "AURORA"]


def test_no_known_names():
    assert did_you_mean("x", []) == ""
