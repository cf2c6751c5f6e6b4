"""Where the points and labels of the chart of app quality against cost stand, in pixels.

Models of equal cost would be drawn into one line. Those that cost nothing stand side by side in a
strip of their own at the left, those of unknown cost in one at the right; between the two is an
axis that starts at zero, on which points that would touch are moved apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log10
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# Between two points: as wanted, and where there are many.
_GAP, _LEAST_GAP = 9.0, 4.0
_MARGIN, _EDGE = 18.0, 7.0  # of the axis, and of its points
_LEAST_STRIP = 52.0  # its name must fit
# Shares of the width: of a strip next to an axis, and of the room that all points may take.
_MAX_STRIP, _MAX_SHIFT = 0.4, 0.15
_TICKS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class CostAxis:
    """The horizontal axis.

    Attributes:
        places: position of each cost, in the order given.
        ticks: position and text of each tick.
        borders: positions of the lines between the strips and the axis.
    """

    places: list[float]
    ticks: list[tuple[float, str]]
    borders: list[float]


def cost_axis(costs: Sequence[float | None], width: float) -> CostAxis:
    """Lay out the costs, US dollars or None for unknown, on `width` pixels."""
    free = [at for at, cost in enumerate(costs) if cost == 0]
    unknown = [at for at, cost in enumerate(costs) if cost is None]
    paid = sorted((cost, at) for at, cost in enumerate(costs) if cost)
    if paid and len(free) == 1:  # no strip for a single model, which fits on the axis
        paid, free = [(0.0, free[0]), *paid], []
    has_axis = bool(paid) or not costs
    n_strips = bool(free) + bool(unknown)
    share = _MAX_STRIP if has_axis else 1 / max(n_strips, 1)
    left, right = (
        _strip_width(len(strip), share * width, fills=not has_axis) for strip in (free, unknown)
    )
    strips = ((free, 0.0, left, "free"), (unknown, width - right, right, "unknown"))
    places = dict[int, float]()
    ticks: list[tuple[float, str]] = []
    for members, start, size, name in strips:
        places |= zip(members, _side_by_side(len(members), start, size), strict=True)
        ticks += [(start + size / 2, name)] if members else []
    if has_axis:
        start, end = left + _MARGIN, width - right - _MARGIN
        top = max((cost for cost, _ in paid), default=1.0)
        scale = (end - start) / top
        wanted = [start + cost * scale for cost, _ in paid]
        gap = max(_LEAST_GAP, min(_GAP, _MAX_SHIFT * width / max(len(paid), 1)))
        found = spaced(wanted, gap=gap, low=start, high=width - right - _EDGE)
        places |= zip((at for _, at in paid), found, strict=True)
        ticks += [(start + value * scale, _usd(value)) for value in _nice(top)]
    borders = [left] if free and (has_axis or unknown) else []
    borders += [width - right] if unknown and has_axis else []
    return CostAxis(
        places=[places[at] for at in range(len(costs))], ticks=sorted(ticks), borders=borders
    )


def spaced(wanted: Sequence[float], *, gap: float, low: float, high: float) -> list[float]:
    """Return places near those wanted, at least `gap` apart, between `low` and `high`.

    What would overlap becomes a block centred on the wanted places; blocks that touch are merged.
    Where there is no room for all, the gap is smaller.

    Args:
        wanted: ascending.
        gap: smallest distance between two places.
        low: lowest place.
        high: highest place.
    """
    gap = min(gap, (high - low) / max(len(wanted) - 1, 1))
    blocks: list[list[float]] = []  # first place, number of places
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
            blocks[-1] = [max(middle - gap * (total - 1) / 2, low), total]
    places = [start + gap * n for start, count in blocks for n in range(int(count))]
    for at in range(len(places) - 1, -1, -1):
        places[at] = min(places[at], high - gap * (len(places) - 1 - at))
    return places


def _strip_width(count: int, most: float, *, fills: bool) -> float:
    if count == 0:
        return 0.0
    return most if fills else min(max(2 * _MARGIN + _GAP * (count - 1), _LEAST_STRIP), most)


def _side_by_side(count: int, start: float, size: float) -> list[float]:
    """Return places in the middle of a strip."""
    gap = min(2 * _GAP, (size - 2 * _EDGE) / max(count - 1, 1))
    middle = start + size / 2
    return [middle + gap * (at - (count - 1) / 2) for at in range(count)]


def _usd(value: float) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".")


def _nice(top: float) -> list[float]:
    """Return round values from 0 to `top` for the ticks."""
    power = 10.0 ** floor(log10(top / _TICKS))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor * _TICKS >= top)
    return [step * at for at in range(floor(top / step + 1e-9) + 1)]
