"""The site of a store: what pages read, how they are rendered, and the folder they go to."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar, TypeVarTuple, cast

from exports.rows import fetch_rows
from exports.site.addresses import relative
from exports.site.grouping import parts
from exports.site.page import Addresses, Contents, MenuEntry, Page
from exports.site.rendering import page_template
from exports.site.run_names import run_names
from warehouse.core.rating_scales import RATINGS_SUITE
from warehouse.engine.query import query_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import date

    import duckdb
    import pyarrow as pa

    from exports.site.run_names import RunNames
    from warehouse.app.store import Store
    from warehouse.core.types import Row

_Answer = TypeVar("_Answer")
_About = TypeVarTuple("_About")
_BLOCK = 100  # pages
_COPIED = 100_000  # rows of a table at most, for the next connection
# Ratings are about answers of suites, and no suite that a reader would look for.
_SUITE_ORDER = f"""
SELECT suite
FROM runs
WHERE suite <> '{RATINGS_SUITE}'
GROUP BY suite
ORDER BY
    bool_or(coalesce(origin IN ('runner', 'recorded') AND NOT is_replay, false)) DESC,
    max(run_date) DESC NULLS LAST,
    suite
"""  # noqa: S608 - a name of ours
_RUNS = "SELECT suite, run_id, run_date, started_at FROM scores.run_times"


def _always(_: Site) -> bool:
    return True


def _rendered(site: Site, contents: Contents) -> Iterable[Page]:
    return [site.page(contents)]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageType:
    """A type of pages.

    Attributes:
        name: its name: pages link to those of another type if the site `has` it.
        addresses: returns where its pages are, or would be if there is anything to show; cheap.
        folder: the folder of its pages, but for those that lie at the top.
        load: yields what some of its pages are made from, in any order, by a few queries.
        render: yields a page and the files that go with it, from that alone. They are in the
            folder of the page's name: `suites/x/` of `suites/x.html` and of `suites/x/index.html`.
        title: name of its entry in the menu of all pages; empty for no entry.
        entry: path of the page that the entry leads to.
        is_main: whether the entry is always seen, not only when the menu is opened.
        is_shown: whether the site has pages of this type, without which there is no entry.
    """

    name: str
    addresses: Callable[[Site], Addresses]
    load: Callable[[Site, Addresses], Iterable[Contents]]
    folder: str = ""
    render: Callable[[Site, Contents], Iterable[Page]] = _rendered
    title: str = ""
    entry: str = ""
    is_main: bool = False
    is_shown: Callable[[Site], bool] = _always


def only(path: str) -> Callable[[Site], Addresses]:
    """Return the `addresses` of a type with one page."""
    return lambda _: {path: ()}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerParts:
    """What pages have only if a server sends them.

    Attributes:
        menu: the further entries of the menu.
        scripts: paths of the scripts of all pages.
        notes: what the reader should know about the figures, such as data that are missing.
    """

    menu: Sequence[MenuEntry]
    scripts: Sequence[str]
    notes: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What was made of some data, for all sites of the same data.

    Attributes:
        answers: of `Site.once`, by function and arguments.
        tables: of `Site.keep`, by name; None if no other site will ask for them.
    """

    answers: dict[object, object] = field(default_factory=dict)
    tables: dict[str, pa.Table] | None = None


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
        server: what only pages of a server have; None for a site of files.
        known: what was made of its data so far.
        keeps: keeps files that are there, see `SiteFolder.keep`; None if there is no folder.
    """

    store: Store
    connection: duckdb.DuckDBPyConnection
    types: Sequence[PageType] = ()
    samples: str = "all"
    name: str = "evalstore"
    newest: date | None = None
    run_names: RunNames = field(default_factory=dict)
    server: ServerParts | None = None
    known: Known = field(default_factory=Known)
    keeps: Callable[[str, str], bool] | None = None
    _done: dict[object, object] = field(default_factory=dict)
    _kept: set[str] = field(default_factory=set)

    def once(
        self, make: Callable[[Site, *_About], _Answer], *about: *_About, makes_tables: bool = False
    ) -> _Answer:
        """Return what a function makes of the site; it is called once for all pages.

        Args:
            make: the function.
            about: its further arguments; it is called once for each of them.
            makes_tables: whether pages also need temporary tables that it makes: other connections
                to the same data lack them.
        """
        answers = self._done if makes_tables else self.known.answers
        key = make, *about
        if key not in answers:
            answers[key] = make(self, *about)
        return cast("_Answer", answers[key])

    def keep(self, *views: str, **queries: str) -> None:
        """Compute views once for all later queries of the site, which name them as before.

        For views that read all results and have far fewer rows: their copies are temporary tables,
        whose `rowid` is the order of the view. Queries are kept under names of their own.
        """
        for name, query in ({view: f"FROM {view}" for view in views} | queries).items():
            if name not in self._kept:
                self._kept.add(name)
                # A temporary table comes before a view of the same name.
                with query_errors(is_users=False):
                    self._keep(name, query)

    def _keep(self, name: str, query: str) -> None:
        tables = self.known.tables
        copy = None if tables is None else tables.get(name)
        if copy is not None:
            self.connection.register("site_copy", copy)
            query = "FROM site_copy"
        self.connection.execute(f"CREATE TEMP TABLE {name} AS {query}")
        if copy is not None:
            self.connection.unregister("site_copy")
        elif tables is not None:
            rows = self.connection.sql(f"FROM {name} LIMIT {_COPIED + 1}").to_arrow_table()
            if len(rows) <= _COPIED:
                tables[name] = rows

    def rows(self, query: str, parameters: Mapping[str, object] | None = None) -> list[Row]:
        """Return the rows of a query on views."""
        with query_errors(is_users=False):
            return fetch_rows(self.connection, query, parameters or {})

    def has(self, name: str) -> bool:
        """Return whether the site has pages of the type of this name."""
        return any(each.name == name for each in self.types)

    def timed(self, rows: Iterable[Row]) -> list[Row]:
        """Return rows, those about runs with a time in `run_date` where several have the date."""
        names = self.run_names
        return [
            {**row, "run_date": names[row["suite"], row["run_id"]].time} if "run_id" in row else row
            for row in rows
        ]

    def page(self, contents: Contents) -> Page:
        """Return a page, rendered from its template, which extends `site.html`.

        In it, `link(path)` is the address of another page, and `has(name)` is whether the site has
        pages of a type.
        """
        path = contents.path

        def link(other: str) -> str:
            return relative(other, path)

        menu = [MenuEntry(t.title, t.entry, t.is_main) for t in self.types if t.title]
        text = page_template(contents.template, contents.folder).render(
            title=contents.title,
            path=path,
            link=link,
            has=self.has,
            menu=menu,
            menu_suites=list(self.once(suite_places)) if self.has("suite") else [],
            lesser_metrics=self.once(lesser_metrics),
            site=self,
            **contents.values,
        )
        return Page(path=path, content=text.encode("utf-8", "replace"))

    def pages(
        self, page_type: PageType, addresses: Addresses | None = None, *, size: int = _BLOCK
    ) -> Iterator[Page]:
        """Yield the pages of a type with the files that go with them, in blocks of a size.

        Args:
            page_type: the type.
            addresses: those that are wanted; by default, all.
            size: number of pages whose data are loaded at once; the pages do not depend on it.
        """
        wanted = page_type.addresses(self) if addresses is None else addresses
        for block in parts(list(wanted.items()), size):
            for contents in page_type.load(self, dict(block)):
                yield from page_type.render(self, contents)


def suite_places(site: Site) -> dict[str, int]:
    """Return the place of each suite in lists: first those the reader ran, then the newest."""
    return {row["suite"]: place for place, row in enumerate(site.rows(_SUITE_ORDER))}


def lesser_metrics(site: Site) -> set[tuple[str, str, str]]:
    """Return the scores of which less is better: suite, task set and name."""
    rows = site.rows("FROM scores.lesser_metrics")
    return {(row["suite"], row["task_set"], row["metric"]) for row in rows}


def shown_types(site: Site, types: Sequence[PageType]) -> Sequence[PageType]:
    """Return those of some types of pages that the site has."""
    return [each for each in types if each.is_shown(site)]


@contextmanager
def opened_site(
    store: Store,
    types: Sequence[PageType],
    *,
    samples: str,
    name: str = "evalstore",
    choose: Callable[[Site, Sequence[PageType]], Sequence[PageType]] = shown_types,
) -> Iterator[Site]:
    """Open a store and yield its site, with the types of pages that it has.

    Args:
        store: the store.
        types: the types of pages that a site can have.
        samples: which samples have pages.
        name: the title of the site.
        server: what only pages of a server have; None for a site of files.
        choose: returns those of the types that it has, if who asks knows without looking.
    """
    with store.reading() as connection:
        bare = Site(store=store, connection=connection, samples=samples, name=name)
        runs = bare.rows(_RUNS)
        # Not the date of today: the same store gives the same bytes.
        newest = max((row["run_date"] for row in runs if row["run_date"] is not None), default=None)
        bare = replace(bare, newest=newest, run_names=run_names(runs))
        yield replace(bare, types=choose(bare, types))  # with the answers to what was asked so far
