"""Replies of any size: read up to a limit, counted after decompression, and kept that far."""

import asyncio
import gzip
import itertools
import json
import time
import zlib

import pytest
from serving import http, serving
from support import command, new_store, suite

from runners.models.model_files import read_model_file
from runners.providers.base import Failure, Reply, Request
from runners.providers.registry import make_provider
from runners.providers.transport.reply_limit import CompressedBody, ReplyMeter, ReplyTooLargeError
from warehouse.core.errors import BadInput

# litellm and its libraries emit warnings of their own.
pytestmark = pytest.mark.filterwarnings("default")
LIMIT = 2**18
# What the operating system buffers on loopback after the client has stopped reading.
BUFFERED = 64 * 2**20
# Of litellm's vendors: both kinds of its clients.
MODELS = {
    "ollama_openai": ("m",),
    "openai_responses": ("m",),
    "litellm": ("openai/m", "anthropic/m", "gemini/m", "ollama/m"),
}
PAIRS = [(provider, model) for provider, models in MODELS.items() for model in models]


@pytest.fixture(autouse=True)
def _environment(monkeypatch):
    for vendor in ("OPENAI", "ANTHROPIC", "GEMINI"):
        monkeypatch.setenv(f"{vendor}_API_KEY", "none")
    for name in ("OPENAI_BASE_URL", "OLLAMA_OPENAI_BASE", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)


def call(provider, model, base, **fields):
    async def main():
        one = make_provider(provider)
        request = Request(model, "Hi", base_url=base, max_reply_bytes=LIMIT, **fields)
        try:
            async with asyncio.timeout(120):
                return await one.call(request)
        finally:
            await one.close()

    return asyncio.run(main())


class Endless:
    """A reply that ends when the client has gone."""

    def __init__(self, head, first, *parts):
        self.n_sent = 0
        self._parts = itertools.chain((head, first), itertools.cycle(parts))

    def __call__(self, _request):
        for part in self._parts:
            yield part
            self.n_sent += len(part)
            assert self.n_sent < LIMIT + BUFFERED, "not closed"


def head(kind="application/json", *headers, status=200):
    lines = (f"HTTP/1.1 {status} X", f"Content-Type: {kind}", *headers, "Connection: close")
    return "\r\n".join((*lines, "", ""))


def check_too_large(result, *, text, sent=None):
    assert isinstance(result, Failure)
    assert (result.status, result.failure_type) == ("error", "reply_too_large")
    assert not result.is_transient
    assert result.cost_usd is None
    assert text in result.text
    assert len(result.text.encode()) <= LIMIT
    if sent is not None:
        assert sent < LIMIT + BUFFERED


@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize(("provider", "model"), PAIRS)
def test_an_endless_reply(provider, model, status):
    endless = Endless(head(status=status), '{"choices":[{"message":{"content":"begun ', "x" * 2**16)
    with serving(endless) as server:
        result = call(provider, model, server.base)
    check_too_large(result, text="begun xxx", sent=endless.n_sent)


def event_of(provider, piece):
    if provider == "openai_responses":
        return {"type": "response.output_text.delta", "delta": piece}
    chunk = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return {**chunk, "choices": [{"index": 0, "delta": {"content": piece}}]}


STREAMED = [("ollama_openai", "m"), ("openai_responses", "m"), ("litellm", "openai/m")]


@pytest.mark.parametrize(("provider", "model"), STREAMED)
def test_an_endless_stream_keeps_the_text_without_the_events(provider, model):
    # litellm refuses a piece that repeats too often.
    pieces = ("begun ", "x" * 999, "x" * 998)
    parts = (f"data: {json.dumps(event_of(provider, piece))}\n\n" for piece in pieces)
    endless = Endless(head("text/event-stream"), *parts)
    with serving(endless) as server:
        result = call(provider, model, server.base, is_streamed=True)
    check_too_large(result, text="begun xxx", sent=endless.n_sent)
    assert set(result.text) <= set("begun x")
    assert len(result.text) > LIMIT / 2


@pytest.mark.parametrize(("provider", "model"), STREAMED)
def test_an_endless_line_of_a_stream(provider, model):
    endless = Endless(head("text/event-stream"), "data: begun", "x" * 2**16)
    with serving(endless) as server:
        result = call(provider, model, server.base, is_streamed=True)
    check_too_large(result, text="begunxxx", sent=endless.n_sent)


def raw_deflate(data):
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


PACKED = {"gzip": gzip.compress, "deflate": zlib.compress, "bare deflate": raw_deflate}


@pytest.mark.slow
@pytest.mark.parametrize("packing", PACKED)
@pytest.mark.parametrize(("provider", "model"), PAIRS)
def test_compressed_replies_count_decompressed(provider, model, packing):
    bomb = PACKED[packing](b'{"choices":[{"message":{"content":"begun ' + b"x" * 2**26)
    assert len(bomb) < LIMIT
    reply = head("application/json", f"Content-Encoding: {packing.split()[-1]}")
    with serving(reply, bomb.decode("latin-1")) as server:
        result = call(provider, model, server.base)
    check_too_large(result, text="begun xxx")
    assert server.requests[0]["headers"]["accept-encoding"] == "gzip, deflate"


@pytest.mark.parametrize("packing", PACKED)
@pytest.mark.parametrize(("provider", "model"), STREAMED)
def test_compressed_replies_below_the_limit_are_read(provider, model, packing):
    reply = {
        "id": "x", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hi"}}
        ],
        "output": [{"content": [{"type": "output_text", "text": "hi"}]}],
    }  # fmt: skip
    packed = PACKED[packing](json.dumps(reply).encode()).decode("latin-1")
    encoding = f"Content-Encoding: {packing.split()[-1]}"
    with serving(head("application/json", encoding), packed) as server:
        result = call(provider, model, server.base)
    assert isinstance(result, Reply), result
    assert result.text == "hi"


@pytest.mark.parametrize("size", [LIMIT - 1, LIMIT, LIMIT + 1])
def test_the_limit_itself(size):
    frame = json.dumps({"choices": [{"message": {"content": "%"}}]})
    body = frame.replace("%", "x" * (size - len(frame) + 1))
    assert len(body) == size
    with serving(http(200, body)) as server:
        result = call("ollama_openai", "m", server.base)
    assert isinstance(result, Reply) == (size <= LIMIT)


def test_data_that_decompress_to_nothing_count_as_received():
    packer = zlib.compressobj(wbits=31)
    start = packer.compress(b"begun") + packer.flush(zlib.Z_SYNC_FLUSH)
    empty_block = b"\0\0\0\xff\xff"
    for chunks in ([start, empty_block * LIMIT], [gzip.compress(b"begun"), b"x" * LIMIT]):
        meter = ReplyMeter(LIMIT)
        body = CompressedBody(may_lack_header=False)
        assert b"".join(meter.add(chunks[0], body)) == b"begun"
        with pytest.raises(ReplyTooLargeError) as raised:
            list(meter.add(chunks[1], body))
        assert raised.value.text == "begun"


def test_pieces_of_any_size_decompress_to_the_same():
    data = bytes(range(256)) * 20_000 + b"\0" * 3 * 2**20
    packed = gzip.compress(data)
    for size in (1000, len(packed)):
        meter, body = ReplyMeter(2**23), CompressedBody(may_lack_header=False)
        chunks = (packed[i : i + size] for i in range(0, len(packed), size))
        assert b"".join(p for chunk in chunks for p in meter.add(chunk, body)) == data


@pytest.mark.parametrize("stream", ["1", "2"])
def test_a_program_that_never_stops_writing(tmp_path, monkeypatch, stream):
    program = tmp_path / "claude"
    program.write_text(f"#!/bin/sh\nprintf begun >&{stream}; exec yes >&{stream}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    check_too_large(call("claude_code_cli", "m", None), text="beguny\n")


def test_an_endless_list_of_models():
    endless = Endless(head(), '{"data": [', "x" * 2**16)
    with serving(endless) as server:
        problem = make_provider("ollama_openai").server_problem("m", server.base)
    assert problem == f"no server responds at {server.base}/v1"
    assert endless.n_sent < 2**20 + BUFFERED


@pytest.mark.slow
def test_the_limit_of_a_model_file_holds_and_the_row_says_what_happened(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models").mkdir()
    (tmp_path / "models/small.yaml").write_text(
        "name: m\nprovider: ollama_openai\nmax_reply_mib: 0.25\n"
    )
    store = new_store(tmp_path / "store")
    endless = Endless(head(), '{"choices":[{"message":{"content":"begun ', "x" * 2**16)
    with serving(endless) as server:
        ended = command(
            store.path, "run", suite(tmp_path, 1), "--model", "m", "--base-url", server.base
        )
    assert ended.code == 1, ended.err
    assert "unknown key" not in ended.err
    assert len(server.requests) == 1
    query = "SELECT success, failure_type, raw_output_truncated, cost_usd, raw_output FROM results"
    (row,) = store.sql(query).fetchall()
    assert row[:4] == (False, "reply_too_large", True, None)
    assert len(row[4]) == LIMIT
    assert store.sql("SELECT extra FROM lake.models").fetchall() == [('{"max_reply_mib":0.25}',)]


@pytest.mark.slow
@pytest.mark.parametrize("provider", ["ollama_openai", "openai_responses"])
def test_the_time_limit_holds_while_a_reply_is_decompressed(provider):
    event = f"data: {json.dumps(event_of(provider, 'x'))}\n\n".encode()
    bomb = gzip.compress(event * (2**26 // len(event)))
    reply = head("text/event-stream", "Content-Encoding: gzip")
    one = make_provider(provider)

    async def main():
        request = Request("m", "Hi", base_url=server.base, is_streamed=True)
        try:
            async with asyncio.timeout(0.3):
                return await one.call(request)
        finally:
            await one.close()

    with serving(reply, bomb.decode("latin-1")) as server:
        began = time.process_time()
        with pytest.raises(TimeoutError):
            asyncio.run(main())
    assert time.process_time() - began < 1.5


@pytest.mark.slow
@pytest.mark.parametrize("is_streamed", [False, True])
def test_a_reply_of_many_values_is_not_parsed(is_streamed):
    text = '{"choices": [' + "[]," * (2**24 // 2) + "1]}"
    kind = "text/event-stream" if is_streamed else "application/json"
    bomb = gzip.compress(f"data: {text}\n\n".encode() if is_streamed else text.encode(), 1)
    one = make_provider("ollama_openai")
    with serving(head(kind, "Content-Encoding: gzip"), bomb.decode("latin-1")) as server:
        request = Request("m", "Hi", base_url=server.base, is_streamed=is_streamed)
        result = asyncio.run(one.call(request))
    assert (result.failure_type, result.text) == ("reply_too_large", text)


@pytest.mark.slow
@pytest.mark.parametrize("status", [200, 500])
def test_what_was_cut_is_stored_as_its_beginning_and_its_length(tmp_path, monkeypatch, status):
    monkeypatch.chdir(tmp_path)
    store = new_store(tmp_path / "store")
    size = {200: 2**26, 500: 2**21}[status]
    text = "begun " + "x" * (size + 10 * (status == 200) - 6)
    with serving(http(status, text)) as server:
        where = ("--provider", "ollama_openai", "--base-url", server.base, "--max-tries", 1)
        ended = command(store.path, "run", suite(tmp_path, 1), "--model", "m", *where)
    assert ended.code == 1
    query = "SELECT raw_output, raw_output_truncated, violation FROM results"
    ((kept, is_truncated, violation),) = store.sql(query).fetchall()
    assert kept == text[: 2**20]
    assert is_truncated
    assert violation == f"raw_output is the beginning of {size:,} bytes"


@pytest.mark.parametrize("value", ["0", "-1", "1025", "true", "many", ".inf", "[1]"])
def test_limits_that_are_not(tmp_path, value):
    path = tmp_path / "models" / "m.yaml"
    path.parent.mkdir()
    path.write_text(f"name: m\nmax_reply_mib: {value}\n")
    with pytest.raises(BadInput, match=r"m\.yaml:2: max_reply_mib: must be a number of MiB"):
        read_model_file(path)
