"""The sample browser: a page for each run, and the list of them; scripts draw the samples.

The pages are the same but for the run they name. They read the pieces of `exports.site.samples`.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, cast

from exports.site.addresses import SAMPLES, samples_page
from exports.site.page import Contents, Page
from exports.site.rendering import code_digest
from exports.site.samples.browser import number_runs, run_folder, run_pieces, shared_pieces
from exports.site.samples.runs import run_digests, sampled_runs
from exports.site.site import PageType
from exports.site.trials import trial_pages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exports.site.page import Addresses
    from exports.site.samples.runs import SampledRun
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


def _addresses(site: Site) -> Addresses:
    runs = site.once(_runs)
    own = {samples_page(*key): key for key in ((run.suite, run.run_id) for run in runs)}
    return {SAMPLES: (), **own}


def _runs(site: Site) -> list[SampledRun]:
    return sampled_runs(site.connection)


def _number(site: Site) -> None:
    runs, is_failed_only = site.once(_runs), site.samples == "failed"
    number_runs(site.connection, runs, only_failed=is_failed_only, trials=trial_pages(site))


def _load(site: Site, addresses: Addresses) -> Iterator[Contents]:
    runs = site.once(_runs)
    if SAMPLES in addresses:
        shared = _numbered(site, shared_pieces(site.connection, runs))
        yield _contents(SAMPLES, "Samples", None, shared)
    chosen = [run for run in runs if samples_page(run.suite, run.run_id) in addresses]
    kept = [run for run in chosen if _is_kept(site, run)]
    changed = run_pieces(site.connection, [run for run in chosen if run not in kept])
    for run, pieces in chain(((run, iter(())) for run in kept), changed):
        path = samples_page(run.suite, run.run_id)
        yield _contents(path, f"Samples of {run.run_id}", run, _numbered(site, pieces))


def _is_kept(site: Site, run: SampledRun) -> bool:
    """Return whether the pieces of a run are there, and would be the same."""
    if site.keeps is None:
        return False
    made_from = site.once(_made_from)[run.suite, run.run_id]
    return site.keeps(f"{run_folder(run.suite, run.run_id)}/*.js", made_from)


def _made_from(site: Site) -> dict[tuple[str, str], str]:
    site.once(_number, makes_tables=True)
    made_with = f"{site.samples} {code_digest()}"
    return run_digests(site.connection, site.once(_runs), made_with)


def _numbered(site: Site, pieces: Iterator[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    """Yield pieces, for which all samples are numbered; a page alone does not need that."""
    site.once(_number, makes_tables=True)
    yield from pieces


def _contents(
    path: str, title: str, run: SampledRun | None, pieces: Iterator[tuple[str, bytes]]
) -> Contents:
    values = {
        "scripts": [f"assets/samples/{name}.js" for name in _SCRIPTS],
        "entry": SAMPLES,
        "heading": title,
        "name": "" if run is None else path.split("/")[1],
        "run": run,
        "pieces": pieces,
    }
    return Contents(path=path, template="samples.html", title=title, values=values)


def _render(site: Site, contents: Contents) -> Iterator[Page]:
    """Yield a page and the pieces that it loads, which are read as they are written."""
    yield site.page(contents)
    for path, data in cast("Iterator[tuple[str, bytes]]", contents.values["pieces"]):
        yield Page(path=path, content=data)


def _is_shown(site: Site) -> bool:
    return site.samples != "none" and bool(site.rows("FROM results LIMIT 1"))


PAGE_TYPE = PageType(
    name="samples",
    addresses=_addresses,
    load=_load,
    folder="samples",
    render=_render,
    title="Samples",
    entry=SAMPLES,
    is_shown=_is_shown,
)
