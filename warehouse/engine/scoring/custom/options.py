"""Readers of the references and options of scorers.

Each returns a value as rules hold it, and raises `OptionError`.
"""

from __future__ import annotations

import json
import math
import re

from warehouse.core.formats.values import MAX_DEPTH, is_nested_deeply
from warehouse.engine.scoring.custom.comparisons import WHITESPACE_MODES, as_decimal, parse_answer

_FUNCTION = re.compile(r"\w+(\.\w+)*:\w+")


class OptionError(ValueError):
    """A reference or option that cannot be used; the message says what is wrong."""


def text(value: object) -> str:
    """Read text."""
    if not isinstance(value, str):
        raise OptionError("must be text; put it in quotes")
    return value


def flag(value: object) -> bool:
    """Read true or false."""
    if not isinstance(value, bool):
        raise OptionError("must be true or false")
    return value


def number(value: object) -> str:
    """Read a number, which rules hold as text, with the digits that the user wrote."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    decimal = as_decimal(str(value)) if is_number or isinstance(value, str) else None
    if decimal is None:
        raise OptionError("must be a number")
    return str(decimal)


def tolerance(value: object) -> float:
    """Read a number that is not negative."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise OptionError("must be a number, zero or greater")
    return value


def choice_of_whitespace(value: object) -> str:
    """Read one of `WHITESPACE_MODES`."""
    if not isinstance(value, str) or value not in WHITESPACE_MODES:
        raise OptionError(f"must be one of {', '.join(WHITESPACE_MODES)}")
    return value


def function_name(value: object) -> str:
    """Read the name of a function, `module:function`."""
    if not isinstance(value, str) or not _FUNCTION.fullmatch(value):
        raise OptionError("must be `module:function`")
    return value


def mapping(value: object) -> object:
    """Read options of the user's own."""
    if not isinstance(value, dict):
        raise OptionError("must be a mapping")
    return json_value(value)


def judge_prompt(value: object) -> str:
    """Read the prompt of a judge."""
    if "{answer}" not in text(value):
        raise OptionError("the {answer} placeholder is missing")
    return text(value)


def any_value(value: object) -> object:
    """Read any value that JSON can hold."""
    return value if isinstance(value, str) else json_value(value)


def json_value(value: object) -> object:
    """Read any JSON value; text is read as JSON."""
    if isinstance(value, str):
        try:
            value = parse_answer(value)
        except ValueError as error:
            raise OptionError(f"not JSON ({error}); write the value or JSON text") from error
    if is_nested_deeply(value):
        raise OptionError(f"nested more than {MAX_DEPTH} levels deep: flatten it")
    try:
        json.dumps(value, allow_nan=False)
    except ValueError as error:
        raise OptionError("must not contain .nan or .inf: JSON has neither") from error
    return value
