"""Adjudication in the browser: two records side by side with the picture, and what is right."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from exports.view.feature import Feature, page_response
from exports.view.posters.desk import (
    Settlement,
    add_human_record,
    give_back,
    merged_record,
    poster_to_settle,
    posters_of,
    settle,
)
from exports.view.posters.pictures import read_picture
from exports.view.requests import post_route, text_of, value_of
from warehouse.app.labelling.samples import checked_name
from warehouse.app.posters.adjudication import poster_datasets
from warehouse.core.errors import BadInput
from warehouse.engine.scoring.posters.records.schema import POSTER_SCHEMA

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request
    from starlette.routing import BaseRoute

    from exports.site.site import Site
    from exports.view.store_pages import StorePages

_ENTRY = "view/posters"
_PICTURE = """
SELECT arg_max(image_sha256, (seq, image_sha256)) AS image_sha256, count(*) AS n
FROM tasks WHERE suite = 'posters' AND task_set = $dataset AND task_id = $poster
"""
_HAS_POSTERS = "SELECT 1 AS n FROM tasks WHERE suite = 'posters' LIMIT 1"
_ABOUT = {"dataset", "poster", "records"}
_CHOICES = {*_ABOUT, "choices", "edits"}
_RECORD = {"dataset", "poster", "annotator", "record"}


class _Posters:
    """What the routes answer."""

    def __init__(self, pages: StorePages) -> None:
        self._pages = pages
        self._page = partial(page_response, pages)

    def list_page(self, request: Request) -> Response:
        """Return the page that lists the posters of a dataset: of the first if none is named."""
        with self._pages.writing() as store:
            datasets = poster_datasets(store)
            first = datasets[0] if datasets else None
            found = posters_of(store, request.query_params.get("dataset", first))
        values = {"found": found, "datasets": datasets}
        return page_response(
            self._pages, _ENTRY, "posters-to-settle.html", "Ground truth", **values
        )

    def poster_page(self, request: Request) -> Response:
        """Return the page on which a poster is settled."""
        dataset, poster = _about(request)
        with self._pages.writing() as store:
            found = poster_to_settle(store, dataset, poster)
        return page_response(
            self._pages, "view/poster", "settle.html", f"Settle {poster}", found=found
        )

    def record_page(self, request: Request) -> Response:
        """Return the form in which an annotator writes a record."""
        dataset, poster = _about(request)
        self._image(dataset, poster)
        values = {"dataset": dataset, "poster": poster, "schema": POSTER_SCHEMA["properties"]}
        return page_response(
            self._pages, "view/record", "record.html", f"Record of {poster}", **values
        )

    def picture(self, request: Request) -> Response:
        """Return the picture of a poster."""
        dataset, poster = _about(request)
        found = read_picture(poster, self._image(dataset, poster), self._pages.pictures)
        if found is None:
            return PlainTextResponse("no picture of this poster here\n", 404)
        return Response(found[0], media_type=found[1])

    def merge(self, fields: dict[str, object]) -> object:
        """Return the record that choices lead to."""
        with self._pages.writing() as store:
            return merged_record(store, _settlement(fields))

    def settle(self, fields: dict[str, object]) -> object:
        """Make a poster gold."""
        with self._pages.writing() as store:
            return {"problems": settle(store, _settlement(fields), _name(fields, "by"))}

    def give_back(self, fields: dict[str, object]) -> object:
        """Give a poster back to its annotators."""
        by, reason = _name(fields, "by"), text_of(fields, "reason")
        with self._pages.writing() as store:
            give_back(store, _settlement({**fields, "choices": [], "edits": {}}), by, reason)
        return {"problems": []}

    def add_record(self, fields: dict[str, object]) -> object:
        """Add an annotator's record."""
        dataset, poster = text_of(fields, "dataset"), text_of(fields, "poster")
        annotator, record = _name(fields, "annotator"), value_of(fields, "record", dict)
        with self._pages.writing() as store:
            problems = add_human_record(store, dataset, poster, annotator=annotator, record=record)
        return {"problems": problems}

    def _image(self, dataset: str, poster: str) -> str | None:
        with self._pages.reading() as site:
            [row] = site.rows(_PICTURE, {"dataset": dataset, "poster": poster})
        if not row["n"]:
            raise BadInput(f"no poster {poster!r} in the dataset {dataset!r}")
        image_sha256: str | None = row["image_sha256"]
        return image_sha256


def _routes(pages: StorePages) -> Sequence[BaseRoute]:
    posters = _Posters(pages)
    return [
        Route("/view/posters", posters.list_page),
        Route("/view/poster", posters.poster_page),
        Route("/view/poster/picture", posters.picture),
        Route("/view/record", posters.record_page),
        post_route("/view/poster/merge", _CHOICES, posters.merge),
        post_route("/view/poster/settle", {*_CHOICES, "by"}, posters.settle),
        post_route("/view/poster/return", {*_ABOUT, "by", "reason"}, posters.give_back),
        post_route("/view/record/add", _RECORD, posters.add_record),
    ]


def _about(request: Request) -> tuple[str, str]:
    query = request.query_params
    return query.get("dataset", ""), query.get("poster", "")


def _name(fields: dict[str, object], name: str) -> str:
    return checked_name(name, text_of(fields, name))


def _settlement(fields: dict[str, object]) -> Settlement:
    edits = value_of(fields, "edits", dict)
    if not all(isinstance(each, str | None) for each in edits.values()):
        raise BadInput("edits: not texts or null")
    return Settlement(
        dataset=text_of(fields, "dataset"),
        poster=text_of(fields, "poster"),
        records=frozenset(map(str, value_of(fields, "records", list))),
        choices=value_of(fields, "choices", list),
        edits=edits,
    )


def _is_shown(site: Site) -> bool:
    return bool(site.rows(_HAS_POSTERS))


FEATURE = Feature(routes=_routes, title="Ground truth", entry=_ENTRY, is_shown=_is_shown)
