"""Charts as SVG: colours by CSS variables, a title and a description, a width that can shrink."""

from __future__ import annotations

import re
from math import ceil
from typing import TYPE_CHECKING, Any
from unicodedata import category, east_asian_width
from xml.etree import ElementTree as ET

import vl_convert

from warehouse.analysis.charts.theme import NAMES, STYLE

if TYPE_CHECKING:
    from warehouse.analysis.charts.chart import Drawing

_NAMESPACE = "http://www.w3.org/2000/svg"
_TEXT = f"{{{_NAMESPACE}}}text"
_SCALE = 2
_PAINTS = ("fill", "stroke")
# Vega's words for the parts of a picture. The picture is one image to a reader of the screen, by
# its title and description; unnamed images within it would be read out one by one.
_OF_PARTS = ("role", "aria-label", "aria-roledescription", "aria-hidden")
# How much wider than the font that Vega measures a page's own can be, such as DejaVu Sans.
_WIDER = 1.15
# The last letter of the scripts that Vega's own fonts have, Latin, Greek and Cyrillic.
_MEASURED = "\u052f"
# How many pixels a letter of another script can be wider than Vega takes it for, and a wide one.
_ROOM, _WIDE_ROOM = 1.0, 4.5
# The parts of the room for a text that its left and its right side need.
_SIDES = {"end": (1.0, 0.0), "middle": (0.5, 0.5)}


def as_svg(drawing: Drawing, *, has_style: bool = True) -> str:
    """Return a drawing as an SVG document; the same rows give the same text.

    Args:
        drawing: the drawing.
        has_style: whether the document has its style sheet; without it, a page that has it can
            show the document under a policy that forbids inline styles.
    """
    ET.register_namespace("", _NAMESPACE)
    # Written by Vega from our own specification, so that no entity can be in it.
    spec = _with_room(drawing.spec())
    root = ET.fromstring(vl_convert.vegalite_to_svg(spec))  # noqa: S314
    for text in root.iter(_TEXT):
        size = float(text.attrib["font-size"].removesuffix("px")) / _WIDER
        text.set("font-size", f"{size:g}px")
    for element in root.iter():
        for name in _OF_PARTS:
            element.attrib.pop(name, None)
        for paint in _PAINTS:
            colour = element.get(paint, "").lower()
            if colour in NAMES:
                element.set(paint, f"var(--chart-{NAMES[colour]}, {colour})")
    _widen(root)
    _describe(root, drawing)
    if has_style:
        style = ET.Element(f"{{{_NAMESPACE}}}style")
        style.text = STYLE
        root.insert(2, style)
    return ET.tostring(root, encoding="unicode") + "\n"


def as_png(drawing: Drawing) -> bytes:
    """Return a drawing as a PNG picture in the light colours, twice as large for sharp screens."""
    picture: bytes = vl_convert.vegalite_to_png(drawing.spec(), scale=_SCALE)
    return picture


def _with_room(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a specification whose texts are larger than they are written afterwards."""
    parts = {
        name: {key: each * _WIDER if "ontSize" in key else each for key, each in part.items()}
        if isinstance(part, dict)
        else part
        for name, part in spec["config"].items()
    }
    return {**spec, "config": parts}


def _widen(root: ET.Element) -> None:
    """Leave room at the sides for letters that Vega could not measure: it takes them for narrow.

    A name would lose its beginning, and what ends with a figure its last digits.
    """
    left, right = 0, 0
    for text in root.iter(_TEXT):
        room = sum(map(_missing, text.text or ""))
        before, after = _SIDES.get(text.get("text-anchor", "start"), (0.0, 1.0))
        left, right = max(left, ceil(room * before)), max(right, ceil(room * after))
    if left + right > 0:
        width, height = float(root.attrib["width"]) + left + right, root.attrib["height"]
        root.set("width", f"{width:g}")
        root.set("viewBox", f"{-left} 0 {width:g} {height}")
        paper = root.find(f"{{{_NAMESPACE}}}rect")
        if paper is not None:
            paper.set("x", str(-left))
            paper.set("width", f"{width:g}")


def _missing(letter: str) -> float:
    """Return the pixels by which Vega may take a letter for narrower than it is."""
    if letter <= _MEASURED or category(letter)[0] not in "LM":
        return 0.0
    return _WIDE_ROOM if east_asian_width(letter) in "WF" else _ROOM


def _describe(root: ET.Element, drawing: Drawing) -> None:
    root.set("class", "evalstore-chart")
    root.set("role", "img")
    title, description = ET.Element(f"{{{_NAMESPACE}}}title"), ET.Element(f"{{{_NAMESPACE}}}desc")
    title.text = drawing.title
    description.text = "\n".join([*drawing.words, *drawing.notes])
    name = re.sub(r"\W+", "-", drawing.title.lower())
    for place, (element, kind) in enumerate(((title, "title"), (description, "desc"))):
        element.set("id", f"{name}-{kind}")
        root.insert(place, element)
    root.set("aria-labelledby", f"{name}-title")
    root.set("aria-describedby", f"{name}-desc")
