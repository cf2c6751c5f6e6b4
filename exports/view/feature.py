"""What only a server has: a page of its own, and what its scripts ask for."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import PlainTextResponse, Response

from exports.site.page import Contents
from warehouse.core.errors import BadInput, EvalstoreError
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


def explained(
    pages: StorePages, request: Request, message: str, *, status: int, title: str
) -> Response:
    """Return the answer to a wrong address: to a browser a page, to a script its text."""
    made: Response = PlainTextResponse(f"{message}\n")
    if "text/html" in request.headers.get("accept", ""):
        path = request.url.path.removeprefix("/")
        # Another page of the same folder, whatever its name looks like.
        again = "./" + path.rpartition("/")[2] if request.url.query else ""
        # Where the store cannot be read now, the text has to do.
        with suppress(EvalstoreError):
            made = page_response(pages, path, "refused.html", title, message=message, again=again)
    made.status_code = status
    return made


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
