"""Finds secrets in bytes of any format, at the speed of a scan for what they begin with."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from warehouse.formats.secrets.assignments import ASSIGNMENT_GATE, assigned_secrets
from warehouse.formats.secrets.contexts import CONTEXTS
from warehouse.formats.secrets.private_keys import private_keys
from warehouse.formats.secrets.secret import ESCAPED, START, Secret, is_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_RULES = Path(__file__).with_name("rules.toml")
# What has no punctuation of its own would be found in any base64 text.
_BARE_START = rf"(?:(?<![A-Za-z0-9_+/-])|{ESCAPED})"
_SHORTEST_BODY = 8
_LONG_LINE = 1 << 14
# Bytes in which looking for secrets takes less time than to compile what looks at large ones.
_SMALL = 1 << 13


def find_secrets(data: bytes | memoryview) -> list[Secret]:
    """Return the secrets in some bytes, in their order; none overlaps another."""
    data = bytes(data)
    found = list(private_keys(data))
    is_small = len(data) <= _SMALL
    for start, end in [(0, len(data))] if is_small else _suspects(data, 0, len(data), b"\n"):
        found += _find_in_part(data, start, end)
    return list(_without_overlaps(found))


def _find_in_part(data: bytes, start: int, end: int) -> Iterator[Secret]:
    yield from _find_tokens(data, start, end)
    lowered = data[start:end].lower()
    for context in CONTEXTS:
        if context.part in lowered:
            yield from context.find(data, start, end)
    yield from assigned_secrets(data, start, end)


def _find_tokens(data: bytes, start: int, end: int) -> Iterator[Secret]:
    rules = _rules()
    for match in _starts().finditer(data, start, end):
        for kind, pattern in rules[match[0]]:
            token = pattern.match(data, match.start(), end)
            if token and not is_words(token[0]):
                yield Secret(*token.span(), kind)
                break


def _suspects(data: bytes, start: int, end: int, border: bytes) -> Iterator[tuple[int, int]]:
    """Give the parts of some bytes, cut behind a border, in which a secret may begin.

    RE2 looks at all parts in one call, and lets other threads run.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    codes = np.frombuffer(data, np.uint8, end - start, start)
    cuts = np.flatnonzero(codes == ord(border)) + 1
    offsets = np.concatenate([[0], cuts, [end - start]]) + start
    buffers = [None, pa.py_buffer(offsets.astype(np.int64)), pa.py_buffer(data)]
    parts = pa.Array.from_buffers(pa.large_binary(), len(offsets) - 1, buffers)
    may_hold = pc.match_substring_regex(parts, _gate())
    for at in np.flatnonzero(may_hold.to_numpy(zero_copy_only=False)).tolist():
        first, last = int(offsets[at]), int(offsets[at + 1])
        if border == b"\n" and last - first > _LONG_LINE:
            yield from _suspects(data, first, last, b"{")
        else:
            yield first, last


def _without_overlaps(found: Iterable[Secret]) -> Iterator[Secret]:
    """Keep the first of those that overlap; of those that begin together, the longest."""
    end = 0
    for secret in sorted(found, key=lambda each: (each.start, -each.end)):
        if secret.start >= end:
            yield secret
            end = secret.end


@cache
def _starts() -> re.Pattern[bytes]:
    """Return what matches where a token begins."""
    starts = [start.decode() for start in sorted(_rules(), key=len, reverse=True)]
    bare = "|".join(start for start in starts if start.isalnum())
    rest = "|".join(re.escape(start) for start in starts if not start.isalnum())
    return re.compile(f"{START}(?:{rest})|{_BARE_START}(?:{bare})".encode())


@cache
def _gate() -> str:
    """Return an expression that matches wherever one of the others may, in the syntax of RE2."""
    starts = "|".join(re.escape(start.decode()) for start in sorted(_rules()))
    before = r"(?:^|[^A-Za-z0-9_-]|\\[bfnrt]|\\u[0-9A-Fa-f]{4}|%[0-9A-F]{2})"
    tokens = rf"{before}(?:{starts})[\w%+/.:~=\\-]{{{_SHORTEST_BODY}}}"
    return "|".join([tokens, ASSIGNMENT_GATE, *(context.gate for context in CONTEXTS)])


@cache
def _rules() -> dict[bytes, list[tuple[str, re.Pattern[bytes]]]]:
    """Return the kinds and patterns of the tokens with each beginning."""
    rules: dict[bytes, list[tuple[str, re.Pattern[bytes]]]] = {}
    for kind, starts, body in tomllib.loads(_RULES.read_text("utf-8"))["rules"]:
        for start in map(str.encode, starts):
            pattern = re.compile(re.escape(start) + body.encode())
            rules.setdefault(start, []).append((kind, pattern))
    return rules
