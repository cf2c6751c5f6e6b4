"""The providers, against a real server on loopback and a fake `claude` executable."""

import asyncio
import json
import os
import stat
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest
from serving import RESET, chat, closed_port, events, http, serving
from support import REFERENCE, needs_reference

from runners.engine.engine import Engine, EngineSettings, Job
from runners.engine.retry import RetryPolicy
from runners.providers.base import Failure, Image, Reply, Request
from runners.providers.registry import PROVIDERS, make_provider

SYSTEM = "You are a helpful assistant. Follow instructions exactly."
CASES = REFERENCE / "openclaw/provider_calls.jsonl"
# litellm and its libraries emit warnings of their own.
pytestmark = pytest.mark.filterwarnings("default")
CHUNK = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}


@pytest.fixture(autouse=True)
def _environment(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-real-key")
    for name in ("OPENAI_BASE_URL", "OLLAMA_OPENAI_BASE", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)


def call(provider, base, *, timeout=120, model="m:1b", prompt="Say hi", **fields):
    """Call a model once through the engine, which enforces the time limit."""
    results = []

    async def record(_cell, outcome):
        results.append(outcome.result)

    async def main():
        one = make_provider(provider)
        settings = EngineSettings(timeout_seconds=timeout, retries=RetryPolicy(max_tries=1))
        request = Request(model, prompt, base_url=base, **fields)
        # As a run does: the time of an import must not count as a call's.
        await one.warm_up(request)
        await Engine(settings, record).run([Job(0, one, request)])
        await one.close()

    asyncio.run(main())
    return results[0]


@pytest.mark.parametrize("name", PROVIDERS)
def test_providers_are_listed_under_their_own_names(name):
    assert make_provider(name).name == name


def outcome(result):
    if isinstance(result, Reply):
        return "ok", True, None
    return result.status, False, result.failure_type


# HTTP status, and the availability and failure type that it counts as.
STATUSES = [
    (301, "error", "http_301"),
    (400, "error", "http_400"),
    (401, "auth_error", "http_401"),
    (403, "auth_error", "http_403"),
    (429, "rate_limited", "http_429"),
    (500, "error", "http_500"),
    (503, "error", "http_503"),
    (529, "error", "http_529"),
]
HTTP_PROVIDERS = ("ollama_openai", "openai_responses", "litellm")


def model_of(provider):
    return "openai/m" if provider == "litellm" else "m:1b"


@pytest.mark.slow
@pytest.mark.parametrize("provider", HTTP_PROVIDERS)
@pytest.mark.parametrize(("status", "availability", "failure_type"), STATUSES)
def test_statuses(provider, status, availability, failure_type):
    body = '{"error":{"message":"because"}}'
    with serving(http(status, body)) as server:
        result = call(provider, server.base, model=model_of(provider))
    assert outcome(result) == (availability, False, failure_type)
    assert result.text == body


@pytest.mark.slow
@pytest.mark.parametrize("provider", HTTP_PROVIDERS)
def test_a_missing_model(provider):
    body = '{"error":{"message":"model \\"m\\" not found, try pulling it first"}}'
    with serving(http(404, body)) as server:
        result = call(provider, server.base, model=model_of(provider))
    assert outcome(result) == ("skipped_unavailable", False, "http_404")


@pytest.mark.parametrize("provider", HTTP_PROVIDERS)
def test_retry_after(provider):
    later = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    for asked, least, most in (("30", 30, 30), (later, 1800, 3600)):
        with serving(http(429, "{}", f"Retry-After: {asked}")) as server:
            result = call(provider, server.base, model=model_of(provider))
        assert least <= result.retry_after <= most
        assert result.is_transient


BROKEN = {
    "reset": [RESET],
    "closed": [""],
    "garbage": ["nonsense\r\n\r\n"],
    "not JSON": [http(200, "<html>")],
    "not an object": [http(200, '"x"')],
    "half a reply": [http(200, '{"choices":', length=500)],
    "slow drip": ["HTTP/1.1 200 OK\r\n", *["X-A: b\r\n", 0.3] * 10],
    "hang": [30.0],
}


@pytest.mark.slow
@pytest.mark.parametrize("provider", HTTP_PROVIDERS)
@pytest.mark.parametrize("parts", BROKEN.values(), ids=BROKEN)
def test_broken_replies(provider, parts):
    with serving(*parts) as server:
        result = call(provider, server.base, model=model_of(provider), timeout=1.0)
    assert outcome(result) == ("error", False, "exception")
    assert result.text
    assert result.is_transient


@pytest.mark.parametrize("provider", HTTP_PROVIDERS)
def test_an_unreachable_server(provider):
    result = call(provider, closed_port(), model=model_of(provider))
    assert outcome(result) == ("skipped_unavailable", False, "exception")


def test_litellm_answers():
    with serving(http(200, chat("hi"))) as server:
        result = call(
            "litellm", server.base, model="openai/gpt-4o", parameters={"temperature": 0.1}
        )
    assert (result.text, result.input_tokens, result.output_tokens) == ("hi", 5, 7)
    # Price: 2.5 and 10 dollars per million tokens.
    assert result.cost_usd == pytest.approx((5 * 2.5 + 7 * 10) / 1e6)
    assert result.cost_source == "litellm"
    assert server.requests[0]["body"]["temperature"] == 0.1
    assert result.sent == {"temperature": 0.1, "stream": False}


def test_litellm_does_not_use_the_price_of_a_similar_model():
    with serving(http(200, chat("hi"))) as server:
        unknown = call("litellm", server.base, model="openai/gpt-4o-imagined")
        price = {"input": 0.5, "output": 1.0}
        priced = call("litellm", server.base, model="openai/gpt-4o-imagined", price=price)
    assert unknown.cost_usd is None
    assert (priced.cost_usd, priced.cost_source) == (9.5, "model file")


def test_litellm_streams():
    pieces = [{**CHUNK, "choices": [{"index": 0, "delta": {"content": c}}]} for c in ("h", "i")]
    counts = {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12}
    with serving(events(*pieces, {**CHUNK, "choices": [], "usage": counts}, "[DONE]")) as server:
        result = call("litellm", server.base, model="openai/m", is_streamed=True)
    assert (result.text, result.input_tokens, result.output_tokens) == ("hi", 5, 7)
    assert result.ttft_ms >= 0


def test_streamed_and_whole_responses_use_the_first_choice():
    choices = [{"delta": {"content": c}, "message": {"content": c}} for c in ("a", "b")]
    with serving(events({"choices": []}, {"choices": choices}, "[DONE]")) as server:
        streamed = call("ollama_openai", server.base, is_streamed=True)
    with serving(http(200, {"choices": choices})) as server:
        whole = call("ollama_openai", server.base)
    assert streamed.text == whole.text == "a"


def whole_and_piece(provider, content):
    """Return a whole response and an event of a stream, both with this content."""
    if provider == "ollama_openai":
        return chat(content), {"choices": [{"delta": {"content": content}}]}
    whole = {"output": [{"content": [{"type": "output_text", "text": content}]}]}
    return whole, {"type": "response.output_text.delta", "delta": content}


@pytest.mark.parametrize("provider", ["ollama_openai", "openai_responses"])
@pytest.mark.parametrize(
    ("pieces", "text"),
    [((5,), "5"), ((0,), "0"), (("1", 5, None), "15"), ((1.5, 0), "1.50"), ((None, ""), "")],
)
def test_pieces_of_a_number_read_as_text(provider, pieces, text):
    replies = [whole_and_piece(provider, piece) for piece in pieces]
    with serving(events(*(piece for _, piece in replies), "[DONE]")) as server:
        streamed = call(provider, server.base, is_streamed=True)
    assert streamed.text == text
    if len(pieces) == 1:
        with serving(http(200, replies[0][0])) as server:
            assert call(provider, server.base).text == text


@pytest.mark.parametrize("text", ["", None, " \n"])
def test_litellm_empty(text):
    with serving(http(200, chat(text))) as server:
        result = call("litellm", server.base, model="openai/m")
    assert outcome(result) == ("ok", False, "empty_response")
    assert result.input_tokens == 5


@pytest.mark.parametrize("count", [-1, 2**63, 10**30, 5.0, True, "5"])
def test_implausible_token_counts_are_unknown(count):
    usage = {"prompt_tokens": count, "completion_tokens": 7, "input_tokens": count}
    reply = {"output": [{"content": [{"type": "output_text", "text": "hi"}]}], "usage": usage}
    with serving(http(200, chat("hi") | reply)) as server:
        for provider in ("ollama_openai", "openai_responses"):
            result = call(provider, server.base)
            assert (result.text, result.input_tokens) == ("hi", None)


def test_litellm_thinking_and_what_was_not_sent():
    asked = {"parameters": {"temperature": 0.1, "logit_bias": {}}, "thinking_level": "high"}
    with serving(http(200, chat("hi"))) as server:
        thinker = call("litellm", server.base, model="openai/o3", **asked)
        other = call("litellm", server.base, model="openai/gpt-4o", **asked)
    assert server.requests[0]["body"]["reasoning_effort"] == "high"
    assert "reasoning_effort" not in server.requests[1]["body"]
    assert thinker.sent == {"reasoning_effort": "high", "logit_bias": {}, "stream": False}
    assert other.sent == {"temperature": 0.1, "logit_bias": {}, "stream": False}


@pytest.mark.parametrize("provider", HTTP_PROVIDERS)
def test_images_are_sent_and_a_missing_one_is_a_failure(provider, tmp_path):
    (tmp_path / "a.png").write_bytes(b"abc")
    reply = {"output": [{"content": [{"type": "output_text", "text": "hi"}]}]}
    with serving(http(200, chat("hi") | reply)) as server:
        for name in ("a.png", "gone.png"):
            images = (Image(tmp_path / name, "image/png"),)
            result = call(provider, server.base, model="openai/gpt-4o", images=images)
    (request,) = server.requests
    assert "data:image/png;base64,YWJj" in json.dumps(request["body"])
    assert outcome(result) == ("error", False, "exception")
    assert "gone.png is no longer in the cache" in result.text
    assert str(tmp_path) not in result.text


def test_responses_take_no_seed():
    asked = {"parameters": {"temperature": 0.1, "seed": 23}}
    with serving(http(200, {"output": []})) as server:
        result = call("openai_responses", server.base, **asked)
    assert "seed" not in server.requests[0]["body"]
    assert result.sent == {"temperature": 0.1}


def test_claude_does_not_accept_images(claude, tmp_path):
    claude("echo hi")
    result = call("claude_code_cli", None, images=(Image(tmp_path / "a.png", "image/png"),))
    assert outcome(result) == ("skipped_unavailable", False, "no_pictures")


def test_unavailable_reasons(monkeypatch):
    litellm = make_provider("litellm")
    assert "ANTHROPIC_API_KEY" in litellm.unavailable_reason("anthropic/claude-x", None)
    assert "provider" in litellm.unavailable_reason("no-such-model", None)
    assert "provider" in litellm.unavailable_reason("no-such-vendor/model", None)
    assert litellm.unavailable_reason("ollama/x", None) is None
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.setenv("PATH", "")
    for name in ("openai_responses", "claude_code_cli", "replay"):
        assert make_provider(name).unavailable_reason("m", None)
    result = call("openai_responses", None)
    assert outcome(result) == ("auth_error", False, "openai_api_key_missing")


def cases():
    if not CASES.exists():
        return []
    lines = [json.loads(line) for line in CASES.read_text("utf-8").splitlines()]
    return [case for case in lines if case["provider"] != "ollama_native"]


# Deliberate differences: rows 4 and 8 of the notes, and total timeouts.
OURS = {
    ("ollama_openai", "http 401"): "auth_error",
    ("ollama_openai", "http 403"): "auth_error",
    ("ollama_openai", "http 429"): "rate_limited",
    ("ollama_openai", "http 404"): "skipped_unavailable",
    ("ollama_openai", "dns failure"): "skipped_unavailable",
}
# The texts of exceptions differ between HTTP libraries.
OWN_WORDS = "exception"


@pytest.mark.slow
@needs_reference
@pytest.mark.parametrize("case", cases(), ids=lambda case: f"{case['id']} {case['name']}")
def test_reference_cases(case):
    expected = case["result"]
    fields = {
        "model": case["model"],
        "prompt": case["prompt"],
        "thinking_level": case["thinking_level"] or None,
        "is_streamed": bool(case["stream"]),
    }
    is_ollama = case["provider"] == "ollama_openai"
    if is_ollama:
        fields |= {"system": SYSTEM, "parameters": {"temperature": 0}}
    with serving(*case["server_reply_latin1_or_sleep_s"]) as server:
        base = server.base if case["name"] != "dns failure" else closed_port()
        result = call(case["provider"], base + "/v1", **fields)
    availability = OURS.get((case["provider"], case["name"]), expected["availability_status"])
    wanted = availability, expected["success"], expected["failure_type"]
    if expected["success"] and not expected["raw_output"]:
        wanted = "ok", False, "empty_response"
    assert outcome(result) == wanted
    if expected["failure_type"] != OWN_WORDS:
        assert result.text == expected["raw_output"]
    if isinstance(result, Reply):
        tokens = result.input_tokens, result.output_tokens
        streamed = is_ollama and case["stream"]
        assert streamed or tokens == (expected["input_tokens"], expected["output_tokens"])
        assert (result.ttft_ms is None) == case["ttft_is_null"]
    if case["request_seen"] and server.requests:
        body = dict(server.requests[0]["body"])
        body.pop("reasoning_effort", None)
        assert body == case["request_seen"]["body"]


@pytest.mark.parametrize("level", ["low", "medium", "high", "xhigh"])
def test_thinking_levels_reach_the_provider(level, claude):
    with serving(http(200, chat("hi"))) as server:
        call("ollama_openai", server.base, thinking_level=level)
        call("openai_responses", server.base, thinking_level=level)
    ollama, responses = (request["body"] for request in server.requests)
    assert ollama["reasoning_effort"] == ("high" if level == "xhigh" else level)
    assert ollama.get("think") == (True if level in {"high", "xhigh"} else None)
    assert responses["reasoning"] == {"effort": level}
    claude('printf "$MAX_THINKING_TOKENS"')
    assert int(call("claude_code_cli", None, thinking_level=level).text) >= 4000


@pytest.fixture
def claude(tmp_path, monkeypatch):
    """Put a fake `claude` executable on the PATH."""

    def write(script):
        program = tmp_path / "claude"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/bin{os.pathsep}/usr/bin")

    return write


CLAUDE = [
    ('printf "%s|" "$@"', "ok", None, "-p|Say hi|--model|m:1b|"),
    ("echo; echo why >&2", "error", "empty_response", "why"),
    ("echo gone >&2; exit 127", "skipped_unavailable", "claude_cli_missing", "gone\n"),
    ("echo Not logged in; exit 1", "auth_error", "claude_auth", "Not logged in"),
    ("echo Please run /login >&2; exit 1", "auth_error", "claude_auth", "Please run /login"),
    ("echo rate limit reached; exit 1", "rate_limited", "claude_quota", "rate limit reached"),
    (
        "echo Credit balance too low; exit 1",
        "rate_limited",
        "claude_quota",
        "Credit balance too low",
    ),
    ("echo the author; exit 1", "error", "claude_cli_error", "the author"),
    ("echo it operated; exit 2", "error", "claude_cli_error", "it operated"),
    ("echo the author said hi", "ok", None, "the author said hi"),
    (r"printf 'a\377'", "ok", None, "a\N{REPLACEMENT CHARACTER}"),
]


@pytest.mark.parametrize(("script", "availability", "failure_type", "text"), CLAUDE)
def test_claude(claude, script, availability, failure_type, text):
    claude(script)
    result = call("claude_code_cli", None)
    assert outcome(result) == (availability, failure_type is None, failure_type)
    assert result.text == text


def test_claude_that_hangs_times_out(claude):
    claude("echo some; exec sleep 60")
    result = call("claude_code_cli", None, timeout=0.2)
    assert result == Failure("error", "claude_cli_error", "TIMEOUT", is_transient=True)


def test_claude_is_stopped_with_its_children(claude, tmp_path):
    pid = tmp_path / "pid"
    claude(f"sh -c 'echo $$ > {pid}; exec sleep 60'")

    async def main():
        work = asyncio.create_task(make_provider("claude_code_cli").call(Request("m", "p")))
        while not (pid.exists() and pid.read_text().strip()):
            assert not work.done()
            await asyncio.sleep(0.01)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work

    asyncio.run(main())
    assert _is_gone(int(pid.read_text()))


def _is_gone(pid):
    """Return whether a killed process ends within a minute; it may still be a zombie."""
    for _ in range(6_000):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state in "ZX":
            return True
        time.sleep(0.01)
    return False


def test_claude_is_not_installed(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    result = call("claude_code_cli", None)
    assert outcome(result) == ("skipped_unavailable", False, "claude_cli_missing")


def test_replay(tmp_path):
    answers = tmp_path / "answers.jsonl"
    answers.write_text(
        '{"task": "t", "text": "any"}\n\n'
        '{"task": "t", "model": "m", "text": "m\'s", "input_tokens": 1, "cost_usd": 0.5}\n'
        '{"task": "t", "model": "m", "attempt": 2, "text": " "}\n'
        '{"task": "bad", "text": "x", "availability_status": "error", "failure_type": "http_500"}\n'
    )

    async def main():
        replay = make_provider("replay", [answers])
        assert replay.unavailable_reason("m", None) is None
        tasks = [("n", "t", 1), ("m", "t", 1), ("m", "t", 2), ("m", "bad", 1), ("m", "none", 1)]
        return [await replay.call(Request(m, "p", task_id=t, attempt=a)) for m, t, a in tasks]

    first, second, third, fourth, fifth = asyncio.run(main())
    assert first.text == "any"
    assert (second.text, second.cost_usd) == ("m's", 0.5)
    assert outcome(third) == ("ok", False, "empty_response")
    assert outcome(fourth) == ("error", False, "http_500")
    assert outcome(fifth) == ("skipped_unavailable", False, "replay_missing")
