"""What an address asks of the samples: filters, columns, order and page, read strictly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from warehouse.analysis.sample_columns import find_column
from warehouse.analysis.sample_query import SampleQuery, check_text, sample_filter
from warehouse.analysis.search import Search
from warehouse.core.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.datastructures import QueryParams

    from warehouse.analysis.sample_columns import SampleColumn
    from warehouse.analysis.sample_query import SampleFilter

SHOWN = ("run_id", "model", "task_id", "passed", "answer", "latency_ms", "cost_usd")
_ONCE = {"q", "regex", "nocase", "sort", "page"}
_KNOWN = _ONCE | {"column", "op", "value", "show", "run"}
_MOST_FILTERS = 20
_MOST_COLUMNS = 40
_MOST_RUNS = 100
_MOST_PAGES = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What an address asks for.

    Attributes:
        query: the samples.
        page: number of the page, from 1.
    """

    query: SampleQuery
    page: int

    def address(self, *, sort: str | None = None, page: int | None = None) -> str:
        """Return the part of an address after `?` that asks for the same, or another order or page.

        Args:
            sort: key of the column to sort by, with `-` in front for the largest first.
            page: number of the page; by default, the first.
        """
        query, search = self.query, self.query.search
        parts = [("run", run) for run in query.runs]
        if search is not None:
            parts.append(("q", search.pattern))
            parts += [("regex", "1")] if not search.is_fixed else []
            parts += [("nocase", "1")] if search.ignores_case else []
        for each in query.filters:
            parts += [("column", each.column.key), ("op", each.operator), ("value", each.text)]
        parts += [("show", column.key) for column in query.columns]
        if order := self.order if sort is None else sort:
            parts.append(("sort", order))
        if page is not None and page > 1:
            parts.append(("page", str(page)))
        return urlencode(parts)

    @property
    def order(self) -> str:
        """The order, as an address has it; empty for that by default."""
        sort = self.query.sort
        return "" if sort is None else f"{'-' if self.query.is_descending else ''}{sort.key}"


def read_address(given: QueryParams, columns: Mapping[str, SampleColumn]) -> Asked:
    """Return what an address asks for.

    Args:
        given: its parameters; those of `column`, `op` and `value` belong together by place.
        columns: the columns of the store, by key.

    Raises:
        BadInput: it asks for what there is not.
    """
    _check(given)
    order = given.get("sort", "")
    shown = given.getlist("show") or [key for key in SHOWN if key in columns]
    query = SampleQuery(
        columns=[find_column(columns, key) for key in dict.fromkeys(shown)],
        filters=_filters(given, columns),
        runs=given.getlist("run"),
        search=_search(given),
        sort=find_column(columns, order.removeprefix("-")) if order else None,
        is_descending=order.startswith("-"),
    )
    return Asked(query=query, page=page_number(given.get("page", "1")))


def _check(given: QueryParams) -> None:
    if unknown := sorted(set(given) - _KNOWN):
        raise BadInput(f"unknown parameter {unknown[0]!r}; there are {', '.join(sorted(_KNOWN))}")
    if twice := sorted(name for name in _ONCE if len(given.getlist(name)) > 1):
        raise BadInput(f"the parameter {twice[0]!r} is given twice")
    for name, most in (("show", _MOST_COLUMNS), ("column", _MOST_FILTERS), ("run", _MOST_RUNS)):
        if len(given.getlist(name)) > most:
            raise BadInput(f"at most {most} of the parameter {name!r} are possible")
    for name, value in given.multi_items():
        check_text(f"the parameter {name!r}", value)


def _filters(given: QueryParams, columns: Mapping[str, SampleColumn]) -> Sequence[SampleFilter]:
    names, operators, values = (given.getlist(name) for name in ("column", "op", "value"))
    if not len(names) == len(operators) == len(values):
        raise BadInput("a filter needs all of the parameters 'column', 'op' and 'value'")
    return [
        sample_filter(find_column(columns, name), operator, value)
        for name, operator, value in zip(names, operators, values, strict=True)
        if name  # a line of the form that was left empty
    ]


def _search(given: QueryParams) -> Search | None:
    for name in ("regex", "nocase"):
        if given.get(name, "1") != "1":
            raise BadInput(f"the parameter {name!r} is 1, or left out")
    if not given.get("q"):
        return None
    return Search(pattern=given["q"], is_fixed="regex" not in given, ignores_case="nocase" in given)


def page_number(text: str) -> int:
    """Return the number of a page.

    Raises:
        BadInput: it is none.
    """
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= _MOST_PAGES):
        raise BadInput(f"page {text!r} is no number of a page")
    return int(text[:9])


def last_page(n_rows: int, size: int, page: int) -> int:
    """Return the number of the last page of a list.

    Raises:
        BadInput: a page that is asked for comes after it.
    """
    last = max(1, -(-n_rows // size))
    if page > last:
        raise BadInput(f"there is no page {page:,}: the last one is {last:,}")
    return last
