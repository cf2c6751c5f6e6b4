"""What the server imports and compiles after its first answer, before a reader needs it."""

from __future__ import annotations

from importlib import import_module
from threading import Lock

from exports.site.rendering import TEMPLATES, page_template

_MODULES = ("scipy.cluster.hierarchy", "scipy.special", "warehouse.analysis.charts.registry")
_EMPTY = {"data": {"values": []}, "mark": "point"}  # starts the engine that draws
_begun = Lock()


def prepare() -> None:
    """Import what draws pictures and audits items, and compile the templates of pages, once.

    It takes 1.5 s of CPU, which the first page of each type would take otherwise, or, if it was
    done before there is an answer, the first page of all.
    """
    if not _begun.acquire(blocking=False):
        return
    for name in _MODULES:
        import_module(name)
    import vl_convert

    vl_convert.vegalite_to_svg(_EMPTY)
    for template in TEMPLATES.glob("*.html"):
        page_template(template.name)
