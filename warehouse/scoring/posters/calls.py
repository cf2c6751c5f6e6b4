"""What a model call of the poster benchmark may write, and what it cost."""

from collections.abc import Mapping

_WHOLE, _HALF = ("max", "auto", "none"), "half"


def estimate_cost(
    pricing: Mapping[str, object], prompt_tokens: int | None, completion_tokens: int | None
) -> float | None:
    """Return the cost of a call in USD; ``pricing`` has USD per token, as text or number.

    A price that is absent counts as 0; None where tokens are not known or a price is no number.
    """
    if prompt_tokens is None or completion_tokens is None:
        return None
    prompt = _price(pricing.get("prompt", 0))
    completion = _price(pricing.get("completion", 0))
    if prompt is None or completion is None:
        return None
    return prompt_tokens * prompt + completion_tokens * completion


def resolve_max_output(
    asked: str | None,
    provider: str | None,
    *,
    context: int | None = None,
    model_limit: int | None = None,
) -> int | None:
    """Return how many tokens a call may write, None for no limit of our own.

    ``max``, ``auto``, ``none`` and ``half`` set none, except ``max`` for Gemini (the model's limit)
    and ``half`` for Ollama (half of the context); else it is the number that was asked for.

    Raises:
        ValueError: neither one of the words nor a whole number.
    """
    word = (asked or "none").strip().lower()
    if word == "max" and provider == "gemini":
        return model_limit
    if word == _HALF:
        return context // 2 if provider == "ollama" and context else None
    return None if word in _WHOLE else int(word)


def _price(value: object) -> float | None:
    try:
        return float(str(value))
    except ValueError:
        return None
