"""A server on loopback for a client's first call, which is slow: it loads modules and certificates.

Calls are measured from outside the client. Without a rehearsal, the first calls of a run would
carry seconds that have nothing to do with the model.
"""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_HOST = "127.0.0.1"
_NO_PROXY = ("NO_PROXY", "no_proxy")
_MESSAGE = {"role": "assistant", "content": "ok"}
_USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
# One reply in the formats of OpenAI, Anthropic, Gemini and Ollama: each client reads its own.
_REPLY = {
    "id": "rehearsal",
    "created": 1,
    "model": "rehearsal",
    "choices": [{"index": 0, "finish_reason": "stop", "message": _MESSAGE, "delta": _MESSAGE}],
    "service_tier": "default",
    "usage": {**_USAGE, "input_tokens": 1, "output_tokens": 1},
    "type": "message",
    "role": "assistant",
    "content": [{"type": "text", "text": "ok"}],
    "stop_reason": "end_turn",
    "candidates": [{"content": {"role": "model", "parts": [{"text": "ok"}]}}],
    "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
    "message": _MESSAGE,
    "response": "ok",
    "done": True,
    "prompt_eval_count": 1,
    "eval_count": 1,
}


@asynccontextmanager
async def rehearsal_server() -> AsyncIterator[str]:
    """Run a server that gives every request the same reply; yield its base URL.

    The requests must not contain a key. They never leave the machine: while the server runs,
    no proxy is used for it.

    Raises:
        OSError: no server may be run here.
    """
    before = {name: os.environ.get(name) for name in _NO_PROXY}
    server = await asyncio.start_server(_answer, _HOST, 0)
    try:
        for name, value in before.items():
            os.environ[name] = f"{value},{_HOST}" if value else _HOST
        yield f"http://{_HOST}:{server.sockets[0].getsockname()[1]}"
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value
        server.close()


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError, asyncio.IncompleteReadError):
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = head.partition(b"content-length:")[2].partition(b"\r\n")[0]
        body = await reader.readexactly(int(length or b"0"))
        is_streamed = b'"stream":true' in body.replace(b" ", b"") or b":stream" in head
        writer.write(_events() if is_streamed else _document())
        await writer.drain()
    writer.close()


def _document() -> bytes:
    return _response("application/json", json.dumps({"object": "chat.completion", **_REPLY}))


def _events() -> bytes:
    chunk = json.dumps({"object": "chat.completion.chunk", **_REPLY})
    return _response("text/event-stream", f"data: {chunk}\n\ndata: [DONE]\n\n")


def _response(kind: str, body: str) -> bytes:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
    return f"{head}Connection: close\r\n\r\n{body}".encode()
