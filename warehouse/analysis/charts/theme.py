"""The look of the charts: colours of the light theme, their names, and the settings of Vega.

Each colour has one value only, so that the writer of SVG can replace it by its name; the
style sheet `chart.css` gives the names values for light and dark. Ink, paper and lines are those
of pages.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import altair as alt

STYLE = Path(__file__).with_name("chart.css").read_text("utf-8")
INK = "#2b2620"
PALE = "#6f675c"
GRID = "#e4ded4"
PAPER = "#fdfcfa"
ACCENT = "#0b62c4"
MUTED = "#958d81"
# Colours of models, distinct for the colour-blind, and readable on both backgrounds.
MODELS = ("#0072b1", "#d55e01", "#008f6a", "#b8478a", "#8a6d00", "#5b5bd6", "#a8324a", "#4f7a8c")
# From 0 to 1 in five steps; text on the last two is in another colour.
STEPS = ("#e4ecf6", "#bcd5f0", "#86b6e4", "#3f86c9", "#0a4a8f")
ON_DARK = "#fffefe"

NAMES = {
    INK: "ink",
    PALE: "pale",
    GRID: "grid",
    PAPER: "paper",
    ACCENT: "accent",
    MUTED: "muted",
    ON_DARK: "on-step",
    **{colour: f"model-{n}" for n, colour in enumerate(MODELS, start=1)},
    **{colour: f"step-{n}" for n, colour in enumerate(STEPS, start=1)},
}

WIDTH = 300  # pixels of the axes: with the labels, a chart can still be read on a phone
WIDE = 820  # the same for a page that is as wide as a screen
ROW = 20  # pixels of a model
_SIZE = 12


def themed(chart: alt.VConcatChart, width: int = WIDTH) -> alt.VConcatChart:
    """Return a chart with the look of all charts.

    Args:
        chart: the chart.
        width: width of its axes, pixels.
    """
    text = {"labelColor": INK, "titleColor": PALE, "labelFontSize": _SIZE, "titleFontSize": _SIZE}
    axis: dict[str, object] = {
        **text,
        "domainColor": GRID,
        "gridColor": GRID,
        "tickColor": GRID,
        "labelLimit": 0,  # names are cut before, so that two never look alike
        "labelPadding": 8,
        "titleFontWeight": "normal",
    }
    legend = {
        **text,
        "labelLimit": 0,
        "orient": "bottom",
        "columns": 4 if width == WIDE else 2,
        "gradientStrokeColor": GRID,
    }
    title = {"color": INK, "fontSize": 14, "anchor": "start", "frame": "group"}
    configured: alt.VConcatChart = chart.configure(
        aria=False,  # the picture has one description, in words
        background=PAPER,
        font="sans-serif",
        padding=8,
        axis=axis,
        legend=legend,
        title={**title, "limit": width + 180},
        view={"stroke": None},
        text={"color": INK, "fontSize": _SIZE - 1},
        concat={"spacing": 28},
    )
    return configured
