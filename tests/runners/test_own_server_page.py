"""The page "Your own server": its models and suite run, with the lines that it shows."""

import json
import re

import pytest
from serving import chat, closed_port, http, serving
from support import ROOT, command, new_store

from runners.models.model_files import read_model_file
from runners.providers.registry import make_provider

# litellm and its libraries emit warnings of their own.
pytestmark = pytest.mark.filterwarnings("default")
PAGE = (ROOT / "docs/your-own-server.md").read_text("utf-8")
BIG, SMALL, SUITE = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
REPLY = chat('{"passed": true, "reason": "fine"}')


@pytest.fixture
def space(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "vendor-key-0")
    monkeypatch.setenv("BIG_KEY", "big-key-1")
    monkeypatch.setenv("JUDGE_KEY", "judge-key-2")
    (tmp_path / "models").mkdir()
    new_store(tmp_path / "store")
    return tmp_path


def write(space, *bases):
    """Write the files of the page, with the addresses of servers in place of its own."""
    texts = {"models/big.yaml": BIG, "models/small.yaml": SMALL, "greetings.yaml": SUITE}
    for name, text in texts.items():
        (space / name).write_text(moved(text, bases))


def moved(text, bases):
    for port, base in zip((8000, 8001, 8002), bases, strict=True):
        text = text.replace(f"http://127.0.0.1:{port}", base)
    return text


@pytest.mark.campaign
def test_example_of_the_page_calls_each_server_with_its_key(space):
    with (
        serving(http(200, REPLY)) as big,
        serving(http(200, REPLY)) as small,
        serving(http(200, REPLY)) as judge,
    ):
        bases = (big.base, small.base, judge.base)
        write(space, *bases)
        (called,) = re.findall(r"^\$ evalstore (run greetings.yaml .*)$", PAGE, re.MULTILINE)
        ended = command(space / "store", *called.split())
    assert ended.code == 0, ended.err
    (shown,) = re.findall(r"^(run r1: .*\n(?:.* is called at .*\n){3})```$", PAGE, re.MULTILINE)
    assert ended.err.startswith(moved(shown, bases))
    keys = [{r["headers"].get("authorization") for r in s.requests} for s in (big, small, judge)]
    assert keys == [{"Bearer big-key-1"}, {None}, {"Bearer judge-key-2"}]
    assert [len(server.requests) for server in (big, small, judge)] == [2, 2, 4]
    assert "cost unknown" not in command(space / "store", "models").out


def test_models_says_which_server_responds_and_has_the_model(space):
    with serving(http(200, {"data": [{"id": "big"}, {"id": "huge"}]})) as server:
        write(space, server.base, closed_port(), closed_port())
        (space / "models/other.yaml").write_text(f"name: openai/hugo\nbase_url: {server.base}/v1\n")
        ended = command(space / "store", "models", "--format", "jsonl")
    lines = map(json.loads, ended.out.splitlines())
    missing = {line["model"]: line["missing"] for line in lines}
    assert missing == {
        "openai/big": None,
        "openai/small": f"no server responds at {closed_port()}/v1: Connection refused",
        "openai/hugo": f"not on the server at {server.base}/v1: did you mean 'huge'?",
    }
    assert server.requests[0]["headers"]["authorization"] == "Bearer big-key-1"
    assert "authorization" not in server.requests[1]["headers"]


def test_model_files_of_the_page_are_valid(tmp_path):
    for text in (BIG, SMALL):
        path = tmp_path / "models/m.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        assert read_model_file(path).warnings == ()


@pytest.mark.slow
@pytest.mark.parametrize("provider", ["litellm", "ollama_openai", "openai_responses"])
def test_a_dead_address_is_named_without_its_secrets(space, provider):
    write(space, *[closed_port()] * 3)
    base = closed_port() if provider == "litellm" else closed_port().replace("//", "//me:pw-3@")
    where = ("--base-url", f"{base}/v1?api_key=planted-4", "--provider", provider)
    command(space / "store", "run", "greetings.yaml", "-m", "openai/m", *where, "--max-tries", 1)
    rows = new_store(space / "store").sql("SELECT raw_output FROM results").fetchall()
    assert len(rows) == 2
    for (text,) in rows:
        assert text == f"no server responds at {closed_port()}/v1: Connection refused"
        assert "pw-3" not in text
        assert "planted" not in text


@pytest.mark.slow
def test_a_name_without_a_prefix_is_explained():
    reason = make_provider("litellm").unavailable_reason("big", closed_port())
    assert reason.endswith("at an OpenAI-compatible server, openai/big")


def test_the_page_names_every_place_of_an_address():
    for name in ("--base-url", "--judge-base-url", "OLLAMA_OPENAI_BASE", "OPENAI_BASE_URL"):
        assert f"`{name}" in PAGE
