"""Hashes of records and files: the same content has the same hash wherever it is read."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import TYPE_CHECKING

from warehouse.core.files import open_regular

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_DIGEST_BYTES = 16
# `json.dumps` would create an encoder for each call.
_as_json = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def content_hash(*parts: object) -> str:
    """Return 32 hexadecimal digits that identify plain values: text, numbers, lists, dicts.

    The order of keys does not matter. Values that Python calls equal but JSON distinguishes
    (1, 1.0 and true) have different hashes.
    """
    return hashlib.blake2b(_as_json(parts).encode(), digest_size=_DIGEST_BYTES).hexdigest()


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal.

    Raises:
        OSError: the file cannot be read.
    """
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def small_file_sha256(path: Path, largest: int) -> tuple[str, bytes | None]:
    """Return the SHA-256 of a file's bytes, in hexadecimal, and the bytes of a small file.

    Args:
        path: the file.
        largest: how many bytes a small file may have; of a larger one the bytes are None.

    Raises:
        OSError: the file cannot be read.
    """
    with open_regular(path) as file:
        data = file.read(largest + 1)
        digest = hashlib.sha256(data)
        if len(data) <= largest:
            return digest.hexdigest(), data
        return hashlib.file_digest(file, lambda: digest).hexdigest(), None


def numbered(hashes: Iterable[str]) -> list[str]:
    """Return the hashes with a count added to repeated ones: a source may repeat a record."""
    seen: Counter[str] = Counter()
    ids = []
    for value in hashes:
        seen[value] += 1
        ids.append(value if seen[value] == 1 else f"{value}-{seen[value]}")
    return ids


def text_hash_sql(text: str) -> str:
    """Return the macro `text_hash` of a text, an expression, for databases without our macros."""
    return f"hash({text}, '...' || {text}, '.....' || {text})"
