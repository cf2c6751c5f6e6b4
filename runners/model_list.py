"""The list of model files, each with what is missing to call it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runners.model_files import read_model_files
from runners.providers.pool import ProviderPool
from warehouse.formats.json_text import canonical_json

if TYPE_CHECKING:
    from collections.abc import Iterator

COLUMNS = ("file", "model", "provider", "parameters", "input_usd", "output_usd", "skip", "missing")


def model_lines() -> Iterator[tuple[object, ...]]:
    """Yield a row of `COLUMNS` for each model file of the workspace, and for those shipped."""
    pool = ProviderPool()
    for path, file in sorted(read_model_files().items()):
        model = file.model
        price = pool.price(model) or {}
        problem = pool.unavailable_reason(model)
        yield (
            path,
            model.name,
            model.provider,
            canonical_json(model.parameters),
            price.get("input"),
            price.get("output"),
            model.skip,
            problem or pool.provider(model).server_problem(model.name, model.base_url),
        )
