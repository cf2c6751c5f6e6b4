"""The warm-up of clients: the latency of the first calls is the model's, not the client's."""

import asyncio
import itertools
import json
import os
import subprocess
import sys
import threading
from contextlib import asynccontextmanager, contextmanager
from statistics import median

import pytest
from serving import chat, closed_port, http, serving
from support import ROOT, new_store

from runners.providers.base import Request
from runners.providers.litellm import _REHEARSED
from runners.providers.registry import PROVIDERS, make_provider

# litellm and its libraries emit warnings of their own.
pytestmark = pytest.mark.filterwarnings("default")
SECONDS = 0.2
EXCESS_MS = 50
MODELS = ("openai/gpt-4o", "anthropic/claude-3-5-haiku-latest", "gemini/gemini-2.0-flash")
KEYS = {f"{vendor}_API_KEY": "none" for vendor in ("OPENAI", "ANTHROPIC", "GEMINI")}


def slow_answer(_request):
    """Return a reply that each of the clients understands, after a while."""
    candidate = {"content": {"role": "model", "parts": [{"text": "yes"}]}, "finishReason": "STOP"}
    counts = {"prompt_tokens": 1, "completion_tokens": 1, "input_tokens": 1, "output_tokens": 1}
    reply = chat("yes") | {"usage": counts, "stop_reason": "end_turn"}
    reply |= {"candidates": [candidate], "usageMetadata": {"promptTokenCount": 1}}
    reply |= {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "yes"}]}
    reply["output"] = [{"content": [{"type": "output_text", "text": "yes"}]}]
    return [SECONDS, http(200, reply)]


def first_calls_ms(folder, provider, models):
    """Run a suite in a new process; return the excess of each model's slowest call over the median.

    Every model gets as many calls as may be in flight, so one call in each place is a first call.
    """
    tasks = [{"id": f"t{i}", "prompt": f"question {i}", "reference": "yes"} for i in range(16)]
    (folder / "mine.json").write_text(json.dumps({"suite": "mine", "tasks": tasks}))
    store = new_store(folder / "store")
    chosen = [argument for model in models for argument in ("--model", model)]
    with serving(slow_answer) as server:
        where = ("--provider", provider, "--base-url", server.base, "--concurrency", "4")
        subprocess.run(
            [sys.executable, "-m", "evalstore", "--store", str(store.path), "run", "mine.json",
             *chosen, *where],
            cwd=folder, env={**os.environ, **KEYS, "PYTHONPATH": str(ROOT)}, check=True,
            capture_output=True,
        )  # fmt: skip
    rows = store.sql("SELECT model, e2e_ms FROM results WHERE success").fetchall()
    assert len(rows) == len(models) * len(tasks)
    usual = median(ms for _, ms in rows)
    return {model: max(ms for name, ms in rows if name == model) - usual for model in models}


def check_excess(tmp_path, provider, models):
    # Another process may take the processor for a moment: the best of ten counts.
    for attempt in range(10):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        excess = first_calls_ms(folder, provider, models)
        if max(excess.values()) < EXCESS_MS:
            return
    assert max(excess.values()) < EXCESS_MS, excess


@pytest.mark.slow
@pytest.mark.parametrize("models", list(itertools.permutations(MODELS)))
def test_the_first_calls_through_litellm_are_not_slower_in_any_order(tmp_path, models):
    check_excess(tmp_path, "litellm", models)


@pytest.mark.slow
@pytest.mark.parametrize("provider", ["ollama_openai", "openai_responses"])
def test_the_first_calls_over_http_are_not_slower(tmp_path, provider):
    check_excess(tmp_path, provider, ["m"])


class Connections:
    """The addresses that this process connects to, or looks up."""

    def __init__(self):
        self._addresses = []
        self._others = None
        sys.addaudithook(self._note)  # cannot be removed

    @contextmanager
    def recorded(self):
        """Record the addresses of this thread and of those it starts."""
        self._addresses, self._others = [], {*threading.enumerate()} - {threading.current_thread()}
        yield self._addresses
        self._others = None

    def _note(self, event, arguments):
        if self._others is None or event not in {"socket.connect", "socket.getaddrinfo"}:
            return
        if threading.current_thread() not in self._others:
            self._addresses.append(arguments[1] if event == "socket.connect" else arguments[:2])


CONNECTIONS = Connections()


@pytest.fixture
def addresses(monkeypatch):
    make_provider("litellm")._litellm()
    from litellm.litellm_core_utils.thread_pool_executor import BoundedLoggingThreadPoolExecutor

    def submit(_pool, function, /, *arguments, **options):
        function(*arguments, **options)

    # In a thread it would ask the server what its model can do whenever it comes to it: for an
    # earlier test while this one runs.
    monkeypatch.setattr(BoundedLoggingThreadPoolExecutor, "submit", submit)
    with CONNECTIONS.recorded() as addresses:
        yield addresses


@pytest.mark.parametrize("is_streamed", [False, True])
@pytest.mark.parametrize("vendor", sorted(_REHEARSED))
def test_a_rehearsal_sends_no_key_and_calls_nothing_else(
    monkeypatch, addresses, vendor, is_streamed
):
    monkeypatch.setenv("AZURE_API_VERSION", "1")
    for name in ("AZURE_API_BASE", f"{vendor.upper()}_API_KEY"):
        monkeypatch.setenv(name, "https://planted.example.org")

    async def warm_up():
        provider = make_provider("litellm")
        headers = {"extra_headers": {"X-Key": "planted"}}
        request = Request(f"{vendor}/m", "hi", is_streamed=is_streamed, parameters=headers)
        await provider.warm_up(request)
        await provider.close()

    with serving(http(200, chat("ok"))) as server:

        @asynccontextmanager
        async def rehearsal_server():
            yield server.base

        monkeypatch.setattr("runners.providers.litellm.rehearsal_server", rehearsal_server)
        # litellm asks a user's own Ollama what a model can do.
        monkeypatch.setenv("OLLAMA_API_BASE", server.base)
        asyncio.run(warm_up())
        calls = [request for request in server.requests if request["path"] != "/api/show"]
        assert calls
        assert "planted" not in repr(calls)
        port = int(server.base.rpartition(":")[2])
    assert addresses
    assert {tuple(map(str, address)) for address in addresses} == {("127.0.0.1", str(port))}


@pytest.mark.parametrize("vendor", ["bedrock", "vertex_ai", "watsonx"])
def test_vendors_with_other_credentials_are_not_called(addresses, vendor):
    async def warm_up():
        provider = make_provider("litellm")
        await provider.warm_up(Request(f"{vendor}/m", "hi"))
        await provider.close()

    asyncio.run(warm_up())
    assert not addresses


@pytest.mark.parametrize("name", PROVIDERS)
def test_where_no_server_may_run_nothing_is_prepared(monkeypatch, name):
    async def refused(*_arguments):
        raise PermissionError

    async def warm_up():
        provider = make_provider(name)
        await provider.warm_up(Request("openai/m", "hi"))
        await provider.close()

    monkeypatch.setattr(asyncio, "start_server", refused)
    asyncio.run(warm_up())


def test_a_rehearsal_uses_no_proxy_and_leaves_the_environment_as_it_was(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", closed_port())
    monkeypatch.setenv("NO_PROXY", "example.org")
    monkeypatch.delenv("no_proxy", raising=False)
    replies = []

    async def warm_up():
        provider = make_provider("litellm")
        complete = provider._complete

        async def recorded(*arguments):
            replies.append(await complete(*arguments))

        monkeypatch.setattr(provider, "_complete", recorded)
        await provider.warm_up(Request("openai/m", "hi"))
        await provider.close()

    before = dict(os.environ)
    asyncio.run(warm_up())
    assert [reply.text for reply in replies] == ["ok"]
    assert dict(os.environ) == before
