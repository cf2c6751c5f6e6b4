"""The pages of items: of each suite the tasks that deserve a maintainer's look, with a picture.

What is found takes seconds in a large store: only these pages read it, and others only link here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, cast

from exports.site.addresses import items_page
from exports.site.boards import rated_suites
from exports.site.page import Contents
from exports.site.pictures import ShownChart, drawings, shown_chart
from exports.site.site import PageType
from exports.site.tasks import task_keys
from warehouse.analysis.charts.chart import Panel
from warehouse.analysis.items.audit import Finding
from warehouse.analysis.items.work_list import evidence, figures, summary, work_lists
from warehouse.core.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from exports.site.page import Addresses, Page
    from exports.site.site import Site
    from warehouse.analysis.items.work_list import WorkList
    from warehouse.core.types import Row

_SHOWN = 25  # items of a task set
_TASK_SETS = 40
_USELESS = {Finding.DEAD, Finding.SATURATED}


class _Item(NamedTuple):
    """An item with findings, in words."""

    row: Row
    said: str


class _TaskSet(NamedTuple):
    """The items of a task set: those with findings, and how many more there are."""

    title: str
    said: str
    items: list[_Item]
    n_left_out: int


def _addresses(site: Site) -> Addresses:
    return {items_page(suite): (suite,) for suite in rated_suites(site)}


def _load(site: Site, addresses: Addresses) -> Iterator[Contents]:
    for path, (suite,) in addresses.items():
        lists = _work_lists(site, str(suite))
        shown = lists[:_TASK_SETS]
        values = {
            "suite": suite,
            "task_sets": [_task_set(each) for each in shown],
            "with_page": task_keys(site),
            "n_left_out": len(lists) - len(shown),
            "panels": [_panel(each) for each in shown],
        }
        yield Contents(path=path, template="items.html", title=f"Items: {suite}", values=values)


def _work_lists(site: Site, suite: str) -> list[WorkList]:
    """Return the items of a suite; none where no two systems have verdicts of tasks with an ID."""
    try:
        return work_lists(site.connection, suite)
    except BadInput:
        return []


def _task_set(listed: WorkList) -> _TaskSet:
    found = [row for row in listed.rows if row["findings"]]
    items = [_Item(row, " ".join((figures(row), *evidence(row)))) for row in found[:_SHOWN]]
    return _TaskSet(listed.key.task_set, summary(listed), items, len(found) - len(items))


def _panel(listed: WorkList) -> Panel:
    rows = [
        {**row, "label": row["task_id"], "is_suspect": bool({*row["findings"]} - _USELESS)}
        for row in listed.rows
    ]
    return Panel(title=listed.key.task_set, metric="discrimination", is_rate=False, rows=rows)


def _render(site: Site, contents: Contents) -> Iterator[Page]:
    """Yield the pictures, if any item tells systems apart, and the page."""
    from warehouse.analysis.charts.kinds.items import CHART  # Altair takes half a second

    values = dict(contents.values)
    drawn = drawings(CHART, cast("Sequence[Panel]", values.pop("panels")))
    chart: ShownChart | None = None
    if drawn is not None:
        folder = contents.path.removesuffix(".html")
        paths = f"{folder}/{CHART.name}.svg", f"{folder}/{CHART.name}-narrow.svg"
        chart, pictures = shown_chart(CHART, drawn, paths)
        yield from pictures
    yield site.page(replace(contents, values={**values, "chart": chart}))


PAGE_TYPE = PageType(name="items", addresses=_addresses, load=_load, folder="items", render=_render)
