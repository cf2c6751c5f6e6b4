"""What the server imports and compiles after its first answer, before a reader needs it."""

from __future__ import annotations

from threading import Lock

from exports.site.rendering import TEMPLATES, page_template

_EMPTY = {"data": {"values": []}, "mark": "point"}  # starts the engine that draws
_begun = Lock()


def prepare() -> None:
    """Import what draws pictures and audits items, and compile the templates of pages, once.

    It takes 1.5 s of CPU, which the first page of each type would take otherwise, or, if it was
    done before there is an answer, the first page of all.
    """
    if not _begun.acquire(blocking=False):
        return
    import scipy.cluster.hierarchy
    import scipy.special  # noqa: F401 - for those who import it where they need it
    import vl_convert

    from warehouse.analysis.charts import registry  # noqa: F401

    vl_convert.vegalite_to_svg(_EMPTY)
    for template in TEMPLATES.glob("*.html"):
        page_template(template.name)
