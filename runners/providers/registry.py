"""The ways to reach a model. Adding one is one file and one line here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runners.providers.claude_code_cli import ClaudeCodeCli
from runners.providers.litellm import Litellm
from runners.providers.ollama_openai import OllamaOpenai
from runners.providers.openai_responses import OpenaiResponses
from runners.providers.replay import Replay

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from runners.providers.base import Provider

PROVIDERS: tuple[type[Provider], ...] = (
    Litellm,
    OllamaOpenai,
    OpenaiResponses,
    ClaudeCodeCli,
    Replay,
)
NAMES = tuple(provider.name for provider in PROVIDERS)


def make_provider(name: str, answers: Sequence[Path] = ()) -> Provider:
    """Make a provider by its name.

    Args:
        name: one of `NAMES`.
        answers: the files that `replay` answers from.
    """
    if name == Replay.name:
        return Replay(*answers)
    return next(provider for provider in PROVIDERS if provider.name == name)()
