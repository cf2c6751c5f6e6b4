"""Secrets in logs: found by shape and by what stands around them, counted by kind, masked."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from warehouse.formats.secrets.private_keys import open_key
from warehouse.formats.secrets.search import find_secrets
from warehouse.formats.secrets.secret import Secret

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Secret", "find_secrets", "key_lines", "mask", "open_key", "redact"]

# Without quotes around it, it is still a text in YAML, where brackets would begin a list.
_MASK = b"(redacted)"


def mask(data: bytes | memoryview, secrets: Iterable[Secret]) -> bytes:
    """Put a mask in the place of secrets; those of several lines keep their number of lines."""
    parts, end = [], 0
    for secret in secrets:
        lines = bytes(data[secret.start : secret.end]).split(b"\n")
        rest = (line[: len(line) - len(line.lstrip())] + _MASK for line in lines[1:])
        parts += [data[end : secret.start], b"\n".join([_MASK, *rest])]
        end = secret.end
    return b"".join([*parts, data[end:]])


def redact(data: bytes) -> bytes:
    """Put a mask in the place of every secret."""
    return mask(data, find_secrets(data))


def key_lines(data: bytes) -> list[int]:
    """Give the lines (from 1) on which a secret begins."""
    return sorted({data.count(b"\n", 0, secret.start) + 1 for secret in find_secrets(data)})
