import xml.etree.ElementTree as ET
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from exports.posters.chart import Point, draw_png, draw_svg, label_places, pareto_front

SVG = "{http://www.w3.org/2000/svg}"


def point(model, cost, quality, margin=0):
    return Point(
        model=model, cost=cost, quality=quality, low=quality - margin, high=quality + margin
    )


def points(count, name="model"):
    return [point(f"{name} {n}", n % 5, 50 + n % 7, 10) for n in range(count)]


def labels(svg, name):
    return [t for t in ET.fromstring(svg).iter(f"{SVG}text") if (t.text or "").startswith(name)]


def test_labels_are_escaped_and_keep_their_distance():
    name = 'โมเดล<b>&"x"'
    svg = draw_svg(points(40, name), "silver")
    found = labels(svg, name)
    assert len(found) == 40
    places = sorted(float(t.get("transform").split(",")[1].rstrip(")")) for t in found)
    assert min(b - a for a, b in pairwise(places)) > 12


def test_few_and_no_models_can_be_drawn():
    for count in (0, 1, 2, 3):
        svg = draw_svg(points(count), "no ground truth")
        assert len(labels(svg, "model ")) == count
        assert b"NaN" not in svg
    assert draw_png(points(2), "gold").startswith(b"\x89PNG")


def test_long_names_and_control_characters_are_shortened_and_shown():
    svg = draw_svg([point("x" * 200 + "\x1b[31m", 0, 1), point("a\x07b", 0, 1)], "")
    assert b"\x1b" not in svg
    assert b"\x07" not in svg
    assert "…".encode() in svg


def test_its_measures_depend_on_the_names_alone():
    """The library measures no text: with other fonts, a machine would draw other bytes."""
    svg = draw_svg(points(3, "ก็ที่"), "silver")  # three of the five are marks without a width
    wide = draw_svg(points(3, "กที"), "silver")
    assert ET.fromstring(svg).get("width") == ET.fromstring(wide).get("width")
    assert int(ET.fromstring(svg).get("width")) == 62 + 560 + 14 + round(4 * 6.2)


def test_pareto_front():
    cheap, good, dear, worse = (
        point("cheap", 0, 40), point("good", 1, 80), point("dear", 2, 80), point("worse", 1, 70),
    )  # fmt: skip
    assert pareto_front([worse, dear, good, cheap]) == [cheap, good]
    twin = point("twin", 1, 80)
    assert pareto_front([twin, good, cheap]) == [cheap, good, twin]


@given(st.lists(st.floats(0, 100), max_size=40))
def test_labels_never_meet_and_stay_inside(wanted):
    places = label_places(sorted(wanted), gap=2, low=0, high=100)
    assert len(places) == len(wanted)
    assert all(b - a > 2 - 1e-9 for a, b in pairwise(places))
    assert all(-1e-9 <= place <= 100 + 1e-9 for place in places)
