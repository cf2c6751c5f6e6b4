"""Sites: how fast pages of samples are written, and a report is again, with or without a new run.

With Playwright and a browser (`make browser`), also how fast they open and search, and the
overview: what it loads, and how soon it is painted. And a search of all texts of the store.
"""

from __future__ import annotations

import importlib.util
import resource
import shutil
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import url2pathname

from bench.data.long_history import add_run, make_history
from bench.ratios import Ratio
from exports.site.addresses import samples_page
from exports.site.folder import SiteFolder
from exports.site.pages import overview
from exports.site.pages.samples import PAGE_TYPE
from exports.site.rendering import assets
from exports.site.report import write_site
from exports.site.site import opened_site
from warehouse.analysis.search import Search, search
from warehouse.app.store import Store

if TYPE_CHECKING:
    from playwright.sync_api import Page

_SAMPLES, _QUICK_SAMPLES = 1_000_000, 20_000
_SEARCHED = 100_000  # samples in one table
_PER_SECOND = 20_000
_SECOND_MS, _SEARCH_MS = 1_000, 300
_MOST_KB = 300
_PAINTED_MS = 'performance.getEntriesByName("first-contentful-paint")[0]?.startTime'
_WORDS = ("answer 77", "q999", "zzz", "question 5 is 1")
# Milliseconds from the input of words until the table is drawn.
_SEARCH = """words => new Promise(done => {
    const search = document.getElementById("search");
    const start = performance.now();
    new MutationObserver((_, observer) => {
        observer.disconnect();
        requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
    }).observe(document.querySelector("[role=status]"), { childList: true });
    search.value = words;
    search.dispatchEvent(new Event("input"));
})"""


def measure(*, quick: bool) -> list[Ratio]:
    """Write the pages of samples and reports, then open some of them."""
    n_samples = _QUICK_SAMPLES if quick else _SAMPLES
    with TemporaryDirectory(prefix="evalstore-bench-") as name:
        folder = Path(name)
        make_history(folder / "store", n_samples)
        store = Store(folder / "store")
        store.sync()
        first, size_mb = _write(store, folder / "site")
        ratios = [
            Ratio(
                f"pages of {n_samples:,} samples",
                f"{_PER_SECOND:,} samples per second of processor time",
                n_samples / first / _PER_SECOND,
                f"{n_samples / first:,.0f} a second, {first:.1f} s, {size_mb:,.0f} MB",
                at_least=1,
            ),
            *_reports(store, folder / "report", n_samples),
        ]
        ratios.append(_search(store))
        return ratios + _in_browser(store, folder / "site", min(n_samples, _SEARCHED))


def _reports(store: Store, folder: Path, n_samples: int) -> list[Ratio]:
    """Report a store, report it again, and again with one more run."""

    def report() -> float:
        start = _processor_seconds()
        store.sync()
        write_site(store, folder)
        return _processor_seconds() - start

    first, again = report(), report()
    add_run(store.path, 0, 100)
    with_run = report()
    return [
        Ratio(
            f"`evalstore report` of {n_samples:,} samples again, {state}",
            "the first time, CPU",
            seconds / first,
            f"{seconds:.1f} s / {first:.1f} s",
            at_most=limit,
        )
        for state, seconds, limit in (("unchanged", again, 0.3), ("with a new run", with_run, 0.4))
    ]


def _search(store: Store) -> Ratio:
    """Search all texts of the store for an expression that matches none."""
    with store.reading() as connection:
        [(size,)] = connection.execute("SELECT sum(strlen(text)) / 1e6 FROM texts").fetchall()
        before = time.perf_counter()
        search(connection, Search(pattern="zz[0-9]+qq"), limit=1)
        seconds = time.perf_counter() - before
    work = f"`evalstore grep` for an expression in {size:,.0f} MB of texts"
    return Ratio(work, "3 s", seconds / 3, f"{seconds:.2f} s", at_most=1)


def _write(store: Store, folder: Path) -> tuple[float, float]:
    """Return seconds of processor time, and the size of the pages in megabytes."""
    start = _processor_seconds()
    with opened_site(store, [PAGE_TYPE], samples="all") as site:
        written = SiteFolder(folder)
        for page in assets():
            written.add(page)
        for page in site.pages(PAGE_TYPE):
            written.add(page)
        written.finish()
    return _processor_seconds() - start, written.n_bytes / 1e6


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _in_browser(store: Store, folder: Path, n_searched: int) -> list[Ratio]:
    path = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    if path is None or importlib.util.find_spec("playwright") is None:
        print("not measured in a browser: Playwright or Chromium is missing")
        return []
    from playwright.sync_api import sync_playwright

    runs = store.sql("SELECT suite, run_id FROM runs ORDER BY suite, run_id").fetchall()
    pages = [samples_page(*run) for run in runs]
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page()
        opened = max(_opened_ms(page, folder / each) for each in (pages[0], pages[-1]))
        searched = _searched_ms(page, folder, pages, n_searched)
        painted, loaded = _overview(store, folder.with_name("overview"), page)
        browser.close()
    return [
        Ratio(
            "overview of the site",
            f"{_MOST_KB} kB",
            loaded / _MOST_KB,
            f"{loaded:.0f} kB with all that it loads",
            at_most=1,
        ),
        Ratio(
            "overview of the site, first paint",
            "one second",
            painted / _SECOND_MS,
            f"{painted:.0f} ms",
            at_most=1,
        ),
        Ratio("page of a sample", "one second", opened / _SECOND_MS, f"{opened:.0f} ms", at_most=1),
        Ratio(
            f"search over {n_searched:,} samples",
            f"{_SEARCH_MS} ms",
            searched / _SEARCH_MS,
            f"{searched:.0f} ms, the slowest of {len(_WORDS)}",
            at_most=1,
        ),
    ]


def _opened_ms(page: Page, path: Path) -> float:
    page.goto("about:blank")
    page.goto(f"{path.as_uri()}#sample=7777")
    page.wait_for_selector("article section")
    return float(page.evaluate("performance.now()"))


def _searched_ms(page: Page, folder: Path, pages: list[str], n_samples: int) -> float:
    names = [each.split("/")[1] for each in pages[1 : n_samples // 10_000]]
    state = "&".join(f"runs={name}" for name in names)
    page.goto(f"{(folder / pages[0]).as_uri()}#{state}")
    page.wait_for_selector(f"[role=status]:has-text('of {n_samples:,} samples')")
    times = []
    for words in _WORDS:
        times.append(float(page.evaluate(_SEARCH, words)))
        time.sleep(0.5)  # until the page is idle
    return max(times)


def _overview(store: Store, folder: Path, page: Page) -> tuple[float, float]:
    """Return milliseconds until the overview is painted, and what it loads in kilobytes."""
    with opened_site(store, [overview.PAGE_TYPE], samples="none") as site:
        written = SiteFolder(folder)
        for each in (*assets(), *site.pages(overview.PAGE_TYPE)):
            written.add(each)
        written.finish()
    page.goto("about:blank")
    loaded = []
    page.on("request", lambda request: loaded.append(request.url))
    page.goto((folder / "index.html").as_uri())
    page.wait_for_selector("h1")
    page.wait_for_load_state("networkidle")
    files = [Path(url2pathname(urlsplit(address).path)) for address in loaded]
    n_bytes = sum(file.stat().st_size for file in files)
    return float(page.evaluate(_PAINTED_MS)), n_bytes / 1e3
