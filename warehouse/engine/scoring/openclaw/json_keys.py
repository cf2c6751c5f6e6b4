"""The `json_keys` validator: the JSON in an answer, its keys, and the rules for their values."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from warehouse.engine.scoring.openclaw.verdicts import (
    InvalidValidatorError,
    JsonValue,
    Verdict,
    failed,
    passed,
    undecided,
)

# A rule for the value of each key: `{"type": ..., ...}`.
Rules: TypeAlias = Mapping[str, Mapping[str, object]]

_EXCERPT = 500
_FENCE_OPENS = re.compile(r"```(?:json)?\s*(?=\{)", re.IGNORECASE)
_FENCE_CLOSES = re.compile(r"\}(?=\s*```)")
_AFTER_COMMA = re.compile(r",[ \t\n\r]*")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


TYPE_RULES: Mapping[str, Callable[[object], bool]] = {
    "number": _is_number,
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}
RULE_TYPES = frozenset({"one_of", *TYPE_RULES})


def check_json_keys(text: str, validator: Mapping[str, object]) -> Verdict:
    """Judge an answer that should contain a JSON object.

    A rule for an absent key is skipped, and so is a rule without a type. A rule of an unknown type
    leaves the verdict open unless another rule is broken.

    Args:
        text: the stripped answer.
        validator: `required_keys`, in order, and `key_rules`: {key: {"type": ..., ...}}.

    Raises:
        InvalidValidatorError: keys or rules that are needed have the wrong shape.
    """
    required, rules = checked_rules(validator)
    candidate = json_candidate(text)
    try:
        value = json.loads(candidate)
    except (ValueError, RecursionError) as error:
        excerpts: JsonValue = {"raw": text[:_EXCERPT], "candidate": candidate[:_EXCERPT]}
        return failed(f"json_parse_error: {_message(error)}", excerpts)
    if not isinstance(value, dict):
        return failed("json_not_object", value)
    broken = _missing_key(value, required) or _broken_rule(value, rules)
    if broken:
        return failed(broken, value)
    unknown = _unknown_rule(value, rules)
    return undecided(unknown, value) if unknown else passed(value)


def checked_rules(validator: Mapping[str, object]) -> tuple[Iterable[str], Rules]:
    """Return the required keys and the rules that have a type.

    They are checked before any text is read: a broken validator gives no verdict on any text.

    Raises:
        InvalidValidatorError: keys or rules have the wrong shape.
    """
    required = validator.get("required_keys", [])
    if not isinstance(required, Iterable):
        raise InvalidValidatorError("required_keys: not a list")
    if any(isinstance(key, list | dict) for key in required):
        raise InvalidValidatorError("required_keys: a key is not a string")
    rules = validator.get("key_rules", {})
    if not isinstance(rules, Mapping):
        raise InvalidValidatorError("key_rules: not an object")
    for key, rule in rules.items():
        _check_rule(key, rule)
    return required, {key: rule for key, rule in rules.items() if "type" in rule}


def _check_rule(key: str, rule: object) -> None:
    if not isinstance(rule, Mapping):
        raise InvalidValidatorError(f"key_rules.{key}: not an object")
    if rule.get("type") == "one_of" and not isinstance(rule.get("values", []), list):
        raise InvalidValidatorError(f"key_rules.{key}.values: not a list")


def json_candidate(text: str) -> str:
    """Return the part of an answer that is read as JSON.

    That is the first fenced block with `{...}`, up to the first `}` that only whitespace separates
    from the next fence; otherwise the text from the first `{` to the last `}`; otherwise all of it.
    """
    text = text.strip()
    # Two searches, not one: `{.*?}` would scan to the end of the text from each opening fence.
    opening = _FENCE_OPENS.search(text) if "```" in text else None
    closing = _FENCE_CLOSES.search(text, opening.end() + 1) if opening else None
    if opening and closing:
        return text[opening.end() : closing.end()]
    start, end = text.find("{"), text.rfind("}")
    return text[start : end + 1] if 0 <= start < end else text


def _message(error: Exception) -> str:
    """Return the parser's message as Python 3.11 and 3.12 word it, on later versions too."""
    if isinstance(error, json.JSONDecodeError) and error.msg.startswith("Illegal trailing comma"):
        whitespace = _AFTER_COMMA.match(error.doc, error.pos)
        position = whitespace.end() if whitespace else error.pos
        expected = "property name enclosed in double quotes" if "object" in error.msg else "value"
        return str(json.JSONDecodeError(f"Expecting {expected}", error.doc, position))
    return str(error)


def _missing_key(value: Mapping[str, object], required: Iterable[str]) -> str | None:
    for key in required:
        if key not in value:
            return f"missing_key:{key}"
    return None


def _broken_rule(value: Mapping[str, object], rules: Rules) -> str | None:
    for key, rule in rules.items():
        kind = rule["type"]
        if key not in value or not isinstance(kind, str) or kind not in RULE_TYPES:
            continue
        holds = (
            _is_one_of(value[key], rule.get("values", []), key)
            if kind == "one_of"
            else TYPE_RULES[kind](value[key])
        )
        if not holds:
            return f"key_rule_{kind}_failed:{key}"
    return None


def _is_one_of(value: object, values: object, key: str) -> bool:
    try:
        return isinstance(values, list) and value in values
    except RecursionError as error:
        raise InvalidValidatorError(f"key_rules.{key}.values: {error}") from error


def _unknown_rule(value: Mapping[str, object], rules: Rules) -> str | None:
    for key, rule in rules.items():
        kind = rule["type"]
        if key in value and (not isinstance(kind, str) or kind not in RULE_TYPES):
            return f"unknown_validator:{kind}"
    return None
