"""What calls cost: by the model file, else by the price table that ships with litellm.

The table is read as a file: importing litellm takes seconds. A model that is not in it under
its own name has no known price; another model's is never used.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_TABLE = "model_prices_and_context_window_backup.json"


def known_price(model: str, *names: str) -> Mapping[str, float] | None:
    """Give a model's price in US dollars per token, `input` and `output`; None where unknown.

    Args:
        model: its name.
        names: other names under which the table may have the very same model.
    """
    for name in (model, *names):
        entry = _table().get(name, {})
        prices = (entry.get("input_cost_per_token"), entry.get("output_cost_per_token"))
        if all(isinstance(price, int | float) for price in prices):
            return {"input": prices[0], "output": prices[1]}
    return None


def cost(
    price: Mapping[str, float] | None, input_tokens: int | None, output_tokens: int | None
) -> float | None:
    """Give what a call cost; None where its price or its tokens are unknown."""
    if price is None or input_tokens is None or output_tokens is None:
        return None
    return price["input"] * input_tokens + price["output"] * output_tokens


@cache
def _table() -> dict[str, Any]:
    spec = find_spec("litellm")
    for folder in spec.submodule_search_locations or () if spec else ():
        path = Path(folder) / _TABLE
        if path.is_file():
            table: dict[str, Any] = json.loads(path.read_bytes())
            return table
    return {}
