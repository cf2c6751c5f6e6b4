"""The verdict of a validator on an output, and the shapes of its parts."""

import json
import math
from dataclasses import dataclass
from typing import TypeAlias

import orjson

from warehouse.core.formats.values import utf8

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether an output passed its validator.

    Attributes:
        objective_pass: None if there was nothing to validate, or it could not be validated.
        violation: the first rule that was broken; if `objective_pass` is None, why there is no
            verdict (`unknown_validator:...`, `invalid_validator: ...`, `regex_timeout`).
        parsed_output: what the validator read, in the original harness's shape: the stripped text,
            counts, the JSON value, or the tools.
    """

    objective_pass: bool | None
    violation: str | None = None
    parsed_output: JsonValue = None


def passed(parsed_output: JsonValue) -> Verdict:
    """Return the verdict on an output that meets all rules."""
    return Verdict(True, None, parsed_output)  # noqa: FBT003 - named by this function


def failed(violation: str, parsed_output: JsonValue) -> Verdict:
    """Return the verdict on an output that breaks a rule."""
    return Verdict(False, violation, parsed_output)  # noqa: FBT003


def undecided(reason: str | None, parsed_output: JsonValue = None) -> Verdict:
    """Return the absence of a verdict: nothing to validate, or it could not be validated."""
    return Verdict(None, reason, parsed_output)


class InvalidValidatorError(ValueError):
    """A validator that cannot be applied; the message names the field and what is wrong."""


def as_object(parsed_output: JsonValue) -> dict[str, JsonValue] | None:
    """Return `parsed_output` as an object, as the original records it; None for None.

    Text becomes `{"text": ...}`; any other value that is not an object becomes `{"value": ...}`.
    """
    if parsed_output is None or isinstance(parsed_output, dict):
        return parsed_output
    return {"text" if isinstance(parsed_output, str) else "value": parsed_output}


def to_json(value: JsonValue) -> str | None:
    """Return valid JSON in valid UTF-8; None for None and for a value nested too deeply.

    NaN and the infinities become null, a lone surrogate becomes U+FFFD: columns hold no others.
    """
    if value is None:
        return None
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # a surrogate, a number over 64 bits, or deep nesting
        pass
    try:
        return utf8(json.dumps(_finite(value), ensure_ascii=False, separators=(",", ":")))
    except RecursionError:
        return None


def _finite(value: JsonValue) -> JsonValue:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return value
