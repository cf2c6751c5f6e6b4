"""The chart of app quality against cost: error bars for intervals, the Pareto front marked.

Labels stand in a column on the right, in the order of their points and a fixed distance apart,
each with a line to its point, so that labels never overlap, however many models there are.

Every position is set here rather than by the library, which measures text with whatever fonts the
machine has: the same data would give different bytes elsewhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warehouse.output.formatting import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    import altair as alt

_WIDTH, _LEAST_HEIGHT = 560, 400
_LINE_PIXELS = 13
_LONGEST_LABEL = 64
_INK, _PALE, _THREAD, _FRONT, _OTHER = "#3a3127", "#d8d2c8", "#8a8178", "#b8451f", "#4f6d7a"
_LATIN = "Liberation Sans, Helvetica, Arial, Noto Sans Thai, sans-serif"
# A PNG is drawn with the first of these fonts on the machine; they have Thai and Latin letters.
_OTHER_LETTERS = "Sarabun, Loma, Garuda, Waree, Noto Sans Thai, Noto Sans, sans-serif"
_LAST_LATIN = "\u024f"
_KINDS = ("on the Pareto front: none is better for less", "others")
# Pixels around the plot, and per column of a label (wide characters take two, Thai marks none).
_LEFT, _TOP, _BOTTOM, _CHARACTER = 62, 56, 92, 6.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A model in the chart.

    Attributes:
        model: its name.
        cost: US dollars.
        quality: 0 to 100.
        low: lower end of the 95 % interval of the quality.
        high: upper end.
    """

    model: str
    cost: float
    quality: float
    low: float
    high: float


def draw_svg(points: Sequence[Point], subtitle: str) -> bytes:
    """Return the chart as SVG; the same points give the same bytes."""
    import vl_convert

    svg: str = vl_convert.vegalite_to_svg(_chart(points, subtitle))
    return _without_counts(svg).encode()


def draw_png(points: Sequence[Point], subtitle: str) -> bytes:
    """Return the chart as PNG, at two pixels per unit."""
    import vl_convert

    png: bytes = vl_convert.vegalite_to_png(_chart(points, subtitle), scale=2)
    return png


def pareto_front(points: Sequence[Point]) -> list[Point]:
    """Return the points that no other point beats at the same or a lower cost, by rising cost."""
    front: list[Point] = []
    for point in sorted(points, key=lambda p: (p.cost, -p.quality, p.model)):
        best = front[-1].quality if front else -1.0
        if point.quality > best or (
            front and point.quality == best and point.cost == front[-1].cost
        ):
            front.append(point)
    return front


def label_places(wanted: Sequence[float], *, gap: float, low: float, high: float) -> list[float]:
    """Return positions for labels near their points, between `low` and `high`.

    Labels that would overlap become a block centred on their points; blocks that touch are merged.

    Args:
        wanted: positions of the points, ascending.
        gap: smallest distance between two labels.
        low: lowest position.
        high: highest position.
    """
    blocks: list[list[float]] = []  # first position, number of labels
    for place in wanted:
        blocks.append([place, 1])
        while len(blocks) > 1 and blocks[-2][0] + gap * blocks[-2][1] > blocks[-1][0]:
            start, count = blocks.pop()
            before = blocks[-1]
            total = before[1] + count
            middle = (
                before[1] * (before[0] + gap * (before[1] - 1) / 2)
                + count * (start + gap * (count - 1) / 2)
            ) / total
            blocks[-1] = [middle - gap * (total - 1) / 2, total]
            blocks[-1][0] = max(blocks[-1][0], low)
    places = [start + gap * n for start, count in blocks for n in range(int(count))]
    return _below(places, gap, high)


def _without_counts(svg: str) -> str:
    """Number the clip paths from 0: the library keeps counting from chart to chart."""
    names = dict.fromkeys(re.findall(r'id="(clip\d+)"', svg))
    for at, name in enumerate(names):
        svg = re.sub(rf"\b{name}\b", f"clip-{at}", svg)
    return svg


def _below(places: list[float], gap: float, high: float) -> list[float]:
    for at in range(len(places) - 1, -1, -1):
        limit = high - gap * (len(places) - 1 - at)
        places[at] = min(places[at], limit)
    return places


def _chart(points: Sequence[Point], subtitle: str) -> dict[str, object]:
    import altair as alt

    height = max(_LEAST_HEIGHT, _LINE_PIXELS * (len(points) + 2))
    costs, qualities = _domain([p.cost for p in points]), _quality_domain(points)
    rows = _rows(points, costs, qualities, height)
    base = alt.Chart({"values": rows}).encode(
        x=_cost_axis(costs), y=_quality_axis(qualities, height)
    )
    title = alt.Title("App quality vs cost", subtitle=visible(subtitle), offset=10)
    widest = max((_width(_label(point.model)) for point in points), default=0)
    chart = (
        alt.layer(*_marks(base, height))
        .properties(
            width=_WIDTH,
            height=height,
            title=title,
            autosize="none",
            padding={"left": _LEFT, "top": _TOP, "right": 14 + widest, "bottom": _BOTTOM},
        )
        .configure(background="#ffffff", font=_LATIN)
        .configure_view(fill="#faf8f5", stroke=_PALE)
        .configure_axis(gridColor="#ece7de", domainColor=_PALE, labelColor=_INK, titleColor=_INK)
        .configure_title(color=_INK, subtitleColor=_INK, anchor="start")
    )
    spec: dict[str, object] = chart.to_dict()
    return spec


def _cost_axis(costs: list[float]) -> alt.X:
    import altair as alt

    # The margin extends below 0, where there are no costs.
    label = "datum.value < 0 ? '' : datum.label"
    axis = alt.Axis(labelExpr=label, labelOverlap=False, tickCount=8, titleY=30)
    scale = alt.Scale(domain=costs, nice=False)
    return alt.X("cost:Q", title="Cost (USD)", axis=axis, scale=scale)


def _quality_axis(qualities: list[float], height: int) -> alt.Y:
    import altair as alt

    axis = alt.Axis(labelOverlap=False, titleX=-40, titleY=height / 2)
    scale = alt.Scale(domain=qualities, nice=False)
    return alt.Y("quality:Q", title="App quality score", axis=axis, scale=scale)


def _marks(base: alt.Chart, height: int) -> list[alt.Chart]:
    """Return the layers of the chart, from back to front."""
    import altair as alt

    threads = base.mark_rule(color=_THREAD, strokeWidth=0.8, strokeDash=[1, 2]).encode(
        x2="edge:Q", y2="place:Q"
    )
    bars = base.mark_rule(color=_INK, opacity=0.55).encode(y="low:Q", y2="high:Q")
    front = base.transform_filter("datum.front").mark_line(
        color=_FRONT, strokeDash=[5, 3], interpolate="step-after", strokeWidth=1.2
    )
    legend = alt.Legend(
        orient="none", legendX=0, legendY=height + 48, direction="vertical", columns=1,
        symbolType="circle", labelLimit=0,
    )  # fmt: skip
    colours = alt.Scale(domain=list(_KINDS), range=[_FRONT, _OTHER])
    colour = alt.Color("kind:N", title=None, scale=colours, legend=legend)
    dots = base.mark_point(filled=True, size=70, opacity=0.95).encode(color=colour)
    labels = [
        base.transform_filter(f"datum.latin == {latin}")
        .mark_text(align="left", dx=5, fontSize=10.5, font=font, color=_INK, limit=0)
        .encode(x=alt.X("edge:Q"), y=alt.Y("place:Q"), text="label:N")
        for latin, font in (("true", _LATIN), ("false", _OTHER_LETTERS))
    ]
    return [threads, bars, front, dots, *labels]


def _width(label: str) -> int:
    from rich.cells import cell_len

    return round(cell_len(label) * _CHARACTER)


def _rows(
    points: Sequence[Point], costs: list[float], qualities: list[float], height: int
) -> list[dict[str, object]]:
    front = set(pareto_front(points))
    ordered = sorted(points, key=lambda p: (p.quality, p.model))
    gap = _LINE_PIXELS * (qualities[1] - qualities[0]) / height
    places = label_places(
        [p.quality for p in ordered],
        gap=gap,
        low=qualities[0] + gap / 2,
        high=qualities[1] - gap / 2,
    )
    return [
        {
            "label": _label(point.model),
            "latin": max(_label(point.model), default="") <= _LAST_LATIN,
            "cost": point.cost,
            "quality": point.quality,
            "low": point.low,
            "high": point.high,
            "front": point in front,
            "kind": _KINDS[0] if point in front else _KINDS[1],
            "edge": costs[1],
            "place": place,
        }
        for point, place in zip(ordered, places, strict=True)
    ]


def _label(model: str) -> str:
    text = visible(model)
    return text if len(text) <= _LONGEST_LABEL else f"{text[: _LONGEST_LABEL - 1]}…"


def _domain(values: Sequence[float]) -> list[float]:
    """Return the ends of an axis: the range of the values plus a margin; by default 0 and 1."""
    if not values:
        return [0.0, 1.0]
    low, high = min(values), max(values)
    margin = (high - low) * 0.06 or max(abs(high) * 0.1, 0.01)
    return [low - margin, high + margin]


def _quality_domain(points: Sequence[Point]) -> list[float]:
    if not points:
        return [0.0, 100.0]
    low, high = min(p.low for p in points), max(p.high for p in points)
    margin = max((high - low) * 0.04, 1.0)
    return [max(-1.0, low - margin), min(101.0, high + margin)]
