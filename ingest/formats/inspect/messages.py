"""The conversation of a sample as rows of `messages`, and texts of messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ingest.formats.inspect.documents import as_list, as_object, as_text
from warehouse.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ingest.formats.inspect.documents import LogObject
    from warehouse.types import MessageRow

ATTACHMENT = "attachment://"
_OLD_ATTACHMENT = "tc://"
# Fields of a message that columns hold.
_IN_COLUMNS = {"role", "content", "tool_calls", "tool_call_id"}


class Attachments:
    """The long texts of a sample, which its other fields only name."""

    def __init__(self, sample: Mapping[str, Any]) -> None:
        transcript = as_object(sample.get("transcript"))
        self._texts = {
            **as_object(transcript.get("content")),
            **as_object(sample.get("attachments")),
        }

    def resolved(self, text: str) -> str:
        """Return the text that a reference stands for; any other text unchanged."""
        for scheme in (ATTACHMENT, _OLD_ATTACHMENT):
            if text.startswith(scheme):
                found = self._texts.get(text.removeprefix(scheme))
                return found if isinstance(found, str) else text
        return text


def content_text(content: object, attachments: Attachments) -> str | None:
    """Return the text of a message's content, its parts joined by line breaks; None for none."""
    if isinstance(content, str):
        return utf8(attachments.resolved(content))
    if not isinstance(content, list):
        return None
    parts = [as_object(part) for part in content]
    texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
    return utf8("\n".join(map(attachments.resolved, texts)))


def joined_text(messages: object, attachments: Attachments) -> str | None:
    """Return the texts of messages, or a text itself, joined by line breaks; None for none."""
    if isinstance(messages, str):
        return utf8(attachments.resolved(messages))
    if not isinstance(messages, list) or not messages:
        return None
    texts = [content_text(as_object(each).get("content"), attachments) for each in messages]
    return "\n".join(text or "" for text in texts)


def sent_text(messages: Sequence[object], attachments: Attachments) -> str | None:
    """Return what the model was sent first: the messages before its first one."""
    sent = []
    for message in messages:
        if as_object(message).get("role") == "assistant":
            break
        sent.append(message)
    return joined_text(sent, attachments) if sent else None


def message_rows(
    log: LogObject, messages: Sequence[object], result_id: str, attachments: Attachments
) -> Iterator[MessageRow]:
    """Yield a row for each message of a conversation, in order.

    Args:
        log: the sample that they belong to.
        messages: its messages, as recorded.
        result_id: content id of the result.
        attachments: the sample's long texts.
    """
    for seq, given in enumerate(messages, 1):
        message = as_object(given)
        content = message.get("content")
        extra = {key: value for key, value in message.items() if key not in _IN_COLUMNS}
        if isinstance(content, str) and attachments.resolved(content) != content:
            extra["content"] = content
        for key in ("role", "tool_call_id", "content"):
            if key in message and message[key] in (None, ""):
                extra[key] = message[key]
        for key in ("role", "tool_call_id"):
            if key in message and not isinstance(message[key], str):
                extra[key] = message[key]
        calls = _calls(message.get("tool_calls"))
        if message.get("tool_calls") is not None and calls is None:
            extra["tool_calls"] = message["tool_calls"]
        parts: Any = None if isinstance(content, str) else content
        if not isinstance(given, dict):
            parts = given
        role, call_id = as_text(message.get("role")), as_text(message.get("tool_call_id"))
        yield {
            "content_id": f"{result_id}/{seq}",
            "result_id": result_id,
            "seq": seq,
            "role": role and utf8(role),
            "text": content_text(content, attachments),
            "parts": None if parts is None else log.as_json(parts),
            "tool_calls": None if calls is None else log.as_json(calls),
            "tool_call_id": call_id and utf8(call_id),
            "error": _error(message.get("error")),
            "extra": log.as_json(extra) if extra else None,
        }


def called_tools(messages: Sequence[object]) -> list[str]:
    """Return the names of the tools that the model called, in order."""
    return [
        utf8(name)
        for message in map(as_object, messages)
        if message.get("role") == "assistant"
        for call in as_list(message.get("tool_calls"))
        if (name := as_text(as_object(call).get("function"))) is not None
    ]


def _calls(given: object) -> list[dict[str, Any]] | None:
    if not isinstance(given, list) or not all(isinstance(call, dict) for call in given):
        return None
    return list(map(_call, given))


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    return {"error" if key == "parse_error" else key: value for key, value in call.items()}


def _error(error: object) -> str | None:
    """Return the error of a tool: its kind and its message."""
    if isinstance(error, str):
        return utf8(error)
    if not isinstance(error, dict):
        return None
    texts = [text for key in ("type", "message") if (text := as_text(error.get(key))) is not None]
    return utf8(": ".join(texts)) or None
