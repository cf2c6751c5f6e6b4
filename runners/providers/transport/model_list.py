"""What a server of one's own says about itself before a run: whether it responds, its models."""

from __future__ import annotations

import json
import time
from collections import deque
from typing import TYPE_CHECKING

import httpx

from runners.providers.transport.http import endpoint, no_response, shown_address
from runners.providers.transport.reply_limit import (
    ENCODINGS,
    ReplyMeter,
    ReplyTooLargeError,
    body_of,
)
from warehouse.core.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

_PROBE_SECONDS = 2.0
_PROBE_BYTES = 2**20
_MOST_NAMES = 5


def problem_at(base: str, model: str, headers: Mapping[str, str]) -> str | None:
    """Return that a server does not respond or does not have a model; None if it has it."""
    try:
        data = _probe(endpoint(base, "/models"), headers)
        names = sorted(str(entry["id"]) for entry in json.loads(data)["data"])
    except (
        httpx.HTTPError,
        httpx.InvalidURL,
        ReplyTooLargeError,
        ValueError,
        KeyError,
        TypeError,
        RecursionError,
    ) as error:
        return no_response(base, error)
    if model in names:
        return None
    known = f"it has {', '.join(names[:_MOST_NAMES]) or 'none'}"
    hint = did_you_mean(model, names, f"{known} (`ollama pull {model}` adds it to Ollama)")
    return f"not on the server at {shown_address(base)}: {hint}"


def _probe(url: str, headers: Mapping[str, str]) -> str:
    """Return a small response that arrives soon."""
    meter = ReplyMeter(_PROBE_BYTES)
    until = time.monotonic() + _PROBE_SECONDS
    headers = {**headers, "Accept-Encoding": ENCODINGS}
    with httpx.stream("GET", url, headers=headers, timeout=_PROBE_SECONDS) as response:
        body = body_of(response)
        for chunk in response.iter_raw():
            deque(meter.add(chunk, body), maxlen=0)
            if time.monotonic() > until:
                raise httpx.ReadTimeout("timed out")
    return meter.text
