"""Comparisons of an answer with the references of its task: as text, as a number, as JSON.

All have the same shape: the answer, the references (any may match) and the options in, a verdict
with its reason out.
"""

from __future__ import annotations

import json
import re
from decimal import Context, Decimal, DecimalException
from typing import TYPE_CHECKING

from warehouse.engine.scoring.openclaw.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Of a text: which whitespace counts.
WHITESPACE_MODES = ("outer", "exact", "single", "ignore")
_NUMBER = re.compile(
    r"[+-]?(\d{1,3}(,\d{3})+|\d+)?(?(1)(\.\d*)?|\.\d+)(e[+-]?\d{1,6})?", re.ASCII | re.IGNORECASE
)
_LONGEST_NUMBER = 200
_FENCE = re.compile(r"```(?:json)?[ \t]*\n(.*)\n[ \t]*```", re.DOTALL | re.IGNORECASE)
_EXACT = Context(prec=_LONGEST_NUMBER + 50)
_LONGEST_SHOWN = 100
_PASSED = Verdict(objective_pass=True)


def compare_text(
    answer: str, references: Sequence[object], options: Mapping[str, object]
) -> Verdict:
    """Check that the text equals a reference.

    `ignore_case` ignores letter case. `whitespace` says which whitespace counts: `outer` (the
    default) ignores leading and trailing whitespace, `exact` ignores none, `single` reads any run
    of whitespace as one space, `ignore` ignores all.
    """
    given = _normalised(answer, options)
    if any(given == _normalised(str(reference), options) for reference in references):
        return _PASSED
    return _failed(_differs(references))


def compare_numbers(
    answer: str, references: Sequence[object], options: Mapping[str, object]
) -> Verdict:
    """Check that the answer is a number near a reference.

    The difference may be at most `absolute`, or `relative` times the reference, whichever is
    larger; by default it must be zero. Calculated in decimal, so that 0.3 is 0.1 from 0.2.
    """
    given = as_decimal(answer)
    if given is None:
        return _failed("not a number")
    missed = []
    try:
        for reference in map(Decimal, map(str, references)):
            distance = _EXACT.subtract(given, reference).copy_abs()
            tolerance = _tolerance(reference, options)
            if distance <= tolerance:
                return _PASSED
            missed.append((distance, reference, tolerance))
    except DecimalException as error:
        return _failed(f"not a number to calculate with ({type(error).__name__})")
    distance, reference, tolerance = min(missed)
    return _failed(f"differs from {reference} by {distance:.6g}, more than {tolerance:.6g}")


def compare_json(
    answer: str, references: Sequence[object], _options: Mapping[str, object]
) -> Verdict:
    """Check that the answer is JSON equal to a reference.

    The order of keys does not matter, 1 equals 1.0, and true does not equal 1. A code fence around
    the whole answer is ignored.
    """
    try:
        given = parse_answer(answer)
    except ValueError as error:
        return _failed(f"not JSON: {error}")
    differences = [_difference(given, reference, "$") for reference in references]
    if None in differences:
        return _PASSED
    only = differences[0] if len(differences) == 1 else None
    return _failed(only or f"differs from all of {len(differences)} references")


def as_decimal(text: str) -> Decimal | None:
    """Return a text as a number: digits, a fraction, an exponent, commas between thousands."""
    stripped = text.strip()
    if len(stripped) > _LONGEST_NUMBER or not _NUMBER.fullmatch(stripped):
        return None
    return Decimal(stripped.replace(",", ""))


def parse_answer(answer: str) -> object:
    """Return the JSON value of an answer that is JSON, also in a code fence around all of it.

    Raises:
        ValueError: it is not JSON; NaN and infinity are not.
    """
    text = answer.strip()
    fenced = _FENCE.fullmatch(text)
    try:
        return json.loads(fenced[1] if fenced else text, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _failed(reason: str) -> Verdict:
    return Verdict(objective_pass=False, violation=reason)


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def _normalised(text: str, options: Mapping[str, object]) -> str:
    mode = options.get("whitespace", WHITESPACE_MODES[0])
    if mode == "outer":
        text = text.strip()
    elif mode in {"single", "ignore"}:
        text = (" " if mode == "single" else "").join(text.split())
    return text.casefold() if options.get("ignore_case") else text


def _tolerance(reference: Decimal, options: Mapping[str, object]) -> Decimal:
    absolute = Decimal(str(options.get("absolute", 0)))
    relative = Decimal(str(options.get("relative", 0)))
    return max(absolute, _EXACT.multiply(relative, reference).copy_abs())


def _differs(references: Sequence[object]) -> str:
    shown = ", ".join(_shown(repr(reference)) for reference in references)
    return f"differs from {'all of ' if len(references) > 1 else ''}{shown}"


def _difference(given: object, wanted: object, place: str) -> str | None:
    """Return the first difference between two JSON values; None if they are equal."""
    if isinstance(given, dict) and isinstance(wanted, dict):
        if given.keys() != wanted.keys():
            odd = min(given.keys() ^ wanted.keys())
            return f"{place}.{_shown(odd)}: {'missing' if odd in wanted else 'not expected'}"
        pairs = ((given[key], wanted[key], f"{place}.{key}") for key in wanted)
        return next(filter(None, (_difference(*pair) for pair in pairs)), None)
    if isinstance(given, list) and isinstance(wanted, list):
        if len(given) != len(wanted):
            return f"{place}: {len(given)} items instead of {len(wanted)}"
        items = ((*pair, f"{place}[{n}]") for n, pair in enumerate(zip(given, wanted, strict=True)))
        return next(filter(None, (_difference(*item) for item in items)), None)
    is_same_kind = isinstance(given, bool) is isinstance(wanted, bool)
    if is_same_kind and given == wanted:
        return None
    return f"{place}: {_shown(json.dumps(given))} instead of {_shown(json.dumps(wanted))}"


def _shown(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
