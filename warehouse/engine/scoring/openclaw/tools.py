"""The tools that an answer names, and whether an expected tool is among them."""

import re
from collections.abc import Collection, Iterable, Mapping

from warehouse.engine.scoring.openclaw.verdicts import InvalidValidatorError

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
    """Return the names of the tools that a text invokes, in lower case, each once.

    Five patterns (backtick, quote, shell prompt, XML, bracket) find them; the list is in the order
    of the patterns. The time is linear in the length of the text.
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
    """Return expected names as the original compares them: a string is a list of its characters.

    Raises:
        InvalidValidatorError: `expected` is not a list, or a name is not a string.
    """
    if not isinstance(expected, Iterable):
        raise InvalidValidatorError("expected_tools: not a list")
    names = list(expected)
    if not all(isinstance(name, str) for name in names):
        raise InvalidValidatorError("expected_tools: a name is not a string")
    return [name.lower() for name in names]


def expected_tools(validator: object, expected_tool_calls: object) -> list[str]:
    """Return the tools that a prompt and its validator expect, in lower case, each once.

    Args:
        validator: the prompt's validator; its `expected_tools` count.
        expected_tool_calls: the prompt's field of that name. Names that are not strings are left
            out.
    """
    named = validator.get("expected_tools") if isinstance(validator, Mapping) else None
    both = [*_names(named), *_names(expected_tool_calls)]
    return list(dict.fromkeys(name.lower() for name in both))


def _names(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    items: Iterable[object] = value if isinstance(value, Collection) else ()
    return [name for name in items if isinstance(name, str)]


def tool_use_success(*, success: bool, detected: Iterable[str], expected: Iterable[str]) -> bool:
    """Return whether a successful row used an expected tool.

    Args:
        success: whether the model answered without error.
        detected: names from `detect_tools`.
        expected: names from `expected_tools`; without names there is no success.
    """
    return success and not {name.lower() for name in expected}.isdisjoint(detected)
