"""Validators and tool detection as one would write them for a plain loop over rows.

Each validator is parsed and each pattern compiled once.
"""

import json
import re
from functools import lru_cache
from typing import Any

_NAME = r"[a-z0-9_\-.]+"
_TOOLS = (
    re.compile(f"`({_NAME})", re.IGNORECASE),
    re.compile(f"['\"]({_NAME})\\s+"),
    re.compile(rf"[$#]\s+({_NAME})"),
    re.compile(f"<tool>({_NAME})</tool>", re.IGNORECASE),
    re.compile(rf"\[(?:tool|TOOL):\s*({_NAME})\]"),
)
_SENTENCES = re.compile(r"(?<=[.!?])\s+")
_FENCE = re.compile(r"```(?:json)?\s*(\{.*?\})\s*```", re.DOTALL | re.IGNORECASE)
_parse = lru_cache(json.loads)
_compile = lru_cache(re.compile)


def plain_tools(text: str) -> list[str]:
    """Return the tools that a text invokes."""
    found: list[str] = []
    for pattern in _TOOLS:
        for name in pattern.findall(text):
            if name.lower() not in found:
                found.append(name.lower())
    return found


def _plain_json(text: str, validator: dict[str, Any]) -> tuple[bool, str | None, Any]:
    fence = _FENCE.search(text)
    candidate = fence[1] if fence else text[text.find("{") : text.rfind("}") + 1] or text
    try:
        value = json.loads(candidate)
    except ValueError as error:
        return (
            False,
            f"json_parse_error: {error}",
            {"raw": text[:500], "candidate": candidate[:500]},
        )
    if not isinstance(value, dict):
        return False, "json_not_object", value
    for key in validator.get("required_keys", []):
        if key not in value:
            return False, f"missing_key:{key}", value
    for key, rule in validator.get("key_rules", {}).items():
        if key in value and value[key] not in rule["values"]:
            return False, f"key_rule_one_of_failed:{key}", value
    return True, None, value


def _plain_count(text: str, validator: dict[str, Any]) -> tuple[bool, str | None, Any]:
    limit = int(validator["value"])
    if validator["type"] == "max_words":
        got = len(text.split())
        violation = f"too_many_words got={got} limit={limit}"
        return got <= limit, None if got <= limit else violation, {"words": got, "text": text}
    if validator["type"] == "max_sentences":
        got = len([part for part in _SENTENCES.split(text) if part.strip()])
        violation = f"too_many_sentences got={got} limit={limit}"
        return got <= limit, None if got <= limit else violation, {"sentences": got, "text": text}
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    got = len([line for line in lines if line.lstrip().startswith("-")])
    violation = f"bullet_count got={got} want={limit}"
    return got == limit, None if got == limit else violation, {"bullets": got, "lines": lines[:20]}


def _plain_value(text: str, validator: dict[str, Any]) -> tuple[bool, str | None, Any]:
    parsed = {"text": text}
    if validator["type"] == "exact":
        passed, violation = (
            text == validator["value"],
            f"exact_mismatch want={validator['value']!r}",
        )
    elif validator["type"] == "one_of":
        passed, violation = text in validator["values"], f"not_one_of {validator['values']}"
    else:
        pattern = validator["pattern"]
        passed = bool(_compile(pattern).fullmatch(text))
        violation = f"regex_fullmatch_failed pattern={pattern!r}"
    return passed, None if passed else violation, parsed


_PLAIN = {
    "json_keys": _plain_json,
    "exact": _plain_value,
    "one_of": _plain_value,
    "regex_fullmatch": _plain_value,
    "max_words": _plain_count,
    "max_sentences": _plain_count,
    "exact_bullets": _plain_count,
}


def plain_verdict(text: str, validator_json: str) -> dict[str, object]:
    """Return whether an output passes its validator, why not, and the parsed value as JSON."""
    validator = _parse(validator_json)
    kind = validator["type"]
    passed: bool | None
    parsed: Any
    if kind == "noop":
        passed, violation, parsed = None, None, None
    elif kind == "tool_invocation":
        found = plain_tools(text)
        passed = any(tool in found for tool in validator["expected_tools"])
        violation = None if passed else f"no_tool_invocation expected={validator['expected_tools']}"
        parsed = {"detected_tools": found, "count": len(found)}
    else:
        text = text.strip(" \t\r\n")
        passed, violation, parsed = _PLAIN[kind](text, validator)
    if parsed is not None and not isinstance(parsed, dict):
        parsed = {"value": parsed}
    parsed_json = (
        None if parsed is None else json.dumps(parsed, ensure_ascii=False, separators=(",", ":"))
    )
    return {"objective_pass": passed, "violation": violation, "parsed_output": parsed_json}
