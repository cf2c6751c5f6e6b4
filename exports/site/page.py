"""What pages are: files of the site, and the types of pages that write them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from exports.site.site import Site


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A file of the site: a page, or a piece of data that pages load.

    Attributes:
        path: its path in the site, from `exports.site.addresses`, with slashes.
        data: its bytes.
    """

    path: str
    data: bytes


def _always(_: Site) -> bool:
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class PageType:
    """A type of pages.

    Attributes:
        name: its name: pages link to those of another type if the site `has` it.
        pages: yields the pages; the same data give the same pages in the same order.
        title: name of its entry in the menu of all pages; empty for no entry.
        entry: path of the page that the entry leads to.
        is_shown: whether the site has pages of this type, without which there is no entry.
    """

    name: str
    pages: Callable[[Site], Iterator[Page]]
    title: str = ""
    entry: str = ""
    is_shown: Callable[[Site], bool] = _always
