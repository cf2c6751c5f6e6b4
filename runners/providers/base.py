"""What the engine and the providers say to each other: a request, and a reply or a failure.

Who adds a way to reach models needs to read nothing else: a provider is one file with one class
that follows `Provider`, and one line in `runners/providers/registry.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

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

_NOTHING: Mapping[str, Any] = MappingProxyType({})
_BYTES_PER_TOKEN = 3  # a letter of Thai or Finnish is more than one byte
_TOKENS_PER_PICTURE = 1000


@dataclass(frozen=True, slots=True)
class Image:
    """A picture that goes with a prompt. It is read when it is sent, so that few are in memory.

    Attributes:
        path: its file.
        mime: its type, such as `image/jpeg`.
    """

    path: Path
    mime: str

    @property
    def data(self) -> bytes:
        """The bytes.

        Raises:
            ValueError: the file is gone.
        """
        try:
            return self.path.read_bytes()
        except OSError as error:
            problem = f"the picture {self.path.name} is not in the cache any more"
            raise ValueError(problem) from error


@dataclass(frozen=True, slots=True)
class Request:
    """One call of a model.

    Attributes:
        model: as the provider knows it.
        prompt: the user's message, sent verbatim.
        task_id: which task it is for; `replay` looks its answer up by it.
        attempt: which planned repeat, from 1.
        system: the system's message; None for none.
        parameters: temperature and the like, under the names that the provider knows.
        thinking_level: low, medium, high or xhigh; None leaves it to the model.
        is_streamed: whether to have the answer piece by piece, which gives `ttft_ms`.
        base_url: where the provider is, if not in its usual place.
        price: US dollars per token, `input` and `output`, where the model file says them.
        images: pictures.
        schema: JSON Schema that the answer should follow, where the provider takes one.
    """

    model: str
    prompt: str
    task_id: str = ""
    attempt: int = 1
    system: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    thinking_level: str | None = None
    is_streamed: bool = False
    base_url: str | None = None
    price: Mapping[str, float] | None = None
    images: tuple[Image, ...] = ()
    schema: Mapping[str, Any] | None = None

    @property
    def estimated_tokens(self) -> int:
        """How many tokens the model has to read, roughly."""
        text = self.prompt + (self.system or "")
        n_tokens = len(text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN + 1
        return n_tokens + len(self.images) * _TOKENS_PER_PICTURE


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer.

    Attributes:
        text: what the model said.
        input_tokens: as the provider counted them.
        output_tokens: as the provider counted them.
        ttft_ms: time to the first piece of text, milliseconds; None where not streamed.
        cost_usd: US dollars; None where unknown.
        cost_source: who said the cost.
        sent: the parameters that were really sent.
    """

    text: str
    input_tokens: int | None = None
    output_tokens: int | None = None
    ttft_ms: int | None = None
    cost_usd: float | None = None
    cost_source: str | None = None
    sent: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)


@dataclass(frozen=True, slots=True)
class Failure:
    """A call without an answer.

    Attributes:
        status: skipped_unavailable, auth_error, rate_limited, error, or ok for an empty answer.
        failure_type: reason code: `http_429`, `exception`, `empty_response`.
        text: what the provider said, or what went wrong; it becomes `raw_output`.
        is_transient: whether the same call may work when tried again.
        retry_after: seconds that the provider asks to wait.
        sent: the parameters that were really sent.
        input_tokens: as the provider counted them, for an empty answer.
        output_tokens: as the provider counted them, for an empty answer.
        cost_usd: US dollars; an empty answer is paid too.
        cost_source: who said the cost.
    """

    status: str
    failure_type: str
    text: str = ""
    is_transient: bool = False
    retry_after: float | None = None
    sent: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    cost_source: str | None = None


Result = Reply | Failure

TIMED_OUT = Failure(ERROR, EXCEPTION, "timed out", is_transient=True)


class Provider(Protocol):
    """A way to reach models.

    Attributes:
        name: as it is recorded and given to `--provider`.
        concurrency: calls at once, unless the user says otherwise.
        streams: whether it can give an answer piece by piece.
        timed_out: what a call that took too long counts as.
    """

    name: str
    concurrency: int
    streams: bool
    timed_out: Failure

    def missing(self, model: str, base_url: str | None) -> str | None:
        """Say what is missing to call a model: a key, a program, a server; None if nothing."""

    def price(self, model: str) -> Mapping[str, float] | None:
        """Give the price of a model in US dollars per token, `input` and `output`, if known."""

    async def call(self, request: Request) -> Result:
        """Call the model once. Never raises for what a server or a program may do."""

    async def close(self) -> None:
        """Give back connections."""


def empty(reply: Reply) -> Failure:
    """Turn an answer without any text into what it counts as."""
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
