"""What only a server has: a page of its own, and what its scripts ask for."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import Response

from exports.site.page import Contents
from warehouse.core.errors import BadInput
from warehouse.core.text.formatting import visible_lines
from warehouse.engine.query import query_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from starlette.requests import Request
    from starlette.routing import BaseRoute

    from exports.site.site import Site
    from exports.view.store_pages import StorePages

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
        is_main: whether the entry is always seen, not only when the menu is opened.
        scripts: paths of its scripts that all pages have.
        is_shown: whether the store has something for it, without which there is no entry.
    """

    routes: Callable[[StorePages], Sequence[BaseRoute]]
    title: str = ""
    entry: str = ""
    is_main: bool = False
    scripts: Sequence[str] = ()
    is_shown: Callable[[Site], bool] = _always


def page_response(
    pages: StorePages, path: str, template: str, title: str, **values: object
) -> Response:
    """Return a page of a feature, made from a template in `exports/view/templates/`."""
    made = Contents(path=path, template=template, title=title, values=values, folder=TEMPLATES)
    return Response(pages.render(made), media_type="text/html")


def answered(
    pages: StorePages, request: Request, path: str, title: str, answer: Callable[[], Response]
) -> Response:
    """Return an answer; a browser gets a page of what is wrong with its address.

    Args:
        pages: the pages.
        request: what was asked.
        path: path of the page without its parameters.
        title: its title.
        answer: returns the answer.

    Raises:
        BadInput: the address is wrong, and no browser sent it.
    """
    try:
        return answer()
    except BadInput as error:
        if "text/html" not in request.headers.get("accept", ""):
            raise
        again, message = path.rpartition("/")[2], visible_lines(str(error))
        refused = page_response(pages, path, "refused.html", title, message=message, again=again)
        refused.status_code = 400
        return refused


@contextmanager
def limited(pages: StorePages, max_seconds: float = 5.0) -> Iterator[Site]:
    """Yield the site for queries of what a reader asks for, within a time.

    Raises:
        BadInput: it takes longer; the message says how to narrow it.
        EvalstoreError: the store cannot be read now.
    """
    import duckdb

    try:
        with pages.reading(max_seconds=max_seconds) as site, query_errors(is_users=False):
            yield site
    except BadInput as error:
        if not isinstance(_first_cause(error), duckdb.InterruptException):
            raise
        raise BadInput(
            f"this took longer than {max_seconds:.0f} seconds: choose a run, or filter by suite, "
            "model or date, before texts, tools and scores are searched"
        ) from error


def _first_cause(error: BaseException) -> BaseException:
    return error if error.__cause__ is None else _first_cause(error.__cause__)
