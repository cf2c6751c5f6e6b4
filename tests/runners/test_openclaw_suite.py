"""The OpenClaw suite: what it records about the host, and its scores."""

import json

import pytest
from openclaw_cases import CONFIG, write_run
from serving import chat, http, serving
from support import command, import_into, new_store

from runners.suites.openclaw import host
from runners.suites.posters.image_cache import ImageCache
from warehouse.core.errors import EvalstoreError


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """Put executables on their own PATH: `programs(name="script", …)`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "bin").mkdir()
    new_store(tmp_path / "store")

    def write(**scripts):
        for name, script in scripts.items():
            program = tmp_path / "bin" / name
            program.write_text(f"#!/bin/sh\n{script}\n")
            program.chmod(0o755)

    return write


OLLAMA = """
case "$1" in
list) printf 'NAME ID SIZE MODIFIED\\nllama3.2:3b a80c4f17acd5 2.0 GB now\\n';;
ps) printf 'NAME ID\\n'; [ -e stopped ] || printf 'busy:1b x\\nbusy:1b y\\n';;
stop) : > stopped;;
esac
"""


def test_inventory_and_snapshot(programs):
    programs(ollama=OLLAMA, free="echo 'Mem: 8Gi 2Gi 3Gi 0 1Gi 5Gi'", claude="echo ' 2.1 '",
         du="printf '4.0G\\t/x\\n'", df="echo '/dev/x 9G 4G 5G 45% /'")  # fmt: skip
    inventory = host.inventory("r1")
    assert inventory["ollama_models"] == [{"name": "llama3.2:3b", "size": "2.0"}]
    assert inventory["ollama_store_du"] == "4.0G\t/x"
    assert inventory["claude_version"] == "2.1"
    assert host.snapshot().decode().splitlines()[:4] == [
        "# free -h",
        "Mem: 8Gi 2Gi 3Gi 0 1Gi 5Gi",
        "",
        "# df -h /",
    ]


def test_a_missing_program_is_a_recorded_error(programs):
    programs()
    inventory = host.inventory("r1")
    missing = {"error": "[Errno 2] No such file or directory: 'claude'"}
    assert inventory["claude_version"] == missing
    assert inventory["ollama_models"] == []
    text = host.snapshot().decode()
    for name in ("free", "df", "du", "ollama ps"):
        assert f"({name} failed)" in text


def test_a_user_without_a_home_folder(programs, monkeypatch):
    programs(du="echo $@")
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr("pwd.getpwuid", {}.__getitem__)
    assert host.inventory("r1")["ollama_store_du"] == "-sh ~/.ollama"
    monkeypatch.delenv("EVALSTORE_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    with pytest.raises(EvalstoreError, match="EVALSTORE_CACHE"):
        ImageCache()


def names(events):
    return [event["event"] for event in events]


def test_running_ollama_models_are_stopped_first(programs):
    programs(ollama=OLLAMA)
    waits = []
    events = list(host.idle_events("t_pre", waits.append))
    assert names(events) == ["ollama_stop", "ollama_idle_confirmed"]
    assert list(events[0]) == ["record_type", "tag", "event", "model", "ok", "error"]
    assert waits == [0.5]
    assert list(host.idle_events("t_pre", waits.append)) == []


def test_an_ollama_that_stays_busy_or_fails(programs):
    programs(ollama="printf 'NAME ID\\nbusy x\\n'")
    waits = []
    events = list(host.idle_events("t_pre", waits.append))
    assert names(events) == ["ollama_stop", "ollama_still_running"]
    assert waits == [0.5, 1.0, 1.5, 2.0, 2.5]
    programs(ollama="echo no >&2; exit 1")
    (event,) = host.idle_events("t_pre", waits.append)
    assert (event["event"], event["error"]) == ("ollama_ps_failed", "no")


def query(folder, sql):
    return new_store(folder / "store").sql(sql).fetchall()


@pytest.mark.slow
def test_a_run_with_ollama(programs, tmp_path):
    programs(ollama="case $1 in ps) echo NAME;; esac")
    with serving(http(200, chat("PONG"))) as server:
        ended = command(tmp_path / "store", "run", "openclaw", "-m", "m:1b", "-m", "n:1b",
                        "--provider", "ollama_openai", "--base-url", server.base,
                        "--tasks", "P0,P6,P7")  # fmt: skip
    assert ended.code == 0, ended.err
    body = server.requests[0]["body"]
    assert body["messages"][0]["content"].startswith("You are a helpful assistant.")
    assert body["temperature"] == 0
    assert [request["body"]["model"] for request in server.requests] == ["m:1b"] * 3 + ["n:1b"] * 3
    assert query(
        tmp_path, "SELECT objective_pass, violation FROM results ORDER BY seq LIMIT 2"
    ) == [
        (True, None),
        (False, "json_parse_error: Expecting value: line 1 column 1 (char 0)"),
    ]
    assert query(tmp_path, "SELECT name, invocation FROM lake.resources ORDER BY name") == [
        (f"resources_ollama_openai__{model}_1b__none_{phase}.txt", 1)
        for model in ("m", "n")
        for phase in ("after", "before")
    ]
    ((config, inventory),) = query(tmp_path, "SELECT config, inventory FROM runs")
    assert json.loads(config)["ollama_models"] == ["m:1b", "n:1b"]
    assert "error" in json.loads(inventory)["claude_version"]


@pytest.mark.slow
def test_unavailable_models_are_recorded_per_call(programs, tmp_path, monkeypatch):
    programs()
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_CODEX_MODEL", "gpt-x")
    ended = command(tmp_path / "store", "run", "openclaw", "--limit", "1")
    assert ended.code == 1, ended.err
    assert "OPENAI_API_KEY is not set" in ended.err
    found = query(
        tmp_path,
        "SELECT provider, model, thinking_level, availability_status, failure_type, violation "
        "FROM results ORDER BY seq",
    )
    claude = "claude_code_cli"
    assert found == [
        ("openai_responses", "gpt-x", "low", "auth_error", "openai_api_key_missing", None),
        ("openai_responses", "gpt-x", "high", "auth_error", "openai_api_key_missing", None),
        (claude, "claude-haiku", None, "skipped_unavailable", "claude_cli_missing", None),
        (claude, "claude-opus-4.6", None, "skipped_unavailable", "claude_cli_missing", None),
    ]


def test_a_bad_prompt_file_stops_the_run_before_it_starts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    prompts = [{"id": "a", "prompt": "b", "validator": {"type": "guess"}}]
    (tmp_path / "p.json").write_text(json.dumps(prompts))
    ended = command(tmp_path / "store", "run", "openclaw", "-m", "m", "--prompts", "p.json")
    assert ended.code == 2
    assert "guess" in ended.err
    assert not (tmp_path / "store" / "lake").exists()


def test_a_prompt_file_that_is_nested_deeply_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    deep = "[" * 900 + "]" * 900
    validator = f'{{"type": "exact", "value": "x", "note": {deep}}}'
    (tmp_path / "p.json").write_text(f'[{{"id": "a", "prompt": "b", "validator": {validator}}}]')
    ended = command(tmp_path / "store", "run", "openclaw", "-m", "m", "--prompts", "p.json")
    assert ended.code == 2
    assert "p.json: nested more than 64 levels deep: flatten it" in ended.err


TOOL_PROMPTS = [
    {"id": "H", "prompt": "Say OK", "validator": {"type": "exact", "value": "OK"}},
    {
        "prompt": "Which tool shows free memory?",
        "id": "T1",
        "name": "memory",
        "validator": {"type": "tool_invocation", "expected_tools": ["free"]},
        "note": "ä",
    },
    # The order of the rules decides which violation is named.
    {
        "id": "T2",
        "prompt": "Answer in JSON",
        "validator": {
            "type": "json_keys",
            "required_keys": ["b"],
            "key_rules": {"b": {"type": "number"}, "a": {"type": "number"}},
        },
        "expected_tool_calls": ["df"],
    },
]


@pytest.fixture
def tool_run(programs, tmp_path):
    """A run of the last two prompts of a file."""
    programs()
    (tmp_path / "tools.json").write_text(json.dumps(TOOL_PROMPTS))
    with serving(http(200, chat('`free` `df` {"a": "x", "b": "y"}'))) as server:
        ended = command(tmp_path / "store", "run", "openclaw", "-m", "m:1b", "--prompts",
                        "tools.json", "--provider", "ollama_openai", "--base-url", server.base,
                        "--tasks", "T1,T2")  # fmt: skip
    assert ended.code == 0, ended.err
    return tmp_path


@pytest.mark.slow
def test_the_config_holds_the_prompts(tool_run):
    ((config,),) = query(tool_run, "SELECT config FROM runs")
    first, second = json.loads(config)["prompts"]
    assert (first["id"], first["name"], first["prompt"]) == (
        "T1",
        "memory",
        TOOL_PROMPTS[1]["prompt"],
    )
    assert first["validator"] == {"type": "tool_invocation", "expected_tools": ["free"]}
    assert (first["expected_tools"], second["expected_tools"]) == (["free"], ["df"])


@pytest.mark.slow
def test_an_exported_run_keeps_its_tier_and_tasks_elsewhere(tool_run):
    ended = command(tool_run / "store", "export", "openclaw", "--to", tool_run / "out")
    assert ended.code == 0, ended.err
    other = new_store(tool_run / "other")
    import_into(other, tool_run / "out")
    sql = "SELECT tier, tier_basis, rate, n_counted FROM tool_tiers"
    assert other.sql(sql).fetchall() == query(tool_run, sql) == [(1, "expected", 1.0, 2)]
    tasks = "SELECT * EXCLUDE (batch, file_sha256) FROM tasks WHERE task_id LIKE 'T%' ORDER BY seq"
    assert other.sql(tasks).fetchall() == query(tool_run, tasks)
    verdicts = "SELECT objective_pass, violation FROM scores.openclaw_verdicts ORDER BY ALL"
    computed = [(False, "key_rule_number_failed:b"), (True, None)]
    assert other.sql(verdicts).fetchall() == query(tool_run, verdicts) == computed
    assert other.sql("FROM tool_drift").fetchall() == []
    # The file itself adds the prompt that the run did not use, and nothing twice.
    import_into(other, tool_run / "tools.json")
    assert other.sql("SELECT count(*) FROM tasks").fetchall() == [(3,)]


@pytest.mark.slow
def test_a_config_with_the_words_of_prompts_only(tmp_path):
    prompt = {"id": "P0", "prompt": "Say `free`", "expected_tools": ["free"]}
    config = {
        **CONFIG,
        "prompts": [prompt, {"id": "P1", "prompt": "x", "source": "[", "position": "x"}],
    }
    store = new_store(tmp_path / "store")
    import_into(store, write_run(tmp_path / "runs" / "r", config=config))
    assert store.sql("SELECT task_id, seq, expected_tools FROM tasks ORDER BY seq").fetchall() == [
        ("P0", 1, ["free"]),
        ("P1", 2, []),
    ]
    assert store.sql("SELECT tier_basis FROM tool_tiers").fetchall() == [("expected",)]
