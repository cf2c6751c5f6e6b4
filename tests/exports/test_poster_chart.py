import math
import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exports.posters.chart import Point, draw_png, draw_svg
from exports.posters.chart_layout import cost_axis, spaced

RULE = b'aria-roledescription="rule mark"'
SVG = "{http://www.w3.org/2000/svg}"


def point(model, cost, quality, margin=0):
    return Point(
        model=model, cost=cost, quality=quality, low=quality - margin, high=quality + margin
    )


def points(count, name="model"):
    return [point(f"{name} {n}", n % 5, 50 + n % 7, 10) for n in range(count)]


def labels(svg, name):
    return [t for t in ET.fromstring(svg).iter(f"{SVG}text") if (t.text or "").startswith(name)]


@pytest.mark.slow
def test_labels_are_escaped_and_do_not_touch():
    name = 'โมเดล<b>&"x"'
    svg = draw_svg(points(40, name), "silver")
    found = labels(svg, name)
    assert len(found) == 40
    places = sorted(float(t.get("transform").split(",")[1].rstrip(")")) for t in found)
    assert min(b - a for a, b in pairwise(places)) > 12


@pytest.mark.slow
def test_a_chart_of_few_or_no_models():
    for count in (0, 1, 2, 3):
        svg = draw_svg(points(count), "no ground truth")
        assert len(labels(svg, "model ")) == count
        assert b"NaN" not in svg
    assert draw_png(points(2), "gold").startswith(b"\x89PNG")


def test_long_names_are_shortened_and_control_characters_escaped():
    svg = draw_svg([point("x" * 200 + "\x1b[31m", 0, 1), point("a\x07b", 0, 1)], "")
    assert b"\x1b" not in svg
    assert b"\x07" not in svg
    assert "…".encode() in svg


def test_the_layout_depends_only_on_the_names():
    """The library does not measure text, whose width depends on the fonts of the machine."""
    svg = draw_svg(points(3, "ก็ที่"), "silver")  # three of the five are marks without a width
    wide = draw_svg(points(3, "กที"), "silver")
    assert ET.fromstring(svg).get("width") == ET.fromstring(wide).get("width")
    assert int(ET.fromstring(svg).get("width")) == 62 + 560 + 14 + round(4 * 6.2)


COSTS = st.lists(st.one_of(st.none(), st.just(0.0), st.floats(1e-6, 100)), max_size=40)


@pytest.mark.slow
@given(COSTS)
def test_no_two_models_stand_on_one_line(costs):
    places = sorted(cost_axis(costs, 560).places)
    assert len(places) == len(costs)
    assert all(b - a > 3.9 for a, b in pairwise(places))
    assert all(0 < place < 560 for place in places)


@given(COSTS)
def test_dearer_models_stand_further_right_and_unknown_costs_last(costs):
    places = cost_axis(costs, 560).places
    known = sorted(
        (math.inf if c is None else c, place) for c, place in zip(costs, places, strict=True)
    )
    assert [place for _, place in known] == sorted(places)


def test_axis_of_money_starts_at_zero():
    axis = cost_axis([3.0, 4.0], 560)
    # 18 pixels from either end; 524 pixels for 4 dollars
    assert axis.ticks == [(18.0 + 131 * usd, str(usd)) for usd in range(5)]
    assert axis.places == [18.0 + 393, 18.0 + 524]


def test_no_cost_is_drawn_below_zero():
    axis = cost_axis([0.001] * 5 + [1.0], 560)
    (zero,) = (place for place, text in axis.ticks if text == "0")
    assert min(axis.places) >= zero


def test_free_and_unknown_have_strips_of_their_own():
    axis = cost_axis([0.0, 1.0, None, 0.0], 560)
    texts = [text for _, text in axis.ticks]
    assert (texts[0], texts[-1]) == ("free", "unknown")
    left, right = axis.borders
    assert axis.places[0] < axis.places[3] < left < axis.places[1] < right < axis.places[2]
    # Where nothing has a price there is no axis to read one from.
    assert [text for _, text in cost_axis([0.0] * 3, 560).ticks] == ["free"]
    assert [text for _, text in cost_axis([None, 0.0], 560).ticks] == ["free", "unknown"]


def test_axis_says_what_the_money_bought():
    title = "Cost of predictions (USD), without ground truth and judge"
    assert f">{title}<".encode() in draw_svg(points(3), "")


def test_chart_follows_dark_mode_and_shrinks():
    svg = draw_svg(points(3), "silver").decode()
    assert 'style="max-width:100%;height:auto"' in svg
    assert "viewBox" in svg
    style = svg[svg.index("<style>") : svg.index("</style>")]
    assert style.startswith("<style>@media (prefers-color-scheme:dark){")
    colours = set(re.findall(r'(?:fill|stroke)="(#\w+)"', svg.replace(style, "")))
    assert all(f'[fill="{colour}"]' in style for colour in colours)


def test_single_poster_has_no_interval():
    alone = Point(model="m", cost=1, quality=50, low=None, high=None)
    svg = draw_svg([alone], "")
    assert b"NaN" not in svg
    assert svg.count(RULE) == draw_svg([point("m", 1, 50, 5)], "").count(RULE) - 1


def test_long_names_keep_their_ends():
    svg = draw_svg([point("x" * 80 + f" {n}", n, 50) for n in range(2)], "").decode()
    assert all(f"x {n}</text>" in svg for n in range(2))


@given(st.lists(st.floats(0, 100), max_size=40))
def test_labels_never_meet_and_stay_inside(wanted):
    places = spaced(sorted(wanted), gap=2, low=0, high=100)
    assert len(places) == len(wanted)
    assert all(b - a > 2 - 1e-9 for a, b in pairwise(places))
    assert all(-1e-9 <= place <= 100 + 1e-9 for place in places)
