"""The size limit of a reply, counted after decompression: a server may never stop sending."""

from __future__ import annotations

import asyncio
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

import httpx

from runners.providers.base import ERROR, REPLY_TOO_LARGE, Failure

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, AsyncIterator, Iterator

# What clients ask for and `ReplyMeter` decompresses.
ENCODINGS = "gzip, deflate"
_PIECE_BYTES = 2**20  # decompressed at once: a kilobyte may contain a megabyte
_ANY_HEADER = 47  # zlib's code for: gzip or zlib, whichever the data have
_NO_HEADER = -15  # some servers send `deflate` like this


class ReplyTooLargeError(Exception):
    """A reply exceeds its limit.

    Attributes:
        text: the part that was read.
    """

    def __init__(self, text: str) -> None:
        super().__init__("the reply is larger than `max_reply_mib` of the model file")
        self.text = text

    @property
    def failure(self) -> Failure:
        """The failure that the call counts as. It is not retried, as every reply is billed."""
        return Failure(ERROR, REPLY_TOO_LARGE, self.text)


@contextmanager
def answer_so_far(pieces: list[str]) -> Iterator[None]:
    """Have a reply that is too large keep the text of its stream, not the events around it."""
    try:
        yield
    except ReplyTooLargeError as error:
        error.text = "".join(pieces) or error.text
        raise


class ReplyMeter:
    """Counts a reply, and keeps what was read of it up to the limit.

    Args:
        max_bytes: limit of the bytes received, and of those decompressed.

    Attributes:
        is_exceeded: whether the reply is larger than the limit.
    """

    def __init__(self, max_bytes: int) -> None:
        self.is_exceeded = False
        self._max_bytes = max_bytes
        self._kept: list[bytes] = []
        self._n_kept = 0
        self._n_received = 0

    @property
    def text(self) -> str:
        """The reply, or its beginning if it is too large."""
        return b"".join(self._kept).decode("utf-8", "replace")

    async def read(self, chunks: AsyncIterable[bytes], body: Body) -> AsyncIterator[bytes]:
        """Yield the decompressed pieces of a response's body.

        Args:
            chunks: the body as received.
            body: decompresses it.

        Raises:
            ReplyTooLargeError: the reply is larger than the limit; what fits was yielded.
            httpx.DecodingError: the data are damaged.
        """
        async for chunk in chunks:
            for piece in self.add(chunk, body):
                yield piece
                # A chunk may contain thousands of pieces: the time limit holds between them too.
                await asyncio.sleep(0)

    def add(self, chunk: bytes, body: Body | None = None) -> Iterator[bytes]:
        """Count a chunk as received, and yield its decompressed pieces.

        Raises:
            ReplyTooLargeError: the reply is larger than the limit; what fits was yielded.
            httpx.DecodingError: the data are damaged.
        """
        self._n_received += len(chunk)
        for piece in (body or Body()).pieces(chunk):
            kept = piece[: self._max_bytes - self._n_kept]
            self._kept.append(kept)
            self._n_kept += len(kept)
            yield kept
            if len(kept) < len(piece):
                self._refuse()
        # Data that decompress to nothing may be endless too.
        if self._n_received > self._max_bytes:
            self._refuse()

    def _refuse(self) -> NoReturn:
        self.is_exceeded = True
        raise ReplyTooLargeError(self.text)


class Body:
    """The body of a response, as it is."""

    def pieces(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the content of the next chunk."""
        yield chunk


class CompressedBody(Body):
    """A compressed body. What follows its end is ignored.

    Args:
        may_lack_header: whether the compressed data may come without zlib's header.
    """

    def __init__(self, *, may_lack_header: bool) -> None:
        self._inflate = zlib.decompressobj(_ANY_HEADER)
        self._may_lack_header = may_lack_header

    def pieces(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the content of the next chunk in pieces of limited size."""
        rest, piece = chunk, b""
        while not self._inflate.eof and (rest or len(piece) == _PIECE_BYTES):
            piece = self._next(rest)
            rest = self._inflate.unconsumed_tail
            if piece:
                yield piece

    def _next(self, data: bytes) -> bytes:
        try:
            piece = self._inflate.decompress(data, _PIECE_BYTES)
        except zlib.error as error:
            if not self._may_lack_header:
                raise httpx.DecodingError(str(error)) from error
            self._inflate = zlib.decompressobj(_NO_HEADER)
            self._may_lack_header = False
            return self._next(data)
        self._may_lack_header = False
        return piece


def body_of(response: httpx.Response) -> Body:
    """Return the body of a response by its `Content-Encoding`.

    Raises:
        httpx.DecodingError: the encoding was not asked for.
    """
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding in {"", "identity"}:
        return Body()
    if encoding not in ENCODINGS.split(", "):
        raise httpx.DecodingError(f"unexpected content encoding {encoding!r}")
    return CompressedBody(may_lack_header=encoding == "deflate")
