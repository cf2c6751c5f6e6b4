"""Pictures, sound and files in logs: what is kept of them is their hash."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from warehouse.core.types import Json

_DATA_URL = re.compile(r"data:[^,\s]{1,200};base64,[A-Za-z0-9+/=_-]+")
_KINDS = ("blob", "base64", "image", "input_audio")
_NAMES = ("content", "data", "image")
_LONGEST_WORD = 64


def without_binary(value: Json) -> Json:
    """Return a value with the hash of binary data in place of them.

    They are data URLs, the field `base64`, and a long text without a space in a field `data`, or in
    an object that is a picture or the like by its `type`.
    """
    if isinstance(value, str):
        if ";base64," not in value:
            return utf8(value)
        return _DATA_URL.sub(lambda found: hash_of_binary(found[0]), utf8(value))
    if isinstance(value, list):
        return [without_binary(each) for each in value]
    if not isinstance(value, dict):
        return value
    names = _NAMES if value.get("type") in _KINDS else ("data",)
    return {
        utf8(name): hash_of_binary(each)
        if isinstance(each, str) and (name == "base64" or (name in names and _is_word(each)))
        else without_binary(each)
        for name, each in value.items()
    }


def hash_of_binary(data: str) -> str:
    """Return what stands for binary data: their hash."""
    return f"sha256:{hashlib.sha256(data.encode('utf-8', 'replace')).hexdigest()}"


def _is_word(text: str) -> bool:
    """Return whether a text is too long to be a word, and has no space where it begins."""
    is_url = text.startswith("data:")
    return is_url or (len(text) > _LONGEST_WORD and re.search(r"\s", text[:1000]) is None)
