"""Review in a browser: a queue by keys, two raters, a server that is killed, hostile texts."""

import http.client
import json
import random
import re
import signal
import subprocess
import sys
import threading
import time

import pytest
from browser import needs_browser
from label_cases import labelled_store, result
from rendering import HOSTILE
from support import ROOT, add_rows

from exports.site.addresses import samples_page

TOKEN = "a token of these tests"
# The page's policy forbids what Playwright waits with.
WAITING = "Object.keys(localStorage).filter((key) => key.startsWith('evalstore-outbox')).length"
PLAN = {
    "targets": ["arena"],
    "sample": 100_000,
    "draw": "random",
    "seed": 0,
    "criterion": "overall",
    "scale": "pass/fail",
    "rubric": "",
    "raters": [],
    "per_answer": 1,
}


class Server:
    """`evalstore view` as a process; after `kill` it can be started again at the same port."""

    def __init__(self, store, port=0):
        self.store, self.port = store, port
        self.start()

    def start(self):
        command = [sys.executable, str(ROOT / "evalstore.py"), "--store", str(self.store.path)]
        view = ["view", "--port", str(self.port), "--token", TOKEN]
        self.process = subprocess.Popen(
            [*command, *view], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        line = self.process.stdout.readline()
        self.port = int(re.search(r":(\d+)/", line)[1])

    def kill(self, number=signal.SIGKILL):
        self.process.send_signal(number)
        self.process.wait(60)
        self.process.stdout.close()

    def post(self, path, **fields):
        """Post as a page does; return the status and the answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {
            "cookie": f"evalstore-{self.port}={TOKEN}",
            "origin": f"http://127.0.0.1:{self.port}",
            "content-type": "application/json",
        }
        try:
            connection.request("POST", path, json.dumps(fields), headers)
            reply = connection.getresponse()
            return reply.status, reply.read().decode()
        finally:
            connection.close()


@pytest.fixture
def serve():
    """Return a function that serves a store."""
    servers = []

    def served(store):
        servers.append(Server(store))
        return servers[-1]

    yield served
    for server in servers:
        if server.process.poll() is None:
            server.kill(signal.SIGTERM)


def many_answers(path, n_more):
    """Return a store with as many more answers of a model, one with hostile texts."""
    store = labelled_store(path)
    key = {"suite": "arena", "run_id": "night-ant-9000", "generation": "root"}
    rows = [result("ant-9000", n) for n in range(10, 10 + n_more)]
    rows[0] |= {"prompt": HOSTILE, "raw_output": HOSTILE + "x" * 250_000}
    add_rows(store.lake, runs=[{**key, "content_id": "more"}], results=rows)
    return store


@pytest.mark.slow
def test_no_rating_is_lost_or_doubled_by_kills(serve, tmp_path):
    store = many_answers(tmp_path / "store", 488)
    server = serve(store)
    queue = json.loads(server.post("/view/review/create", **PLAN)[1])["queue"]
    from warehouse.app.labelling.samples import read_samples

    [sample] = read_samples(store)
    n_raters = 4
    answered = [0] * n_raters

    def rate_all(number):
        for n, answer_id in enumerate(sample.answers):
            said = {"label": "pass", "note": "", "reference": "", "is_wrong": False}
            fields = {"id": f"{number} {n}", "rater": f"r{number}", **said}
            while True:  # as the page: the same id until the server has it
                try:
                    status, text = server.post(
                        "/view/review/rate", queue=queue, answer=answer_id, **fields
                    )
                except (OSError, http.client.HTTPException):
                    time.sleep(0.05)
                    continue
                if status == 200:
                    break
                assert status >= 500, text
            answered[number] += 1

    clients = [threading.Thread(target=rate_all, args=(n,)) for n in range(n_raters)]
    for client in clients:
        client.start()
    moments = random.Random(0)
    for n_kills in range(1, 6):
        while sum(answered) < n_kills * 300 and any(client.is_alive() for client in clients):
            time.sleep(moments.random() / 50)
        server.kill()
        server.start()
    for client in clients:
        client.join(300)
    server.kill()
    counts = (
        "SELECT count(*), count(DISTINCT rating_id), count(DISTINCT (rater, answer)) FROM ratings"
    )
    assert sum(answered) == n_raters * len(sample.answers) == 2_000
    assert store.sql(counts).fetchall() == [(2_000, 2_000, 2_000)]
    assert store.sql("SELECT count(*) FROM quarantine").fetchall() == [(0,)]


class Window:
    """A window of a browser on a server, as a rater uses it."""

    def __init__(self, visit, server, tmp_path, **options):
        self.window = visit(tmp_path, **options)
        self.page = self.window.page
        self.base = f"http://127.0.0.1:{server.port}"
        self.page.route("**/favicon.ico", lambda route: route.fulfill(status=204))
        self.page.goto(f"{self.base}/?token={TOKEN.replace(' ', '+')}")

    def open(self, path, rater):
        self.page.goto(f"{self.base}/{path}")
        self.page.locator("#rater").fill(rater)
        self.page.locator("#rater").press("Enter")
        self.page.locator("#labels button").first.wait_for()

    def own_faults(self):
        """Return the faults, but for requests to the server."""
        kept = [fault for fault in self.window.faults if f"a request: {self.base}" not in fault]
        self.window.faults = kept
        return kept


@needs_browser
@pytest.mark.slow
def test_two_browsers_work_through_a_queue_by_keys(visit, serve, tmp_path):
    store = many_answers(tmp_path / "store", 4)
    server = serve(store)
    one, other = (Window(visit, server, tmp_path, width=width) for width in (1280, 360))
    one.page.goto(f"{one.base}/view/review/new")
    one.page.locator("#targets").select_option("arena")
    one.page.locator("#rubric").fill("Is the answer right?")
    assert one.window.severe() == []
    one.page.get_by_role("button", name="Draw the answers").click()
    one.page.locator("#rater").wait_for()
    path = one.page.url.removeprefix(f"{one.base}/")
    for window, rater in ((one, "Ann"), (other, "Ben")):
        window.open(path, rater)
        assert window.page.locator("#count").inner_text() == "0 of 16 rated"
    one.page.keyboard.press("n")
    one.page.keyboard.type("p is no rating here")
    one.page.keyboard.press("Escape")
    for key in "psfpu":
        one.page.keyboard.press(key)
    assert one.page.locator("#count").inner_text() == "2 of 16 rated"
    for _ in range(14):
        one.page.keyboard.press("p")
    for _ in range(16):
        other.page.keyboard.press("f")
    for window in (one, other):
        window.page.get_by_text("16 of 16 rated").wait_for()
        while window.page.evaluate(WAITING):
            window.page.wait_for_timeout(50)
    other.page.reload()
    other.page.get_by_text("by both").wait_for()
    for window in (one, other):
        assert window.window.severe() == []
        assert window.window.overflow() == 0
        assert window.own_faults() == []
    one.page.screenshot(path=tmp_path / "wide.png", full_page=True)
    other.page.screenshot(path=tmp_path / "narrow.png", full_page=True)
    server.kill(signal.SIGTERM)
    rated = store.sql("""
        SELECT rater, count(*), count(*) FILTER (value = 0), max(reason)
        FROM ratings WHERE is_current AND value IS NOT NULL GROUP BY rater ORDER BY rater
    """).fetchall()
    assert rated == [("Ann", 16, 1, "p is no rating here"), ("Ben", 16, 16, None)]


@needs_browser
@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_answer_with_hostile_texts_is_inert_and_can_be_rated(visit, serve, tmp_path, scheme):
    store = many_answers(tmp_path / "store", 1)
    server = serve(store)
    window = Window(visit, server, tmp_path, width=360, scheme=scheme)
    window.open("view/rate?suite=arena&run_id=night-ant-9000&result_id=ant-9000/10", "<b>Ann</b>")
    page = window.page
    page.get_by_role("button", name="Load all").click()
    page.get_by_role("button", name="Load all").wait_for(state="detached")
    page.locator("#scale").fill("bad,good")
    page.locator("#scale").press("Enter")
    page.locator("#place").focus()
    page.get_by_role("button", name="good").wait_for()
    page.locator("#note").fill(HOSTILE)
    page.locator("#place").focus()
    page.keyboard.press("2")
    page.get_by_text("Answer 1: good.").wait_for()
    assert window.window.severe() == []
    assert window.window.overflow() == 0
    page.screenshot(path=tmp_path / "hostile.png", full_page=True)
    assert window.own_faults() == []
    assert page.evaluate("window.hit") is None


@needs_browser
@pytest.mark.slow
def test_a_sample_links_to_the_page_that_rates_it(visit, serve, tmp_path):
    server = serve(labelled_store(tmp_path / "store"))
    window = Window(visit, server, tmp_path)
    page = window.page
    page.goto(f"{window.base}/{samples_page('arena', 'night-ant-9000')}")
    page.get_by_role("link", name="t1").click()
    page.get_by_role("link", name="Rate this answer").click()
    page.locator("#rater").wait_for()
    about = "suite=arena&run_id=night-ant-9000&result_id=ant-9000%2F1"
    assert page.url == f"{window.base}/view/rate?{about}"
    assert window.own_faults() == []
