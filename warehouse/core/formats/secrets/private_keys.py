"""Finds private keys: blocks of several lines, also with line ends escaped by JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.core.formats.secrets.patterns import late_pattern
from warehouse.core.formats.secrets.secret import Secret

if TYPE_CHECKING:
    from collections.abc import Iterator

PRIVATE_KEY_GATE = "PRIVATE KEY|Private-Lines"
_KIND = "private key"
_LABEL = rb"[ A-Z0-9_-]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_LINE_END = rb"(?:\s|\\+[nrt]|\\+u000[aAdD])+"
_LONGEST = 1 << 15
# A key contains no quotes or brackets, so a match cannot span two records.
_WHOLE = rb"-----BEGIN" + _LABEL + rb"[^\"'`<>{}\[\]]{16,%d}?-----END" % _LONGEST + _LABEL
# Truncated, by a limit or at the end of a block.
_HEAD = rb"-----BEGIN" + _LABEL + rb"(?:" + _LINE_END + rb"[A-Za-z0-9+/=]{16,})+"
_PUTTY = rb"Private-Lines: \d+(?:" + _LINE_END + rb"[A-Za-z0-9+/=]{4,})+"
_KEYS = late_pattern(rb"|".join((_WHOLE, _HEAD, _PUTTY)))
_END = late_pattern(rb"-----END" + _LABEL)
_TAIL = late_pattern(
    rb"(?:[A-Za-z0-9+/=]{16,}" + _LINE_END + rb")*(?:[A-Za-z0-9+/=]+" + _LINE_END + rb")?\Z"
)
_BASE64 = late_pattern(rb"[A-Za-z0-9+/]{16}")


def private_keys(data: bytes) -> Iterator[Secret]:
    """Yield the private keys in some bytes, including parts of those that were split."""
    if b"PRIVATE KEY" not in data and b"Private-Lines" not in data:
        return
    end = 0
    for match in _KEYS.finditer(data):
        if _BASE64.search(match[0]):
            yield from _tails(data, end, match.start())
            end = match.end()
            yield Secret(match.start(), end, _KIND)
    yield from _tails(data, end, len(data))


def _tails(data: bytes, start: int, end: int) -> Iterator[Secret]:
    """Yield the ends of keys that began earlier."""
    for match in _END.finditer(data, start, end):
        before = data[max(start, match.start() - _LONGEST) : match.start()]
        lines = _TAIL.search(before)
        if lines and _BASE64.search(lines[0]):
            yield Secret(match.start() - len(lines[0]), match.end(), _KIND)


def open_key(data: bytes, end: int) -> int:
    """Return the start of the line on which an unfinished private key begins; otherwise `end`."""
    begin = data.rfind(b"-----BEGIN", max(0, end - _LONGEST), end)
    if begin < 0 or data.find(b"-----END", begin, end) >= 0:
        return end
    return data.rfind(b"\n", 0, begin) + 1
