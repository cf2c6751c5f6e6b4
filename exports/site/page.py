"""What pages are made from, and what becomes of it: files of the site."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

# By the path of each page, from `exports.site.addresses`, what the page is about: suite and ID of
# a run, the name of a model, or nothing.
Addresses = Mapping[str, tuple[str | None, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A file of the site: a page, or a piece of data that pages load.

    Attributes:
        path: its path in the site, from `exports.site.addresses`, with slashes.
        content: its bytes, or a function that makes them, of pictures, which take longer to draw
            than their page to write.
    """

    path: str
    content: bytes | Callable[[], bytes]

    @property
    def data(self) -> bytes:
        """Return its bytes, which are made again each time if a function makes them."""
        return self.content if isinstance(self.content, bytes) else self.content()


class MenuEntry(NamedTuple):
    """An entry of the menu: its title, the path it leads to, and whether it is always seen."""

    title: str
    entry: str
    is_main: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What a page is made from.

    Attributes:
        path: path of the page.
        template: name of its template.
        title: its title.
        values: variables of the template.
        folder: folder of the template.
    """

    path: str
    template: str
    title: str
    values: Mapping[str, object]
    folder: Path = Path(__file__).parent / "templates"
