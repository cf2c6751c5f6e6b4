"""The values of plain scalars: the core schema of YAML 1.2, with lower-case booleans only."""

from __future__ import annotations

import math
import re
from typing import Final, TypeAlias

ScalarValue: TypeAlias = bool | int | float | str | None

# Python's limit for decimal numbers; longer ones stay text.
MAX_DIGITS: Final = 4_300

_CONSTANTS: Final[dict[str, ScalarValue]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    "true": True,
    "false": False,
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
}
_OTHER_INTEGER: Final = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_IN_FLOATS: Final = re.compile(r"[.eE]")
_BASES: Final = {"0o": 8, "0x": 16}
_TAGS: Final[dict[str, type]] = {
    "tag:yaml.org,2002:int": int,
    "tag:yaml.org,2002:float": float,
    "tag:yaml.org,2002:bool": bool,
    "tag:yaml.org,2002:null": type(None),
}


def resolve(text: str) -> ScalarValue:
    """Return the value of a plain scalar; it is text unless it is null, a boolean or a number."""
    # The first character decides most scalars.
    if text[:1] in "-+.0123456789":
        return _CONSTANTS[text] if text in _CONSTANTS else _number(text)
    return _CONSTANTS.get(text, text)


def tagged_value(tag: str, text: str) -> ScalarValue:
    """Return the value of a scalar with an explicit tag.

    Raises:
        ValueError: the tag is not in the core schema, or the text is not of its type.
    """
    if tag == "tag:yaml.org,2002:str":
        return text
    if tag not in _TAGS:
        raise ValueError(f"the tag {tag[:60]!r} is not accepted: remove it")
    value = resolve(text)
    if type(value) is not _TAGS[tag]:
        raise ValueError(f"the value does not match its tag {tag[:60]!r}: remove the tag")
    return value


def _number(text: str) -> int | float | str:
    if len(text) > MAX_DIGITS:
        return text
    # Decimal numbers are most: one expression less for each.
    if _FLOAT.fullmatch(text):
        return float(text) if _IN_FLOATS.search(text) else int(text)
    return int(text, _BASES[text[:2]]) if _OTHER_INTEGER.fullmatch(text) else text
