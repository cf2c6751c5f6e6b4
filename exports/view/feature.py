"""What only a server has: a page of its own, and what its scripts ask for."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from exports.site.page import Contents

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from starlette.routing import BaseRoute

    from exports.site.site import Site
    from exports.view.store_pages import StorePages

_IDLE_SECONDS = 2.1
_Made = TypeVar("_Made")

TEMPLATES = Path(__file__).parent / "templates"


def _always(_: Site) -> bool:
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """What only a server has.

    Attributes:
        routes: returns its routes, whose paths begin with `/view/`.
        title: name of its entry in the menu; empty for no entry.
        entry: path of the page that the entry leads to.
        scripts: paths of its scripts that all pages have.
        is_shown: whether the store has something for it, without which there is no entry.
    """

    routes: Callable[[StorePages], Sequence[BaseRoute]]
    title: str = ""
    entry: str = ""
    scripts: Sequence[str] = ()
    is_shown: Callable[[Site], bool] = _always


def contents(path: str, template: str, title: str, **values: object) -> Contents:
    """Return what a page of a feature is made from: a template in `exports/view/templates/`."""
    return Contents(path=path, template=template, title=title, values=values, folder=TEMPLATES)


async def in_thread(pages: StorePages, make: Callable[[], _Made]) -> _Made:
    """Return what a function makes of the warehouse, which is closed if nobody asks soon again."""
    made = await asyncio.to_thread(make)
    asyncio.get_running_loop().call_later(_IDLE_SECONDS, pages.close_if_idle)
    return made
