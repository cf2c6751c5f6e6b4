"""Any model that litellm can reach: `gemini/…`, `anthropic/…`, `openrouter/…`, `ollama/…`."""

from __future__ import annotations

import asyncio
import atexit
import gc
import logging
import os
import time
import warnings
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from runners.models.prices import cost, known_price
from runners.providers.base import (
    ERROR,
    EXCEPTION,
    SKIPPED,
    VENDORS_OWN,
    Failure,
    Provider,
    Reply,
    empty,
)
from runners.providers.keys import bearer, key_missing, named_key, unset_key
from runners.providers.litellm_keys import REHEARSED, is_foreign, key_to_send, stray_key
from runners.providers.litellm_limit import (
    ABSENT_KEY,
    is_reply_too_large,
    limit_replies,
    limited_reply,
)
from runners.providers.transport.http import (
    as_count,
    as_object,
    causes_of,
    http_failure,
    no_response,
)
from runners.providers.transport.images import chat_content
from runners.providers.transport.model_list import problem_at
from runners.providers.transport.rehearsal import rehearsal_server
from runners.providers.transport.reply_limit import ReplyTooLargeError
from runners.providers.vendors import (
    is_own_address,
    is_unknown,
    missing_keys,
    vendor_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

    from runners.providers.base import Request, Result

_FIRST_ERROR = 300
_UNKNOWN = "litellm does not know the provider of `{}`: write it as provider/model"
_STRONGEST = "xhigh"
# By name: which HTTP library litellm uses is an implementation detail.
_UNREACHABLE = ("ConnectError", "ConnectTimeout", "ClientConnectorError", "ClientConnectorDNSError")

# Prefixes of OpenAI-compatible servers of one's own.
_COMPATIBLE = ("openai", "hosted_vllm", "lm_studio", "llamafile")
_REHEARSAL_SECONDS = 30.0


class Litellm(Provider):
    """Calls `litellm.acompletion` without its own retries. Imports litellm on first use."""

    name = "litellm"
    streams = True

    def __init__(self) -> None:
        self._module: ModuleType | None = None
        self._known: dict[str, tuple[dict[str, object], dict[str, object]]] = {}

    def unavailable_reason(
        self, model: str, base_url: str | None, api_key_env: str | None = None, /
    ) -> str | None:
        """Return which keys are not set, or that litellm does not know the model's provider."""
        vendor = vendor_of(model)
        if vendor is None:
            if base_url is None and is_unknown(model):
                return _UNKNOWN.format(model)
            litellm = self._litellm()
            try:
                _, vendor, *_ = litellm.get_llm_provider(model, api_base=base_url)
            except litellm.exceptions.BadRequestError:
                own = f"; at an OpenAI-compatible server, openai/{model}" if base_url else ""
                return f"{_UNKNOWN.format(model)}{own}"
        if reason := unset_key(api_key_env) or stray_key(str(vendor), base_url, api_key_env):
            return reason
        if api_key_env is not None or is_foreign(str(vendor), base_url):
            return None
        if vendor_of(model) is not None:
            keys = missing_keys(str(vendor))
        else:
            keys = self._litellm().validate_environment(model, api_base=base_url)["missing_keys"]
            # Addresses have defaults; keys do not.
            keys = [key for key in keys if not key.endswith(("_BASE", "_URL"))]
        return f"not set in the environment: {', '.join(keys)}" if keys else None

    def address(self, model: str, base_url: str | None, /) -> str | None:
        """Return the given address, or that of the environment."""
        vendor = (vendor_of(model) or "").upper()
        given = base_url or os.environ.get(f"{vendor}_BASE_URL")
        return super().address(model, given or os.environ.get(f"{vendor}_API_BASE"))

    def server(self, model: str, base_url: str | None, /) -> str:
        """Return the address that is called; of vendors at their own addresses, the vendor."""
        address = super().server(model, base_url)
        return address if address != VENDORS_OWN else vendor_of(model) or ""

    def server_problem(
        self, model: str, base_url: str | None, api_key_env: str | None = None, /
    ) -> str | None:
        """Return a reason if an OpenAI-compatible server does not respond or lacks the model."""
        vendor, _, name = model.partition("/")
        if base_url is None or vendor not in _COMPATIBLE or is_own_address(vendor, base_url):
            return None
        return problem_at(base_url, name, bearer(named_key(api_key_env)))

    def price(self, model: str, /) -> Mapping[str, float] | None:
        """Return the price listed under the model's own name, with or without its provider."""
        provider, _, name = model.partition("/")
        entry = known_price(model)
        # Routes such as openrouter/… have their own prices: only `openai/gpt-x` is `gpt-x`.
        return entry or (known_price(name) if provider == "openai" else None)

    async def call(self, request: Request, /) -> Result:
        """Call the model once."""
        self._litellm()
        _disable_call_logging()
        with limited_reply(request.max_reply_bytes) as meter:
            result = await self._result(request)
        if meter.is_exceeded:
            # Whatever litellm made of it: it may also take the end for that of the answer.
            text = result.text if isinstance(result, Reply) else ""
            return replace(ReplyTooLargeError(text or meter.text).failure, sent=result.sent)
        return empty(result) if isinstance(result, Reply) and not result.text.strip() else result

    async def _result(self, request: Request) -> Result:
        sent: dict[str, object] = {}
        try:
            _, vendor, *_ = self._litellm().get_llm_provider(
                request.model, api_base=request.base_url, api_key=ABSENT_KEY
            )
            where = request.base_url, request.api_key_env
            if reason := unset_key(request.api_key_env) or stray_key(vendor, *where):
                return key_missing(reason)
            parameters, sent = self._translated(request)
            arguments = self._arguments(request, parameters)
            if (key := key_to_send(vendor, request)) is not None:
                arguments["api_key"] = key
            return await self._complete(request, arguments, sent)
        except Exception as error:  # noqa: BLE001 - litellm raises errors of every kind
            return _failure(error, sent, request.base_url)

    async def warm_up(self, request: Request, /) -> None:
        """Import litellm and have it make the call to a server of our own."""
        litellm = self._litellm()
        _disable_call_logging()
        with suppress(Exception):
            _, vendor, *_ = litellm.get_llm_provider(request.model, api_base=request.base_url)
            parameters, sent = self._translated(request)
            async with rehearsal_server() as base, asyncio.timeout(_REHEARSAL_SECONDS):
                rehearsed = replace(request, prompt="ok", base_url=base, images=())
                arguments = self._arguments(rehearsed, parameters)
                # Real headers and keys must not leave for the wrong address.
                arguments.pop("extra_headers", None)
                arguments["api_key"] = "rehearsal"
                if vendor not in REHEARSED:
                    arguments["mock_response"] = "ok"
                await self._complete(rehearsed, arguments, sent)
        # What it has loaded lives as long as the process.
        gc.freeze()

    async def close(self) -> None:
        """Close connections."""
        if self._module is not None:
            await self._module.close_litellm_async_clients()

    def _litellm(self) -> ModuleType:
        if self._module is None:
            # Set before the import: use the price table that ships with it, not the network.
            os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
            import litellm

            litellm.telemetry = False
            litellm.suppress_debug_info = True
            # It triggers these itself, and users cannot act on them.
            warnings.filterwarnings("ignore", module="pydantic")
            # Its log would show requests and responses.
            for name in ("LiteLLM", "LiteLLM Proxy", "LiteLLM Router"):
                logging.getLogger(name).setLevel(logging.CRITICAL)
            # It creates hundreds of thousands of long-lived objects: scanning them in every garbage
            # collection would take a tenth of a call's CPU time.
            gc.freeze()
            # Frozen objects of DuckDB's would be reported as leaked when the process ends.
            atexit.register(gc.unfreeze)
            limit_replies()
            self._module = litellm
        return self._module

    def _translated(self, request: Request) -> tuple[dict[str, object], dict[str, object]]:
        """Return the parameters for litellm, and those it sends on: computed once per model."""
        key = repr(replace(request, prompt="", task_id="", attempt=1, images=()))
        if key not in self._known:
            parameters = self._parameters(request)
            self._known[key] = parameters, self._sent(request, parameters)
        return self._known[key]

    def _arguments(self, request: Request, parameters: Mapping[str, object]) -> dict[str, object]:
        messages: list[dict[str, object]] = [{"role": "user", "content": chat_content(request)}]
        if request.system is not None:
            messages.insert(0, {"role": "system", "content": request.system})
        arguments: dict[str, object] = {
            "model": request.model,
            "messages": messages,
            **parameters,
            "drop_params": True,
            # The engine retries: each retry is recorded, and none inflates a latency.
            "num_retries": 0,
            "max_retries": 0,
        }
        if request.base_url is not None:
            arguments["api_base"] = request.base_url
        if request.is_streamed:
            arguments |= {"stream": True, "stream_options": {"include_usage": True}}
        return arguments

    def _parameters(self, request: Request) -> dict[str, object]:
        parameters = dict(request.parameters)
        if request.schema is not None:
            schema = {"name": "answer", "strict": True, "schema": dict(request.schema)}
            parameters["response_format"] = {"type": "json_schema", "json_schema": schema}
        level = request.thinking_level
        if level is None:
            return parameters
        with_level = {**parameters, "reasoning_effort": level}
        sent = self._sent(request, with_level)
        is_dropped = sent == self._sent(request, parameters)
        if level == _STRONGEST and (is_dropped or sent.get("think") is False):
            # Not every provider has the strongest level: use the one below.
            with_level["reasoning_effort"] = "high"
        return with_level

    def _sent(self, request: Request, parameters: Mapping[str, object]) -> dict[str, object]:
        """Return the parameters as litellm sends them to the model's provider.

        It silently drops those that the provider does not support, and translates the rest.
        """
        litellm = self._litellm()
        model, provider, *_ = litellm.get_llm_provider(request.model, api_base=request.base_url)
        sent: dict[str, object] = litellm.utils.get_optional_params(
            model=model, custom_llm_provider=provider, drop_params=True, **parameters
        )
        sent |= as_object(sent.pop("extra_body", None))
        return sent | {"stream": request.is_streamed}

    async def _complete(
        self, request: Request, arguments: Mapping[str, object], sent: Mapping[str, object]
    ) -> Reply:
        if request.is_streamed:
            return await self._streamed(request, arguments, sent)
        response = await self._litellm().acompletion(**arguments)
        return self._reply(request, response, sent)

    async def _streamed(
        self, request: Request, arguments: Mapping[str, object], sent: Mapping[str, object]
    ) -> Reply:
        began = time.perf_counter()
        chunks: list[object] = []
        pieces: list[str] = []
        ttft_ms = None
        try:
            async for chunk in await self._litellm().acompletion(**arguments):
                chunks.append(chunk)
                pieces += [c.delta.content for c in chunk.choices[:1] if c.delta.content]
                if ttft_ms is None and pieces:
                    ttft_ms = int((time.perf_counter() - began) * 1000)
        except Exception:
            if not is_reply_too_large():
                raise
            return Reply("".join(pieces), sent=sent)
        whole = self._litellm().stream_chunk_builder(chunks, messages=arguments["messages"])
        return replace(self._reply(request, whole, sent), ttft_ms=ttft_ms)

    def _reply(self, request: Request, response: object, sent: Mapping[str, object]) -> Reply:
        choices = getattr(response, "choices", None) or []
        usage = getattr(response, "usage", None)
        reply = Reply(
            (choices[0].message.content or "") if choices else "",
            input_tokens=as_count(getattr(usage, "prompt_tokens", None)),
            output_tokens=as_count(getattr(usage, "completion_tokens", None)),
            sent=sent,
        )
        usd, source = self._cost(request, response, reply)
        return replace(reply, cost_usd=usd, cost_source=source)

    def _cost(
        self, request: Request, response: object, reply: Reply
    ) -> tuple[float | None, str | None]:
        if request.price is not None:
            usd = cost(request.price, reply.input_tokens, reply.output_tokens)
            return usd, "model file" if usd is not None else None
        reported = getattr(getattr(response, "usage", None), "cost", None)
        if isinstance(reported, int | float):
            return float(reported), "provider"
        # litellm may fall back on a model of a similar name: call it only for models that the
        # table lists under their own.
        if self.price(request.model) is None or reply.input_tokens is None:
            return None, None
        with suppress(Exception):
            usd = self._litellm().completion_cost(response, model=request.model)
            return float(usd), "litellm"
        return None, None


PROVIDER = Litellm


def _disable_call_logging() -> None:
    """Mark the call as internal, so that litellm creates no log records of it.

    It would create them for every request and response and keep them until the process is idle.
    """
    with suppress(ImportError):  # private: without it, the records are created and discarded
        from litellm._internal_context import is_internal_call

        is_internal_call.set(True)


def _failure(error: Exception, sent: Mapping[str, object], base_url: str | None) -> Failure:
    """Classify an error by the server's own status, as litellm's classes are not reliable.

    A refused connection, for example, is an InternalServerError with status 500.
    """
    causes = list(causes_of(error))
    text = str(getattr(error, "message", "")) or str(error) or type(error).__name__
    was_reached = any(isinstance(cause, ConnectionResetError) for cause in causes)
    if not was_reached and any(type(cause).__name__ in _UNREACHABLE for cause in causes):
        text = no_response(base_url, error) if base_url is not None else text
        return Failure(SKIPPED, EXCEPTION, text, is_transient=True, sent=sent)
    for cause in causes:
        response = getattr(cause, "response", None)
        status = getattr(response, "status_code", None)
        if response is not None and isinstance(status, int) and _is_from_server(cause, status):
            failure = http_failure(status, _body(response) or text, response.headers)
            return _with(failure, text, sent)
    status = getattr(error, "status_code", None)
    if status in {401, 403, 404, 429}:
        headers = getattr(error, "litellm_response_headers", None)
        return _with(http_failure(status, text, headers), text, sent)
    return Failure(ERROR, EXCEPTION, text, is_transient=True, sent=sent)


def _with(failure: Failure, text: str, sent: Mapping[str, object]) -> Failure:
    return replace(failure, text=failure.text or text, sent=sent)


def _is_from_server(cause: BaseException, status: int) -> bool:
    # litellm invents a response for its own errors.
    return status >= _FIRST_ERROR and not type(cause).__module__.startswith("litellm")


def _body(response: object) -> str:
    try:
        return str(getattr(response, "text", ""))
    except Exception:  # noqa: BLE001 - a streamed body that was not read
        return ""
