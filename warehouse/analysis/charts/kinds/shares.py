"""Squares coloured by a share from 0 to 1, in five steps."""

from __future__ import annotations

from bisect import bisect_right
from math import isnan

import altair as alt

from warehouse.analysis.charts.theme import STEPS

_BOUNDS = [0.2, 0.4, 0.6, 0.8]
# From this share on the squares are so dark that text on them is light.
DARK_FROM = 0.6


def shares(title: str) -> alt.Color:
    """Return the colour of a share in the column `value`.

    Args:
        title: of the legend.
    """
    scale = alt.Scale(type="threshold", domain=_BOUNDS, range=list(STEPS))
    legend = alt.Legend(format=".0%", gradientLength=200, direction="horizontal")
    return alt.Color("value:Q", scale=scale, title=title, legend=legend)


def step_of(share: float) -> int | None:
    """Return which of the five steps a share has, from 0; None for NaN."""
    return None if isnan(share) else bisect_right(_BOUNDS, share)
