"""What the server imports and compiles after its first answer, before a reader needs it."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from threading import Event, Lock
from typing import TYPE_CHECKING

from exports.site.rendering import TEMPLATES, page_template
from warehouse.engine.views.suite_traits import suite_traits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_MODULES = (
    "scipy.special",
    "scipy.cluster.hierarchy",
    "altair",
    "warehouse.analysis.charts.registry",
    "vl_convert",
)
_EMPTY = {"data": {"values": []}, "mark": "point"}  # starts the engine that draws
_begun = Lock()
_ended = Event()


def prepare() -> None:
    """Import what draws pictures and audits items, and read what pages share, once.

    It takes 1.5 s of CPU, which the first page of each type would take otherwise, or, if it was
    done before there is an answer, the first page of all. It goes in steps, as the process waits
    for it at Ctrl-C.
    """
    if not _begun.acquire(blocking=False):
        return
    for step in _steps():
        if _ended.is_set():
            return
        step()


def end_preparation() -> None:
    """Have `prepare` return after the step that it is at."""
    _ended.set()


def _steps() -> Iterator[Callable[[], object]]:
    for name in _MODULES:
        yield partial(import_module, name)
    yield partial(suite_traits, "")
    yield _draw
    for template in TEMPLATES.glob("*.html"):
        yield partial(page_template, template.name)


def _draw() -> None:
    import vl_convert

    vl_convert.vegalite_to_svg(_EMPTY)
