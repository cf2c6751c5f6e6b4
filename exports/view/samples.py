"""Find: samples as a table, filtered and sorted by any of their columns; the address says how."""

from __future__ import annotations

import io
import os
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from exports.site.addresses import model_page, run_page, samples_page
from exports.site.trials import trial_pages
from exports.view.asked import Asked, last_page, read_address
from exports.view.feature import Feature, limited, page_response
from warehouse.analysis.sample_columns import sample_columns
from warehouse.analysis.sample_query import (
    OPERATORS,
    SHOWN_CHARACTERS,
    all_samples,
    literal,
    sample_page,
)
from warehouse.analysis.search import check_pattern
from warehouse.app.output.terminal import screen
from warehouse.app.output.writers import FORMATS, write_query
from warehouse.core.errors import BadInput
from warehouse.core.in_memory import open_in_memory
from warehouse.core.text.figures import number
from warehouse.engine.rows import of_query

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from starlette.datastructures import QueryParams
    from starlette.requests import Request
    from starlette.routing import BaseRoute
    from starlette.types import Receive, Scope, Send

    from exports.site.site import Site
    from exports.view.store_pages import StorePages
    from warehouse.analysis.sample_columns import SampleColumn
    from warehouse.analysis.sample_query import SampleQuery
    from warehouse.core.types import Row

_PAGE, _TITLE = "view/samples", "Find samples"
_SIZE = 100  # samples on a page
_SECONDS = 5.0  # of a query
_ALL_SECONDS = 30.0  # of all rows
# Columns that a call without an answer has no values of.
_OF_ANSWERS = {"answer", "raw_output", "passed"}
_EMPTY_LINES = 2  # of the form, for more filters
_TOTAL = "SELECT count(*) AS n FROM results"
# As in the sample browser: by their order in the log.
_NUMBER = """
SELECT number
FROM (
    SELECT result_id, row_number() OVER (ORDER BY seq, result_id) - 1 AS number
    FROM results
    WHERE suite = $suite AND run_id = $run_id
)
WHERE result_id = $result_id
"""


def _routes(pages: StorePages) -> Sequence[BaseRoute]:
    def samples(request: Request) -> Response:
        return _found_page(pages, request.query_params)

    def csv(request: Request) -> Response:
        return _CsvResponse(_parquet(pages, request.query_params))

    def sample(request: Request) -> Response:
        return RedirectResponse(_sample(pages, request.query_params), status_code=303)

    return [
        Route("/view/samples", samples),
        Route("/view/samples.csv", csv),
        Route("/view/sample", sample),
    ]


def _columns(site: Site) -> dict[str, SampleColumn]:
    return sample_columns(site.connection)


def _found_page(pages: StorePages, given: QueryParams) -> Response:
    with _reading(pages, given, _SECONDS) as (site, columns, asked):
        start = (asked.page - 1) * _SIZE
        found = sample_page(site.connection, asked.query, start=start, size=_SIZE)
        [total] = site.rows(_TOTAL)
        trials = trial_pages(site) if any(row["trial_id"] for row in found.rows) else {}
        values: dict[str, object] = {
            "asked": asked,
            "columns": columns,
            "groups": _grouped(asked, columns),
            "operators": OPERATORS,
            "n_empty_lines": _EMPTY_LINES,
            "found": found,
            "n_all": total["n"],
            "start": start,
            "n_pages": last_page(found.n_found, _SIZE, asked.page),
            "rows": [_row_cells(asked.query, row, trials) for row in found.rows],
            "sql": all_samples(asked.query),
        }
    return page_response(pages, _PAGE, "samples_table.html", _TITLE, **values)


def _parquet(pages: StorePages, given: QueryParams) -> Path:
    """Return all rows in a temporary file, which is written in much less time than CSV is sent."""
    with ExitStack() as unfinished:
        handle, name = tempfile.mkstemp(suffix=".parquet")
        path = Path(name)
        unfinished.callback(path.unlink)
        with (
            os.fdopen(handle, "wb") as file,
            _reading(pages, given, _ALL_SECONDS) as (site, _, asked),
        ):
            sql = all_samples(asked.query)
            write_query(site.connection, sql, "parquet", file, note=lambda _: None)
        unfinished.pop_all()
    return path


class _CsvResponse(StreamingResponse):
    """Sends the rows of a file as CSV, and removes the file, also if nobody takes them."""

    def __init__(self, path: Path) -> None:
        headers = {"content-disposition": 'attachment; filename="samples.csv"'}
        super().__init__(_csv_chunks(path), media_type="text/csv", headers=headers)
        self._path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the rows."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._path.unlink()


def _csv_chunks(path: Path) -> Iterator[bytes]:
    """Yield the rows of a file as CSV, without the store."""
    with open_in_memory(threads=1) as connection:
        rows = of_query(connection, f"FROM {literal(str(path))}")
        yield from FORMATS["csv"](rows, screen(io.BytesIO(), lambda _: None))


def _sample(pages: StorePages, given: QueryParams) -> str:
    """Return the address of a sample in the sample browser."""
    names = ("suite", "run_id", "result_id")
    if sorted(given) != sorted(names):
        raise BadInput(f"a sample is named by {', '.join(names)}")
    key = {name: given[name] for name in names}
    with limited(pages, _SECONDS) as site:
        rows = site.rows(_NUMBER, key)
    if not rows:
        raise BadInput("the store has no such sample; it may have been of a run that is gone")
    return f"/{samples_page(key['suite'], key['run_id'])}#sample={rows[0]['number']}"


@contextmanager
def _reading(
    pages: StorePages, given: QueryParams, seconds: float
) -> Iterator[tuple[Site, Mapping[str, SampleColumn], Asked]]:
    """Yield the site, the columns of its samples, and what an address asks of them.

    Raises:
        BadInput: the address asks for what there is not, or for what takes too long.
    """
    with limited(pages, seconds) as site:
        columns = site.once(_columns)
        asked = read_address(given, columns)
        if asked.query.search is not None:
            check_pattern(site.connection, asked.query.search)
        yield site, columns, asked


def _grouped(asked: Asked, columns: Mapping[str, SampleColumn]) -> dict[str, list[SampleColumn]]:
    """Return the columns to choose from by group, those of the address first."""
    used = [each.column for each in asked.query.filters] + list(asked.query.columns)
    groups: dict[str, list[SampleColumn]] = {}
    for column in {**columns, **{each.key: each for each in used}}.values():
        groups.setdefault(column.group, []).append(column)
    return groups


def _row_cells(
    query: SampleQuery, row: Row, trials: Mapping[tuple[str, str, str], str]
) -> dict[str, object]:
    key = row["suite"], row["run_id"], row["result_id"]
    return {
        "key": dict(zip(("suite", "run_id", "result_id"), key, strict=True)),
        "trial": trials.get(key),
        "cells": [
            (
                _cell_text(row[str(place)]),
                _cell_address(column.key, row, row[str(place)]),
                column.kind,
                _missing(column.key, row),
            )
            for place, column in enumerate(query.columns)
        ],
    }


def _cell_address(key: str, row: Row, value: object) -> str | None:
    if key == "run_id":
        return run_page(row["suite"], row["run_id"])
    if key == "model" and isinstance(value, str) and len(value) <= SHOWN_CHARACTERS:
        return model_page(value)
    return None


def _missing(key: str, row: Row) -> str:
    """Return what a cell says whose value is not known."""
    if not row["has_failed"] or key not in _OF_ANSWERS:
        return "unknown"
    reason = row["failure_type"] if key != "passed" else None
    return f"no answer: {reason}" if reason else "no answer"


def _cell_text(value: object) -> str | None:
    """Return the text of a cell; None if the value is not known."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return number(value)
    if isinstance(value, int):
        return f"{value:,}"
    text = str(value)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"


FEATURE = Feature(title="Find", entry=_PAGE, is_main=True, routes=_routes)
