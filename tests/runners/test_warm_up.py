"""The warm-up of clients: the latency of the first calls is the model's, not the client's.

What makes a first call slow is what the client loads for it; a clock would also measure how busy
the machine is.
"""

import asyncio
import itertools
import json
import os
import subprocess
import sys
import threading
from contextlib import asynccontextmanager, contextmanager

import pytest
from serving import chat, closed_port, http, serving
from support import ROOT, new_store

from runners.providers.base import Request
from runners.providers.litellm_keys import REHEARSED
from runners.providers.registry import PROVIDERS, make_provider

# litellm and its libraries emit warnings of their own.
pytestmark = pytest.mark.filterwarnings("default")
MODELS = ("openai/gpt-4o", "anthropic/claude-3-5-haiku-latest", "gemini/gemini-2.0-flash")
KEYS = {f"{vendor}_API_KEY": "none" for vendor in ("OPENAI", "ANTHROPIC", "GEMINI")}
# The command, which also says what the calls of a run have prepared: modules and TLS settings.
PROGRAM = """
import json, ssl, sys
import evalstore
from runners.engine.engine import Engine
from runners.providers import litellm
from runners.providers.base import Provider
from runners.providers.transport import http

settings, load, run = [], ssl.SSLContext.load_verify_locations, Engine.run

def counted(*arguments, **options):
    settings.append(1)
    return load(*arguments, **options)

async def noted(*arguments):
    modules, n_settings = {*sys.modules}, len(settings)
    await run(*arguments)
    found = [sorted({*sys.modules} - modules), len(settings) - n_settings]
    print(json.dumps(found), file=sys.stderr)

litellm._REHEARSAL_SECONDS = http._REHEARSAL_SECONDS = 300
ssl.SSLContext.load_verify_locations = counted
Engine.run = noted
if sys.argv.pop(1) == "cold":
    for name in ("litellm", "ollama_openai", "openai_responses"):
        module = __import__(f"runners.providers.{name}", fromlist=["PROVIDER"])
        module.PROVIDER.warm_up = Provider.warm_up
evalstore.main()
"""


@pytest.fixture(autouse=True)
def _patience(monkeypatch):
    """Let a rehearsal take as long as it does on a busy machine."""
    for module in ("litellm", "transport.http"):
        monkeypatch.setattr(f"runners.providers.{module}._REHEARSAL_SECONDS", 300)


def answer(_request):
    """Return a reply that each of the clients understands."""
    candidate = {"content": {"role": "model", "parts": [{"text": "yes"}]}, "finishReason": "STOP"}
    counts = {"prompt_tokens": 1, "completion_tokens": 1, "input_tokens": 1, "output_tokens": 1}
    reply = chat("yes") | {"usage": counts, "stop_reason": "end_turn"}
    reply |= {"candidates": [candidate], "usageMetadata": {"promptTokenCount": 1}}
    reply |= {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "yes"}]}
    reply["output"] = [{"content": [{"type": "output_text", "text": "yes"}]}]
    return [http(200, reply)]


def prepared_in_calls(folder, provider, models, *, how="warm"):
    """Run a suite in a new process; return the modules and TLS settings its calls have loaded."""
    tasks = [{"id": f"t{i}", "prompt": f"question {i}", "reference": "yes"} for i in range(4)]
    (folder / "mine.json").write_text(json.dumps({"suite": "mine", "tasks": tasks}))
    store = new_store(folder / "store")
    chosen = [argument for model in models for argument in ("--model", model)]
    with serving(answer) as server:
        where = ("--provider", provider, "--base-url", server.base, "--concurrency", "4")
        ended = subprocess.run(
            [sys.executable, "-c", PROGRAM, how, "--store", str(store.path), "run", "mine.json",
             *chosen, *where],
            cwd=folder, env={**os.environ, **KEYS, "PYTHONPATH": str(ROOT)}, check=True,
            capture_output=True, text=True,
        )  # fmt: skip
    [(n,)] = store.sql("SELECT count(*) FROM results WHERE success").fetchall()
    assert n == len(models) * len(tasks)
    [found] = [json.loads(line) for line in ended.stderr.splitlines() if line.startswith("[[")]
    return found


@pytest.mark.campaign
@pytest.mark.parametrize("models", list(itertools.permutations(MODELS)))
def test_the_first_calls_through_litellm_prepare_nothing_in_any_order(tmp_path, models):
    assert prepared_in_calls(tmp_path, "litellm", models) == [[], 0]


@pytest.mark.slow
@pytest.mark.parametrize("provider", ["ollama_openai", "openai_responses"])
def test_the_first_calls_over_http_prepare_nothing(tmp_path, provider):
    assert prepared_in_calls(tmp_path, provider, ["m"]) == [[], 0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("provider", "model"),
    [("litellm", MODELS[0]), ("ollama_openai", "m"), ("openai_responses", "m")],
)
def test_without_a_warm_up_the_first_calls_prepare_the_client(tmp_path, provider, model):
    modules, n_settings = prepared_in_calls(tmp_path, provider, [model], how="cold")
    assert len(modules) > 50
    assert n_settings > 0


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
@pytest.mark.parametrize("vendor", sorted(REHEARSED))
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
