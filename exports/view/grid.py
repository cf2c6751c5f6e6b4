"""The grid of a task set: a row for each task, a column for each model, in a cell its answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from starlette.routing import Route

from exports.site.addresses import task_page
from exports.site.tasks import task_keys
from exports.view.asked import last_page, page_number
from exports.view.feature import Feature, limited, page_response
from warehouse.core.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.datastructures import QueryParams
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

    from exports.site.site import Site
    from exports.view.store_pages import StorePages
    from warehouse.core.types import Row

_PAGE, _TITLE = "view/grid", "Grid of answers"
_SIZE = 40  # tasks on a page
_MODELS = 8
_PARAMETERS = {"suite", "task_set", "model", "differ", "page"}
# As everywhere: of each model the latest of the runs that asked most of the set.
_SETS = """
SELECT suite, task_set, count(*) AS n_models, max(run_date) AS run_date
FROM scores.board_runs
GROUP BY suite, task_set
ORDER BY run_date DESC NULLS LAST, suite, task_set
"""
_COLUMNS = """
SELECT suite, run_id, provider, model, settings
FROM scores.board_runs
WHERE suite = $suite AND task_set = $task_set
ORDER BY covered_pass_rate DESC NULLS LAST, model, settings, provider
"""
_CELLS = """
WITH chosen AS (
    SELECT
        unnest($places) AS place, unnest($run_ids) AS run_id, unnest($providers) AS provider,
        unnest($models) AS model, unnest($settings) AS settings
),

cells AS (
    SELECT
        calls.task_id,
        chosen.place,
        any_value(calls.run_id) AS run_id,
        arg_min(calls.result_id, (calls.attempt, calls.seq, calls.result_id)) AS result_id,
        min(calls.task_hash) AS task_hash,
        count(*) AS n_results,
        count(calls.passed) AS n_judged,
        count(*) FILTER (calls.passed) AS n_passed
    FROM verdicts AS calls
    JOIN chosen
        ON calls.run_id = chosen.run_id
        AND calls.provider IS NOT DISTINCT FROM chosen.provider
        AND calls.model IS NOT DISTINCT FROM chosen.model
        AND calls.settings IS NOT DISTINCT FROM chosen.settings
    WHERE calls.suite = $suite AND calls.task_set = $task_set
    GROUP BY calls.task_id, chosen.place
),

tasks AS MATERIALIZED (
    SELECT
        task_id,
        count(*) FILTER (n_judged > 0) AS n_models_judged,
        coalesce(
            min(n_passed / n_judged) FILTER (n_judged > 0)
            < max(n_passed / n_judged) FILTER (n_judged > 0),
            false
        ) AS is_different,
        count(DISTINCT task_hash) > 1 AS is_changed,
        list({
            place: place, run_id: run_id, result_id: result_id, n_results: n_results,
            n_judged: n_judged, n_passed: n_passed
        } ORDER BY place) AS cells
    FROM cells
    GROUP BY task_id
),

page AS (
    FROM tasks
    WHERE is_different OR NOT $is_differing
    ORDER BY is_different DESC, task_id
    LIMIT $size OFFSET $start
)

SELECT
    (SELECT count(*) FROM tasks) AS n_tasks,
    (SELECT count(*) FROM tasks WHERE is_different) AS n_different,
    (SELECT count(*) FROM tasks WHERE n_models_judged > 1) AS n_comparable,
    (SELECT list(page) FROM page) AS tasks
"""
_ANSWERS = """
SELECT
    run_id, result_id,
    left(prompt, 200) AS prompt,
    left(coalesce(nullif(answer, ''), raw_output), 160) AS answer,
    availability_status IS DISTINCT FROM 'ok' AND success IS NOT TRUE AS has_failed
FROM results
SEMI JOIN (SELECT unnest($run_ids) AS run_id, unnest($result_ids) AS result_id) AS cells
    USING (run_id, result_id)
WHERE suite = $suite
    AND run_id BETWEEN list_min($run_ids) AND list_max($run_ids)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class GridRequest:
    """What an address asks of a grid.

    Attributes:
        suite: the suite; with `task_set`, None for the list of task sets.
        task_set: the task set.
        models: names of columns; empty for the best.
        is_differing: whether only tasks on which the models differ are shown.
        page: number of the page, from 1.
    """

    suite: str | None
    task_set: str | None
    models: Sequence[str]
    is_differing: bool
    page: int

    def address(self, page: int) -> str:
        """Return the part of an address after `?` for another page of the same."""
        parts = [("suite", self.suite or ""), ("task_set", self.task_set or "")]
        parts += [("model", name) for name in self.models]
        parts += [("differ", "1")] if self.is_differing else []
        return urlencode([*parts, ("page", str(page))])


def _routes(pages: StorePages) -> Sequence[BaseRoute]:
    def grid(request: Request) -> Response:
        with limited(pages) as site:
            values = _grid_values(site, _read_request(request.query_params))
        return page_response(pages, _PAGE, "grid.html", _TITLE, **values)

    return [Route("/view/grid", grid)]


def _read_request(given: QueryParams) -> GridRequest:
    """Return what an address asks for.

    Raises:
        BadInput: it asks for what there is not.
    """
    if unknown := sorted(set(given) - _PARAMETERS):
        raise BadInput(f"unknown parameter {unknown[0]!r}")
    if ("suite" in given) != ("task_set" in given):
        raise BadInput("a grid needs both of the parameters 'suite' and 'task_set'")
    if given.get("differ", "1") != "1":
        raise BadInput("the parameter 'differ' is 1, or left out")
    return GridRequest(
        suite=given.get("suite"),
        task_set=given.get("task_set"),
        models=given.getlist("model"),
        is_differing="differ" in given,
        page=page_number(given.get("page", "1")),
    )


def _grid_values(site: Site, asked: GridRequest) -> dict[str, object]:
    """Return the variables of the template."""
    values: dict[str, object] = {"asked": asked, "sets": site.rows(_SETS), "columns": []}
    if asked.suite is None:
        return values
    wanted = {"suite": asked.suite, "task_set": asked.task_set}
    columns = _columns_by_name(site.rows(_COLUMNS, wanted))
    if not columns:
        raise BadInput("no model was asked this task set; see the list of task sets")
    chosen = _chosen_columns(columns, asked.models)
    part = {"is_differing": asked.is_differing, "size": _SIZE, "start": (asked.page - 1) * _SIZE}
    [found] = site.rows(_CELLS, wanted | _column_lists(chosen) | part)
    n_listed = found["n_different"] if asked.is_differing else found["n_tasks"]
    n_pages = last_page(n_listed, _SIZE, asked.page)
    return {
        **values,
        "columns": columns,
        "chosen": chosen,
        "found": found,
        "n_pages": n_pages,
        "rows": _grid_rows(site, found["tasks"] or [], wanted, len(chosen)),
        "most": _MODELS,
    }


def _columns_by_name(rows: list[Row]) -> dict[str, Row]:
    """Return the models by the names of their columns: with settings and provider where needed."""
    names = [str(row["model"] or "unknown") for row in rows]
    for column in ("settings", "provider", "run_id"):
        names = [
            f"{name} · {row[column]}" if names.count(name) > 1 and row[column] else name
            for name, row in zip(names, rows, strict=True)
        ]
    return dict(zip(names, rows, strict=True))


def _chosen_columns(columns: Mapping[str, Row], names: Sequence[str]) -> dict[str, Row]:
    if unknown := [name for name in names if name not in columns]:
        raise BadInput(f"{unknown[0][:100]!r} was not asked this task set")
    if len(names) > _MODELS:
        raise BadInput(f"choose at most {_MODELS} models")
    return {name: columns[name] for name in names or list(columns)[:_MODELS]}


def _column_lists(chosen: Mapping[str, Row]) -> dict[str, object]:
    rows = list(chosen.values())
    return {
        "places": list(range(len(rows))),
        **{f"{name}s": [row[name] for row in rows] for name in ("run_id", "provider", "model")},
        "settings": [row["settings"] for row in rows],
    }


def _grid_rows(
    site: Site, tasks: list[Row], wanted: Mapping[str, str | None], n_columns: int
) -> list[dict[str, object]]:
    """Return the rows of the grid: the task, its page, and a cell or None for each model."""
    cells = [cell for task in tasks for cell in task["cells"]]
    lists = {f"{name}s": [cell[name] for cell in cells] for name in ("run_id", "result_id")}
    answers = site.rows(_ANSWERS, lists | {"suite": wanted["suite"]}) if cells else []
    texts = {(row["run_id"], row["result_id"]): row for row in answers}
    pages = task_keys(site)
    rows = []
    for task in tasks:
        key = wanted["suite"], wanted["task_set"], task["task_id"]
        by_place = {
            cell["place"]: {**cell, **texts[cell["run_id"], cell["result_id"]]}
            for cell in task["cells"]
        }
        prompts = (cell["prompt"] for cell in by_place.values() if cell["prompt"])
        rows.append(
            {
                "task": task,
                "prompt": next(prompts, None),
                "page": task_page(*key) if key in pages else None,
                "cells": [by_place.get(place) for place in range(n_columns)],
            }
        )
    return rows


FEATURE = Feature(title="Grid", entry=_PAGE, routes=_routes)
