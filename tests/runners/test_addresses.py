"""Where the calls of a run go, and with which key: by the requests that two servers received."""

import asyncio
import json
import os

import pytest
from serving import chat, http, serving
from support import command, new_store

from runners.models.addresses import Address, addressed
from runners.models.model import Model
from runners.models.model_files import read_model_file
from runners.providers import vendors
from runners.providers.base import Request
from runners.providers.litellm_keys import REHEARSED
from runners.providers.registry import make_provider
from warehouse.core.errors import BadInput

# litellm and its libraries emit warnings of their own.
pytestmark = pytest.mark.filterwarnings("default")
PASSED = '{"passed": true, "reason": "fine"}'
REPLY = chat(PASSED) | {"output": [{"content": [{"type": "output_text", "text": PASSED}]}]}
HOUSE, OTHER = "house-key-1", "other-key-2"
SUITE = """\
{top}
scorer: {{type: judge, model: {judge}, prompt: 'Is <{{answer}}> polite?'{scorer}}}
tasks:
- {{id: t0, prompt: Hello}}
- {{id: t1, prompt: Goodbye}}
"""


@pytest.fixture
def space(tmp_path, monkeypatch):
    """A workspace with the keys of a vendor and of two servers, whose calls must stay apart."""
    monkeypatch.chdir(tmp_path)
    keys = {"OPENAI_API_KEY": "vendor-key-0", "HOUSE_KEY": HOUSE, "OTHER_KEY": OTHER}
    for name, value in keys.items():
        monkeypatch.setenv(name, value)
    for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE", "OLLAMA_OPENAI_BASE"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "models").mkdir()
    new_store(tmp_path / "store")
    return tmp_path


@pytest.fixture
def servers():
    with serving(http(200, REPLY)) as first, serving(http(200, REPLY)) as second:
        yield first, second


def write_suite(space, *, top="", scorer="", judge="openai/judge"):
    (space / "own.yaml").write_text(SUITE.format(top=top, scorer=scorer, judge=judge))


def write_model(space, name, **fields):
    (space / f"models/{name.rpartition('/')[2]}.yaml").write_text(
        json.dumps({"name": name} | fields)
    )


def run(space, *options, model="openai/big", code=0):
    where = ("-m", model) if "--resume" not in options else ()
    suite = ("own.yaml",) if where else ()
    ended = command(space / "store", "run", *suite, *where, *options)
    assert ended.code == code, ended.err
    return ended.err


def received(server):
    """Return the model and the key of each request."""
    return sorted(
        (r["body"]["model"], r["headers"].get("authorization", "").removeprefix("Bearer "))
        for r in server.requests
    )


@pytest.mark.slow
@pytest.mark.parametrize("provider", ["litellm", "ollama_openai", "openai_responses"])
def test_an_address_given_for_a_run_is_that_of_its_judge(space, servers, provider):
    house, _ = servers
    write_suite(space, judge="openai/judge", scorer=f", provider: {provider}")
    err = run(space, "--base-url", house.base, "--provider", provider)
    n = "" if provider == "litellm" else "openai/"
    assert received(house) == [(f"{n}big", "")] * 2 + [(f"{n}judge", "")] * 2
    base = f"{house.base}/v1" if provider == "ollama_openai" else house.base
    assert f"openai/big is called at {base}, without a key\n" in err
    assert f"judge openai/judge is called at {base}, without a key\n" in err
    assert err.index("calls to make") < err.index("is called at") < err.index("of 2 done")
    (row,) = new_store(space / "store").sql("SELECT count(*) FROM verdicts WHERE passed").fetchall()
    assert row == (2,)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["option", "suite", "both"])
def test_a_judge_may_have_another_address_and_each_address_its_key(space, servers, how):
    house, other = servers
    write_model(space, "openai/big", api_key_env="HOUSE_KEY")
    # The key is for the address beside it; the option names another address.
    scorer = f", base_url: '{house.base if how == 'both' else other.base}', api_key_env: OTHER_KEY"
    write_suite(space, scorer=", api_key_env: OTHER_KEY" if how == "option" else scorer)
    option = () if how == "suite" else ("--judge-base-url", other.base)
    err = run(space, "--base-url", house.base, *option)
    key = "" if how == "both" else OTHER
    assert received(house) == [("big", HOUSE)] * 2
    assert received(other) == [("judge", key)] * 2
    assert f"openai/big is called at {house.base}, with the key in HOUSE_KEY" in err
    said = "without a key" if how == "both" else "with the key in OTHER_KEY"
    assert f"judge openai/judge is called at {other.base}, {said}" in err


@pytest.mark.slow
def test_models_and_judges_of_files_have_addresses_and_keys_of_their_own(space, servers):
    house, other = servers
    write_model(space, "openai/big", base_url=house.base, api_key_env="OPENAI_API_KEY")
    write_model(space, "openai/small", api_key_env="none")
    write_model(space, "openai/judge", base_url=other.base, api_key_env="OTHER_KEY")
    write_suite(space, top=f"base_url: '{house.base}'\napi_key_env: HOUSE_KEY")
    run(space, "-m", "openai/small", "-m", "openai/plain")
    # A vendor's key goes where a file names it beside the address, and nowhere else.
    models = [("big", "vendor-key-0"), ("plain", HOUSE), ("small", "")]
    assert received(house) == sorted(models * 2)
    assert received(other) == [("judge", OTHER)] * 6


@pytest.mark.slow
def test_a_judge_at_the_address_of_a_model_has_its_key(space, servers):
    house, other = servers
    write_model(space, "openai/big", api_key_env="HOUSE_KEY")
    write_model(space, "openai/judge", base_url=other.base, api_key_env="OTHER_KEY")
    write_suite(space)
    run(space, "--base-url", house.base)
    assert received(house) == [("big", HOUSE)] * 2 + [("judge", HOUSE)] * 2
    assert other.requests == []


@pytest.mark.campaign
def test_a_resumed_run_moves_its_judge_too(space, servers):
    house, other = servers
    write_model(space, "openai/big", api_key_env="HOUSE_KEY")
    write_suite(space)
    where = ("--base-url", house.base.replace("http://", "http://me:planted-in-base@"))
    err = run(space, "--provider", "ollama_openai", *where, "--limit", 1, "--run-id", "r1", code=1)
    assert "planted" not in err
    resume = ("--resume", "r1", "--retry-failed")
    with serving(http(500, "no")) as broken:
        run(space, "--run-id", "r2", "--base-url", broken.base, "--max-tries", 1, code=1)
    house.requests.clear()
    run(space, "--resume", "r2", "--retry-failed", "--base-url", house.base)
    assert received(house) == [("big", HOUSE)] * 2 + [("judge", HOUSE)] * 2
    assert "--base-url" in run(space, *resume, code=2)
    assert other.requests == []


@pytest.mark.slow
def test_a_resumed_run_keeps_its_addresses_and_keys(space, servers):
    _, other = servers
    write_model(space, "openai/big", api_key_env="HOUSE_KEY")
    write_suite(space, scorer=", api_key_env: OTHER_KEY")
    replies = iter([http(500, "no")] * 2)
    with serving(lambda _: [next(replies, http(200, REPLY))]) as house:
        where = ("--base-url", house.base, "--judge-base-url", other.base)
        begun = run(space, *where, "--run-id", "r", "--max-tries", 1, code=1)
        resumed = run(space, "--resume", "r", "--retry-failed")
        assert received(house) == [("big", HOUSE)] * 4
    assert received(other) == [("judge", OTHER)] * 2
    for said in (begun, resumed):
        assert f"openai/big is called at {house.base}, with the key in HOUSE_KEY" in said
        assert f"judge openai/judge is called at {other.base}, with the key in OTHER_KEY" in said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variable", "provider"),
    [
        ("OPENAI_BASE_URL", "litellm"),
        ("OPENAI_BASE_URL", "openai_responses"),
        ("OLLAMA_OPENAI_BASE", "ollama_openai"),
    ],
)
def test_an_address_of_the_environment_is_said_before_the_first_call(
    space, servers, monkeypatch, variable, provider
):
    house, other = servers
    monkeypatch.setenv(variable, f"{house.base}/v1")
    write_suite(space)
    err = run(space, "--provider", provider, "--judge-base-url", other.base)
    assert len(house.requests) == 2
    assert err.splitlines()[1] == f"openai/big is called at {house.base}/v1"


@pytest.mark.slow
def test_default_models_are_called_at_the_address_of_the_run(space, servers, monkeypatch):
    house, _ = servers
    monkeypatch.setenv("OLLAMA_MODELS", "little")
    monkeypatch.setenv("PATH", "")
    ended = command(space / "store", "run", "openclaw", "--limit", 1, "--base-url", house.base)
    assert ended.code == 0, ended.err
    models = {model for model, _ in received(house)}
    assert len(models) == 2
    assert "little" in models
    assert {key for _, key in received(house)} == {""}


def test_addresses_and_keys_are_checked_before_the_first_call(space, servers):
    house, _ = servers
    write_suite(space)
    for option in ("--base-url", "--judge-base-url"):
        assert f"{option}: must be an address" in run(space, option, "localhost:8000", code=2)
    write_suite(space, scorer=", base_url: localhost")
    assert "own.yaml:2: scorer.base_url: must be an address" in run(space, code=2)
    write_suite(space, top="base_url: [1]")
    assert "own.yaml:1: base_url: must be an address" in run(space, code=2)
    write_suite(space, scorer=", api_key_env: GONE_KEY")
    said = run(space, "--base-url", house.base, code=2)
    assert "GONE_KEY (`api_key_env`) is not set in the environment" in said
    planted = "sk-ant-planted0000000000000000"
    write_suite(space, top=f"api_key_env: {planted}")
    said = run(space, code=2)
    assert "own.yaml:1: api_key_env: must be the name of the environment variable" in said
    assert planted not in said
    assert house.requests == []


@pytest.mark.parametrize(
    ("field", "problem"),
    [
        ("base_url: localhost:8000", "base_url: must be an address"),
        ("base_url: 5", "base_url: must be an address"),
        ("api_key_env: hf_abcdefghijklmnopqrstuvwxyzABCDEFGH", "api_key_env: must be the name"),
        ("api_key_env: 'a b'", "api_key_env: must be the name"),
    ],
)
def test_model_files_with_wrong_addresses(tmp_path, field, problem):
    path = tmp_path / "models" / "m.yaml"
    path.parent.mkdir()
    path.write_text(f"name: m\n{field}\n")
    with pytest.raises(BadInput, match=f"m.yaml:2: {problem}") as raised:
        read_model_file(path)
    assert "abcdefgh" not in str(raised.value)


VENDOR = "https://api.openai.com/v1"
A, B = "http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1"


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ([(None, None), (None, None)], (None, None)),
        ([(A, None), (B, "KEY_OF_B")], (A, None)),
        ([(A, None), (A, "KEY_OF_A")], (A, "KEY_OF_A")),
        ([(A, None), (None, "ANY_KEY")], (A, "ANY_KEY")),
        ([(A, None), (None, "none"), (None, "ANY_KEY")], (A, "none")),
        ([(A, None), (None, "OPENAI_API_KEY")], (A, None)),
        ([(A, "OPENAI_API_KEY")], (A, "OPENAI_API_KEY")),
        ([(None, "OPENAI_API_KEY")], (None, "OPENAI_API_KEY")),
        ([(VENDOR, None), (None, "OPENAI_API_KEY")], (VENDOR, "OPENAI_API_KEY")),
        ([(VENDOR, None), (None, "GROQ_API_KEY"), (None, "MINE")], (VENDOR, "MINE")),
    ],
)
def test_a_key_goes_to_the_address_that_it_is_named_for(places, expected):
    model = addressed(Model("m", "litellm"), *(Address(*place) for place in places))
    assert (model.base_url, model.api_key_env) == expected


@pytest.mark.parametrize(
    ("url", "is_own"),
    [
        ("https://api.openai.com/v1", True),
        ("https://eu.api.openai.com", True),
        ("http://api.openai.com/v1", False),
        ("https://api.openai.com.example.org", False),
        ("https://api.openai.com@example.org", False),
        ("https://notopenai.com", False),
        ("https://example.org/api.openai.com", False),
    ],
)
def test_own_addresses_of_a_vendor(url, is_own):
    assert vendors.is_own_address("openai", url) == is_own


@pytest.mark.slow
@pytest.mark.usefixtures("space")
@pytest.mark.parametrize("vendor", sorted(REHEARSED | vendors.OWN_SERVERS))
@pytest.mark.parametrize("named", [None, "none", "HOUSE_KEY"])
def test_no_key_of_the_environment_reaches_another_address(monkeypatch, vendor, named):
    known = {name for names in vendors._OTHERS.values() for alternatives in names
             for name in alternatives.split("|")}  # fmt: skip
    known |= {f"{name.upper()}_API_KEY" for name in vendors._NAMED_AFTER_VENDOR}
    known |= {"AZURE_AD_TOKEN", "AZURE_OPENAI_API_KEY"}
    for name in known - {"AZURE_API_VERSION"}:
        monkeypatch.setenv(name, f"planted-{name}")
    request = Request(f"{vendor}/m", "Hi", api_key_env=named)

    async def main(base):
        one = make_provider("litellm")
        assert one.unavailable_reason(request.model, base, named) is None
        try:
            return await one.call(Request(request.model, "Hi", base_url=base, api_key_env=named))
        finally:
            await one.close()

    with serving(http(200, REPLY)) as server:
        asyncio.run(main(server.base))
    assert server.requests
    text = json.dumps([[sent["path"], sent["headers"]] for sent in server.requests])
    assert "planted" not in text
    assert "sends-no-key" not in text
    assert (HOUSE in text) == (named == "HOUSE_KEY")


@pytest.mark.slow
def test_a_vendor_whose_client_takes_other_credentials_is_refused_at_another_address():
    litellm = make_provider("litellm")
    for model in ("bedrock/m", "vertex_ai/m", "databricks/m"):
        assert "is not sent to http://" in litellm.unavailable_reason(model, A)
        assert "is not sent to" in litellm.unavailable_reason(model, A, "none")
        result = asyncio.run(litellm.call(Request(model, "Hi", base_url=A)))
        assert (result.status, result.failure_type) == ("auth_error", "api_key_missing")


@pytest.mark.slow
def test_a_changed_address_of_a_judge_is_no_new_version_of_its_tasks(space, servers):
    house, other = servers
    for server in servers:
        write_suite(space, top=f"base_url: '{house.base}'", scorer=f", base_url: '{server.base}'")
        run(space)
    hashes = "SELECT count(DISTINCT task_hash), count(DISTINCT task_set_hash) FROM lake.tasks"
    assert new_store(space / "store").sql(hashes).fetchall() == [(2, 1)]
    assert "127.0.0.1" not in str(new_store(space / "store").sql("FROM tasks").fetchall())
    assert len(other.requests) == 2


def test_the_addresses_of_the_environment_are_shown(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", A)
    monkeypatch.setenv("OLLAMA_OPENAI_BASE", "http://127.0.0.1:3")
    names = ("litellm", "openai_responses", "ollama_openai", "claude_code_cli")
    shown = [make_provider(name).address("openai/m", None) for name in names]
    assert shown == [A, A, "http://127.0.0.1:3/v1", None]
    for name in names[:3]:
        assert make_provider(name).address("openai/m", B) == B
    assert make_provider("litellm").address("groq/m", None) == "the vendor's own address"
    assert os.environ["OPENAI_BASE_URL"] == A
