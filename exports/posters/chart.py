"""The chart of app quality against the cost of predictions, the Pareto front marked.

Labels are in a column on the right, in the order of their points and a fixed distance apart, each
connected to its point by a line, so that labels never overlap, however many models there are.

Every position is set here rather than by the library, which measures text with the fonts of the
machine: elsewhere, the same data would give different bytes.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exports.posters.chart_layout import CostAxis, cost_axis, spaced
from warehouse.core.text.formatting import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    import altair as alt

_WIDTH, _LEAST_HEIGHT = 560, 400
_LINE_PIXELS = 13
_LONGEST_LABEL = 64
_PAPER, _PLOT, _GRID, _PALE = "#ffffff", "#faf8f5", "#ece7de", "#d8d2c8"
_INK, _THREAD, _FRONT, _OTHER = "#3a3127", "#8a8178", "#b8451f", "#4f6d7a"
# In the SVG, for readers who prefer a dark background; a PNG is always light.
_DARK = {
    _PAPER: "#1c1a17",
    _PLOT: "#23201c",
    _GRID: "#322e28",
    _PALE: "#4a443b",
    _INK: "#e9e4db",
    _THREAD: "#8f8678",
    _FRONT: "#f2875d",
    _OTHER: "#8cb6c6",
}
_LATIN = "Liberation Sans, Helvetica, Arial, Noto Sans Thai, sans-serif"
# A PNG is drawn with the first of these fonts on the machine; they have Thai and Latin letters.
_OTHER_LETTERS = "Sarabun, Loma, Garuda, Waree, Noto Sans Thai, Noto Sans, sans-serif"
_LAST_LATIN = "\u024f"
_KINDS = ("on the Pareto front: none is better for less", "others")
# Pixels around the plot, and per column of a label (wide characters take two, Thai marks none).
_LEFT, _TOP, _BOTTOM, _CHARACTER = 62, 56, 108, 6.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A model in the chart.

    Attributes:
        model: its name.
        cost: of its predictions, US dollars; None if unknown.
        quality: 0 to 100.
        low: lower end of the 95 % interval of the quality; None if there is none.
        high: upper end.
        is_on_front: whether no other model is better for less.
    """

    model: str
    cost: float | None
    quality: float
    low: float | None
    high: float | None
    is_on_front: bool = False


def draw_svg(points: Sequence[Point], subtitle: str) -> bytes:
    """Return the chart as SVG; the same points give the same bytes.

    It follows the reader's dark mode, and shrinks where there is not enough room.
    """
    import vl_convert

    svg: str = vl_convert.vegalite_to_svg(_chart(points, subtitle))
    svg = _without_counts(svg).replace("<svg ", '<svg style="max-width:100%;height:auto" ', 1)
    return svg.replace(">", f"><style>{_dark_style()}</style>", 1).encode()


def draw_png(points: Sequence[Point], subtitle: str) -> bytes:
    """Return the chart as PNG, at two pixels per unit."""
    import vl_convert

    png: bytes = vl_convert.vegalite_to_png(_chart(points, subtitle), scale=2)
    return png


def _dark_style() -> str:
    # A rule in a style sheet takes precedence over the attribute that it selects by.
    rules = [
        f'[{name}="{light}"]{{{name}:{dark}}}'
        for light, dark in _DARK.items()
        for name in ("fill", "stroke")
    ]
    return f"@media (prefers-color-scheme:dark){{{''.join(rules)}}}"


def _without_counts(svg: str) -> str:
    """Number the clip paths from 0: the library keeps counting from chart to chart."""
    names = dict.fromkeys(re.findall(r'id="(clip\d+)"', svg))
    for at, name in enumerate(names):
        svg = re.sub(rf"\b{name}\b", f"clip-{at}", svg)
    return svg


def _chart(points: Sequence[Point], subtitle: str) -> dict[str, object]:
    import altair as alt

    height = max(_LEAST_HEIGHT, _LINE_PIXELS * (len(points) + 2))
    # Side by side, the better model is nearer to the labels.
    points = sorted(points, key=lambda p: (p.quality, p.model))
    axis, qualities = cost_axis([p.cost for p in points], _WIDTH), _quality_domain(points)
    rows = _rows(points, axis, qualities, height)
    base = alt.Chart({"values": rows}).encode(
        x=_cost_scale(axis), y=_quality_axis(qualities, height)
    )
    borders = alt.Chart({"values": [{"at": place} for place in axis.borders]}).mark_rule(
        color=_PALE
    ).encode(x=alt.X("at:Q"))  # fmt: skip
    title = alt.Title("App quality vs cost of predictions", subtitle=visible(subtitle), offset=10)
    widest = max((_width(_label(point.model)) for point in points), default=0)
    chart = (
        alt.layer(*([borders] if axis.borders else []), *_marks(base, height))
        .properties(
            width=_WIDTH,
            height=height,
            title=title,
            autosize="none",
            padding={"left": _LEFT, "top": _TOP, "right": 14 + widest, "bottom": _BOTTOM},
        )
        .configure(background=_PAPER, font=_LATIN)
        .configure_view(fill=_PLOT, stroke=_PALE)
        .configure_axis(
            gridColor=_GRID, domainColor=_PALE, tickColor=_PALE, labelColor=_INK, titleColor=_INK
        )
        .configure_legend(labelColor=_INK)
        .configure_title(color=_INK, subtitleColor=_INK, anchor="start")
    )
    spec: dict[str, object] = chart.to_dict()
    return spec


def _cost_scale(costs: CostAxis) -> alt.X:
    import altair as alt

    places, texts = [place for place, _ in costs.ticks], [text for _, text in costs.ticks]
    axis = alt.Axis(
        values=places,
        labelExpr=f"{json.dumps(texts)}[indexof({json.dumps(places)}, datum.value)]",
        labelOverlap=False,
        titleY=30,
        titleFontWeight="normal",
    )
    scale = alt.Scale(domain=[0, _WIDTH], nice=False)
    title = [
        "Cost of predictions (USD), without ground truth and judge",
        "Models of equal cost are drawn side by side.",
    ]
    return alt.X("place:Q", title=title, axis=axis, scale=scale)


def _quality_axis(qualities: list[float], height: int) -> alt.Y:
    import altair as alt

    axis = alt.Axis(labelOverlap=False, titleX=-40, titleY=height / 2)
    scale = alt.Scale(domain=qualities, nice=False)
    return alt.Y("quality:Q", title="App quality score", axis=axis, scale=scale)


def _marks(base: alt.Chart, height: int) -> list[alt.Chart]:
    """Return the layers of the chart, from back to front."""
    import altair as alt

    threads = base.mark_rule(color=_THREAD, strokeWidth=0.8, strokeDash=[1, 2]).encode(
        x2="edge:Q", y2="label_at:Q"
    )
    bars = base.transform_filter("isValid(datum.low)").mark_rule(color=_INK, opacity=0.55)
    bars = bars.encode(y="low:Q", y2="high:Q")
    front = base.transform_filter("datum.front").mark_line(
        color=_FRONT, strokeDash=[5, 3], interpolate="step-after", strokeWidth=1.2
    )
    legend = alt.Legend(
        orient="none", legendX=0, legendY=height + 64, direction="vertical", columns=1,
        symbolType="circle", labelLimit=0,
    )  # fmt: skip
    colours = alt.Scale(domain=list(_KINDS), range=[_FRONT, _OTHER])
    colour = alt.Color("kind:N", title=None, scale=colours, legend=legend)
    dots = base.mark_point(filled=True, size=70, opacity=0.95).encode(color=colour)
    labels = [
        base.transform_filter(f"datum.latin == {latin}")
        .mark_text(align="left", dx=5, fontSize=10.5, font=font, color=_INK, limit=0)
        .encode(x=alt.X("edge:Q"), y=alt.Y("label_at:Q"), text="label:N")
        for latin, font in (("true", _LATIN), ("false", _OTHER_LETTERS))
    ]
    return [threads, bars, front, dots, *labels]


def _width(label: str) -> int:
    from rich.cells import cell_len

    return round(cell_len(label) * _CHARACTER)


def _rows(
    points: Sequence[Point], axis: CostAxis, qualities: list[float], height: int
) -> list[dict[str, object]]:
    gap = _LINE_PIXELS * (qualities[1] - qualities[0]) / height
    label_places = spaced(
        [p.quality for p in points],
        gap=gap,
        low=qualities[0] + gap / 2,
        high=qualities[1] - gap / 2,
    )
    return [
        {
            "label": _label(point.model),
            "latin": max(_label(point.model), default="") <= _LAST_LATIN,
            "place": place,
            "quality": point.quality,
            "low": point.low,
            "high": point.high,
            "front": point.is_on_front,
            "kind": _KINDS[0] if point.is_on_front else _KINDS[1],
            "edge": _WIDTH,
            "label_at": label_at,
        }
        for point, place, label_at in zip(points, axis.places, label_places, strict=True)
    ]


def _label(model: str) -> str:
    """Return a model's name, the middle of a long one left out: names often differ in the end."""
    text = visible(model)
    if len(text) <= _LONGEST_LABEL:
        return text
    return f"{text[: _LONGEST_LABEL - 25]}…{text[-24:]}"


def _quality_domain(points: Sequence[Point]) -> list[float]:
    ends = [end for p in points for end in (p.low, p.quality, p.high) if end is not None]
    if not ends:
        return [0.0, 100.0]
    low, high = min(ends), max(ends)
    margin = max((high - low) * 0.04, 1.0)
    return [max(-1.0, low - margin), min(101.0, high + margin)]
