"""The server's pages in a real browser."""

import json
import random
import shutil
import threading
from urllib.parse import quote

import pytest
import uvicorn
from browser import ANY_IMPACT, Visit, needs_browser
from label_cases import result, sample_of
from poster_cases import SAMPLES, rows, run
from support import add_rows, new_store

from exports.view.guard import Access
from exports.view.server import bind, server_parts, view_app
from exports.view.store_pages import StorePages

pytestmark = [needs_browser, pytest.mark.slow]


class ServedVisit(Visit):
    """A window of a browser that opens pages of a server; other requests are faults."""

    def __init__(self, browser, address, **options):
        self.address = address
        super().__init__(browser, ".", **options)

    def open(self, name="index.html"):
        self.page.goto(f"{self.address}/{name}")
        return self.page

    def _on_request(self, request):
        if not request.url.startswith(f"{self.address}/"):
            self.faults.append(f"a request: {request.url}")


@pytest.fixture
def serve(browser):
    """Return a function that serves a store and opens a window; all ends with the test."""
    ends = []

    def start(store, *, width=1280, scheme="light", **options):
        listening = bind("127.0.0.1", 0)
        host = f"127.0.0.1:{listening.getsockname()[1]}"
        pages = StorePages(store.path, name="store", server=server_parts, **options)
        app = view_app(pages, Access(token="t", hosts=frozenset({host}), cookie="c"))
        server = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_level="critical"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        window = ServedVisit(browser, f"http://{host}", width=width, scheme=scheme)
        window.pages = pages

        def end():
            window.close()
            server.should_exit = True
            thread.join()
            pages.close()

        ends.append(end)
        window.open("?token=t")
        return window

    yield start
    for end in ends:
        end()


@pytest.fixture
def posters(tmp_path):
    shutil.copytree(SAMPLES, tmp_path / "tours")
    store = new_store(tmp_path / "store")
    run(store.path, "import", tmp_path / "tours")
    return store


def test_a_poster_is_settled_by_keys(posters, serve):
    window = serve(posters, pictures=SAMPLES / "images")
    page = window.open("view/poster?dataset=tours&poster=c500adc741d0")
    field = page.get_by_placeholder("the right text; empty for nothing").first
    assert field.evaluate("each => each.clientWidth") > 250  # it is seen in full
    page.get_by_label("Your name").fill("Ben ")
    page.get_by_text("let a third person settle them").wait_for()
    page.get_by_label("Your name").fill("Cho")
    assert page.get_by_text("let a third person settle them").count() == 0
    page.get_by_label("Your name").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("b")
    page.keyboard.press("e")
    page.keyboard.type("cancelled")
    page.keyboard.press("Tab")
    page.get_by_label("events[2].status", exact=True).wait_for()
    assert window.severe() == []
    with page.expect_navigation():
        page.keyboard.press("Control+Enter")
    assert "poster=5fc63edbedab" in page.url  # the next one
    window.pages.close()
    query = "SELECT document FROM annotations WHERE task_id = 'c500adc741d0' AND label = 'gold'"
    (gold,) = rows(posters, query)
    events = json.loads(gold["document"])["events"]
    assert (events[0]["venue"], events[2]["status"]) == ("Songkran Splash Arena", "cancelled")
    assert window.faults == []


def test_a_record_is_written_in_the_form(posters, serve):
    window = serve(posters, pictures=SAMPLES / "images", width=360, scheme="dark")
    page = window.open("view/record?dataset=tours&poster=e03e7f13bf09")
    page.get_by_label("Your name").fill("dao")
    page.get_by_label("artist_name").fill("เสียงจากดอย")
    page.get_by_label("source_month").fill("2026-13")
    page.get_by_role("button", name="Add an event").click()
    page.get_by_label("date").fill("2026-04-03")
    page.get_by_label("country").fill("Thailand")
    assert window.severe() == []
    assert window.overflow() == 0
    page.get_by_role("button", name="Save").click()
    page.get_by_text("not saved: source_month").wait_for()
    page.get_by_label("source_month").fill("2026-04")
    with page.expect_navigation():
        page.get_by_role("button", name="Save").click()
    assert page.get_by_text("1 of 2 records").count() == 1
    assert window.faults == []


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_pages_have_no_faults(posters, serve, width, scheme):
    window = serve(posters, width=width, scheme=scheme)
    for name in ("index.html", "runs/index.html", "view/posters"):
        window.open(name)
        assert window.severe(ANY_IMPACT) == []
        assert window.overflow() == 0
    assert window.faults == []


@pytest.mark.campaign
def test_two_browsers_rate_400_answers(tmp_path, serve, browser):
    store, chance = new_store(tmp_path / "store"), random.Random(4)
    answers = [result("ant-9000", n) for n in range(200)]
    header = {"suite": "arena", "run_id": "night-ant-9000", "generation": "root", "content_id": "x"}
    add_rows(store.lake, runs=[header], results=answers)
    queue = sample_of(store, "arena")
    first = serve(store)
    second = ServedVisit(browser, first.address)
    second.open("?token=t")
    said = {"Ann": chance.choices("pf", k=200), "Ben": chance.choices("pf", k=200)}
    pages = {}
    for rater, window in zip(said, (first, second), strict=True):
        pages[rater] = page = window.open(f"view/review/queue?queue={quote(queue.run_id)}")
        page.get_by_label("Your name").fill(rater)
        page.get_by_role("button", name="Start").click()
    for n in range(200):
        for rater, page in pages.items():
            page.get_by_text(f"Answer {n + 1} of 200", exact=True).wait_for()
            page.keyboard.press(said[rater][n])
    for page in pages.values():
        page.get_by_text("You have rated every answer of this queue.").wait_for()
        while page.evaluate("Object.keys(localStorage).some((key) => key.includes('outbox'))"):
            page.wait_for_timeout(50)
    assert first.faults == second.faults == []
    second.close()
    first.pages.close()
    given = rows(store, "SELECT rater, result_id, value FROM ratings WHERE rater IS NOT NULL")
    places = {answer.result_id: n for n, answer in enumerate(queue.answers.values())}
    found = [(row["rater"], places[row["result_id"]], row["value"]) for row in given]
    expected = [(rater, n, key == "p") for rater in said for n, key in enumerate(said[rater])]
    assert sorted(found) == sorted(expected)
