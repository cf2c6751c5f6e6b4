"""The list of model files, each with what is missing to call it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runners.providers.pool import ProviderPool
from warehouse.core.formats.json_text import canonical_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from runners.models.model_files import ModelFile

COLUMNS = ("file", "model", "provider", "parameters", "input_usd", "output_usd", "skip", "missing")
ANSWER = ("model", "provider", "missing", "file")  # the columns that answer


def model_lines(files: Mapping[str, ModelFile]) -> Iterator[tuple[object, ...]]:
    """Yield a row of `COLUMNS` for each model file."""
    pool = ProviderPool()
    for path, file in sorted(files.items()):
        model = file.model
        if file.errors:
            yield (path, model.name or None, *[None] * 5, "the file has errors")
            continue
        price = pool.price(model) or {}
        problem = pool.unavailable_reason(model) or pool.provider(model).server_problem(
            model.name, model.base_url, model.api_key_env
        )
        yield (
            path,
            model.name,
            model.provider,
            canonical_json(model.parameters),
            price.get("input"),
            price.get("output"),
            model.skip,
            problem,
        )
