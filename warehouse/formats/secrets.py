"""Shapes of keys and tokens, so that none is kept or shown by accident."""

from __future__ import annotations

import re

# Prefixes that providers give their keys, and the header that carries them. RE2 reads it too.
SHAPES_ANYWHERE = (
    r"(?:(?:sk-(?:ant-|or-|proj-)?[A-Za-z0-9_-]{16,}"
    r"|AIza[A-Za-z0-9_-]{30,}"
    r"|gh[pousr]_[A-Za-z0-9]{30,}"
    r"|hf_[A-Za-z0-9]{30,}"
    r"|xox[abprs]-[A-Za-z0-9-]{10,}"
    r"|AKIA[A-Z0-9]{16})"
    r"|(?i:bearer\s+)[A-Za-z0-9._~+/-]{20,})"
)
# In the text of JSON, a key may stand behind a line end that is spelled `\n`.
_START = r"(\b|\\[bfnrt]|\\u[0-9A-Fa-f]{4})"
SHAPES = _START + SHAPES_ANYWHERE
_SHAPES = re.compile(SHAPES.encode())
# What every key begins with, after `bearer` in any case. To look for these in a text takes a
# fiftieth of the time that the expression takes.
_BEGINNINGS = (
    b"sk-",
    b"AIza",
    b"ghp_",
    b"gho_",
    b"ghu_",
    b"ghs_",
    b"ghr_",
    b"hf_",
    b"xox",
    b"AKIA",
)
# Without quotes around it, it is still a text in YAML, where brackets would begin a list.
_MASK = b"(redacted)"


def key_lines(data: bytes) -> list[int]:
    """Give the lines (from 1) on which something has the shape of a key."""
    if not any(part in data for part in _BEGINNINGS) and b"bearer" not in data.lower():
        return []
    return sorted({data.count(b"\n", 0, found.start()) + 1 for found in _SHAPES.finditer(data)})


def redact(data: bytes) -> bytes:
    """Put a mask in the place of everything that has the shape of a key."""
    return _SHAPES.sub(rb"\1" + _MASK, data)
