"""The kinds of input of `tests.campaigns.fuzz` that come from the network: replies and addresses.

Everything happens on loopback. A server sends replies that are endless, damaged, packed or cut off;
posters have addresses that lead, by their notation, by a redirect or by what a name means at a
second look-up, to addresses that are not public.
"""

from __future__ import annotations

import gzip
import ipaddress
import itertools
import json
import os
import zlib
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING
from unittest.mock import patch

import httpx

from runners.suites.posters import public_transport
from runners.suites.posters.image_cache import ImageCache, ImageUnavailableError
from tests.campaigns.fuzz_round import BugError
from tests.campaigns.mutating import NASTY_TEXTS, damaged
from tests.serving import RESET, chat, events, serving
from warehouse.app.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from random import Random

    from tests.campaigns.fuzz_round import Round

_TASKS = 4
_LIMIT = 2**18
# What the operating system buffers on loopback after the client has stopped reading.
_BUFFERED = 16 * 2**20
_ENDLESS = 0.2
_PROVIDERS = (
    ("ollama_openai", "m"),
    ("openai_responses", "m"),
    ("litellm", "openai/m"),
    ("litellm", "anthropic/m"),
)
# Long waits are asked for by a number that is refused, so that a round takes seconds.
_HEADERS = (
    *("Retry-After: 0", "Retry-After: -5", "Retry-After: 1e999", "Retry-After: NaN"),
    *(
        "Retry-After: 99999999999",
        "Retry-After: Thu, 01 Jan 1970 00:00:00 GMT",
        "Retry-After: \xe4",
    ),
    *(
        "Content-Type: text/html",
        "Content-Type: text/event-stream",
        "Content-Type: \xff; charset=x",
    ),
    *(
        "Content-Type: application/json; charset=utf-16",
        "Content-Encoding: br",
        "X: " + "x" * 70_000,
    ),
    *("Location: /", "Location: http://127.0.0.1:1/", "Set-Cookie: a=b", "Content-Length: 5"),
    *("Content-Length: -1", "Content-Length: 99999999", "Transfer-Encoding: chunked", "no colon"),
)
_STATUSES = (100, 200, 200, 200, 200, 204, 301, 400, 401, 404, 408, 429, 500, 503, 529, 999)


def replies(around: Round) -> None:
    """Run a suite against a server whose replies are endless, damaged, packed or cut off."""
    tasks = [{"id": f"t{n}", "prompt": f"question {n}"} for n in range(_TASKS)]
    suite = around.inputs / "suite.json"
    suite.write_text(json.dumps({"suite": "mine", "tasks": tasks}))
    keys = {f"{vendor}_API_KEY": "none" for vendor in ("OPENAI", "ANTHROPIC")}
    sender = _Sender(around.choice)
    with patch.dict(os.environ, keys), serving(sender.reply) as server:
        for number, (provider, model) in enumerate(around.choice.sample(_PROVIDERS, 2)):
            file = around.inputs / f"{number}.yaml"
            named = {"name": model, "provider": provider, "max_reply_mib": _LIMIT / 2**20}
            file.write_text(json.dumps(named))
            streamed = around.choice.choice(((), ("--stream",)))
            limits = ("--timeout-s", "1", "--max-tries", "2", "--concurrency", "4")
            where = ("--base-url", server.base, *limits, *streamed)
            around.command("run", suite, "--model", file, *where)
            around.n_inputs += _TASKS
    if sender.most_sent > _LIMIT + _BUFFERED:
        raise BugError(f"{sender.most_sent:,} bytes of a reply were read")
    _check_results(Store(around.store, on_warning=lambda _: None))
    around.look()


def _check_results(store: Store) -> None:
    """Check that every call has one result, within the limit.

    Raises:
        BugError: there are more or fewer, or one is larger.
    """
    query = """
        SELECT run_id, count(*), count(DISTINCT task_id), max(strlen(raw_output))
        FROM results GROUP BY run_id
    """
    for run, n_results, n_tasks, size in store.sql(query).fetchall():
        if (n_results, n_tasks) != (_TASKS, _TASKS) or (size or 0) > _LIMIT:
            raise BugError(f"{run}: {n_results} results of {n_tasks} tasks, at most {size} bytes")


class _Sender:
    """Makes the replies of a server.

    Attributes:
        most_sent: largest number of bytes sent of an endless reply.
    """

    def __init__(self, choice: Random) -> None:
        self.most_sent = 0
        self._choice = choice
        self._lock = Lock()

    def reply(self, _request: object) -> Iterator[object]:
        """Return the parts of a reply: text as Latin-1, waits in seconds, or a reset."""
        # The requests of a run come at once, each in a thread of the server.
        with self._lock:
            parts = self._endless() if self._choice.random() < _ENDLESS else self._bounded()
        return iter(parts)

    def _endless(self) -> Iterator[object]:
        piece = self._choice.choice(
            ("x" * 2**16, "\0" * 2**16, "[" * 2**16, "\r\n" * 2**15, 'data: {"a": 1}\n\n' * 2**12)
        )
        beginning = self._choice.choice(
            ('{"choices":[{"message":{"content":"begun ', 'data: {"choices":[', "", "{")
        )
        start = self._choice.choice((_head(200), _head(200, "Content-Type: text/event-stream")))
        return self._counted(itertools.chain((start, beginning), itertools.repeat(piece)))

    def _counted(self, parts: Iterator[str]) -> Iterator[str]:
        n_sent = 0
        for part in parts:
            yield part
            n_sent += len(part)
            self.most_sent = max(self.most_sent, n_sent)
            if n_sent > 2 * (_LIMIT + _BUFFERED):
                return

    def _bounded(self) -> Sequence[object]:
        choice = self._choice
        answer = choice.choice(("yes", *NASTY_TEXTS)).encode("utf-8", "replace").decode()
        if choice.random() < 1 / 3:
            deltas = [{"choices": [{"index": 0, "delta": {"content": answer}}]}] * 3
            return [_damaged(events(*deltas, "[DONE]"), choice)]
        body = json.dumps(chat(answer)).encode()
        body = damaged(body, choice) if choice.random() < 2 / 3 else body
        encoding, pack = choice.choice(_PACKINGS)
        packed = pack(body if choice.random() < 2 / 3 else body + b" " * 2**24)
        headers = choice.sample(_HEADERS, choice.choice((0, 1, 1, 3)))
        head = _head(choice.choice(_STATUSES), *encoding, *headers)
        whole = head + packed.decode("latin-1")
        match choice.choice(("whole", "whole", "whole", "cut", "reset", "slow", "damaged")):
            case "cut":
                return [whole[: choice.randrange(len(whole))]]
            case "reset":
                return [whole[: choice.randrange(len(whole))], RESET]
            case "slow":
                return [head, 0.3, packed.decode("latin-1")]
            case "damaged":
                return [_damaged(whole, choice)]
        return [whole]


_PACKINGS: tuple[tuple[tuple[str, ...], Callable[[bytes], bytes]], ...] = (
    ((), bytes),
    ((), bytes),
    (("Content-Encoding: gzip",), gzip.compress),
    (("Content-Encoding: deflate",), zlib.compress),
    (("Content-Encoding: gzip",), bytes),
    (("Content-Encoding: gzip, gzip",), lambda data: gzip.compress(gzip.compress(data))),
)


def _head(status: int, *headers: str) -> str:
    lines = [f"HTTP/1.1 {status} X", *(headers or ("Content-Type: application/json",))]
    return "\r\n".join([*lines, "Connection: close", "", ""])


def _damaged(text: str, choice: Random) -> str:
    return damaged(text.encode("latin-1"), choice).decode("latin-1")


# --- addresses of images

_GIF = b"GIF89a\x01\x00\x01\x00\x00\x00\x00;"
# Written down here once more, to judge by another list than the program's.
_NOT_PUBLIC = [
    ipaddress.ip_network(network)
    for network in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16"),
        *("172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.168.0.0/16", "198.18.0.0/15"),
        *("198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3", "::/96", "::ffff:0:0/96"),
        *("64:ff9b::/96", "100::/64", "2001:db8::/32", "2002::/16", "fc00::/7", "fe80::/10"),
        *("fec0::/10", "ff00::/8"),
    )
]
_PUBLIC = ("93.184.216.34", "1.1.1.1", "8.8.8.8", "2606:4700:4700::1111", "2a00:1450:4001::8a")
_PRIVATE = (
    *(
        "127.0.0.1",
        "127.8.7.6",
        "0.0.0.0",
        "10.1.2.3",
        "172.31.255.255",
        "192.168.1.1",
        "::",
        "::1",
    ),
    *("169.254.169.254", "100.64.0.1", "198.18.0.1", "224.0.0.1", "255.255.255.255", "fd00::1"),
    *("fe80::1", "fe80::1%eth0", "fec0::1", "::ffff:127.0.0.1", "::ffff:a9fe:a9fe", "::7f00:1"),
    *("64:ff9b::7f00:1", "2002:7f00:1::", "2002:a9fe:a9fe::1", "2001:db8::5", "ff02::1"),
)
_HOSTS = ("a.example", "b.example", "A.Example.", "xn--nxasmq6b.example", "a.example:8080")
_FORMS = (
    *(
        "http://{}/a",
        "https://{}/a",
        "//{}/a",
        "http:{}",
        "HTTP://{}",
        "http:///{}",
        "/a",
        "..",
        "?{}",
    ),
    *(
        "http://{}:99999/",
        "http://{}:0/",
        "http://a.example@{}/",
        "http://{}@a.example/",
        "http://",
    ),
    *("file:///etc/passwd", "ftp://{}/a", "gopher://{}/_x", "data:image/gif;base64,R0", "\\\\{}"),
)
# Loopback, as a list of posters may write it.
_LOOPBACK = (
    *("127.0.0.1", "localhost", "LOCALHOST", "localhost.", "127.1", "127.0.1", "2130706433", "0"),
    *("0x7f000001", "0x7f.1", "0177.0.0.1", "017700000001", "127.0.0.1.", "0.0.0.0", "[::1]"),
    *("[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::]", "user:pw@127.0.0.1", "a.example@127.0.0.1"),
    *("127.0.0.1%2f", "①②⑦.⓪.⓪.①", "127。0。0。1", "localhost%00", "[::127.0.0.1]", "127.0.0.01"),
)


def addresses(around: Round) -> None:
    """Download images from addresses that lead to others, which must not be contacted."""
    with patch.dict(os.environ), serving(_head(200, "Content-Type: image/gif")) as server:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"):
            os.environ.pop(name, None)
        os.environ["EVALSTORE_CACHE"] = str(around.inputs / "cache")
        port = server.base.rpartition(":")[2]
        urls = [f"http://{host}:{port}/{n}.gif" for n, host in enumerate(_LOOPBACK)]
        _run_posters(around, around.choice.sample(urls, len(urls)))
        if server.requests:
            raise BugError(f"contacted: {server.requests[0]}")
        around.n_inputs += len(urls)
        for _ in range(60):
            _follow(around, ImageCache(around.inputs / "cache"))


def _run_posters(around: Round, urls: Sequence[str]) -> None:
    answers, listed = around.inputs / "answers.jsonl", around.inputs / "urls.txt"
    answers.write_text('{"task": "x", "text": "{}"}\n')
    listed.write_text("\n".join(urls) + "\n")
    replay = ("--model", "m", "--provider", "replay", "--answers", answers)
    around.command("run", "posters", "--urls", listed, *replay, "--dry-run")


def _follow(around: Round, cache: ImageCache) -> None:
    """Download an image from a network in which names and redirects lead anywhere.

    Raises:
        BugError: a request reached an address that is not public.
    """
    choice = around.choice

    def resolve(host: str) -> list[str]:
        try:
            return [str(ipaddress.ip_address(host.strip("[]")))]
        except ValueError:
            pool = _PUBLIC if choice.random() < 3 / 4 else (*_PUBLIC, *_PRIVATE)
            return choice.choices(pool, k=choice.choice((0, 1, 1, 2)))

    def respond(request: httpx.Request) -> httpx.Response:
        if not _is_public(request.url.host):
            raise BugError(f"contacted: {request.url}")
        around.n_inputs += 1
        if choice.random() < 1 / 5:
            return httpx.Response(
                200, headers={"Content-Type": "image/gif"}, stream=httpx.ByteStream(_GIF)
            )
        status = choice.choice((301, 302, 303, 307, 308, 308, 300, 404))
        return httpx.Response(status, headers={"Location": _location(choice)})

    network = httpx.MockTransport(respond)
    with (
        patch.object(public_transport, "_addresses", resolve),
        patch.object(public_transport, "_transport", lambda _proxy: network),
        suppress(ImageUnavailableError),
    ):
        cache.download(f"http://{choice.choice(_HOSTS)}/{choice.random()}.gif")


def _location(choice: Random) -> str:
    address = choice.choice((*_PUBLIC, *_PRIVATE))
    host = choice.choice((*_HOSTS, *_LOOPBACK, f"[{address}]" if ":" in address else address))
    return choice.choice(_FORMS).format(host).encode("utf-8").decode("latin-1")


def _is_public(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return not any(
        address in network for network in _NOT_PUBLIC if network.version == address.version
    )
