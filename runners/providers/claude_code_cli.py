"""Claude Code's command line: `claude -p PROMPT --model MODEL`."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
from collections import deque
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from runners.providers.base import (
    AUTH_ERROR,
    EMPTY,
    ERROR,
    RATE_LIMITED,
    SKIPPED,
    Failure,
    Provider,
    Reply,
)
from runners.providers.transport.reply_limit import ReplyMeter, ReplyTooLargeError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runners.providers.base import Request, Result

_PROGRAM = "claude"
_NOT_FOUND = 127
_CHUNK_BYTES = 2**16
# Claude Code has no levels, but a budget of thinking tokens.
_THINKING_TOKENS = {"low": 4_000, "medium": 10_000, "high": 31_999, "xhigh": 63_999}
_LOGIN = re.compile(
    r"\b(not logged|log ?in|login|auth|authenticat\w+|unauthori[sz]ed|oauth|credentials?"
    r"|(invalid|missing) api key)\b",
    re.IGNORECASE,
)
_RATE = re.compile(r"\b(rate|rate[- ]limit\w*|usage limit|too many requests)\b", re.IGNORECASE)
_QUOTA = re.compile(r"\b(credits?|quotas?)\b", re.IGNORECASE)


class ClaudeCodeCli(Provider):
    """Runs `claude` once per call, in its own process group."""

    name = "claude_code_cli"
    concurrency = 2
    timed_out = Failure(ERROR, "claude_cli_error", "TIMEOUT", is_transient=True)

    def address(self, _model: str, _base_url: str | None, /) -> str | None:
        """Return None: no address is called."""
        return None

    def unavailable_reason(
        self, _model: str, _base_url: str | None, _api_key_env: str | None = None, /
    ) -> str | None:
        """Return a reason if the program is not installed."""
        return None if shutil.which(_PROGRAM) else f"the program `{_PROGRAM}` is not on the PATH"

    async def call(self, request: Request, /) -> Result:
        """Run the program once."""
        if request.images:
            return Failure(SKIPPED, "no_pictures", "claude -p does not accept images")
        sent = {}
        tokens = _THINKING_TOKENS.get(request.thinking_level or "")
        if tokens is not None:
            sent["MAX_THINKING_TOKENS"] = tokens
        environment = {**os.environ, **{name: str(value) for name, value in sent.items()}}
        prompt = f"{request.system}\n\n{request.prompt}" if request.system else request.prompt
        try:
            arguments = [prompt, "--model", request.model]
            code, out, err = await _run(arguments, environment, request.max_reply_bytes)
        except FileNotFoundError as error:
            return Failure(SKIPPED, "claude_cli_missing", str(error), sent=sent)
        except ReplyTooLargeError as error:
            return replace(error.failure, sent=sent)
        return replace(_result(code, out, err), sent=sent)


PROVIDER = ClaudeCodeCli


async def _run(
    arguments: list[str], environment: Mapping[str, str], max_bytes: int
) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        _PROGRAM,
        "-p",
        *arguments,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment,
        # Ctrl-C must not reach it; and stopping it must stop its children as well.
        start_new_session=True,
    )
    pipes = (process.stdout, process.stderr)
    readers = [asyncio.create_task(_read(pipe, max_bytes)) for pipe in pipes]
    try:
        out, err = await asyncio.gather(*readers)
        await process.wait()
    except (asyncio.CancelledError, ReplyTooLargeError):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        for reader in readers:
            reader.cancel()
        await asyncio.gather(*readers, return_exceptions=True)
        # A process ends, for asyncio, when its pipes have been read.
        await asyncio.gather(*map(_discard, pipes))
        await process.wait()
        raise
    return process.returncode or 0, out, err


async def _read(stream: asyncio.StreamReader | None, max_bytes: int) -> str:
    meter = ReplyMeter(max_bytes)
    while stream is not None and (chunk := await stream.read(_CHUNK_BYTES)):
        deque(meter.add(chunk), maxlen=0)
    return meter.text


async def _discard(stream: asyncio.StreamReader | None) -> None:
    while stream is not None and await stream.read(_CHUNK_BYTES):
        pass


def _result(code: int, out: str, err: str) -> Result:
    if code == _NOT_FOUND:
        return Failure(SKIPPED, "claude_cli_missing", err)
    if code != 0:
        return _failure(f"{out}\n{err}".strip())
    text = out.strip()
    return Reply(text) if text else Failure(ERROR, EMPTY, err.strip())


def _failure(text: str) -> Failure:
    """Classify an error by whole words: `author` is not `auth`."""
    if _LOGIN.search(text):
        return Failure(AUTH_ERROR, "claude_auth", text)
    if _QUOTA.search(text) or _RATE.search(text):
        # An exhausted quota does not reset within minutes.
        return Failure(RATE_LIMITED, "claude_quota", text, is_transient=not _QUOTA.search(text))
    return Failure(ERROR, "claude_cli_error", text)
