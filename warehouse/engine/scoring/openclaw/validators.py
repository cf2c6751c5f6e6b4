"""The nine validators, for one output and for columns of them."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from warehouse.core.formats.values import utf8
from warehouse.engine.scoring.columns import map_by_key
from warehouse.engine.scoring.openclaw.json_keys import check_json_keys
from warehouse.engine.scoring.openclaw.text_checks import (
    WHITESPACE,
    check_exact,
    check_exact_bullets,
    check_max_sentences,
    check_max_words,
    check_one_of,
)
from warehouse.engine.scoring.openclaw.tools import detect_tools, lowered_names
from warehouse.engine.scoring.openclaw.verdicts import (
    InvalidValidatorError,
    JsonValue,
    Verdict,
    as_object,
    failed,
    passed,
    to_json,
    undecided,
)
from warehouse.engine.scoring.regex.matching import Match, fullmatch, fullmatch_many

Check: TypeAlias = Callable[[str, Mapping[str, object]], Verdict]


def validate(text: str | None, validator: object) -> Verdict:
    """Judge an output; violations are worded as in the original harness.

    Where the original crashes there is no verdict, and the violation says why
    (`invalid_validator: <field>: <what is wrong>`, `no_text`).

    Args:
        text: the raw output.
        validator: an object with a `type` and that type's keys. None, an empty object, or one
            without a type validates nothing.
    """
    check, validator = _chosen(validator)
    if text is None:
        return undecided(None if check is _check_nothing else "no_text")
    return _judge(text, check, validator)


def validate_batch(
    texts: Sequence[str | None], validators_json: Sequence[str | None]
) -> list[dict[str, object] | None]:
    """Apply `validate` to columns; each distinct pair is judged once.

    Args:
        texts: raw outputs; None gives None.
        validators_json: the validator of each, as JSON text; None validates nothing.

    Returns:
        For each row `objective_pass`, `violation` and `parsed_output`, the last as the JSON text of
        an object. Equal rows share one dictionary, which must not be changed.
    """
    return map_by_key(_rows, validators_json, texts)


def _rows(validator_json: str | None, texts: Sequence[str]) -> Iterable[dict[str, object]]:
    return map(_row, _verdicts(validator_json, texts))


def _row(verdict: Verdict) -> dict[str, object]:
    violation = verdict.violation
    return {
        "objective_pass": verdict.objective_pass,
        "violation": None if violation is None else utf8(violation),
        "parsed_output": to_json(as_object(verdict.parsed_output)),
    }


def _verdicts(validator_json: str | None, texts: Sequence[str]) -> Iterable[Verdict]:
    try:
        validator = json.loads(validator_json) if validator_json is not None else None
    except (ValueError, RecursionError) as error:
        return [undecided(f"invalid_validator: not JSON: {error}")] * len(texts)
    check, validator = _chosen(validator)
    if check is _check_regex and isinstance(pattern := validator.get("pattern", ""), str):
        answers = [text.strip(WHITESPACE) for text in texts]
        matches = fullmatch_many(pattern, answers)
        return [_regex_verdict(*pair, pattern) for pair in zip(answers, matches, strict=True)]
    return (_judge(text, check, validator) for text in texts)


def _chosen(validator: object) -> tuple[Check, Mapping[str, object]]:
    """Return the check that a validator demands, and its keys."""
    if not validator:
        return _check_nothing, {}
    if not isinstance(validator, Mapping):
        return _refuse, {}
    kind = validator.get("type", "noop")
    return (CHECKS.get(kind, _name_unknown) if isinstance(kind, str) else _name_unknown), validator


def _judge(text: str, check: Check, validator: Mapping[str, object]) -> Verdict:
    try:
        return check(text, validator)
    except InvalidValidatorError as error:
        return undecided(f"invalid_validator: {error}")
    except RecursionError:
        return undecided("invalid_validator: nested too deeply")


def _check_nothing(_text: str, _validator: Mapping[str, object]) -> Verdict:
    return undecided(None)


def _name_unknown(_text: str, validator: Mapping[str, object]) -> Verdict:
    return undecided(f"unknown_validator:{validator['type']}")


def _refuse(_text: str, _validator: Mapping[str, object]) -> Verdict:
    raise InvalidValidatorError("not an object")


def _check_regex(text: str, validator: Mapping[str, object]) -> Verdict:
    pattern = validator.get("pattern", "")
    if not isinstance(pattern, str):
        raise InvalidValidatorError("pattern: not a string")
    answer = text.strip(WHITESPACE)
    return _regex_verdict(answer, fullmatch(pattern, answer), pattern)


def _regex_verdict(answer: str, match: Match, pattern: str) -> Verdict:
    if match.matched is None:
        wrong = (match.reason or "").removeprefix("invalid: ")
        if wrong != match.reason:
            return undecided(f"invalid_validator: pattern: {wrong}")
        return undecided(match.reason, answer)
    if match.matched:
        return passed(answer)
    return failed(f"regex_fullmatch_failed pattern={pattern!r}", answer)


def _check_json(text: str, validator: Mapping[str, object]) -> Verdict:
    return check_json_keys(text.strip(WHITESPACE), validator)


def _check_tools(text: str, validator: Mapping[str, object]) -> Verdict:
    expected = validator.get("expected_tools", [])
    names = lowered_names(expected or ())
    detected = detect_tools(text)
    parsed: JsonValue = {"detected_tools": [*detected], "count": len(detected)}
    if detected and not (names and set(detected).isdisjoint(names)):
        return passed(parsed)
    return failed(f"no_tool_invocation expected={expected}", parsed)


CHECKS: Mapping[str, Check] = {
    "noop": _check_nothing,
    "exact": check_exact,
    "one_of": check_one_of,
    "regex_fullmatch": _check_regex,
    "max_words": check_max_words,
    "max_sentences": check_max_sentences,
    "exact_bullets": check_exact_bullets,
    "json_keys": _check_json,
    "tool_invocation": _check_tools,
}
