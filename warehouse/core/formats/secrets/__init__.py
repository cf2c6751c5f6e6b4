"""Secrets in logs: found by format and context, counted by kind, masked.

find_secrets       the position and kind of each secret
find_secrets_in    the same in each of many texts
may_hold_secrets   which of many texts need a search
mask               replaces secrets by a mask
redact_file        the same in a file, whose quotes may be doubled
redact_fields      the same in each field of a file of separated values
lines_of           the lines of secrets, for messages
is_certain         whether a kind is recognised by its format, not by a name next to it
describe           the number of secrets of each kind, in words
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from warehouse.core.formats.secrets.private_keys import open_key
from warehouse.core.formats.secrets.search import find_secrets, find_secrets_in, may_hold_secrets
from warehouse.core.formats.secrets.secret import GENERIC, Secret

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = [
    "Secret",
    "article",
    "describe",
    "find_secrets",
    "find_secrets_in",
    "is_certain",
    "lines_of",
    "mask",
    "may_hold_secrets",
    "open_key",
    "redact",
    "redact_fields",
    "redact_file",
]

# Unquoted, this is still text in YAML, where square brackets would begin a list.
_MASK = b"(redacted)"
_WITH_AN = (*"AEIOaeio", "NVIDIA", "npm", "xAI")


def mask(data: bytes | memoryview, secrets: Iterable[Secret]) -> bytes:
    """Replace secrets by a mask; those of several lines keep their number of lines."""
    parts, end = [], 0
    for secret in secrets:
        lines = bytes(data[secret.start : secret.end]).split(b"\n")
        rest = (line[: len(line) - len(line.lstrip())] + _MASK for line in lines[1:])
        parts += [data[end : secret.start], b"\n".join([_MASK, *rest])]
        end = secret.end
    return b"".join([*parts, data[end:]])


def redact(data: bytes) -> bytes:
    """Replace every secret by a mask."""
    return mask(data, find_secrets(data))


def redact_file(data: bytes) -> bytes:
    """Replace every secret by a mask, also where quotes are doubled, as in CSV."""
    masked = redact(data)
    single = masked.replace(b'""', b'"')
    for secret in find_secrets(single) if len(single) < len(masked) else ():
        text = single[secret.start : secret.end]
        for written in (text, text.replace(b'"', b'""')):
            masked = masked.replace(written, _MASK)
    return masked


def redact_fields(data: bytes) -> bytes:
    """Replace every secret in the fields of CSV or TSV by a mask; the fields stay as many."""
    header = data.partition(b"\n")[0]
    delimiter = max(b",;\t|", key=header.count)
    quoted, plain = rb'"(?:[^"]|"")*"', rb'[^"%c\r\n][^%c\r\n]*' % (delimiter, delimiter)
    fields = [*re.finditer(b"%s|%s" % (quoted, plain), data)]
    values = [
        field[0][1:-1].replace(b'""', b'"') if field[0].startswith(b'"') else field[0]
        for field in fields
    ]
    parts, end = [], 0
    for field, value, may_hold in zip(fields, values, may_hold_secrets(values), strict=True):
        if may_hold and (secrets := find_secrets(value)):
            masked = mask(value, secrets)
            if field[0].startswith(b'"'):
                masked = b'"%s"' % masked.replace(b'"', b'""')
            parts += [data[end : field.start()], masked]
            end = field.end()
    return b"".join([*parts, data[end:]])


def lines_of(data: bytes, secrets: Iterable[Secret], first: int = 1) -> list[tuple[int, str]]:
    """Return the line on which each secret starts, and its kind.

    Args:
        data: bytes that contain the secrets, from the start of a line.
        secrets: in order.
        first: number of the first line of the data.
    """
    lines, line, end = [], first, 0
    for secret in secrets:
        line += data.count(b"\n", end, secret.start)
        end = secret.start
        lines.append((line, secret.kind))
    return lines


def is_certain(kind: str) -> bool:
    """Return whether secrets of a kind have a format of their own, or only a suggestive name."""
    return kind != GENERIC


def describe(kinds: Mapping[str, int]) -> str:
    """Return how many secrets there are of each kind, as in "2 OpenAI keys, 1 JWT".

    Certain kinds come first.
    """
    ranked = sorted(kinds.items(), key=lambda each: (not is_certain(each[0]), -each[1], each[0]))
    return ", ".join(f"{count:,} {kind}{'s' if count > 1 else ''}" for kind, count in ranked)


def article(kind: str) -> str:
    """Return a kind with its article, as in "an OpenAI key"."""
    return f"{'an' if kind.startswith(_WITH_AN) else 'a'} {kind}"
