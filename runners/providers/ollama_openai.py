"""Ollama, through the chat completions that it shares with OpenAI."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from runners.prices import cost
from runners.providers.base import (
    EMPTY,
    ERROR,
    EXCEPTION,
    SKIPPED,
    TIMED_OUT,
    Failure,
    Reply,
    empty,
)
from runners.providers.http import FailedError, HttpClient, as_count, as_object, endpoint

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runners.providers.base import Request, Result

_DEFAULT_BASE = "http://localhost:11434/v1"
_NEVER_THINKS = ("glm", "qwen3.5")
_THINKS = ("high", "xhigh")
_STRONGEST = "high"  # Ollama's own levels end there


class OllamaOpenai:
    """Calls `<base>/chat/completions`. One call at a time, unless told otherwise."""

    name = "ollama_openai"
    concurrency = 1
    streams = True
    timed_out = TIMED_OUT

    def __init__(self) -> None:
        self._http = HttpClient()

    def missing(self, _model: str, _base_url: str | None) -> str | None:
        """Nothing is known before the first call: a server may still be starting."""
        return None

    def price(self, _model: str) -> Mapping[str, float] | None:
        """A model at home has no price, unless its file says one."""
        return None

    async def call(self, request: Request) -> Result:
        """Call the model once."""
        url = endpoint(ollama_base(request.base_url), "/chat/completions")
        body = _body(request)
        sent = {key: value for key, value in body.items() if key not in {"model", "messages"}}
        try:
            ask = self._streamed if request.is_streamed else self._whole
            result = await ask(url, body)
        except FailedError as error:
            result = _as_ollama_has_it(error.failure)
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            result = Failure(ERROR, EXCEPTION, str(error), is_transient=True)
        if isinstance(result, Reply):
            price = request.price
            usd = cost(price, result.input_tokens, result.output_tokens)
            source = "model file" if usd is not None else None
            result = replace(result, cost_usd=usd, cost_source=source)
            if not result.text.strip():
                result = empty(result)
        return replace(result, sent=sent)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.close()

    async def _whole(self, url: str, body: Mapping[str, Any]) -> Result:
        document = await self._http.post(url, body, {})
        choices = document.get("choices") or [None]
        content = as_object(as_object(choices[0]).get("message")).get("content")
        usage = as_object(document.get("usage"))
        if content is None:
            return Failure(ERROR, EMPTY)
        return Reply(
            content if isinstance(content, str) else str(content),
            as_count(usage.get("prompt_tokens")),
            as_count(usage.get("completion_tokens")),
        )

    async def _streamed(self, url: str, body: Mapping[str, Any]) -> Result:
        began = time.perf_counter()
        pieces: list[str] = []
        ttft_ms = None
        usage: dict[str, Any] = {}
        async for event in self._http.events(url, body, {}):
            usage = as_object(event.get("usage")) or usage
            choices = event.get("choices") or [None]
            piece = as_object(as_object(choices[0]).get("delta")).get("content")
            if piece and ttft_ms is None:
                ttft_ms = int((time.perf_counter() - began) * 1000)
            pieces.append(piece or "")
        text = "".join(pieces).strip()
        if not text:
            return Failure(ERROR, EMPTY)
        tokens = as_count(usage.get("prompt_tokens")), as_count(usage.get("completion_tokens"))
        return Reply(text, *tokens, ttft_ms)


def ollama_base(base_url: str | None) -> str:
    """Give the address of Ollama's chat completions: as asked, else as the environment says."""
    base = base_url or os.environ.get("OLLAMA_OPENAI_BASE") or _DEFAULT_BASE
    is_complete = base.partition("?")[0].rstrip("/").endswith("/v1")
    return base if is_complete else endpoint(base, "/v1")


def _body(request: Request) -> dict[str, Any]:
    messages = [{"role": "user", "content": _content(request)}]
    if request.system is not None:
        messages.insert(0, {"role": "system", "content": request.system})
    body: dict[str, Any] = {
        "model": request.model,
        "messages": messages,
        **request.parameters,
        "stream": request.is_streamed,
    }
    if request.schema is not None:
        schema = {"name": "answer", "strict": True, "schema": dict(request.schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body | _thinking(request)


def _thinking(request: Request) -> dict[str, Any]:
    """`think` as people's runs have had it, and the level under Ollama's own name for it."""
    level = request.thinking_level
    body: dict[str, Any] = {}
    if level in _THINKS:
        body["think"] = True
    elif any(name in request.model.lower() for name in _NEVER_THINKS):
        body["think"] = False
    if level:
        body["reasoning_effort"] = _STRONGEST if level in _THINKS else level
    return body


def _content(request: Request) -> Any:  # noqa: ANN401 - text, or a list of parts
    if not request.images:
        return request.prompt
    from runners.providers.images import data_url

    pictures = [{"type": "image_url", "image_url": {"url": data_url(i)}} for i in request.images]
    return [{"type": "text", "text": request.prompt}, *pictures]


def _as_ollama_has_it(failure: Failure) -> Failure:
    """Ollama says 404 for a model that was not pulled."""
    return replace(failure, status=SKIPPED) if failure.failure_type == "http_404" else failure
