"""The site of a store: what pages read, how they are rendered, and the folder they go to."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from exports.rows import fetch_rows
from exports.site.addresses import relative
from exports.site.page import Page
from exports.site.rendering import page_template
from exports.site.run_names import run_names
from warehouse.engine.query import query_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import date

    import duckdb

    from exports.site.run_names import RunNames
    from warehouse.app.store import Store
    from warehouse.core.types import Row

_RUNS = "SELECT suite, run_id, run_date, started_at FROM runs"


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A store, as pages are made of it.

    Attributes:
        store: the store, for the charts and comparisons of `warehouse`.
        connection: its warehouse, open while the site is built.
        types: the types of pages that the site has.
        samples: which samples have pages: all, failed or none.
        name: the title of the site, in the heading of every page.
        newest: date of the newest run; None if no run has one.
        run_names: what lists call each run, by suite and ID.
    """

    store: Store
    connection: duckdb.DuckDBPyConnection
    types: Sequence[PageType] = ()
    samples: str = "all"
    name: str = "evalstore"
    newest: date | None = None
    run_names: RunNames = field(default_factory=dict)
    _answers: dict[str, list[Row]] = field(default_factory=dict)
    _kept: set[str] = field(default_factory=set)

    def keep(self, *views: str) -> None:
        """Compute views once for all later queries of the site, which name them as before.

        For views that read all results and have far fewer rows: their copies are temporary tables.
        """
        for view in views:
            if view not in self._kept:
                self._kept.add(view)
                # A temporary table comes before a view of the same name.
                with query_errors(is_users=False):
                    self.connection.execute(f"CREATE TEMP TABLE {view} AS FROM {view}")

    def rows(self, query: str, parameters: Mapping[str, object] | None = None) -> list[Row]:
        """Return the rows of a query on views. One without parameters runs once for all pages."""
        with query_errors(is_users=False):
            if parameters is not None:
                return fetch_rows(self.connection, query, parameters)
            if query not in self._answers:
                self._answers[query] = fetch_rows(self.connection, query, {})
            return self._answers[query]

    def has(self, name: str) -> bool:
        """Return whether the site has pages of the type of this name."""
        return any(each.name == name for each in self.types)

    def timed(self, rows: Iterable[Row]) -> list[Row]:
        """Return rows about runs, with a time in `run_date` where several runs have the date."""
        names = self.run_names
        return [{**row, "run_date": names[row["suite"], row["run_id"]].time} for row in rows]

    def page(self, template: str, path: str, title: str, **values: object) -> Page:
        """Return a page, rendered from a template that extends `site.html`.

        Args:
            template: its name in `exports/site/templates/`.
            path: path of the page, from `exports.site.addresses`.
            title: its title.
            values: variables of the template. In it, `link(path)` is the address of another page,
                and `has(name)` is whether the site has pages of a type.
        """

        def link(other: str) -> str:
            return relative(other, path)

        menu = [(each.title, each.entry) for each in self.types if each.title]
        text = page_template(template).render(
            title=title, path=path, link=link, has=self.has, menu=menu, site=self, **values
        )
        return Page(path=path, data=text.encode("utf-8", "replace"))


@contextmanager
def opened_site(
    store: Store, types: Sequence[PageType], *, samples: str, name: str = "evalstore"
) -> Iterator[Site]:
    """Open a store and yield its site, with the types of pages that it has."""
    with store.reading() as connection:
        bare = Site(store=store, connection=connection, samples=samples, name=name)
        runs = bare.rows(_RUNS)
        # Not the date of today: the same store gives the same bytes.
        newest = max((row["run_date"] for row in runs if row["run_date"] is not None), default=None)
        bare = replace(bare, newest=newest, run_names=run_names(runs))
        shown = [each for each in types if each.is_shown(bare)]
        yield replace(bare, types=shown)  # with the answers to what was asked so far
