"""Stores on a real S3 server, on loopback, by the command line."""

import contextlib
import http.client
import itertools
import json
import os
import socket
import subprocess
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from remote_cases import MOTO_TESTS, request
from serving import chat, closed_port, serving
from serving import http as reply
from support import PATIENT, ROOT, command, log, task, write_log

from warehouse.app.store import Store
from warehouse.core.errors import StoreUnreachable
from warehouse.engine.scale import snapshot
from warehouse.engine.scale.driver import sync_tables
from warehouse.engine.scale.engine import LocalEngine
from warehouse.lake.remote.address import store_folder
from warehouse.lake.remote.objects import open_objects
from warehouse.lake.table_location import open_location

pytestmark = MOTO_TESTS
STORE = "s3://bucket/evals"


class Proxy(ThreadingHTTPServer):
    """Passes requests on to a server, but for those that a function answers: a status or None."""

    daemon_threads = True

    def __init__(self, target, fault):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.target, self.fault = target, fault
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.base = f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def _pass_on(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        status = self.server.fault(self.command, self.path)
        if status == "break":
            # Closing it would leave it open for the reader and the writer of this handler.
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        if status is not None:
            code = {404: "NoSuchBucket", 503: "SlowDown"}.get(status, "Refused")
            self._answer(status, f"<Error><Code>{code}</Code></Error>".encode())
            return
        connection = http.client.HTTPConnection(self.server.target)
        connection.request(self.command, self.path, body, dict(self.headers))
        found = connection.getresponse()
        self._answer(found.status, found.read(), found.getheaders())
        connection.close()

    def _answer(self, status, content, headers=()):
        self.send_response(status)
        dropped = {"content-length", "transfer-encoding", "connection", "date", "server"}
        length = {name.lower(): value for name, value in headers}.get("content-length")
        for name, value in headers:
            if name.lower() not in dropped:
                self.send_header(name, value)
        is_head = self.command == "HEAD"
        self.send_header("Content-Length", length if is_head and length else str(len(content)))
        self.end_headers()
        if not is_head:
            self.wfile.write(content)

    def log_message(self, *_):
        pass


for _method in ("GET", "PUT", "POST", "DELETE", "HEAD"):
    setattr(_Handler, f"do_{_method}", _Handler._pass_on)


@pytest.fixture
def on(tmp_path, monkeypatch):
    """Run a command as on a machine of this name; return how it ended."""

    def run(name, *arguments, code=0):
        monkeypatch.setenv("EVALSTORE_CACHE", str(tmp_path / name))
        ended = command(STORE, *arguments)
        assert ended.code == code, ended.err
        return ended

    return run


def n_results(ended):
    return json.loads(ended.out)[0]["n"]


COUNT = ("sql", "SELECT count(*) AS n FROM results", "--format", "json")


def first_run(on):
    (run,) = json.loads(on("two", "sql", "SELECT min(run_id) AS id FROM runs", "--format",
                           "json").out)  # fmt: skip
    return run["id"]


def copies(cache):
    """Return the names of the files of tables that a machine has copies of."""
    return {path.name for path in cache.rglob("tables/*/*.parquet")}


def logs(folder, *numbers):
    for n in numbers:
        document = log(tasks=[task(n)], model=f"models/example-m{n}-1.yaml")
        write_log(folder / f"2025-03-{n:02}-example-m{n}.yaml", document)
    return folder


@pytest.mark.usefixtures("server")
def test_two_machines_share_a_store(on, tmp_path):
    on("one", "import", logs(tmp_path / "a", 1, 2))
    assert n_results(on("two", *COUNT)) == 2
    on("two", "import", logs(tmp_path / "b", 3))
    on("two", "compact")
    assert n_results(on("one", *COUNT)) == n_results(on("three", *COUNT)) == 3
    on("one", "forget", first_run(on), "--yes")
    assert n_results(on("two", *COUNT)) == n_results(on("three", *COUNT)) == 2


def test_throttled_requests_are_repeated(server, on, tmp_path, monkeypatch):
    numbers = itertools.count(1)
    proxy = Proxy(server, lambda *_: 503 if next(numbers) % 3 == 0 else None)
    monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.base)
    on("one", "import", logs(tmp_path / "a", 1, 2))
    assert n_results(on("two", *COUNT)) == 2
    assert next(numbers) > 10


@pytest.mark.parametrize(
    ("fault", "reason"), [(403, "access to lake/"), ("break", "cannot be reached")]
)
def test_what_could_not_be_uploaded_is_uploaded_by_the_next_command(
    server, on, tmp_path, monkeypatch, *, fault, reason
):
    def answer(method, path):
        return fault if method == "PUT" and "lake/" in path else None

    monkeypatch.setattr("warehouse.lake.remote.objects._RETRIES", 1)
    monkeypatch.setenv("AWS_ENDPOINT_URL", Proxy(server, answer).base)
    ended = on("one", "import", logs(tmp_path / "a", 1), code=2)
    assert f"{STORE}: {reason}" in ended.err
    assert "planted-secret" not in ended.err
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{server}")
    assert n_results(on("two", *COUNT)) == 0
    assert n_results(on("one", *COUNT)) == 1
    assert n_results(on("three", *COUNT)) == 1


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (503, "too busy"),
        (429, "too busy"),
        (404, "no such bucket"),
        ("break", "cannot be reached"),
        (400, r"the object store refused the request \(Refused\)$"),
    ],
)
def test_a_reason_is_not_taken_from_a_key(server, monkeypatch, *, fault, reason):
    monkeypatch.setattr("warehouse.lake.remote.objects._RETRIES", 1)
    monkeypatch.setenv("AWS_ENDPOINT_URL", Proxy(server, lambda *_: fault).base)
    with pytest.raises(StoreUnreachable, match=reason):
        open_objects("s3://bucket/run-503").below("429/503")


@pytest.mark.parametrize(
    "foreign", ["batches/../x.json", "lake//x", "merges/./x", "batches/01A/../x", "lake/x/../y"]
)
def test_a_key_that_cannot_be_listed_does_not_stop_the_store(server, on, tmp_path, foreign):
    on("one", "import", str(write_log(tmp_path / "1.yaml", log(tasks=[task(1)]))))
    request(f"http://{server}/bucket/evals/{foreign}", "PUT")
    with pytest.raises(StoreUnreachable, match=f'"evals/{foreign}" has a key that cannot be liste'):
        open_objects(STORE).below(foreign.partition("/")[0] + "/")
    assert n_results(on("one", *COUNT)) == 1
    assert n_results(on("two", *COUNT)) == 1
    on("two", "compact")


@pytest.mark.usefixtures("server")
def test_a_missing_object_leaves_its_batch_out(on, tmp_path):
    for n in (1, 2):
        path = write_log(tmp_path / f"{n}.yaml", log(tasks=[task(n)], date=f"2026-04-0{n}"))
        on("one", "import", str(path))
    objects = open_objects(STORE)
    keys = [one.key for one in objects.below("lake/")]
    key = next(key for key in keys if key.endswith("/results.parquet"))
    objects.delete([key])
    shown = on("two", *COUNT)
    assert n_results(shown) == 1
    assert shown.err == f"warning: {STORE}/{key}: is missing; the batch was left out\n"
    assert on("two", "sync", code=1).err.count("is missing") == 1
    verified = on("two", "info", "--verify", code=1)
    assert "1 of 2 batches are damaged" in verified.err
    assert f"{key}: is missing" in verified.out


@pytest.mark.parametrize(
    ("is_there", "reason"),
    [(True, "there is no such bucket"), (False, "cannot be reached")],
)
def test_a_store_that_cannot_be_reached_is_named(server, on, monkeypatch, *, is_there, reason):
    if is_there:
        request(f"http://{server}/bucket", "DELETE")
    else:
        monkeypatch.setenv("AWS_ENDPOINT_URL", closed_port())
        monkeypatch.setattr("warehouse.lake.remote.objects._RETRIES", 1)
    ended = on("one", *COUNT, code=2)
    assert ended.err.startswith(f"error: {STORE}: {reason}")
    assert ended.err.count("\n") == 1


class Far(LocalEngine):
    """Runs tasks as on other machines, which have no copy of the lake."""

    def lake_text(self, lake):
        return lake.mirror.address


@pytest.mark.usefixtures("server")
def test_tables_on_an_object_store(on, tmp_path, monkeypatch):
    tables = "s3://bucket/tables"

    def read(*arguments):
        monkeypatch.setenv("EVALSTORE_CACHE", str(tmp_path / "reader"))
        return command(tables, *arguments)

    on("one", "import", logs(tmp_path / "a", 1, 2, 3))
    on("one", "sync", "--to", tables, "--shards", 2)
    assert n_results(read(*COUNT)) == 3
    held = copies(tmp_path / "reader")
    assert held
    on("two", "import", logs(tmp_path / "b", 4))
    on("two", "compact")
    store = Store(store_folder(STORE))
    assert sync_tables(store, tables, Far(1)).n_computed == 1
    assert n_results(read(*COUNT)) == 4
    assert held < copies(tmp_path / "reader")  # of both versions, for readers of the one before
    on("two", "forget", first_run(on), "--yes")
    on("two", "sync", "--to", tables)
    assert n_results(read(*COUNT)) == 3
    named = snapshot.latest(open_location(tables)).objects()
    assert copies(tmp_path / "reader") <= {key.rpartition("/")[2] for key in named}
    ours = on("two", "sql", "FROM results ORDER BY ALL", "--format", "csv").out
    assert read("sql", "FROM results ORDER BY ALL", "--format", "csv").out == ours
    assert "only read" in read("import", tmp_path).err
    facts = json.loads(read("info", "--format", "json").out)
    assert (facts["store"], facts["version"]) == (tables, 3)
    assert read("info", "--verify").code == 0
    # The objects are read, not the copies of them.
    objects = open_objects(tables)
    damaged, gone = (
        next(one.key for one in objects.below(f"tables/{table}")) for table in ("results", "runs")
    )
    objects.put(damaged, b"x" * 100)
    objects.delete([gone])
    ended = read("info", "--verify", "--format", "json")
    found = json.loads(ended.out)
    assert (ended.code, found["missing"]) == (1, [f"{tables}/{gone}"])
    assert found["damaged"][0].startswith(f"{tables}/{damaged}: 100 bytes, was")
    assert "outside the store's" in on("one", "sync", "--to", f"{STORE}/x", code=2).err


@pytest.mark.usefixtures("server")
def test_sixteen_machines_run_the_shards_of_one_run(tmp_path):
    """While two compact and one syncs; one machine is killed, and another one does its shard."""
    tasks = [{"id": f"t{n}", "prompt": f"question {n}", "reference": "yes"} for n in range(48)]
    (tmp_path / "mine.json").write_text(json.dumps({"suite": "mine", "tasks": tasks}))

    def start(name, *arguments):
        environment = {"EVALSTORE_CACHE": str(tmp_path / name), "PYTHONPATH": str(ROOT)}
        return subprocess.Popen(
            [sys.executable, *PATIENT, "--store", STORE, *map(str, arguments)],
            cwd=tmp_path, env={**os.environ, **environment}, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def repeat(n, name):
        """Run a command some times; return what failed for another reason than the others."""
        processes = []
        for _ in range(3):
            process = start(f"other-{n}", name)
            processes.append((process, process.communicate()[0]))
        return [text for process, text in processes if process.returncode and busy not in text]

    busy = "another machine"
    with serving(reply(200, chat("yes"))) as model, ThreadPoolExecutor() as threads:
        where = ("--provider", "ollama_openai", "--base-url", model.base, "-m", "m")
        shard = ("run", "mine.json", *where, "--run-id", "nightly", "--concurrency", 1, "--shard")
        shards = [start(f"machine-{n}", *shard, f"{n}/16") for n in range(1, 17)]
        others = [
            threads.submit(repeat, n, name) for n, name in enumerate(("compact", "compact", "sync"))
        ]
        shards[4].kill()
        ended = [process.communicate()[0] for process in shards]
        for n, (process, text) in enumerate(zip(shards, ended, strict=True)):
            assert n == 4 or process.returncode == 0, text
        assert [failed for other in others for failed in other.result()] == []
        # A killed machine's answers are in its cache: it makes its shard again.
        again = start("machine-5", *shard, "5/16")
        text = again.communicate()[0]
        assert again.returncode == 0, text
    asked = Counter(request["body"]["messages"][0]["content"] for request in model.requests)
    assert len(asked) == 48
    assert sum(asked.values()) - 48 <= 1
    reader = start("reader", "sql", "SELECT count(*) AS n, count(DISTINCT task_id) AS tasks, "
                   "count(DISTINCT run_id) AS runs FROM results", "--format", "json")  # fmt: skip
    text = reader.communicate()[0]
    with contextlib.suppress(ValueError):
        assert json.loads(text) == [{"n": 48, "tasks": 48, "runs": 1}]
        return
    pytest.fail(text)
