"""The messages of a sample, of Inspect's own logs as they were."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from exports.rows import Document, json_object, json_value

if TYPE_CHECKING:
    from collections.abc import Mapping

_PARTS = {"text", "image", "reasoning"}
_OTHER_ROLES = {"system", "assistant", "tool"}


def own_message(message: Mapping[str, Any]) -> Document:
    """Return a message of one of Inspect's logs as it was."""
    parts = json_value(message["parts"])
    document: Document = {
        "role": message["role"] or "user",
        "content": parts if isinstance(parts, list) else message["text"] or "",
    }
    calls = json_value(message["tool_calls"])
    if isinstance(calls, list):
        document["tool_calls"] = [
            {"parse_error" if key == "error" else key: value for key, value in call.items()}
            for call in calls
            if isinstance(call, dict)
        ]
    if message["tool_call_id"] is not None:
        document["tool_call_id"] = message["tool_call_id"]
    return {**document, **json_object(message["extra"])}


def made_message(message: Mapping[str, Any]) -> Document:
    """Return a message of another tool's log: what Inspect refuses of it is left out."""
    parts, calls = json_value(message["parts"]), json_value(message["tool_calls"])
    is_held = isinstance(parts, list) and all(
        isinstance(part, dict) and part.get("type") in _PARTS and part["type"] in part
        for part in parts
    )
    fitting = []
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict) and {str} == {
            type(call.get(name)) for name in ("id", "function")
        }:
            arguments = call.get("arguments", {})
            held = arguments if isinstance(arguments, dict) else {"value": arguments}
            fitting.append({**call, "type": "function", "arguments": held})
    fitted = {
        "role": message["role"] if message["role"] in _OTHER_ROLES else "user",
        "parts": message["parts"] if is_held else None,
        "tool_calls": json.dumps(fitting) if fitting else None,
    }
    if fitted["role"] == "user" and message["tool_call_id"] is not None:
        fitted["role"] = "tool"
    return own_message({**message, **fitted})
