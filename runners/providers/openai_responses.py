"""OpenAI's Responses API."""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from runners.models.prices import cost, known_price
from runners.providers.base import (
    AUTH_ERROR,
    EMPTY,
    ERROR,
    EXCEPTION,
    Failure,
    Provider,
    Reply,
)
from runners.providers.keys import bearer, key_missing, named_key, unset_key
from runners.providers.transport.http import (
    CallFailedError,
    HttpClient,
    as_count,
    as_list,
    as_object,
    as_text,
    endpoint,
)
from runners.providers.transport.images import data_url
from runners.providers.transport.model_list import problem_at
from runners.providers.transport.reply_limit import ReplyTooLargeError, answer_so_far
from runners.providers.vendors import is_own_address

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from runners.providers.base import Request, Result

_DEFAULT_BASE = "https://api.openai.com/v1"
_KEY = "OPENAI_API_KEY"
_RAW_LIMIT = 2000  # characters kept of a response without text
_LEVELS = ("low", "medium", "high", "xhigh")


class OpenaiResponses(Provider):
    """Calls `<base>/responses` with the key from the environment."""

    name = "openai_responses"
    streams = True

    def __init__(self) -> None:
        self._http = HttpClient()

    def unavailable_reason(
        self, _model: str, base_url: str | None, api_key_env: str | None = None, /
    ) -> str | None:
        """Return a reason if the key is not set."""
        if api_key_env is not None or not _takes_vendors_key(base_url) or os.environ.get(_KEY):
            return unset_key(api_key_env)
        return f"{_KEY} is not set in the environment"

    def address(self, _model: str, base_url: str | None, /) -> str | None:
        """Return the given address, that of the environment, or OpenAI's."""
        return _base(base_url)

    def server_problem(
        self, model: str, base_url: str | None, api_key_env: str | None = None, /
    ) -> str | None:
        """Return a reason if a server of one's own does not respond or lacks the model."""
        if base_url is None or is_own_address("openai", base_url):
            return None
        return problem_at(base_url, model, bearer(named_key(api_key_env)))

    def price(self, model: str, /) -> Mapping[str, float] | None:
        """Return the price listed under the model's own name."""
        return known_price(model, f"openai/{model}")

    async def call(self, request: Request, /) -> Result:
        """Call the model once."""
        key = named_key(request.api_key_env)
        if reason := unset_key(request.api_key_env):
            return key_missing(reason)
        if request.api_key_env is None and _takes_vendors_key(request.base_url):
            key = os.environ.get(_KEY)
            if not key:
                return Failure(AUTH_ERROR, "openai_api_key_missing")
        url = endpoint(_base(request.base_url), "/responses")
        body = _body(request)
        sent = {key: value for key, value in body.items() if key not in {"model", "input"}}
        headers = bearer(key)
        try:
            post = self._streamed if request.is_streamed else self._whole
            result = await post(url, body, headers, request.max_reply_bytes)
        except ReplyTooLargeError as error:
            result = error.failure
        except CallFailedError as error:
            result = error.failure
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            result = Failure(ERROR, EXCEPTION, str(error), is_transient=True)
        return replace(self._priced(result, request), sent=sent)

    async def warm_up(self, _request: Request, /) -> None:
        """Open the client."""
        await self._http.warm_up()

    async def close(self) -> None:
        """Close connections."""
        await self._http.close()

    def _priced(self, result: Result, request: Request) -> Result:
        price = request.price or self.price(request.model)
        usd = cost(price, result.input_tokens, result.output_tokens)
        if usd is None:
            return result
        return replace(
            result, cost_usd=usd, cost_source="model file" if request.price else "litellm"
        )

    async def _whole(
        self, url: str, body: Mapping[str, object], headers: Mapping[str, str], max_bytes: int
    ) -> Result:
        document = await self._http.post(url, body, headers, max_bytes=max_bytes)
        text = "".join(_texts(document)).strip()
        usage = as_object(document.get("usage"))
        return _result(text, usage, raw=json.dumps(document)[:_RAW_LIMIT])

    async def _streamed(
        self, url: str, body: Mapping[str, object], headers: Mapping[str, str], max_bytes: int
    ) -> Result:
        began = time.perf_counter()
        pieces: list[str] = []
        ttft_ms = None
        usage: dict[str, object] = {}
        with answer_so_far(pieces):
            async for event in self._http.events(url, body, headers, max_bytes=max_bytes):
                if event.get("type") == "response.output_text.delta":
                    piece = as_text(event.get("delta"))
                    if piece and ttft_ms is None:
                        ttft_ms = int((time.perf_counter() - began) * 1000)
                    pieces.append(piece)
                elif event.get("type") == "response.completed":
                    response = as_object(event.get("response"))
                    usage = as_object(response.get("usage") or event.get("usage"))
        return _result("".join(pieces).strip(), usage, ttft_ms=ttft_ms)


PROVIDER = OpenaiResponses


def _base(base_url: str | None) -> str:
    return base_url or os.environ.get("OPENAI_BASE_URL") or _DEFAULT_BASE


def _takes_vendors_key(base_url: str | None) -> bool:
    """Return whether the key of the environment is for an address: OpenAI's, or that beside it."""
    return base_url is None or is_own_address("openai", base_url)


def _body(request: Request) -> dict[str, object]:
    content: list[dict[str, object]] = [{"type": "input_text", "text": request.prompt}]
    content += [{"type": "input_image", "image_url": data_url(i)} for i in request.images]
    body: dict[str, object] = {
        "model": request.model,
        "input": [{"role": "user", "content": content}],
        # The API has no seed; `sent` shows that a requested one was left out.
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


def _texts(document: Mapping[str, object]) -> Iterator[str]:
    for item in as_list(document.get("output")):
        for block in map(as_object, as_list(as_object(item).get("content"))):
            if block.get("type") in {"output_text", "text"}:
                yield as_text(block.get("text"))


def _result(
    text: str, usage: Mapping[str, object], *, raw: str = "", ttft_ms: int | None = None
) -> Result:
    input_tokens = as_count(usage.get("input_tokens"))
    output_tokens = as_count(usage.get("output_tokens"))
    if text:
        return Reply(text, input_tokens=input_tokens, output_tokens=output_tokens, ttft_ms=ttft_ms)
    return Failure(ERROR, EMPTY, raw, input_tokens=input_tokens, output_tokens=output_tokens)
