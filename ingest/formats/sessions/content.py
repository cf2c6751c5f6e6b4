"""The content of a message: texts, calls of tools and their results."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ingest.formats.common.binary import without_binary
from ingest.formats.common.fields import list_of, texts_of

if TYPE_CHECKING:
    from warehouse.core.types import Json, JsonObject

_AS_TEXT = "(the text of the tool's result)"
_EXIT_CODE = re.compile(r"(?:Error: )?Exit code:? (-?\d{1,5})\b")


def parts_of(content: Json, *kinds: str) -> list[JsonObject]:
    """Return the parts of a message's content that are of some kinds."""
    return [
        part for part in list_of(content) if isinstance(part, dict) and part.get("type") in kinds
    ]


def said(content: Json) -> str | None:
    """Return the text of a message, its parts joined by line breaks."""
    if isinstance(content, str):
        return texts_of(content)
    return texts_of([part for part in list_of(content) if _is_text(part)])


def unsaid(content: Json, *kinds: str) -> list[Json]:
    """Return the parts of a message that are neither text nor of some kinds."""
    return [
        without_binary(part)
        for part in list_of(content)
        if not _is_text(part) and not (isinstance(part, dict) and part.get("type") in kinds)
    ]


def exit_code(text: str | None) -> int | None:
    """Return the exit code that the result of a command begins with."""
    found = _EXIT_CODE.match(text or "")
    return int(found[1]) if found else None


def without_repeats(value: Json, texts: set[str]) -> Json:
    """Return a value with a note in place of each text that is stored already."""
    if isinstance(value, str):
        return _AS_TEXT if len(value) > len(_AS_TEXT) and value.strip() in texts else value
    if isinstance(value, list):
        return [without_repeats(each, texts) for each in value]
    if isinstance(value, dict):
        return {name: without_repeats(each, texts) for name, each in value.items()}
    return value


def _is_text(part: Json) -> bool:
    return isinstance(part, str) or (
        isinstance(part, dict) and part.get("type") in ("text", "input_text", "output_text")
    )
