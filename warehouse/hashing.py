"""Hashes that know a record by its content, wherever and whenever it is read."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_DIGEST_BYTES = 16
# `json.dumps` would make an encoder for each call.
_as_json = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def content_hash(*parts: object) -> str:
    """Hash plain values (text, numbers, lists, dicts of them) to 32 hexadecimal digits.

    Key order does not count. Two values that Python calls equal but that a file tells apart
    (1, 1.0 and true) have different hashes.
    """
    return hashlib.blake2b(_as_json(parts).encode(), digest_size=_DIGEST_BYTES).hexdigest()


def numbered(hashes: Iterable[str]) -> list[str]:
    """Tell repeated hashes apart by a count, so that a source may hold a record twice."""
    seen: Counter[str] = Counter()
    ids = []
    for value in hashes:
        seen[value] += 1
        ids.append(value if seen[value] == 1 else f"{value}-{seen[value]}")
    return ids
