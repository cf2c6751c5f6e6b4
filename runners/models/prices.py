"""Prices and costs of calls, from the price table that ships with litellm.

The table is read as a file, because importing litellm takes seconds. A model that the table does
not list under its own name has no known price; that of a similar model is never used.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_TABLE = "model_prices_and_context_window_backup.json"


def known_price(model: str, *names: str) -> Mapping[str, float] | None:
    """Return a model's price in US dollars per token, `input` and `output`; None if unknown.

    Args:
        model: name of the model.
        names: other names under which the table may list the same model.
    """
    for name in (model, *names):
        entry = price_table().get(name, {})
        price_in, price_out = entry.get("input_cost_per_token"), entry.get("output_cost_per_token")
        if isinstance(price_in, int | float) and isinstance(price_out, int | float):
            return {"input": price_in, "output": price_out}
    return None


def cost(
    price: Mapping[str, float] | None, input_tokens: int | None, output_tokens: int | None
) -> float | None:
    """Return the cost of a call in US dollars; None if its price or its tokens are unknown."""
    if price is None or input_tokens is None or output_tokens is None:
        return None
    return price["input"] * input_tokens + price["output"] * output_tokens


@cache
def price_table() -> dict[str, dict[str, object]]:
    """Return litellm's own price table: an entry per model. Empty if it is not found."""
    return {name: entry for name, entry in litellm_data(_TABLE).items() if isinstance(entry, dict)}


@cache
def litellm_data(name: str) -> dict[str, object]:
    """Return a JSON file of litellm's package, without importing it. Empty if it is not found."""
    spec = find_spec("litellm")
    for folder in spec.submodule_search_locations or () if spec else ():
        path = Path(folder) / name
        if path.is_file():
            document: dict[str, object] = json.loads(path.read_bytes())
            return document
    return {}
