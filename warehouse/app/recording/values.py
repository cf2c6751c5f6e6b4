"""Checks of the values that a user's code records; a message names the field that is wrong."""

from __future__ import annotations

import json
import math
from numbers import Integral, Real
from typing import TYPE_CHECKING, TypeGuard

from warehouse.core.errors import BadInput
from warehouse.core.formats.values import is_integer

if TYPE_CHECKING:
    from collections.abc import Mapping

# A boolean is a number to Python; a score keeps them apart.
Score = float | int | bool | str | None

_LONGEST_NAME = 10_000  # characters: the id of a test can contain its parameters
_LARGEST_TEXT = 64 * 2**20  # bytes, as of a reply


def name(field: str, value: object) -> str:
    """Return the name of something: text that is not empty.

    Raises:
        BadInput: it is not.
    """
    text = _text(field, value)
    if not text.strip():
        raise BadInput(f"{field} is empty")
    if len(text) > _LONGEST_NAME:
        raise BadInput(
            f"{field} has {len(text):,} characters; {_LONGEST_NAME:,} are possible: pass a short "
            "name, and the text as prompt or output"
        )
    return text


def text_or_none(field: str, value: object) -> str | None:
    """Return text of at most 64 MiB, or None.

    Raises:
        BadInput: it is something else.
    """
    return None if value is None else _text(field, value)


def count_or_none(field: str, value: object) -> int | None:
    """Return an integer from 0, or None.

    Raises:
        BadInput: it is something else.
    """
    value = _plain(value)
    if value is None:
        return None
    number = int(value) if isinstance(value, Integral) else None
    if isinstance(value, bool) or not is_integer(number) or number < 0:
        raise BadInput(f"{field} is {_described(value)}: pass a whole number from 0, or None")
    return number


def amount_or_none(field: str, value: object) -> float | None:
    """Return a finite number from 0, or None.

    Raises:
        BadInput: it is something else.
    """
    value = _plain(value)
    if value is None:
        return None
    number = _float(field, value) if _is_number(value) else math.nan
    if math.isfinite(number) and number >= 0:
        return number
    raise BadInput(f"{field} is {_described(value)}: pass a finite number from 0, or None")


def verdict(field: str, value: object) -> bool | None:
    """Return True, False or None.

    Raises:
        BadInput: it is something else.
    """
    value = _plain(value)
    if value is None or isinstance(value, bool):
        return value
    raise BadInput(f"{field} is {_described(value)}: pass True, False or None")


def score(field: str, value: object) -> Score:
    """Return a score: a number, a boolean, text or None. NaN and infinity are numbers.

    Raises:
        BadInput: it is something else.
    """
    value = _plain(value)
    if value is None or isinstance(value, bool):
        return value
    if _is_number(value):
        return _float(field, value)
    if isinstance(value, str):
        return _text(field, value)
    raise BadInput(f"{field} is {_described(value)}: pass a number, a boolean, text or None")


def json_or_none(field: str, value: Mapping[str, object] | None) -> str | None:
    """Return a dict as JSON with sorted keys, or None.

    Raises:
        BadInput: it is something else, or has values that JSON cannot express.
    """
    if value is None:
        return None
    if not isinstance(value, dict):
        raise BadInput(f"{field} is {_described(value)}: pass a dict or None")
    try:
        text = json.dumps(
            value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True
        )
    except (TypeError, ValueError, RecursionError) as error:
        raise BadInput(
            f"{field} cannot be written as JSON ({error}): use texts, finite numbers, booleans, "
            "None, lists, and dicts with texts as keys"
        ) from error
    return _text(field, text)


def _text(field: str, value: object) -> str:
    if not isinstance(value, str):
        raise BadInput(
            f"{field} is {_described(value)}: pass text, such as str(…) or json.dumps(…)"
        )
    try:
        n_bytes = len(value) if value.isascii() else len(value.encode())
    except UnicodeEncodeError as error:
        raise BadInput(
            f"{field} is not valid Unicode: a lone surrogate at character {error.start + 1:,}; "
            'replace it, for example with text.encode("utf-8", "replace").decode()'
        ) from error
    if n_bytes > _LARGEST_TEXT:
        raise BadInput(f"{field} has {n_bytes / 2**20:,.1f} MiB; 64 MiB are possible")
    return str(value)


def _plain(value: object) -> object:
    """Return a number or boolean of numpy as Python's."""
    is_numpy = type(value).__module__ == "numpy" and hasattr(value, "item")
    if is_numpy and getattr(value, "ndim", None) == 0:
        plain: object = value.item()  # type: ignore[attr-defined]
        return plain
    return value


def _is_number(value: object) -> TypeGuard[Real]:
    return isinstance(value, Real) and not isinstance(value, bool)


def _float(field: str, value: Real) -> float:
    try:
        return float(value)
    except OverflowError as error:
        raise BadInput(f"{field} is too large for a 64-bit floating-point number") from error


def _described(value: object) -> str:
    """Return a value as in "the number -1" or "a list"."""
    if isinstance(value, int) and not is_integer(value) and not isinstance(value, bool):
        return "a very large number"
    if isinstance(value, bool | int | float):
        return repr(value)
    if isinstance(value, str):
        return "empty text" if not value else "text"
    if value is None:
        return "None"
    return f"of type {type(value).__name__}"
