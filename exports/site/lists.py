"""Pages that list entities of one kind, as many pages as they need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exports.site.addresses import list_page
from exports.site.grouping import parts
from exports.site.tables import table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from exports.site.page import Page
    from exports.site.site import Site
    from exports.site.tables import Address
    from warehouse.core.types import Row

_ON_A_PAGE = 500


def lists(
    site: Site,
    rows: Sequence[Row],
    title: str,
    *,
    first: str,
    columns: Sequence[str],
    links: Mapping[str, Address],
) -> Iterator[Page]:
    """Yield the pages that list some rows.

    Args:
        site: the site.
        rows: the entities, in order.
        title: title of the pages.
        first: path of the first page.
        columns: the columns shown first.
        links: the path that the cells of a column link to.
    """
    pages = parts(rows, _ON_A_PAGE)
    for number, on_page in enumerate(pages, start=1):
        yield site.page(
            "list.html",
            list_page(first, number),
            title,
            number=number,
            n_lists=len(pages),
            first=first,
            listed=table(on_page, columns, links=links),
        )
