"""The providers of a run, each made when it is first needed, and what their models cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runners.providers.registry import make_provider

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from runners.model_files import Model
    from runners.providers.base import Provider, Request

# How long an answer may be, where nobody says: for estimates before the first call alone.
_USUAL_OUTPUT_TOKENS = 500


class ProviderPool:
    """Makes providers, one of each.

    Args:
        answers: the files that `replay` answers from.
    """

    def __init__(self, answers: Sequence[Path] = ()) -> None:
        self._answers = answers
        self._providers: dict[str, Provider] = {}

    def provider(self, model: Model) -> Provider:
        """Give the provider that reaches a model."""
        if model.provider not in self._providers:
            self._providers[model.provider] = make_provider(model.provider, self._answers)
        return self._providers[model.provider]

    def missing(self, model: Model) -> str | None:
        """Say what is missing to call a model; None if nothing."""
        return self.provider(model).missing(model.name, model.base_url)

    def price(self, model: Model) -> Mapping[str, float] | None:
        """Give a model's price: as its file says, else as its provider knows it."""
        return model.price or self.provider(model).price(model.name)

    async def close(self) -> None:
        """Give back all connections."""
        for provider in self._providers.values():
            await provider.close()


def estimated_tokens(request: Request) -> tuple[int, int]:
    """Estimate the tokens of a prompt and of its answer, by the prompt's length and pictures."""
    wanted = request.parameters.get("max_tokens")
    output = wanted if isinstance(wanted, int) else _USUAL_OUTPUT_TOKENS
    return request.estimated_tokens, output
