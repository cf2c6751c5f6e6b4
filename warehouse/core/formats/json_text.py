"""JSON for columns: always valid, and the same text for the same value."""

from __future__ import annotations

import json
import math

from warehouse.core.formats.values import utf8

# `json.dumps` would make an encoder for each call.
_as_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def json_text(value: object) -> str:
    """Return a value as JSON text, in the order of its keys, with non-ASCII characters raw.

    JSON has neither NaN nor infinity: they become text. UTF-8 has no lone surrogates: they become
    U+FFFD. `is_exact` returns whether neither was necessary.
    """
    try:
        text = _as_json(value)
    except ValueError:
        text = _as_json(_finite(value))
    return utf8(text)


def canonical_json(value: object) -> str:
    """Return a value as JSON text with its keys sorted."""
    return json_text(_sorted(value))


def is_exact(value: object) -> bool:
    """Return whether JSON text can be read back as the same value."""
    try:
        _as_json(value).encode()
    except ValueError:
        return False
    return True


def _finite(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return value


def _sorted(value: object) -> object:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_sorted(item) for item in value]
    return value
