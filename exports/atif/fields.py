"""The members that ATIF has: its models refuse any other, so that the rest goes into `extra`."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from exports.rows import known

if TYPE_CHECKING:
    from collections.abc import Mapping

    from exports.rows import Document

Types: TypeAlias = "Mapping[str, type | tuple[type, ...]]"

TOTALS: Types = {
    "total_prompt_tokens": int,
    "total_completion_tokens": int,
    "total_cached_tokens": int,
    "total_cost_usd": (int, float),
    "total_steps": int,
}
METRICS: Types = {"logprobs": list, "completion_token_ids": list, "prompt_token_ids": list}
REFERENCE: Types = {"trajectory_id": str, "session_id": str, "trajectory_path": str}


def fitted(recorded: object, types: Types) -> Document:
    """Return the members of an object that the format has; the others are in its `extra`."""
    members = recorded if isinstance(recorded, dict) else {}
    kept = {
        name: value for name, value in members.items() if isinstance(value, types.get(name, ()))
    }
    inside = members.get("extra")
    rest = {name: value for name, value in members.items() if name not in {*kept, "extra"}}
    extra = {**(inside if isinstance(inside, dict) else {}), **known(**rest)}
    return {**kept, **known(extra=extra or None)}


def content(parts: object, text: str | None) -> str | list[Document] | None:
    """Return the parts of a message if the format has them all, else its text."""
    return parts if isinstance(parts, list) and parts and all(map(_is_part, parts)) else text


def _is_part(part: object) -> bool:
    if not isinstance(part, dict):
        return False
    text, source = part.get("text"), part.get("source")
    if part.keys() == {"type", "source"} and isinstance(source, dict):
        return source.keys() <= {"media_type", "path", "duration_sec"}
    return part == {"type": "text", "text": text} and isinstance(text, str)
