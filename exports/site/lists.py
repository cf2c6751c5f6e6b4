"""Pages that list entities of one kind, as many pages as they need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exports.site.addresses import list_page
from exports.site.page import Contents

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from exports.site.page import Addresses
    from exports.site.site import Site
    from exports.site.tables import Table
    from warehouse.core.types import Row

_ON_A_PAGE = 500
_LISTED = f"FROM {{relation}} ORDER BY rowid LIMIT {_ON_A_PAGE} OFFSET {{start}}"


def lists(
    site: Site,
    addresses: Addresses,
    title: str,
    *,
    relation: str,
    first: str,
    listed: Callable[[list[Row]], Table],
) -> Iterator[Contents]:
    """Yield the contents of those pages of a list that are among some addresses.

    Args:
        site: the site.
        addresses: the addresses, of other pages too.
        title: title of the pages.
        relation: the temporary table of the entities, in order.
        first: path of the first page.
        listed: makes the table of some rows.
    """
    n_lists = len(list_addresses(site, relation, first))
    for number in range(1, n_lists + 1):
        path = list_page(first, number)
        if path not in addresses:
            continue
        rows = site.rows(_LISTED.format(relation=relation, start=(number - 1) * _ON_A_PAGE))
        values = {
            "number": number,
            "n_lists": n_lists,
            "first": first,
            "listed": listed(site.timed(rows)),
        }
        yield Contents(path=path, template="list.html", title=title, values=values)


def list_addresses(site: Site, relation: str, first: str) -> Addresses:
    """Return the addresses of the pages that list the rows of a temporary table."""
    [row] = site.rows(f"SELECT count(*) AS n FROM {relation}")  # noqa: S608 - a name of ours
    n_lists = max(1, -(-row["n"] // _ON_A_PAGE))
    return {list_page(first, number): () for number in range(1, n_lists + 1)}
