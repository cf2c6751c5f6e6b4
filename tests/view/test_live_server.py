"""The stream of runs in progress: what it costs, who gets it, and how it ends."""

import asyncio
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from support import ROOT

from exports.view.live.feature import Feed
from exports.view.live.watch import Watch
from exports.view.server import server_parts
from exports.view.store_pages import StorePages
from warehouse.engine.connection import open_for_writing
from warehouse.lake.batch import Generation
from warehouse.lake.journal.journal import Entry, Journal

RUN = Generation("mine", "r1")


def result(n):
    row = {"content_id": f"c{n}", "seq": 1, "availability_status": "ok", "success": True}
    return Entry("results", row)


@pytest.fixture
def feed(store, monkeypatch):
    looks = []
    poll = Watch.poll
    monkeypatch.setattr(Watch, "poll", lambda self: looks.append(time.monotonic()) or poll(self))
    pages = StorePages(store.path, name="store", server=server_parts)
    made = Feed(pages)
    made.looks = looks
    yield made
    if made._watch is not None:
        made._watch.close()
    pages.close()


@pytest.mark.slow
def test_many_pages_look_no_oftener_than_one_and_none_not_at_all(store, feed):
    async def follow(has_begun):
        seen = []
        async for event in feed.listen():
            seen.append(json.loads(event.removeprefix(b"data: "))["runs"][0]["done"])
            has_begun.set()
            if seen[-1] == 2:
                break
        return seen[0]

    async def listen():
        begun = [asyncio.Event() for _ in range(20)]
        listeners = [asyncio.create_task(follow(each)) for each in begun]
        for each in begun:
            await each.wait()
        await asyncio.sleep(1)
        journal.append([result(2)])
        return await asyncio.gather(*listeners)

    with Journal(store.path, RUN) as journal:
        journal.append([result(1)])
        assert set(asyncio.run(listen())) == {1}
    gaps = [after - before for before, after in zip(feed.looks, feed.looks[1:], strict=False)]
    assert min(gaps) >= 0.49
    n_looks = len(feed.looks)
    time.sleep(1.2)
    assert len(feed.looks) == n_looks


def test_what_cannot_be_read_is_said(feed, monkeypatch):
    def fail(_):
        raise OSError(5, "input/output error")

    monkeypatch.setattr(Watch, "poll", fail)

    async def first():
        stream = feed.listen()
        event = await anext(stream)
        await stream.aclose()
        return json.loads(event.removeprefix(b"data: "))

    event = asyncio.run(first())
    assert "input/output error" in event["problem"]
    assert event["runs"] == []


def test_only_so_many_pages_listen(feed, monkeypatch):
    monkeypatch.setattr("exports.view.live.feature._MOST_LISTENERS", 1)

    async def listen():
        stream = feed.listen()
        await anext(stream)
        was_full = feed.is_full
        await stream.aclose()
        return was_full, feed.is_full

    assert asyncio.run(listen()) == (True, False)


def connect(port, cookie, path):
    connection = socket.create_connection(("127.0.0.1", port))
    lines = [f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", f"Cookie: {cookie}", "", ""]
    connection.sendall("\r\n".join(lines).encode())
    return connection


def served(store, token):
    command = [sys.executable, "-m", "evalstore", "--store", str(store.path), "view"]
    return subprocess.Popen(
        [*command, "--token", token], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True,
    )  # fmt: skip


def n_switches(process):
    """Return how often the threads of a process have gone to sleep or been put aside."""
    states = Path(f"/proc/{process.pid}/task").glob("*/status")
    counts = re.findall(r"_switches:\s+(\d+)", "".join(map(Path.read_text, states)))
    return sum(map(int, counts))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_an_idle_server_sleeps(store):
    with served(store, "a token of this test") as process:
        process.stdout.readline()
        woke = [-1, n_switches(process)]
        while woke[-1] != woke[-2] and len(woke) < 20:
            time.sleep(1)
            woke.append(n_switches(process))
        process.send_signal(signal.SIGINT)
        process.wait(timeout=30)
    assert woke[-1] == woke[-2]


@pytest.mark.slow
def test_listeners_get_results_and_ctrl_c_ends_it_with_them_connected(store):
    token = "a token of this test"
    process = served(store, token)
    with process, Journal(store.path, RUN) as journal:
        port = int(process.stdout.readline().split(":")[2].split("/")[0])
        with connect(port, "", "/?token=a+token+of+this+test") as connection:
            answer = connection.recv(65_536).decode()
        [cookie] = [line for line in answer.split("\r\n") if line.startswith("set-cookie: ")]
        cookie = cookie.removeprefix("set-cookie: ").partition(";")[0]
        listeners = [connect(port, cookie, "/view/events") for _ in range(3)]
        received = [b"" for _ in listeners]

        def read(at):
            while data := listeners[at].recv(65_536):
                received[at] += data

        readers = [threading.Thread(target=read, args=(at,)) for at in range(len(listeners))]
        for reader in readers:
            reader.start()
        for n in range(5):
            journal.append([result(n)])
            time.sleep(0.3)
        deadline = time.monotonic() + 30
        while not all(b'"done": 5' in data for data in received):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        with connect(port, "", "/view/events") as stranger:
            assert b"403" in stranger.recv(1000)
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        process.wait(timeout=30)
        assert time.monotonic() - began < 2
        for reader in readers:
            reader.join()
        for listener in listeners:
            listener.close()
    with open_for_writing(store.warehouse, wait_seconds=0):
        pass
