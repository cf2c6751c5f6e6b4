"""The providers of a run, each created when first needed, and the prices of their models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runners.providers.registry import make_provider

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from runners.models.model import Model
    from runners.providers.base import Provider, Request

# Assumed length of a response without `max_tokens`: used only until real costs are known.
_DEFAULT_OUTPUT_TOKENS = 500


class ProviderPool:
    """Creates providers, one of each kind.

    Args:
        answers: files that `replay` takes its responses from.
    """

    def __init__(self, answers: Sequence[Path] = ()) -> None:
        self._answers = answers
        self._providers: dict[str, Provider] = {}

    def provider(self, model: Model) -> Provider:
        """Return the provider that reaches a model."""
        if model.provider not in self._providers:
            self._providers[model.provider] = make_provider(model.provider, self._answers)
        return self._providers[model.provider]

    def unavailable_reason(self, model: Model) -> str | None:
        """Return why a model cannot be called, None if it can."""
        provider = self.provider(model)
        return provider.unavailable_reason(model.name, model.base_url, model.api_key_env)

    def price(self, model: Model) -> Mapping[str, float] | None:
        """Return a model's price: from its file, otherwise from its provider."""
        return model.price or self.provider(model).price(model.name)

    async def close(self) -> None:
        """Close all connections."""
        for provider in self._providers.values():
            await provider.close()


def estimated_tokens(request: Request) -> tuple[int, int]:
    """Estimate the input and output tokens of a call from its prompt, images and `max_tokens`."""
    max_tokens = request.parameters.get("max_tokens")
    output = max_tokens if isinstance(max_tokens, int) else _DEFAULT_OUTPUT_TOKENS
    return request.estimated_tokens, output
