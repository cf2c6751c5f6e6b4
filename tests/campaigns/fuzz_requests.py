"""A campaign of damaged and hostile requests to `evalstore view`.

    python -m tests.campaigns.fuzz_requests [--requests N] [--seed S]

None is answered by a failure of the server or leaves a traceback, a crash report or another byte in
the store, and its memory stays bounded.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import signal
import socket
import tempfile
import time
from collections import Counter
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote_from_bytes

from starlette.routing import Route

from exports.view.registry import FEATURES
from exports.view.server import server_parts
from exports.view.store_pages import StorePages
from tests.campaigns.mutating import NASTY_TEXTS
from tests.campaigns.served import ServedView
from tests.support import ROOT, add_rows, import_into, new_store
from warehouse.app.labelling.samples import SampleRequest, take_sample
from warehouse.app.posters.adjudication import AdjudicationSession

if TYPE_CHECKING:
    from warehouse.app.store import Store

_POSTER = "c500adc741d0"
_ODD_METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "BREW", "\0")
_MAX_MEMORY = 1_500_000_000  # bytes
_DEEP: Any = {"a": 1}
for _ in range(450):
    _DEEP = {"events": [_DEEP]}
# None of them is right in any field.
_WRONG = (None, _DEEP, [_DEEP], "x" * 200_001, "\0", 2**70, -1, 1e308, {"text": 1}, ["\0"] * 5_000)


class _Fuzz:
    """Makes requests, each of which must be refused or change nothing."""

    def __init__(self, store: Store, server: ServedView, seed: int) -> None:
        self._chance = random.Random(seed)
        self._server = server
        self._fields = _right_fields(store)
        pages = StorePages(store.path, name="store", server=server_parts)
        routes = [route for feature in FEATURES for route in feature.routes(pages)]
        pages.close()
        self._paths = [route.path for route in routes if isinstance(route, Route)]
        self._paths += ["/", "/index.html", "/runs/index.html", "/nope", "/assets/site.css"]
        self._texts = [*NASTY_TEXTS, "1" * 5_000, "../..", "NaN", "٣", "-1", "%", *self._known()]

    def request(self) -> bytes:
        """Return a request."""
        chance = self._chance
        path = chance.choice(self._paths)
        method = "POST" if path in self._fields else "GET"
        if chance.random() < 0.1:
            method = chance.choice(_ODD_METHODS)
        if chance.random() < 0.1:
            path += quote_from_bytes(chance.randbytes(3)) * chance.choice([1, 1, 30_000])
        names = chance.choices(_PARAMETERS, k=chance.choice([0, 1, 2, 3, 60]))
        query = "&".join(f"{name}={self._quoted()}" for name in names)
        body = self._body(path) if method != "GET" else b""
        headers = {**self._server.headers, "Content-Length": str(len(body))}
        if chance.random() < 0.3:
            damaged = [*headers, "Transfer-Encoding", "X"]
            wrong = chance.choice(
                ["", "null", "-1", "9" * 5_000, "evil.example", "a" * 70_000, "\0"]
            )
            headers[chance.choice(damaged)] = wrong
        lines = [f"{method} {path}?{query} HTTP/1.1", "Connection: close"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        return "\r\n".join([*lines, "", ""]).encode("utf-8", "replace") + body

    def _known(self) -> list[str]:
        values = [value for fields in self._fields.values() for value in fields.values()]
        return [value for value in values if isinstance(value, str)] + [
            "passed",
            "model",
            "eq",
            "gt",
        ]

    def _quoted(self) -> str:
        return quote_from_bytes(self._chance.choice(self._texts).encode("utf-8", "replace"))

    def _body(self, path: str) -> bytes:
        """Return the fields of a path, of which one is wrong, or what is not even JSON."""
        chance = self._chance
        fields: dict[str, object] = dict(self._fields.get(path, {"odd": 1}))
        fields[chance.choice([*fields])] = chance.choice(_WRONG)
        if chance.random() < 0.1:
            fields["odd"] = 1
        body = json.dumps(fields).encode()
        if chance.random() < 0.3:
            return body[: chance.randrange(len(body))] + chance.randbytes(
                chance.choice([3, 10_000])
            )
        return chance.choice([body] * 8 + [b"[" * 500_000, b"{}", b"null", b"\xff" * 1_100_000])


_PARAMETERS = (
    "queue", "rater", "id", "all", "scale", "suite", "run_id", "result_id", "dataset", "poster",
    "column", "op", "value", "show", "sort", "page", "q", "regex", "nocase", "run", "task_set",
    "model", "differ", "token", "odd",
)  # fmt: skip


def _right_fields(store: Store) -> dict[str, dict[str, object]]:
    """Return what each path of a script takes."""
    request = SampleRequest(
        targets=("arena",), sample=None, seed=0, stratified=False, criterion="c", scale="pass/fail"
    )
    queue = take_sample(store, request)
    session = AdjudicationSession(store, "tours")
    poster = {"dataset": "tours", "poster": _POSTER}
    records: dict[str, object] = {
        **poster, "records": [record.id for record in session.pair(_POSTER)]
    }  # fmt: skip
    choices = {**records, "choices": ["a", "b"], "edits": {}}
    said = {
        "id": "x",
        "rater": "A",
        "label": "pass",
        "note": "",
        "reference": "",
        "is_wrong": False,
    }
    answer = {"suite": "arena", "run_id": "night", "result_id": "r1"}
    plan = {
        **request,
        "draw": "random",
        "rubric": "",
        "raters": ["A"],
        "per_answer": 1,
        "sample": 3,
    }
    del plan["stratified"]
    return {
        "/view/review/create": plan,
        "/view/review/rate": {**said, "queue": queue.run_id, "answer": next(iter(queue.answers))},
        "/view/rate/rate": {**said, **answer, "criterion": "c", "scale": "pass/fail"},
        "/view/poster/merge": choices,
        "/view/poster/settle": {**choices, "by": "Cho"},
        "/view/poster/return": {**records, "by": "Cho", "reason": "why"},
        "/view/record/add": {**poster, "annotator": "dao", "record": {}},
    }


def fuzz(folder: Path, *, requests: int, seed: int) -> Counter[str]:
    """Send requests to a server of a new store in a folder; return how often each status came.

    Raises:
        AssertionError: a request did what none may do.
    """
    store = new_store(folder / "store")
    run = {"suite": "arena", "run_id": "night", "generation": "root"}
    answers = [
        {**run, "content_id": f"r{n}", "seq": n, "task_id": f"t{n}", "raw_output": "yes"}
        for n in range(50)
    ]
    add_rows(store.lake, runs=[{**run, "content_id": "run"}], results=answers)
    shutil.copytree(ROOT / "examples" / "posters", folder / "tours")
    import_into(store, folder / "tours")
    (folder / "tmp").mkdir()
    with ServedView(store.path, TMPDIR=str(folder / "tmp")) as server:
        made = _Fuzz(store, server, seed)
        store.sync()
        before, statuses = _digests(store), Counter[str]()
        for _ in range(requests):
            sent = made.request()
            status, text = _answer(server.port, sent)
            statuses[status] += 1
            assert status == "none" or status < "500", (sent[:500], text)
            assert "Traceback" not in text, sent[:500]
        memory = re.search(r"VmHWM:\s*(\d+) kB", Path(f"/proc/{server.pid}/status").read_text())
        assert memory is not None
        assert 1000 * int(memory[1]) < _MAX_MEMORY, memory[0]
        server.end(signal.SIGINT)
    changed = _digests(store).items() ^ before.items()
    assert changed == set(), sorted({path for path, _ in changed})
    assert [*(folder / "tmp").iterdir()] == []
    assert "Traceback" not in server.log.read_text()
    return statuses


def _answer(port: int, sent: bytes) -> tuple[str, str]:
    """Return the status of the answer to a request, and its beginning; `none` if there is none."""
    received = b""
    with socket.create_connection(("127.0.0.1", port)) as connection, suppress(OSError):
        connection.settimeout(0.3 if b" /view/events?" in sent[:30] else 30)
        connection.sendall(sent)
        while len(received) < 100_000 and (data := connection.recv(65_536)):
            received += data
    found = re.match(rb"HTTP/1.1 (\d+)", received)
    return (found[1].decode() if found else "none"), received.decode("utf-8", "replace")


def _digests(store: Store) -> dict[str, str]:
    files = [path for path in store.path.rglob("*") if path.is_file() and "lock" not in path.suffix]
    return {str(path): sha256(path.read_bytes()).hexdigest() for path in files}


def main() -> None:
    """Run the campaign given on the command line and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=32)
    given = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        statuses = fuzz(Path(folder), requests=given.requests, seed=given.seed)
    print(f"{given.requests:,} requests in {time.monotonic() - began:,.0f} s: {dict(statuses)}")


if __name__ == "__main__":
    main()
