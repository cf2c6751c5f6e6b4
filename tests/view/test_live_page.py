"""Runs in progress in a real browser: hostile texts, phones, the end of a run, axe-core."""

import signal
import threading
import time

import pytest
import uvicorn
from browser import Visit, missing

from exports.view.guard import Access
from exports.view.server import bind, server_parts, view_app
from exports.view.store_pages import StorePages
from warehouse.core.formats.json_text import json_text
from warehouse.lake.batch import Generation
from warehouse.lake.journal.journal import Entry, Journal

pytestmark = [pytest.mark.slow, pytest.mark.skipif(missing() is not None, reason=str(missing()))]

HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>\u202e`code`" + "w" * 300


def result(n, **fields):
    row = {
        "content_id": f"c{n}", "seq": n + 1, "task_id": f"t{n} {HOSTILE}", "model": HOSTILE,
        "availability_status": "ok", "success": True, "objective_pass": n % 2 == 0,
        "raw_output": HOSTILE, "settings": json_text({"x": HOSTILE}), "task_set": "s",
    }  # fmt: skip
    return Entry("results", row | fields)


def header(n_tasks):
    plan = {"models": [{}], "attempts": 1, "tasks": [{"task_id": str(n)} for n in range(n_tasks)]}
    return Entry("runs", {"content_id": "run", "plan": json_text(plan)})


@pytest.fixture
def address(store):
    listening = bind("127.0.0.1", 0)
    port = listening.getsockname()[1]
    access = Access(token="t" * 20, hosts=frozenset({f"127.0.0.1:{port}"}), cookie="evalstore")
    pages = StorePages(store.path, name="store", server=server_parts)
    config = uvicorn.Config(
        view_app(pages, access), lifespan="off", log_level="critical", timeout_graceful_shutdown=0
    )
    server = uvicorn.Server(config)
    serving = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    serving.start()
    yield f"http://127.0.0.1:{port}/"
    server.handle_exit(signal.SIGINT, None)
    serving.join()
    pages.close()
    listening.close()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_a_run_from_start_to_end(store, address, browser, width, scheme):
    visit = Visit(browser, store.path, width=width, scheme=scheme)
    page = visit.page
    page.goto(f"{address}?token={'t' * 20}")
    assert "live" not in page.inner_text(".as-of")
    page.goto(f"{address}view/live")
    page.wait_for_selector("text=Nothing is in progress")
    assert page.inner_text(".as-of").endswith("; what is in progress is live")
    assert visit.severe() == []
    with Journal(store.path, Generation(HOSTILE, f"r1 {HOSTILE}")) as journal:
        journal.append([header(6), *(result(n) for n in range(4))])
        journal.append([result(9, success=False, failure_type=HOSTILE)])
        page.wait_for_selector("article[data-done='5']")
        assert page.inner_text(".live-state") == "running"
        assert page.inner_text("article dl div:first-child dd") == "5 of 6"
        assert page.locator("article img, article script").count() == 0
        assert HOSTILE[:20] in page.inner_text("article table:last-of-type")
        assert (visit.severe(), visit.overflow()) == ([], 0)
        page.goto(f"{address}index.html")
        page.wait_for_selector("article[data-done='5']")
        assert page.inner_text(".as-of").endswith("; what is in progress is live")
        assert (visit.severe(), visit.overflow()) == ([], 0)
        journal.append([result(7)])
        page.wait_for_selector("article[data-done='6']")  # without loading the page again
    store.recover_journals()
    page.wait_for_selector("article[data-state='complete']")
    time.sleep(2.1)  # pages are at most so old
    page.click("article h2 a")
    page.wait_for_selector("h1:has-text('r1')")
    own = [fault for fault in visit.faults if address not in fault and "404" not in fault]
    visit.close()
    assert own == []
