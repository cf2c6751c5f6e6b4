import re
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openclaw_cases import pieces, read_cases

from warehouse.engine.scoring.openclaw import tools
from warehouse.engine.scoring.openclaw.tools import (
    detect_tools,
    expected_tools,
    tool_use_success,
)

NAME = r"[a-z0-9_\-.]+"
PATTERNS = (
    re.compile(f"`({NAME})", re.IGNORECASE),
    re.compile(f"['\"]({NAME})\\s+"),
    re.compile(rf"[$#]\s+({NAME})"),
    re.compile(f"<tool>({NAME})</tool>", re.IGNORECASE),
    re.compile(rf"\[(?:tool|TOOL):\s*({NAME})\]"),
)


def plainly_detected(text):
    found = [name.lower() for pattern in PATTERNS for name in pattern.findall(text)]
    return list(dict.fromkeys(found))


def test_reference_cases():
    wrong = []
    for case in read_cases("tools"):
        if "raises" in case:
            continue  # depends on the prompt's names, not on the text
        calls = detect_tools(case["output"])
        if [calls, len(calls)] != [case["tool_calls"], case["tool_call_count"]]:
            wrong.append((case, calls))
    assert wrong == []


@given(st.lists(pieces).map("".join))
def test_tools_are_found_like_by_the_five_patterns(text):
    assert detect_tools(text) == plainly_detected(text)


@pytest.mark.slow
def test_letters_that_fold_to_ascii_are_listed():
    any_case = re.compile(tools._ANY_CASE_NAME)
    folding = re.compile(NAME, re.IGNORECASE)
    for code in range(sys.maxunicode + 1):
        assert bool(any_case.fullmatch(chr(code))) is bool(folding.fullmatch(chr(code))), hex(code)


@pytest.mark.parametrize(
    "piece",
    ["`", "'", '"', "$", "# ", "$ \n", "'a", "<tool>", "<tool>a", "[tool: ", "`a ", "a", " "],
)
def test_hostile_text_takes_linear_time(piece):
    text = piece * (10_000_000 // len(piece))
    start = time.process_time()
    detect_tools(text)
    assert time.process_time() - start < 20


def test_names_expected_by_validator_and_prompt_are_joined():
    assert expected_tools({"expected_tools": ["Free", "du"]}, ["FREE", "exec", 5]) == [
        "free",
        "du",
        "exec",
    ]
    assert expected_tools({"expected_tools": "free"}, None) == ["free"]
    assert expected_tools(None, {"free": 1}) == ["free"]


@pytest.mark.parametrize(
    ("success", "detected", "expected", "used"),
    [
        (True, ["free"], ["FREE"], True),
        (True, ["free"], ["du"], False),
        (True, ["free"], [], False),
        (False, ["free"], ["free"], False),
        (True, [], ["free"], False),
    ],
)
def test_our_tool_use_needs_success_and_an_expected_tool(success, detected, expected, used):
    assert tool_use_success(success=success, detected=detected, expected=expected) is used
