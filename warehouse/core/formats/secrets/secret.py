"""A secret that was found, and tests that exclude placeholders and ordinary text."""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections import Counter
from dataclasses import dataclass

from warehouse.core.formats.secrets.patterns import late_pattern

GENERIC = "possible secret"
# A secret starts at the start of a word, in JSON text also after an escape (`\nghp_`), in a URL
# after `%3D`.
_ESCAPES = (r"\\[bfnrt]", r"\\u[0-9A-Fa-f]{4}", "%[0-9A-F]{2}")
_WORD = "A-Za-z0-9_-"
# Prefixes without punctuation would otherwise be found in any base64 text.
_BASE64 = f"+/{_WORD}"
# `your-api-key-here`, `replace_with_token`: words and small numbers, joined by punctuation.
_WORDS = late_pattern(
    rb"(?:[a-z]{1,20}|[A-Z]{1,20}|[A-Z][a-z]{1,20})?"
    rb"(?:[_.~/+-](?:[a-z]{1,20}|[A-Z]{1,20}|[A-Z][a-z]{1,20}|[0-9]{1,4}))+[_.-]?"
)
_PLACEHOLDERS = late_pattern(
    rb"your|my|example|sample|placeholder|change.?(?:me|this|it)|replace|insert|redacted|removed|"
    rb"hidden|masked|dummy|fake|mock|todo|here|null|none|undefined|default|value|string|text|"
    rb"api|auth|access|bearer|client|user(?:name)?|admin|root|guest|login|pass(?:word|wd|phrase)?|"
    rb"pwd|secret|token|key|credentials?|account|test(?:ing)?|demo|foo|bar|baz|qux|hunter2|letmein|"
    rb"welcome|qwerty|correct|horse|battery|staple|abc(?:def(?:gh[a-z]*)?)?|xyz|x{3,}|\*{3,}|\.{3,}|"
    rb"(?:0?1)?23456789?0?|0?1234?5?|111+|000+|[<>{}()\[\]$%_-]",
    re.IGNORECASE,
)
_NUMBER_DATE_OR_VARIABLE = late_pattern(
    rb"[+-]?[\d._,]+(?:e[+-]?\d+)?|\d{4}-\d\d-\d\d.*|(?-i:\$[A-Z_][A-Z0-9_]*)", re.IGNORECASE
)
_MIXED_RUN = late_pattern(rb"[A-Za-z0-9]{10,}")
_SHORTEST_KEY, _SHORTEST_PASSWORD, _SHORTEST_REST = 16, 6, 3
_KEY_BITS, _PASSWORD_BITS, _PUNCTUATED_BITS = 2.8, 2.2, 4.4  # entropy per character


def _start(characters: str, text: str) -> str:
    behind = "|".join(f"(?<={escape}{text})" for escape in _ESCAPES)
    return f"(?:(?<![{characters}]{text})|{behind})"


START = _start(_WORD, "")
# Of a text in base64, which may follow any sign but its own; a backslash begins an escape.
START_OF_BASE64 = _start(rf"\\{_BASE64}", "")


def started(text: str) -> str:
    """Return an expression that matches a literal text where a secret may start.

    The text comes first: Python finds one much faster than a condition about what precedes it.
    """
    literal = re.escape(text)
    return literal + _start(_BASE64 if text.isalnum() else _WORD, literal)


@dataclass(frozen=True, slots=True)
class Secret:
    """The position and kind of a secret.

    Attributes:
        start: position of its first byte.
        end: position after its last byte.
        kind: human-readable kind, such as "GitHub token".
    """

    start: int
    end: int
    kind: str


def is_words(text: bytes) -> bool:
    """Return whether a text consists of words joined by punctuation, so that it is not random."""
    return _WORDS.fullmatch(text) is not None


def is_random_key(text: bytes) -> bool:
    """Return whether a text can be a key: long, with letters and digits, and random."""
    rest = _PLACEHOLDERS.sub(b"", text)
    if len(rest) < _SHORTEST_KEY or not _has_letters_and_digits(text) or _is_plain(text):
        return False
    if not any(_has_letters_and_digits(run) for run in _MIXED_RUN.findall(text)):
        return entropy(text) >= _PUNCTUATED_BITS
    return entropy(text) >= _KEY_BITS


def is_random_password(text: bytes) -> bool:
    """Return whether a text can be a password: letters with digits or signs, not a placeholder."""
    rest = _PLACEHOLDERS.sub(b"", text)
    has_others = re.search(rb"[0-9!#$%&*+?@^=|]", text) and re.search(rb"[A-Za-z]", text)
    if len(text) < _SHORTEST_PASSWORD or not has_others or _is_plain(text):
        return False
    return len(rest) >= _SHORTEST_PASSWORD - 2 and entropy(text) >= _PASSWORD_BITS


def is_placeholder(text: bytes) -> bool:
    """Return whether a text is a placeholder for a password."""
    return len(_PLACEHOLDERS.sub(b"", text)) < _SHORTEST_REST


def is_user_and_password(text: bytes) -> bool:
    """Return whether a text is `user:password` in base64."""
    try:
        decoded = base64.b64decode(text + b"=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    user, colon, password = decoded.partition(b":")
    return bool(colon and (user or password)) and decoded.isascii() and b"\0" not in decoded


def entropy(text: bytes) -> float:
    """Return the Shannon entropy of a text, in bits per byte."""
    return -sum(n / len(text) * math.log2(n / len(text)) for n in Counter(text).values())


def _has_letters_and_digits(text: bytes) -> bool:
    return bool(re.search(rb"[A-Za-z]", text) and re.search(rb"[0-9]", text))


def _is_plain(text: bytes) -> bool:
    return bool(is_words(text) or _NUMBER_DATE_OR_VARIABLE.fullmatch(text))
