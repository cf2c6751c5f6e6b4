"""Validators as rules that SQL can apply: most answers need no Python."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from warehouse.core.formats.values import is_integer
from warehouse.engine.scoring.openclaw.json_keys import checked_rules
from warehouse.engine.scoring.openclaw.text_checks import limit_of
from warehouse.engine.scoring.openclaw.tools import lowered_names
from warehouse.engine.scoring.regex.matching import pattern_error

_LIMITS = {"max_words": 0, "max_sentences": 1, "exact_bullets": 0}


@dataclass(frozen=True, slots=True)
class Rule:
    """What a validator demands.

    Attributes:
        kind: its type; `one_of` for `exact` too, which is a choice of one.
        wanted: the texts, patterns, or lower-case tools of which one is demanded.
        number: the limit for what is counted.
        violation: the message for an answer that fails, if it is the same for all answers.
    """

    kind: str
    wanted: tuple[str, ...] = ()
    number: int | None = None
    violation: str | None = None


def read_rules(validators_json: Sequence[str | None]) -> list[dict[str, object] | None]:
    """Return validators as rules for SQL; None for one that only `openclaw_verdict` can judge."""
    return [None if text is None else _read(text) for text in validators_json]


def _read(validator_json: str) -> dict[str, object] | None:
    try:
        rule = _rule(json.loads(validator_json) or {})
        if rule is None:
            return None
        # A column cannot hold a lone surrogate.
        "".join((*rule.wanted, rule.violation or "")).encode()
    except (ValueError, RecursionError):
        return None
    return asdict(rule)


def _rule(validator: object) -> Rule | None:
    kind = validator.get("type", "noop") if isinstance(validator, Mapping) else None
    if not isinstance(validator, Mapping) or not isinstance(kind, str):
        return None
    if kind == "json_keys":
        checked_rules(validator)
    if kind in {"noop", "json_keys"}:
        return Rule(kind)
    if kind in _LIMITS:
        number = limit_of(validator, _LIMITS[kind])
        return Rule(kind, number=number) if is_integer(number) else None
    return _choice(kind, validator)


def _choice(kind: str, validator: Mapping[str, object]) -> Rule | None:
    if kind == "exact":
        want = validator.get("value", "")
        return Rule("one_of", _texts([want]), violation=f"exact_mismatch want={want!r}")
    if kind == "one_of" and isinstance(values := validator.get("values", []), list):
        return Rule(kind, _texts(values), violation=f"not_one_of {values}")
    if kind == "regex_fullmatch" and isinstance(pattern := validator.get("pattern", ""), str):
        violation = f"regex_fullmatch_failed pattern={pattern!r}"
        return None if pattern_error(pattern) else Rule(kind, (pattern,), violation=violation)
    if kind == "tool_invocation":
        tools = validator.get("expected_tools", [])
        names = tuple(lowered_names(tools or ()))
        return Rule(kind, names, violation=f"no_tool_invocation expected={tools}")
    return None


def _texts(values: Sequence[object]) -> tuple[str, ...]:
    return tuple(value for value in values if isinstance(value, str))
