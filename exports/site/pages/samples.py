"""The sample browser: a page for each run, and the list of them; scripts draw the samples.

The pages are the same but for the run they name. They read the pieces of `exports.site.samples`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from exports.site.addresses import SAMPLES, samples_page
from exports.site.page import Page
from exports.site.samples.browser import data_of_samples
from exports.site.samples.runs import sampled_runs
from exports.site.site import PageType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exports.site.site import Site

# In the order in which they need each other.
_SCRIPTS = (
    "pieces",
    "nodes",
    "text",
    "figures",
    "diff",
    "state",
    "runs",
    "rows",
    "table",
    "filters",
    "record",
    "versus",
    "partners",
    "keys",
    "list",
    "browser",
)


def pages(site: Site) -> Iterator[Page]:
    """Yield the pages, and the pieces of data that they load."""
    scripts = [f"assets/samples/{name}.js" for name in _SCRIPTS]
    shared = {"scripts": scripts, "entry": SAMPLES}
    runs = sampled_runs(site.connection)
    yield site.page(
        "samples.html", SAMPLES, "Samples", heading="Samples", name="", run=None, **shared
    )
    for run in runs:
        path = samples_page(run.suite, run.run_id)
        title = f"Samples of {run.run_id}"
        name = path.split("/")[1]
        yield site.page("samples.html", path, title, heading=title, name=name, run=run, **shared)
    only_failed = site.samples == "failed"
    for path, data in data_of_samples(site.connection, runs, only_failed=only_failed):
        yield Page(path=path, data=data)


def _is_shown(site: Site) -> bool:
    return site.samples != "none" and bool(site.rows("FROM results LIMIT 1"))


PAGE_TYPE = PageType(
    name="samples", pages=pages, title="Samples", entry=SAMPLES, is_shown=_is_shown
)
