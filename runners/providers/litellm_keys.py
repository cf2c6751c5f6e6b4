"""Which key litellm sends where: given none, it takes a vendor's from the environment."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from runners.providers.keys import NO_KEY, named_key
from runners.providers.litellm_limit import ABSENT_KEY
from runners.providers.transport.http import shown_address
from runners.providers.vendors import OWN_SERVERS, is_own_address

if TYPE_CHECKING:
    from runners.providers.base import Request

# Vendors whose client calls the given address with the given key, and nothing else.
REHEARSED = frozenset(
    (
        "anthropic",
        "azure",
        "cerebras",
        "deepinfra",
        "deepseek",
        "fireworks_ai",
        "gemini",
        "groq",
        "hosted_vllm",
        "lm_studio",
        "mistral",
        "ollama",
        "ollama_chat",
        "openai",
        "openrouter",
        "perplexity",
        "together_ai",
        "xai",
    )
)


def is_foreign(vendor: str, base_url: str | None) -> bool:
    """Return whether an address is given that is not one of the vendor's own."""
    return base_url is not None and not is_own_address(vendor, base_url)


def stray_key(vendor: str, base_url: str | None, api_key_env: str | None) -> str | None:
    """Return why a vendor's client cannot be kept from sending the vendor's key elsewhere."""
    is_named = api_key_env is not None and api_key_env.lower() != NO_KEY
    is_kept = vendor in REHEARSED or vendor in OWN_SERVERS
    if is_named or is_kept or not is_foreign(vendor, base_url):
        return None
    where = shown_address(base_url or "")
    return f"the key of {vendor} is not sent to {where}: name another (`api_key_env`)"


def key_to_send(vendor: str, request: Request) -> str | None:
    """Return the key to send, `ABSENT_KEY` for none; None for the one that litellm knows."""
    if request.api_key_env is not None:
        return named_key(request.api_key_env) or ABSENT_KEY
    if not is_foreign(vendor, request.base_url):
        return None
    own_key = os.environ.get(f"{vendor.upper()}_API_KEY") if vendor in OWN_SERVERS else None
    return own_key or ABSENT_KEY
