"""The interface between the engine and the providers: a request in, a reply or a failure out.

To add a provider, write one module with a class derived from `Provider` and a constant `PROVIDER`
that names it, and add one line to `PROVIDERS` in `runners/providers/registry.py`.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from warehouse.core.files import read_regular

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

OK = "ok"
SKIPPED = "skipped_unavailable"
AUTH_ERROR = "auth_error"
RATE_LIMITED = "rate_limited"
ERROR = "error"

EMPTY = "empty_response"
EXCEPTION = "exception"
VENDORS_OWN = "the vendor's own address"
REPLY_TOO_LARGE = "reply_too_large"
UNPARSED_REPLY = "unparsed_reply"  # of a judge

# Far beyond any answer. A stream has about 300 bytes per token.
MAX_REPLY_MIB = 64
# What is kept of the text of a failure, such as the beginning of an endless reply.
MAX_FAILURE_BYTES = 2**20

_NOTHING: Mapping[str, object] = MappingProxyType({})
_BYTES_PER_TOKEN = 3  # a letter of Thai or Finnish is more than one byte
_TOKENS_PER_IMAGE = 1000


@dataclass(frozen=True, slots=True)
class Image:
    """An image that accompanies a prompt. It is read only when sent, to limit memory use.

    Attributes:
        path: its file.
        mime: its media type, such as `image/jpeg`.
    """

    path: Path
    mime: str

    @property
    def data(self) -> bytes:
        """The file's bytes.

        Raises:
            ValueError: the file no longer exists.
        """
        try:
            return read_regular(self.path)
        except OSError as error:
            raise ValueError(f"image {self.path.name} is no longer in the cache") from error


@dataclass(frozen=True, slots=True)
class Request:
    """One model call.

    Attributes:
        model: name of the model, as the provider knows it.
        prompt: the user message, sent verbatim.
        task_id: task that the call belongs to; `replay` uses it to find the response.
        attempt: planned attempt, from 1.
        system: the system message; None for none.
        parameters: sampling parameters such as temperature, under the provider's own names.
        thinking_level: low, medium, high or xhigh; None for the model's default.
        is_streamed: whether to stream the response, which gives `ttft_ms`.
        base_url: address of the provider; None for its default.
        api_key_env: variable with the key for this address, or `none`; None if no file names one.
        price: US dollars per token, `input` and `output`, from the model file; None if unset.
        images: images sent with the prompt.
        schema: JSON Schema for the response, sent where the provider supports it.
        max_reply_bytes: limit of the response's size, decompressed.
    """

    model: str
    prompt: str
    _: KW_ONLY
    task_id: str = ""
    attempt: int = 1
    system: str | None = None
    parameters: Mapping[str, object] = field(default_factory=lambda: _NOTHING)
    thinking_level: str | None = None
    is_streamed: bool = False
    base_url: str | None = None
    api_key_env: str | None = None
    price: Mapping[str, float] | None = None
    images: tuple[Image, ...] = ()
    schema: Mapping[str, object] | None = None
    max_reply_bytes: int = MAX_REPLY_MIB * 2**20

    @property
    def estimated_tokens(self) -> int:
        """Estimated number of input tokens."""
        text = self.prompt + (self.system or "")
        n_tokens = len(text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN + 1
        return n_tokens + len(self.images) * _TOKENS_PER_IMAGE


@dataclass(frozen=True, slots=True)
class Reply:
    """A response with text.

    Attributes:
        text: the model's text.
        input_tokens: as counted by the provider.
        output_tokens: as counted by the provider.
        ttft_ms: time to the first piece of text, milliseconds; None unless streamed.
        cost_usd: US dollars; None if unknown.
        cost_source: where the cost comes from: `model file`, `provider`, `litellm` or `replay`.
        sent: the parameters that were actually sent.
    """

    text: str
    _: KW_ONLY
    input_tokens: int | None = None
    output_tokens: int | None = None
    ttft_ms: int | None = None
    cost_usd: float | None = None
    cost_source: str | None = None
    sent: Mapping[str, object] = field(default_factory=lambda: _NOTHING)


@dataclass(frozen=True, slots=True)
class Failure:
    """A call without a usable response.

    Attributes:
        status: skipped_unavailable, auth_error, rate_limited, error, or ok for an empty response.
        failure_type: reason code: `http_429`, `exception`, `empty_response`, `reply_too_large`.
        text: the provider's message or the error; it becomes `raw_output`.
        is_transient: whether the same call may succeed when retried.
        retry_after: seconds that the provider asks clients to wait; None if it does not say.
        sent: the parameters that were actually sent.
        input_tokens: as counted by the provider, for an empty response.
        output_tokens: as counted by the provider, for an empty response.
        cost_usd: US dollars; empty responses are billed too.
        cost_source: where the cost comes from.
        n_bytes: what was read, in bytes, if `text` is only the beginning of a text.
    """

    status: str
    failure_type: str
    text: str = ""
    _: KW_ONLY
    is_transient: bool = False
    retry_after: float | None = None
    sent: Mapping[str, object] = field(default_factory=lambda: _NOTHING)
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    cost_source: str | None = None
    n_bytes: int | None = None

    @property
    def shortened(self) -> Failure:
        """The failure with the beginning of its text, if it is long: all of it is looked through.

        Secrets are searched for in it, and it is written to the journal and the lake.
        """
        if self.failure_type != REPLY_TOO_LARGE and len(self.text) * 4 <= MAX_FAILURE_BYTES:
            return self
        data = self.text.encode("utf-8", "replace")
        if self.failure_type != REPLY_TOO_LARGE and len(data) <= MAX_FAILURE_BYTES:
            return self
        text = data[:MAX_FAILURE_BYTES].decode("utf-8", "ignore")
        return replace(self, text=text, n_bytes=len(data))


Result = Reply | Failure

TIMED_OUT = Failure(ERROR, EXCEPTION, "timed out after {} s (--timeout-s)", is_transient=True)


class Provider(Protocol):
    """A way to reach models. Only `name` and `call` are required.

    Attributes:
        name: as given to `--provider` and recorded in results.
        concurrency: maximum simultaneous calls per server, unless the user sets another.
        streams: whether it can stream responses.
        timed_out: the failure recorded for a call that exceeds its time limit, in seconds `{}`.
    """

    name: str
    concurrency: int = 8
    streams: bool = False
    timed_out: Failure = TIMED_OUT

    @abstractmethod
    async def call(self, request: Request, /) -> Result:
        """Call the model once. Errors of a server or program are returned, never raised."""

    def unavailable_reason(
        self, _model: str, _base_url: str | None, _api_key_env: str | None = None, /
    ) -> str | None:
        """Return why the model cannot be called, such as a missing key; None if it can.

        Checked before the first call, without contacting any server.
        """
        return None

    def server_problem(
        self, _model: str, _base_url: str | None, _api_key_env: str | None = None, /
    ) -> str | None:
        """Return what a local server reports as missing; None if nothing. Contacts the server."""
        return None

    def address(self, _model: str, base_url: str | None, /) -> str | None:
        """Return the address that is called, as the user is told it; None if none is."""
        return base_url or VENDORS_OWN

    def server(self, model: str, base_url: str | None, /) -> str:
        """Return what models share limits at: the address that is called."""
        return self.address(model, base_url) or ""

    def price(self, _model: str, /) -> Mapping[str, float] | None:
        """Return the model's price in US dollars per token, `input` and `output`, if known."""
        return None

    async def warm_up(self, _request: Request, /) -> None:
        """Prepare for a call like this one, without making it, so that no call is measured slow.

        Called once per model before the first call of a command. Errors are left to the call.
        """
        return

    async def close(self) -> None:
        """Close connections."""
        return


def empty(reply: Reply) -> Failure:
    """Return the failure that a reply without text counts as."""
    return Failure(
        OK,
        EMPTY,
        reply.text,
        sent=reply.sent,
        input_tokens=reply.input_tokens,
        output_tokens=reply.output_tokens,
        cost_usd=reply.cost_usd,
        cost_source=reply.cost_source,
    )
