"""The conversation of a sample as rows of `messages`, and texts of messages."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from ingest.formats.common.fields import list_of, object_of
from ingest.formats.inspect.documents import as_text
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ingest.formats.inspect.documents import LogObject
    from warehouse.core.types import MessageRow

ATTACHMENT = "attachment://"
_SCHEMES = (ATTACHMENT, "tc://")  # the second in older logs
# Fields of a message that columns hold.
_IN_COLUMNS = {"role", "content", "tool_calls", "tool_call_id"}


class Attachments:
    """The long texts of a sample, which its other fields only name."""

    def __init__(self, sample: Mapping[str, Any]) -> None:
        self._sample = sample

    def resolved(self, text: str) -> str:
        """Return the text that a reference stands for; any other text unchanged."""
        if not text.startswith(_SCHEMES):
            return text
        for scheme in _SCHEMES:
            if text.startswith(scheme):
                found = self._texts.get(text.removeprefix(scheme))
                return found if isinstance(found, str) else text
        return text

    @cached_property
    def _texts(self) -> Mapping[str, Any]:
        """Collected when a text is looked up: in most samples none is."""
        transcript = object_of(self._sample.get("transcript"))
        return {
            **object_of(transcript.get("content")),
            **object_of(self._sample.get("attachments")),
        }


def content_text(content: object, attachments: Attachments) -> str | None:
    """Return the text of a message's content, its parts joined by line breaks; None for none."""
    if isinstance(content, str):
        return utf8(attachments.resolved(content))
    if not isinstance(content, list):
        return None
    parts = [object_of(part) for part in content]
    texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
    return utf8("\n".join(map(attachments.resolved, texts)))


def joined_text(messages: object, attachments: Attachments) -> str | None:
    """Return the texts of messages, or a text itself, joined by line breaks; None for none."""
    if isinstance(messages, str):
        return utf8(attachments.resolved(messages))
    if not isinstance(messages, list) or not messages:
        return None
    return _joined(message_texts(messages, attachments))


def message_texts(messages: Sequence[object], attachments: Attachments) -> list[str | None]:
    """Return the text of each message; None for none."""
    return [content_text(object_of(each).get("content"), attachments) for each in messages]


def sent_text(messages: Sequence[object], texts: Sequence[str | None]) -> str | None:
    """Return what the model was sent first: the texts of the messages before its first one."""
    n_sent = 0
    for message in messages:
        if object_of(message).get("role") == "assistant":
            break
        n_sent += 1
    return _joined(texts[:n_sent]) if n_sent else None


def message_rows(
    log: LogObject,
    messages: Sequence[object],
    texts: Sequence[str | None],
    result_id: str,
    *,
    attachments: Attachments,
) -> Iterator[MessageRow]:
    """Yield a row for each message of a conversation, in order.

    Args:
        log: the sample that they belong to.
        messages: its messages, as recorded.
        texts: their texts.
        result_id: content id of the result.
        attachments: the sample's long texts.
    """
    for seq, (given, text) in enumerate(zip(messages, texts, strict=True), 1):
        yield {
            "content_id": f"{result_id}/{seq}",
            "result_id": result_id,
            "seq": seq,
            "text": text,
            **_columns(log, given, attachments),
        }


def _columns(log: LogObject, given: object, attachments: Attachments) -> MessageRow:
    """Return the columns of a message of any kind, but for its place and its text."""
    message = object_of(given)
    content = message.get("content")
    recorded_calls = message.get("tool_calls")
    calls = None if recorded_calls is None else _calls(recorded_calls)
    extra = _unheld(message, attachments)
    if recorded_calls is not None and calls is None:
        extra["tool_calls"] = recorded_calls
    parts: Any = None if isinstance(content, str) else content
    if not isinstance(given, dict):
        parts = given
    role, call_id = as_text(message.get("role")), as_text(message.get("tool_call_id"))
    return {
        "role": role and utf8(role),
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
        for message in messages
        if isinstance(message, dict)
        and message.get("tool_calls")
        and message.get("role") == "assistant"
        for call in list_of(message["tool_calls"])
        if (name := as_text(object_of(call).get("function"))) is not None
    ]


def _joined(texts: Sequence[str | None]) -> str:
    return "\n".join([text or "" for text in texts])


def _unheld(message: Mapping[str, Any], attachments: Attachments) -> dict[str, Any]:
    """Return what no column holds as it was, apart from calls of tools."""
    unheld = {key: value for key, value in message.items() if key not in _IN_COLUMNS}
    content = message.get("content")
    if isinstance(content, str) and attachments.resolved(content) != content:
        unheld["content"] = content
    for key in ("role", "tool_call_id", "content"):
        if not message.get(key, True) and message[key] in (None, ""):
            unheld[key] = message[key]
    for key in ("role", "tool_call_id"):
        if not isinstance(message.get(key, ""), str):
            unheld[key] = message[key]
    return unheld


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
