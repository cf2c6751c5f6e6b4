"""The table of providers, loaded on first use: `--help` must not wait for their libraries."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from runners.providers.base import Provider

# Name, and the module whose `PROVIDER` is the class.
PROVIDERS = {
    "litellm": "runners.providers.litellm",
    "ollama_openai": "runners.providers.ollama_openai",
    "openai_responses": "runners.providers.openai_responses",
    "claude_code_cli": "runners.providers.claude_code_cli",
    "replay": "runners.providers.replay",
}


def make_provider(name: str, answers: Sequence[Path] = ()) -> Provider:
    """Return a new provider.

    Args:
        name: a key of `PROVIDERS`.
        answers: files that `replay` takes its responses from.
    """
    provider = import_module(PROVIDERS[name]).PROVIDER
    made: Provider = provider(*answers) if name == "replay" else provider()
    return made
