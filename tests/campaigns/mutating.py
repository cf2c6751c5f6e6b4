"""Damages files by accident or malice, with a seed so that it can be repeated."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from random import Random

# Values that have broken programs before.
NASTY_TEXTS = (
    "",
    " ",
    "\0",
    "\x1b[2J\x1b]0;title\x07",
    "\u202eevil\u202c",
    "\ud800",
    "\ufeff",
    "\u2028",
    "\x85",
    '=HYPERLINK("http://evil")',
    "@SUM(A1)",
    "<script>alert(1)</script>",
    "]]><svg onload=alert(1)>",
    "![x](javascript:alert(1))",
    "a|b\n|--|--|\n`",
    "../../../../etc/passwd",
    "/etc/passwd",
    "C:\\con",
    "a" * 70_000,
    "'; DROP TABLE runs; --",
    "$1 {prompt} %s {0} {",
    "2026-02-30T25:61:61Z",
    "9999-12-31T23:59:59.999999999+14:00",
    "0000-01-01",
    "-0001-01-01T00:00:00Z",
    "NaN",
    "1e400",
    "(a+)+$",
    "(?P<a",
    "\N{PILE OF POO}" * 50,
    "e\u0301" * 30,
    "İıſK",
    "null",
    "~",
    "true",
    "0x1f",
    "1_000",
    "12:30:45",
)
_NASTY_VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    2**31,
    2**63,
    -(2**63) - 1,
    10**30,
    10**400,
    0.1,
    -0.0,
    5e-324,
    1.7976931348623157e308,
    [],
    {},
    [[[]]],
    [None],
    {"": None},
    {"a": {"b": {"c": [1, {"d": None}]}}},
    [{"prompt": "x"}],
    *NASTY_TEXTS,
)
_NASTY_BYTES = (
    b"\x00",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\xc0\xaf",
    b"\xf4\x90\x80\x80",
    b"\r",
    b"\r\n",
    b"\x0c",
    b"\x1a",
    b"{",
    b"}",
    b"[" * 3000,
    b'{"a":' * 3000,
    b"- " * 3000,
    b"&a *a ",
    b"<<: *a\n",
    b"!!python/object/apply:os.system [id]\n",
    b"---\n",
    b"...\n",
    b"%YAML 1.1\n",
    b"? ",
    b": ",
    b"| \n",
    b">-\n ",
    b"\t",
    b"#",
    b'"',
    b"'",
    b"\\",
    b"\\ud800",
    b"\\u0000",
    b"NaN",
    b"Infinity",
    b"-1e999",
    b"1" * 5000,
    b"0." + b"0" * 400 + b"1",
    b"null",
    b"{}",
    b"[]",
    b",",
    b",,",
    b"\xe2\x80\xae",
    b"\xef\xbb\xbf",
)


def damaged(data: bytes, choice: Random) -> bytes:
    """Return a file's bytes damaged in one to three ways."""
    for _ in range(choice.choice((1, 1, 2, 3))):
        data = choice.choice(_WAYS)(data, choice)
    return data


def _structure(data: bytes, choice: Random) -> bytes:
    """Replace a random value in a JSON document, or in one line of JSON lines."""
    lines = data.split(b"\n")
    at = choice.randrange(len(lines))
    for part, is_line in ((data, False), (lines[at], True)):
        try:
            document = _replaced(json.loads(part), choice)
            changed = json.dumps(document, ensure_ascii=_maybe(choice, 0.5))
        except (ValueError, RecursionError):
            continue
        encoded = changed.encode("utf-8", "surrogatepass")
        return b"\n".join([*lines[:at], encoded, *lines[at + 1 :]]) if is_line else encoded
    return _value_of_a_line(data, choice)


def _replaced(node: Any, choice: Random) -> Any:
    if isinstance(node, dict) and node and _maybe(choice, 0.9):
        key = choice.choice(list(node))
        if _maybe(choice, 0.1):
            return {choice.choice(NASTY_TEXTS): value for value in node.values()}
        if _maybe(choice, 0.1):
            return {k: v for k, v in node.items() if k != key}
        return {**node, key: _replaced(node[key], choice)}
    if isinstance(node, list) and node and _maybe(choice, 0.8):
        at = choice.randrange(len(node))
        return [*node[:at], _replaced(node[at], choice), *node[at + choice.choice((0, 1, 1)) :]]
    return choice.choice(_NASTY_VALUES)


def _value_of_a_line(data: bytes, choice: Random) -> bytes:
    """Replace the value after the colon of a line, as in YAML."""
    lines = data.split(b"\n")
    at = choice.randrange(len(lines))
    key, colon, _ = lines[at].partition(b":")
    value = choice.choice(_NASTY_VALUES)
    text = value if isinstance(value, str) and _maybe(choice, 0.5) else json.dumps(value)
    lines[at] = key + (colon or b"") + b" " + text.encode("utf-8", "surrogatepass")
    return b"\n".join(lines)


def _flip(data: bytes, choice: Random) -> bytes:
    if not data:
        return data
    at = choice.randrange(len(data))
    return data[:at] + bytes([choice.randrange(256)]) + data[at + 1 :]


def _insert(data: bytes, choice: Random) -> bytes:
    at = choice.randrange(len(data) + 1)
    return data[:at] + choice.choice(_NASTY_BYTES) + data[at:]


def _cut(data: bytes, choice: Random) -> bytes:
    return data[: choice.randrange(len(data) + 1)]


def _without(data: bytes, choice: Random) -> bytes:
    start, end = _range(data, choice)
    return data[:start] + data[end:]


def _doubled(data: bytes, choice: Random) -> bytes:
    start, end = _range(data, choice)
    return data[:end] + data[start:end] * choice.choice((1, 1, 3)) + data[end:]


def _lines_moved(data: bytes, choice: Random) -> bytes:
    lines = data.split(b"\n")
    a, b = choice.randrange(len(lines)), choice.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    return b"\n".join(lines)


def _maybe(choice: Random, probability: float) -> bool:
    return choice.random() < probability


def _range(data: bytes, choice: Random) -> tuple[int, int]:
    start = choice.randrange(len(data) + 1)
    return start, min(len(data), start + choice.choice((1, 2, 10, 100, 1000)))


_WAYS = (
    _structure,
    _structure,
    _structure,
    _value_of_a_line,
    _flip,
    _insert,
    _insert,
    _cut,
    _without,
    _doubled,
    _lines_moved,
)
