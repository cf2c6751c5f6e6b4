"""Ollama, through its OpenAI-compatible chat completions."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from runners.models.prices import cost
from runners.providers.base import (
    EMPTY,
    ERROR,
    EXCEPTION,
    SKIPPED,
    Failure,
    Provider,
    Reply,
    empty,
)
from runners.providers.keys import bearer, key_missing, named_key, unset_key
from runners.providers.transport.http import (
    CallFailedError,
    HttpClient,
    as_count,
    as_list,
    as_object,
    endpoint,
)
from runners.providers.transport.images import chat_content
from runners.providers.transport.model_list import problem_at
from runners.providers.transport.reply_limit import ReplyTooLargeError, answer_so_far

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runners.providers.base import Request, Result

_DEFAULT_BASE = "http://localhost:11434/v1"
_NEVER_THINKS = ("glm", "qwen3.5")
_THINKS = ("high", "xhigh")
_STRONGEST = "high"  # the highest of Ollama's own levels


class OllamaOpenai(Provider):
    """Calls `<base>/chat/completions`, one call at a time unless configured otherwise."""

    name = "ollama_openai"
    concurrency = 1
    streams = True

    def __init__(self) -> None:
        self._http = HttpClient()

    def unavailable_reason(
        self, _model: str, _base_url: str | None, api_key_env: str | None = None, /
    ) -> str | None:
        """Return a reason if the named key is not set."""
        return unset_key(api_key_env)

    def address(self, _model: str, base_url: str | None, /) -> str | None:
        """Return the given address, that of the environment, or Ollama's default."""
        return _base(base_url)

    def server_problem(
        self, model: str, base_url: str | None, api_key_env: str | None = None, /
    ) -> str | None:
        """Return a reason if the server does not respond or does not have the model."""
        return problem_at(_base(base_url), model, bearer(named_key(api_key_env)))

    async def call(self, request: Request, /) -> Result:
        """Call the model once."""
        if reason := unset_key(request.api_key_env):
            return key_missing(reason)
        url = endpoint(_base(request.base_url), "/chat/completions")
        headers = bearer(named_key(request.api_key_env))
        body = _body(request)
        sent = {key: value for key, value in body.items() if key not in {"model", "messages"}}
        try:
            post = self._streamed if request.is_streamed else self._whole
            result = await post(url, body, headers, request.max_reply_bytes)
        except ReplyTooLargeError as error:
            result = error.failure
        except CallFailedError as error:
            result = _missing_as_skipped(error.failure)
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            result = Failure(ERROR, EXCEPTION, str(error), is_transient=True)
        if isinstance(result, Reply):
            usd = cost(request.price, result.input_tokens, result.output_tokens)
            source = "model file" if usd is not None else None
            result = replace(result, cost_usd=usd, cost_source=source)
            if not result.text.strip():
                result = empty(result)
        return replace(result, sent=sent)

    async def warm_up(self, _request: Request, /) -> None:
        """Open the client."""
        await self._http.warm_up()

    async def close(self) -> None:
        """Close connections."""
        await self._http.close()

    async def _whole(
        self, url: str, body: Mapping[str, object], headers: Mapping[str, str], max_bytes: int
    ) -> Result:
        document = await self._http.post(url, body, headers, max_bytes=max_bytes)
        choices = as_list(document.get("choices")) or [None]
        content = as_object(as_object(choices[0]).get("message")).get("content")
        usage = as_object(document.get("usage"))
        if content is None:
            return Failure(ERROR, EMPTY)
        return Reply(
            _text(content),
            input_tokens=as_count(usage.get("prompt_tokens")),
            output_tokens=as_count(usage.get("completion_tokens")),
        )

    async def _streamed(
        self, url: str, body: Mapping[str, object], headers: Mapping[str, str], max_bytes: int
    ) -> Result:
        began = time.perf_counter()
        pieces: list[str] = []
        ttft_ms = None
        usage: dict[str, object] = {}
        with answer_so_far(pieces):
            async for event in self._http.events(url, body, headers, max_bytes=max_bytes):
                usage = as_object(event.get("usage")) or usage
                choices = as_list(event.get("choices")) or [None]
                piece = _text(as_object(as_object(choices[0]).get("delta")).get("content"))
                if piece and ttft_ms is None:
                    ttft_ms = int((time.perf_counter() - began) * 1000)
                pieces.append(piece)
        text = "".join(pieces).strip()
        if not text:
            return Failure(ERROR, EMPTY)
        return Reply(
            text,
            input_tokens=as_count(usage.get("prompt_tokens")),
            output_tokens=as_count(usage.get("completion_tokens")),
            ttft_ms=ttft_ms,
        )


PROVIDER = OllamaOpenai


def _base(base_url: str | None) -> str:
    """Return the base URL: as given, from the environment, or Ollama's default."""
    base = base_url or os.environ.get("OLLAMA_OPENAI_BASE") or _DEFAULT_BASE
    is_complete = base.partition("?")[0].rstrip("/").endswith("/v1")
    return base if is_complete else endpoint(base, "/v1")


def _text(content: object) -> str:
    """Return the text of a message or of a piece of one; some servers send bare numbers."""
    if content is None:
        return ""
    return content if isinstance(content, str) else str(content)


def _body(request: Request) -> dict[str, object]:
    messages: list[dict[str, object]] = [{"role": "user", "content": chat_content(request)}]
    if request.system is not None:
        messages.insert(0, {"role": "system", "content": request.system})
    body: dict[str, object] = {
        "model": request.model,
        "messages": messages,
        **request.parameters,
        "stream": request.is_streamed,
    }
    if request.schema is not None:
        schema = {"name": "answer", "strict": True, "schema": dict(request.schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body | _thinking(request)


def _thinking(request: Request) -> dict[str, object]:
    """Return `think` as the original runs set it, and the level under Ollama's own name."""
    level = request.thinking_level
    body: dict[str, object] = {}
    if level in _THINKS:
        body["think"] = True
    elif any(name in request.model.lower() for name in _NEVER_THINKS):
        body["think"] = False
    if level:
        body["reasoning_effort"] = _STRONGEST if level in _THINKS else level
    return body


def _missing_as_skipped(failure: Failure) -> Failure:
    """Count every 404 as a missing model: Ollama returns it for models that were not pulled."""
    return replace(failure, status=SKIPPED) if failure.failure_type == "http_404" else failure
