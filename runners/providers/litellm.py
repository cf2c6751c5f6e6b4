"""Any model that litellm reaches: `gemini/…`, `anthropic/…`, `openrouter/…`, `ollama/…`."""

from __future__ import annotations

import atexit
import gc
import logging
import os
import time
import warnings
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from runners.prices import cost, known_price
from runners.providers.base import (
    ERROR,
    EXCEPTION,
    SKIPPED,
    TIMED_OUT,
    Failure,
    Reply,
    empty,
)
from runners.providers.http import as_count, http_failure
from runners.providers.images import data_url

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from runners.providers.base import Request, Result

_FIRST_ERROR = 300
_STRONGEST = "xhigh"
# By name: which HTTP library litellm uses is its own affair.
_UNREACHABLE = ("ConnectError", "ConnectTimeout", "ClientConnectorError", "ClientConnectorDNSError")


class Litellm:
    """Calls `litellm.acompletion`, without its own retries. litellm is imported when first used."""

    name = "litellm"
    concurrency = 8
    streams = True
    timed_out = TIMED_OUT

    def __init__(self) -> None:
        self._module: Any = None
        self._known: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}

    def missing(self, model: str, base_url: str | None) -> str | None:
        """Say which keys are missing, or that litellm does not know the model's provider."""
        litellm = self._litellm()
        try:
            litellm.get_llm_provider(model, api_base=base_url)
        except litellm.exceptions.BadRequestError:
            return f"litellm knows no provider for `{model}`: write it as provider/model"
        keys = litellm.validate_environment(model, api_base=base_url)["missing_keys"]
        # Addresses have defaults; it is keys that have none.
        keys = [key for key in keys if not key.endswith(("_BASE", "_URL"))]
        return f"not set in the environment: {', '.join(keys)}" if keys else None

    def price(self, model: str) -> Mapping[str, float] | None:
        """Look the price up under the model's own name, with and without its provider."""
        provider, _, name = model.partition("/")
        entry = known_price(model)
        # A route such as openrouter/… has prices of its own: only `openai/gpt-x` is `gpt-x`.
        return entry or (known_price(name) if provider == "openai" else None)

    async def call(self, request: Request) -> Result:
        """Call the model once."""
        litellm = self._litellm()
        _log_nothing()
        sent: dict[str, Any] = {}
        try:
            wanted, sent = self._translated(request)
            arguments = self._arguments(request, wanted)
            if request.is_streamed:
                reply = await self._streamed(request, arguments, sent)
            else:
                response = await litellm.acompletion(**arguments)
                reply = self._reply(request, response, sent)
        except Exception as error:  # noqa: BLE001 - litellm lets errors of every kind through
            return _failure(error, sent)
        return reply if reply.text.strip() else empty(reply)

    async def close(self) -> None:
        """Close the connections."""
        if self._module is not None:
            await self._module.close_litellm_async_clients()

    def _litellm(self) -> Any:  # noqa: ANN401 - a module without types
        if self._module is None:
            # Before the import: prices from the table that ships with it, not from the network.
            os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
            import litellm

            litellm.telemetry = False
            litellm.suppress_debug_info = True
            # Of its own making, and of no use to whoever reads our output.
            warnings.filterwarnings("ignore", module="pydantic")
            # Its log would show requests and replies.
            for name in ("LiteLLM", "LiteLLM Proxy", "LiteLLM Router"):
                logging.getLogger(name).setLevel(logging.CRITICAL)
            # Hundreds of thousands of objects that live as long as the process: the garbage
            # collector would look at them again and again, a tenth of a call's CPU time.
            gc.freeze()
            # Frozen objects of DuckDB's would be reported as leaked when the process ends.
            atexit.register(gc.unfreeze)
            self._module = litellm
        return self._module

    def _translated(self, request: Request) -> tuple[dict[str, Any], dict[str, Any]]:
        """Give what is wanted of a call and what of it is sent: worked out once for a model."""
        key = repr(replace(request, prompt="", task_id="", attempt=1, images=()))
        if key not in self._known:
            wanted = self._wanted(request)
            self._known[key] = wanted, self._sent(request, wanted)
        return self._known[key]

    def _arguments(self, request: Request, wanted: Mapping[str, Any]) -> dict[str, Any]:
        messages: list[dict[str, Any]] = [{"role": "user", "content": _content(request)}]
        if request.system is not None:
            messages.insert(0, {"role": "system", "content": request.system})
        arguments = {
            "model": request.model,
            "messages": messages,
            **wanted,
            "drop_params": True,
            # Retries are ours: each is counted, and none hides in a latency.
            "num_retries": 0,
            "max_retries": 0,
        }
        if request.base_url is not None:
            arguments["api_base"] = request.base_url
        if request.is_streamed:
            arguments |= {"stream": True, "stream_options": {"include_usage": True}}
        return arguments

    def _wanted(self, request: Request) -> dict[str, Any]:
        wanted = dict(request.parameters)
        if request.schema is not None:
            schema = {"name": "answer", "strict": True, "schema": dict(request.schema)}
            wanted["response_format"] = {"type": "json_schema", "json_schema": schema}
        level = request.thinking_level
        if level is None:
            return wanted
        with_level = {**wanted, "reasoning_effort": level}
        is_lost = self._sent(request, with_level) == self._sent(request, wanted)
        if level == _STRONGEST and (
            is_lost or self._sent(request, with_level).get("think") is False
        ):
            # Not every provider has the strongest level: it gets the one below.
            with_level["reasoning_effort"] = "high"
        return with_level

    def _sent(self, request: Request, wanted: Mapping[str, Any]) -> dict[str, Any]:
        """Give the parameters as the model's provider gets them from litellm.

        It drops in silence what a provider does not take, and translates the rest.
        """
        litellm = self._litellm()
        model, provider, *_ = litellm.get_llm_provider(request.model, api_base=request.base_url)
        sent: dict[str, Any] = litellm.utils.get_optional_params(
            model=model, custom_llm_provider=provider, drop_params=True, **wanted
        )
        sent |= sent.pop("extra_body", {})
        return sent | {"stream": request.is_streamed}

    async def _streamed(
        self, request: Request, arguments: Mapping[str, Any], sent: Mapping[str, Any]
    ) -> Reply:
        began = time.perf_counter()
        chunks: list[Any] = []
        ttft_ms = None
        async for chunk in await self._litellm().acompletion(**arguments):
            chunks.append(chunk)
            if ttft_ms is None and any(c.delta.content for c in chunk.choices):
                ttft_ms = int((time.perf_counter() - began) * 1000)
        whole = self._litellm().stream_chunk_builder(chunks, messages=arguments["messages"])
        return self._reply(request, whole, sent, ttft_ms)

    def _reply(
        self,
        request: Request,
        response: Any,  # noqa: ANN401 - litellm's
        sent: Mapping[str, Any],
        ttft_ms: int | None = None,
    ) -> Reply:
        choices = getattr(response, "choices", None) or []
        text = (choices[0].message.content or "") if choices else ""
        usage = getattr(response, "usage", None)
        tokens = (
            as_count(getattr(usage, "prompt_tokens", None)),
            as_count(getattr(usage, "completion_tokens", None)),
        )
        usd, source = self._cost(request, response, usage, *tokens)
        return Reply(text, *tokens, ttft_ms, usd, source, sent)

    def _cost(
        self,
        request: Request,
        response: Any,  # noqa: ANN401
        usage: Any,  # noqa: ANN401
        input_tokens: int | None,
        output_tokens: int | None,
    ) -> tuple[float | None, str | None]:
        if request.price is not None:
            usd = cost(request.price, input_tokens, output_tokens)
            return usd, "model file" if usd is not None else None
        said = getattr(usage, "cost", None)
        if isinstance(said, int | float):
            return float(said), "provider"
        # litellm may fall back on the price of a model of a similar name: asked only for those
        # that the table has under their own.
        if self.price(request.model) is None or input_tokens is None:
            return None, None
        with suppress(Exception):
            usd = self._litellm().completion_cost(response, model=request.model)
            return float(usd), "litellm"
        return None, None


def _log_nothing() -> None:
    """Have litellm take the call for one of its own, of which it makes no records for loggers.

    It would make them of every request and reply, and hold them until the process is idle.
    """
    with suppress(ImportError):  # no part of its interface: where it is gone, it logs to nobody
        from litellm._internal_context import is_internal_call

        is_internal_call.set(True)


def _content(request: Request) -> Any:  # noqa: ANN401 - text, or a list of parts
    if not request.images:
        return request.prompt
    pictures = [{"type": "image_url", "image_url": {"url": data_url(i)}} for i in request.images]
    return [{"type": "text", "text": request.prompt}, *pictures]


def _failure(error: Exception, sent: Mapping[str, Any]) -> Failure:
    """Tell by the server's own status what went wrong: litellm's classes mix things up.

    A refused connection, for one, is an InternalServerError with status 500.
    """
    causes = list(_chain(error))
    text = str(getattr(error, "message", "")) or str(error) or type(error).__name__
    was_reached = any(isinstance(cause, ConnectionResetError) for cause in causes)
    if not was_reached and any(type(cause).__name__ in _UNREACHABLE for cause in causes):
        return Failure(SKIPPED, EXCEPTION, text, is_transient=True, sent=sent)
    for cause in causes:
        response = getattr(cause, "response", None)
        status = getattr(response, "status_code", None)
        if response is not None and isinstance(status, int) and _is_of_server(cause, status):
            failure = http_failure(status, _body(response) or text, response.headers)
            return _with(failure, text, sent)
    status = getattr(error, "status_code", None)
    if status in {401, 403, 404, 429}:
        headers = getattr(error, "litellm_response_headers", None)
        return _with(http_failure(status, text, headers), text, sent)
    return Failure(ERROR, EXCEPTION, text, is_transient=True, sent=sent)


def _with(failure: Failure, text: str, sent: Mapping[str, Any]) -> Failure:
    return replace(failure, text=failure.text or text, sent=sent)


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


def _is_of_server(cause: BaseException, status: int) -> bool:
    # litellm makes up a response for errors of its own.
    return status >= _FIRST_ERROR and not type(cause).__module__.startswith("litellm")


def _body(response: Any) -> str:  # noqa: ANN401 - httpx's
    try:
        return str(response.text)
    except Exception:  # noqa: BLE001 - a streamed body that was not read
        return ""
