"""Tools that an answer names, and whether an expected one is among them."""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from warehouse.scoring.openclaw.verdicts import InvalidValidatorError

_NAME = r"[a-z0-9_\-.]+"
# `[a-z]` with IGNORECASE also takes these four letters; spelling them out is much faster.
_ANY_CASE_NAME = "[A-Za-z0-9_\\-.\u0130\u0131\u017f\u212a]+"
# A pattern that begins with one literal is searched at memory speed, hence `'` for both quotes and
# `#` for both prompts: the text is changed to fit.
_BACKTICK = re.compile(f"`({_ANY_CASE_NAME})")
_QUOTE = re.compile(rf"'({_NAME})\s")
_PROMPT = re.compile(rf"#\s+({_NAME})")
_XML = re.compile(f"<[tT][oO][oO][lL]>({_ANY_CASE_NAME})</[tT][oO][oO][lL]>")
_BRACKET = re.compile(rf"\[(?:tool|TOOL):\s*({_NAME})\]")


def detect_tools(text: str | None) -> list[str]:
    """The names of the tools that a text invokes, lower-cased, each once.

    They are found by five patterns (backtick, quote, shell prompt, XML, bracket) and listed
    pattern by pattern. The time is linear in the text.
    """
    found: list[str] = []
    if not text:
        return found
    if "`" in text:
        found += _BACKTICK.findall(text)
    if "'" in text or '"' in text:
        found += _QUOTE.findall(text.replace('"', "'"))
    if "#" in text or "$" in text:
        found += _PROMPT.findall(text.replace("$", "#"))
    if "<" in text:
        found += _XML.findall(text)
    if "[" in text:
        found += _BRACKET.findall(text)
    return list(dict.fromkeys(map(str.lower, found)))


def lowered_names(expected: object) -> list[str]:
    """Expected names as the original compares them: a string is a list of its characters.

    Raises:
        InvalidValidatorError: something that is no name, or no list of names.
    """
    if not isinstance(expected, Iterable):
        raise InvalidValidatorError("expected_tools: not a list")
    names = list(expected)
    if not all(isinstance(name, str) for name in names):
        raise InvalidValidatorError("expected_tools: a name is not a string")
    return [name.lower() for name in names]


def expected_tools(validator: object, expected_tool_calls: object) -> list[str]:
    """The tools that a prompt expects: its validator's and its own, lower-cased, each once.

    Args:
        validator: the prompt's validator; its `expected_tools` count.
        expected_tool_calls: the prompt's field of that name. What is no string is left out.
    """
    named = validator.get("expected_tools") if isinstance(validator, Mapping) else None
    both = [*_names(named), *_names(expected_tool_calls)]
    return list(dict.fromkeys(name.lower() for name in both))


def _names(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    items: Iterable[Any] = value if isinstance(value, Collection) else ()
    return [name for name in items if isinstance(name, str)]


def tool_use_success(*, success: bool, detected: Iterable[str], expected: Iterable[str]) -> bool:
    """Whether a successful row used an expected tool.

    Args:
        success: whether the model answered without error.
        detected: names from `detect_tools`.
        expected: names from `expected_tools`; without any there is no success.
    """
    return success and not {name.lower() for name in expected}.isdisjoint(detected)
