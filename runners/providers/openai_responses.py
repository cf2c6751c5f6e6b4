"""OpenAI's Responses API."""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from runners.prices import cost, known_price
from runners.providers.base import AUTH_ERROR, EMPTY, ERROR, EXCEPTION, TIMED_OUT, Failure, Reply
from runners.providers.http import FailedError, HttpClient, as_count, as_object, endpoint
from runners.providers.images import data_url

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from runners.providers.base import Request, Result

_DEFAULT_BASE = "https://api.openai.com/v1"
_KEY = "OPENAI_API_KEY"
_RAW_LIMIT = 2000  # characters of a reply without text that are kept
_LEVELS = ("low", "medium", "high", "xhigh")


class OpenaiResponses:
    """Calls `<base>/responses`, with the key of the environment."""

    name = "openai_responses"
    concurrency = 8
    streams = True
    timed_out = TIMED_OUT

    def __init__(self) -> None:
        self._http = HttpClient()

    def missing(self, _model: str, _base_url: str | None) -> str | None:
        """Say whether the key is missing."""
        return None if os.environ.get(_KEY) else f"the key {_KEY} is not set in the environment"

    def price(self, model: str) -> Mapping[str, float] | None:
        """Look the price up under the model's own name."""
        return known_price(model, f"openai/{model}")

    async def call(self, request: Request) -> Result:
        """Call the model once."""
        key = os.environ.get(_KEY)
        if not key:
            return Failure(AUTH_ERROR, "openai_api_key_missing")
        base = request.base_url or os.environ.get("OPENAI_BASE_URL") or _DEFAULT_BASE
        url = endpoint(base, "/responses")
        body = _body(request)
        sent = {key: value for key, value in body.items() if key not in {"model", "input"}}
        headers = {"Authorization": f"Bearer {key}"}
        try:
            ask = self._streamed if request.is_streamed else self._whole
            result = await ask(url, body, headers)
        except FailedError as error:
            result = error.failure
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            result = Failure(ERROR, EXCEPTION, str(error), is_transient=True)
        return replace(self._priced(result, request), sent=sent)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.close()

    def _priced(self, result: Result, request: Request) -> Result:
        price = request.price or self.price(request.model)
        usd = cost(price, result.input_tokens, result.output_tokens)
        if usd is None:
            return result
        return replace(
            result, cost_usd=usd, cost_source="model file" if request.price else "litellm"
        )

    async def _whole(self, url: str, body: Mapping[str, Any], headers: Mapping[str, str]) -> Result:
        document = await self._http.post(url, body, headers)
        text = "".join(_texts(document)).strip()
        tokens = _tokens(as_object(document.get("usage")))
        if text:
            return Reply(text, *tokens)
        raw = json.dumps(document)[:_RAW_LIMIT]
        return Failure(ERROR, EMPTY, raw, input_tokens=tokens[0], output_tokens=tokens[1])

    async def _streamed(
        self, url: str, body: Mapping[str, Any], headers: Mapping[str, str]
    ) -> Result:
        began = time.perf_counter()
        pieces: list[str] = []
        ttft_ms = None
        usage: dict[str, Any] = {}
        async for event in self._http.events(url, body, headers):
            if event.get("type") == "response.output_text.delta":
                piece = event.get("delta") or ""
                if piece and ttft_ms is None:
                    ttft_ms = int((time.perf_counter() - began) * 1000)
                pieces.append(piece)
            elif event.get("type") == "response.completed":
                response = as_object(event.get("response"))
                usage = as_object(response.get("usage") or event.get("usage"))
        text = "".join(pieces).strip()
        tokens = _tokens(usage)
        if text:
            return Reply(text, *tokens, ttft_ms)
        return Failure(ERROR, EMPTY, input_tokens=tokens[0], output_tokens=tokens[1])


def _body(request: Request) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "input_text", "text": request.prompt}]
    content += [{"type": "input_image", "image_url": data_url(i)} for i in request.images]
    body: dict[str, Any] = {
        "model": request.model,
        "input": [{"role": "user", "content": content}],
        # It has no seed; whoever asked for one sees that it was not sent.
        **{name: value for name, value in request.parameters.items() if name != "seed"},
    }
    if request.system is not None:
        body["instructions"] = request.system
    if request.thinking_level in _LEVELS:
        body["reasoning"] = {"effort": request.thinking_level}
    if request.schema is not None:
        schema = {"name": "answer", "strict": True, "schema": dict(request.schema)}
        body["text"] = {"format": {"type": "json_schema", **schema}}
    if request.is_streamed:
        body["stream"] = True
    return body


def _texts(document: Mapping[str, Any]) -> Iterator[str]:
    for item in document.get("output") or []:
        for block in as_object(item).get("content") or []:
            if as_object(block).get("type") in {"output_text", "text"}:
                yield block.get("text") or ""


def _tokens(usage: Mapping[str, Any]) -> tuple[int | None, int | None]:
    return as_count(usage.get("input_tokens")), as_count(usage.get("output_tokens"))
