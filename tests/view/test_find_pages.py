"""The pages that find samples, in a real browser: by keyboard, on a phone, without faults."""

import importlib.util
import threading
from pathlib import Path

import pytest
import uvicorn
from browser import needs_browser

from exports.view.guard import Access
from exports.view.server import bind, server_parts, view_app
from exports.view.store_pages import StorePages

pytestmark = [pytest.mark.slow, needs_browser]
TOKEN = "a token of this test"
AXE = "axe_playwright_python"


@pytest.fixture(scope="module")
def address(shared_examples):
    """Return the address of a server of the examples."""
    pages = StorePages(shared_examples.path, name="store", server=server_parts)
    access = Access(token=TOKEN, hosts=frozenset(), cookie="evalstore")
    listening = bind("127.0.0.1", 0)
    config = uvicorn.Config(view_app(pages, access), lifespan="off", log_level="critical")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join()
    pages.close()


@pytest.fixture(params=[(1280, "light"), (360, "dark")], ids=["wide", "phone"])
def page(browser, address, request):
    width, scheme = request.param
    size = {"width": width, "height": 900}
    context = browser.new_context(viewport=size, color_scheme=scheme, base_url=address)
    page = context.new_page()
    faults = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(f"/view/samples?token={TOKEN.replace(' ', '+')}")
    yield page
    context.close()
    assert faults == []


def check(page):
    """Check that axe-core finds nothing serious, all unfolded, and the page fits the window."""
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
    source = Path(importlib.util.find_spec(AXE).origin).with_name("axe.min.js")
    page.evaluate(source.read_text("utf-8"))
    found = page.evaluate("axe.run({preload: false})")
    faults = [
        (rule["id"], node["html"])
        for rule in found["violations"]
        if rule["impact"] in {"serious", "critical"}
        for node in rule["nodes"]
    ]
    assert faults == []
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0


def test_samples_are_found_by_keyboard(page):
    check(page)
    page.get_by_label("Column", exact=True).first.select_option("model")
    page.get_by_label("Comparison").first.select_option("contains")
    page.get_by_label("Value").first.focus()
    page.keyboard.type("aurora")
    page.keyboard.press("Enter")
    page.wait_for_url("**value=aurora**")
    models = page.locator("table.found tbody tr td:nth-child(3)").all_inner_texts()
    assert models
    assert all("aurora" in model for model in models)
    page.locator("table.found th a", has_text="latency").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**sort=latency_ms**")
    assert page.locator("th[aria-sort=ascending]").count() == 1
    assert page.get_by_label("Value").first.input_value() == "aurora"
    check(page)


def test_a_grid_is_read_by_keyboard(page):
    page.goto("/view/grid")
    check(page)
    page.get_by_role("link", name="palindrome").last.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**task_set=palindrome**")
    check(page)
    page.get_by_label("only where they differ").focus()
    page.keyboard.press("Space")
    page.get_by_role("button", name="Show").press("Enter")
    page.wait_for_url("**differ=1**")
    n_rows = page.locator("table.grid tbody tr").count()
    assert page.get_by_text("differs", exact=True).count() == n_rows > 0
