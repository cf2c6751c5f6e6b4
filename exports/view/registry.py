"""What the server has beyond the site, in the order of the menu."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exports.view import grid, samples
from exports.view.live import feature as live
from exports.view.posters import feature as posters
from exports.view.review import feature as review

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exports.view.feature import Feature

FEATURES: Sequence[Feature] = (
    live.FEATURE,
    samples.FEATURE,
    grid.FEATURE,
    review.FEATURE,
    posters.FEATURE,
)
