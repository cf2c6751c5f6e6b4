"""The model files, one a line, with what is missing to use each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx

from runners.model_files import read_model_files
from runners.providers.http import endpoint
from runners.providers.ollama_openai import OllamaOpenai, ollama_base
from runners.providers.registry import make_provider
from warehouse.formats.json_text import canonical_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runners.model_files import Model
    from runners.providers.base import Provider

COLUMNS = ("file", "model", "provider", "parameters", "input_usd", "output_usd", "skip", "missing")
_WAIT_SECONDS = 2.0

Line = tuple[object, ...]


def model_lines() -> Iterator[Line]:
    """Give a line for each model file of the workspace, and of those that ship with evalstore."""
    providers: dict[str, Provider] = {}
    for path, file in sorted(read_model_files().items()):
        model = file.model
        provider = providers.setdefault(model.provider, make_provider(model.provider))
        price = model.price or provider.price(model.name) or {}
        yield (
            path,
            model.name,
            model.provider,
            canonical_json(model.parameters),
            price.get("input"),
            price.get("output"),
            model.skip,
            provider.missing(model.name, model.base_url) or _missing_server(model),
        )


def _missing_server(model: Model) -> str | None:
    """Ask a local server whether it is there, and has the model."""
    if model.provider != OllamaOpenai.name:
        return None
    try:
        reply = httpx.get(endpoint(ollama_base(model.base_url), "/models"), timeout=_WAIT_SECONDS)
        names = {entry["id"] for entry in reply.json()["data"]}
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError):
        return "no server answers there"
    return None if model.name in names else f"not on the server: `ollama pull {model.name}`"
