"""Checks a file of prompts before anything runs."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from warehouse.engine.scoring.openclaw.json_keys import RULE_TYPES
from warehouse.engine.scoring.openclaw.validators import CHECKS
from warehouse.engine.scoring.regex.matching import pattern_error


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem in a file of prompts.

    Attributes:
        prompt_id: the prompt's id; `#3` for the third prompt if it has no id; empty for the file.
        field: path of the field, such as `validator.key_rules.route.type`; empty for the prompt.
        message: what is wrong, with the value.
    """

    prompt_id: str
    field: str
    message: str


_Found = Iterator[tuple[str, str]]  # field and message


def check_prompts(document: object) -> list[Problem]:
    """Return every problem of a file of prompts, in the order of the file.

    Args:
        document: the file's JSON value, a list of prompts.
    """
    if not isinstance(document, list):
        return [Problem("", "", "the file is not a list of prompts")]
    problems: list[Problem] = []
    seen: Counter[str] = Counter()
    for place, prompt in enumerate(document, 1):
        prompt_id = _id(prompt) or f"#{place}"
        problems += [Problem(prompt_id, *found) for found in _check_prompt(prompt)]
        seen[prompt_id] += 1
        if seen[prompt_id] == 2:  # noqa: PLR2004
            problems.append(
                Problem(prompt_id, "id", f"the id {prompt_id!r} is used more than once")
            )
    return problems


def _id(prompt: object) -> str | None:
    value = prompt.get("id") if isinstance(prompt, Mapping) else None
    return value if isinstance(value, str) else None


def _check_prompt(prompt: object) -> _Found:
    if not isinstance(prompt, Mapping):
        yield "", f"a prompt must be an object, not {_kind(prompt)}"
        return
    for key in ("id", "prompt"):
        yield from _check_text_field(prompt, key)
    if not isinstance(prompt.get("name"), str | None):
        yield "name", f"must be a string, not {_kind(prompt['name'])}"
    expected = prompt.get("expected_tool_calls")
    if expected is not None:
        yield from _check_names(expected, "expected_tool_calls")
    validator = prompt.get("validator")
    if validator is not None:
        yield from _check_validator(validator)


def _check_validator(validator: object) -> _Found:
    if not isinstance(validator, Mapping):
        yield "validator", f"must be an object, not {_kind(validator)}"
        return
    if validator and "type" not in validator:
        yield "validator.type", "missing; without a type nothing is validated"
    kind = validator.get("type", "noop")
    if not isinstance(kind, str) or kind not in CHECKS:
        yield "validator.type", f"unknown validator type {kind!r}; known: {', '.join(CHECKS)}"
        return
    for key, check in _KEYS.get(kind, {}).items():
        if key not in validator:
            # Required keys alone are a rule; rules for their values are optional.
            if key != "key_rules":
                yield f"validator.{key}", f"missing; type {kind} needs it"
            continue
        yield from check(validator[key], f"validator.{key}")


def _check_text_field(holder: Mapping[str, object], key: str) -> _Found:
    value = holder.get(key)
    if value is None:
        yield key, "missing"
    elif not isinstance(value, str):
        yield key, f"must be a string, not {_kind(value)}"
    elif not value.strip():
        yield key, "empty"


def _text(value: object, field: str) -> _Found:
    if not isinstance(value, str):
        yield field, f"must be a string, not {_kind(value)}"


def _limit(value: object, field: str) -> _Found:
    if isinstance(value, bool) or not isinstance(value, int):
        yield field, f"must be an integer, not {value!r}"
    elif value < 0:
        yield field, f"must not be negative, but is {value}"


def _pattern(value: object, field: str) -> _Found:
    if not isinstance(value, str):
        yield field, f"must be a string, not {_kind(value)}"
    elif wrong := pattern_error(value):
        yield field, f"{wrong}, in {value!r}"


def _check_names(value: object, field: str) -> _Found:
    if not isinstance(value, list):
        yield field, f"must be a list of strings, not {_kind(value)}"
        return
    for place, item in enumerate(value):
        if not isinstance(item, str):
            yield f"{field}[{place}]", f"must be a string, not {_kind(item)}"


def _list(value: object, field: str) -> _Found:
    if not isinstance(value, list):
        yield field, f"must be a list, not {_kind(value)}"
    elif not value:
        yield field, "empty; no answer could pass"


def _rules(value: object, field: str) -> _Found:
    if not isinstance(value, Mapping):
        yield field, f"must be an object, not {_kind(value)}"
        return
    for key, rule in value.items():
        yield from _rule(rule, f"{field}.{key}")


def _rule(rule: object, field: str) -> _Found:
    if not isinstance(rule, Mapping):
        yield field, f"must be an object, not {_kind(rule)}"
    elif "type" not in rule:
        yield f"{field}.type", "missing"
    elif not isinstance(rule["type"], str) or rule["type"] not in RULE_TYPES:
        known = ", ".join(sorted(RULE_TYPES))
        yield f"{field}.type", f"unknown rule type {rule['type']!r}; known: {known}"
    elif rule["type"] == "one_of":
        yield from _list(rule.get("values"), f"{field}.values")


_JSON_KINDS = {bool: "a boolean", str: "a string", list: "a list", dict: "an object"}


def _kind(value: object) -> str:
    return "null" if value is None else _JSON_KINDS.get(type(value), "a number")


_KEYS: Mapping[str, Mapping[str, Callable[[object, str], _Found]]] = {
    "exact": {"value": _text},
    "one_of": {"values": _check_names},
    "regex_fullmatch": {"pattern": _pattern},
    "max_words": {"value": _limit},
    "max_sentences": {"value": _limit},
    "exact_bullets": {"value": _limit},
    "json_keys": {"required_keys": _check_names, "key_rules": _rules},
    "tool_invocation": {"expected_tools": _check_names},
}
