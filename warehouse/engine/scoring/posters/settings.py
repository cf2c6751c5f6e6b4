"""The settings behind poster scores, as reports and runs record them."""

from warehouse.core.types import JsonObject
from warehouse.engine.scoring.bootstrap import ALPHA, RESAMPLES, SEED
from warehouse.engine.scoring.posters.matching import CORE_EVENT_WEIGHTS, EVENT_WEIGHTS
from warehouse.engine.scoring.posters.parts import (
    MISSING_FIELD_PENALTY,
    QUALITY_WEIGHTS,
    TOP_WEIGHTS,
)


def scoring_settings() -> dict[str, JsonObject]:
    """Return the weights and the bootstrap settings that scores are computed with."""
    return {
        "bootstrap": {"samples": RESAMPLES, "seed": SEED, "alpha": ALPHA},
        "weights": {
            "top_level": {**TOP_WEIGHTS},
            "event": {**EVENT_WEIGHTS},
            "core_event": {**CORE_EVENT_WEIGHTS},
            "quality": {**QUALITY_WEIGHTS},
            "missing_field_penalty": MISSING_FIELD_PENALTY,
        },
    }
