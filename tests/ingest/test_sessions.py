"""Sessions of coding agents: branches, sub-agents, repeated lines, growth, secrets; BenchFlow."""

import base64
import hashlib
import json

import pytest
from peers import digests_after, query
from support import command, import_into, new_store, queried_store

from ingest.formats.sessions.consent import KeepSecrets
from ingest.reconciliation import FileOutcome
from warehouse.core.errors import BadInput

KEPT = {"format_options": (KeepSecrets(),)}
CLEAR = "<command-name>/clear</command-name>\n<command-args></command-args>"
KEY = "sk-" + "proj-" + "Ab1" * 16


def line(n, kind, *, after=None, session="s", second=None, **fields):
    """Return a line of a session; `n` names it, `after` the line that it follows."""
    plain = {
        "uuid": f"u{n}",
        "parentUuid": f"u{n - 1}" if after is None and n > 1 else after,
        "isSidechain": False,
        "sessionId": session,
        "version": "2.0.76",
        "cwd": "/home/a",
        "type": kind,
        "timestamp": f"2026-01-02T03:04:{n if second is None else second:02}.000Z",
    }
    return {**plain, **fields}


def user(n, content="Go.", **fields):
    return line(n, "user", message={"role": "user", "content": content}, **fields)


def answer(n, *parts, message_id=None, model="opus", usage=None, **fields):
    content = [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]
    message = {"id": message_id or f"m{n}", "model": model, "content": content}
    message["usage"] = usage or {"input_tokens": 10, "output_tokens": 2}
    return line(n, "assistant", message=message, **fields)


def call(name="Bash", call_id="c1", **arguments):
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def result(content="done", call_id="c1", **fields):
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **fields}


def write(path, *lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = (each if isinstance(each, str) else json.dumps(each) for each in lines)
    path.write_text("".join(f"{text}\n" for text in texts))
    return path


def imported(folder, *lines, name="s.jsonl"):
    store = queried_store(folder / "store")
    return store, import_into(store, write(folder / "logs" / name, *lines), **KEPT)


def trial_rows(store):
    return query(store, "FROM trials ORDER BY trial_id")


def step_rows(store):
    return query(store, "FROM steps ORDER BY run_id, result_id, seq")


# --- secrets


def test_a_session_is_refused_until_the_user_says_what_happens_to_secrets(tmp_path):
    path = write(tmp_path / "logs" / "s.jsonl", user(1, f"export OPENAI_API_KEY={KEY}"))
    store = new_store(tmp_path / "store")
    with pytest.raises(BadInput, match=r"--redact .* or --keep-secrets; nothing was imported"):
        import_into(store, path)
    assert not store.lake.batch_names()


@pytest.mark.slow
@pytest.mark.parametrize("redact", [False, True])
def test_secrets_are_kept_or_masked_as_said(tmp_path, redact):
    text = f"export OPENAI_API_KEY={KEY}"
    lines = [user(1, text), answer(2, call(command=text)), user(3, [result(text)])]
    lines += [line(4, "user", message={"content": "x"}, toolUseResult={"stdout": text})]
    path = write(tmp_path / "logs" / "s.jsonl", *lines, {"type": "summary", "summary": text})
    store = queried_store(tmp_path / "store")
    options = {"redact": True} if redact else KEPT
    assert import_into(store, path, **options).secrets
    tables = ("results", "steps", "events", "runs", "lake.files")
    held = str([query(store, f"FROM {table}") for table in tables])
    assert (KEY in held) is not redact
    assert "OPENAI_API_KEY" in held


def test_the_command_takes_one_of_both_options(tmp_path):
    path = write(tmp_path / "logs" / "s.jsonl", user(1))
    store = new_store(tmp_path / "store")
    assert "say --redact" in command(store.path, "import", path).err
    both = command(store.path, "import", path, "--redact", "--keep-secrets")
    assert "exclude each other" in both.err
    assert command(store.path, "import", path, "--keep-secrets").code == 0


# --- lines


@pytest.mark.slow
def test_usage_of_a_message_in_several_lines_counts_once(tmp_path):
    usages = [
        {"input_tokens": 9, "output_tokens": 1, "cache_read_input_tokens": 100},
        {"input_tokens": 9, "output_tokens": 1, "cache_read_input_tokens": 100},
        {"input_tokens": 9, "output_tokens": 55, "cache_read_input_tokens": 100},
    ]
    parts = [{"type": "thinking", "thinking": "Hm."}, "Text.", call()]
    lines = [
        answer(n, part, message_id="m", usage=usage, requestId="r")
        for n, (part, usage) in enumerate(zip(parts, usages, strict=True), 2)
    ]
    store, _ = imported(tmp_path, user(1), *lines, answer(5, "End.", requestId="r2"))
    [trial] = trial_rows(store)
    assert (trial["input_tokens"], trial["cached_tokens"]) == (9 + 10, 100)
    assert trial["output_tokens"] == 55 + 2
    assert (trial["n_steps"], trial["n_model_calls"], trial["n_tool_calls"]) == (5, 2, 1)
    steps = step_rows(store)
    assert [step["kind"] for step in steps] == ["user", "model", "other", "other", "tool", "model"]
    assert steps[1]["reasoning"] == "Hm."
    assert steps[2]["parent_id"] == "u2"


@pytest.mark.slow
def test_a_call_has_its_result_its_error_and_its_exit_code(tmp_path):
    calls = [call(call_id=name, command=name) for name in ("a", "b", "c")]
    failed = result("Exit code 2\nno", "b", is_error=True)
    lines = [
        answer(2, *calls),
        user(3, [failed]),
        user(4, [result([{"type": "text", "text": "A"}], "a")]),
    ]
    store, _ = imported(tmp_path, user(1), *lines, user(5, [result("lost", "z")]))
    tools = {step["call_id"]: step for step in step_rows(store) if step["kind"] == "tool"}
    assert [tools[name]["text"] for name in ("a", "b", "c")] == ["A", None, None]
    assert [tools[name]["error"] for name in ("a", "b", "c")] == [None, "Exit code 2\nno", None]
    assert tools["b"]["exit_code"] == 2
    assert [tool["parent_id"] for tool in tools.values()] == ["u2"] * 3
    assert tools["c"]["ended_at"] is None
    [trial] = trial_rows(store)
    assert (trial["n_steps"], trial["n_tool_calls"], trial["n_tool_errors"]) == (5, 3, 1)
    # a result of a call that is not in the file stays with its line
    assert "lost" in step_rows(store)[-1]["extra"]


@pytest.mark.slow
def test_pictures_are_kept_by_their_hash(tmp_path):
    data = base64.b64encode(b"picture" * 99).decode()
    picture = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": data},
    }
    lines = [user(1, [{"type": "text", "text": "See"}, picture]), answer(2, call())]
    lines += [user(3, [result([picture])], toolUseResult={"file": {"base64": data}})]
    store, _ = imported(tmp_path, *lines)
    steps = step_rows(store)
    digest = hashlib.sha256(data.encode()).hexdigest()
    assert data not in str(steps)
    assert [digest in (step["extra"] or "") for step in steps] == [True, False, True, True]


@pytest.mark.slow
def test_the_text_of_a_result_is_stored_once(tmp_path):
    text = "a long line of output " * 9
    again = {"stdout": text, "stderr": "", "parts": [{"text": text}], "other": "kept" * 20}
    lines = [user(1), answer(2, call()), user(3, [result(text)], toolUseResult=again)]
    store, _ = imported(tmp_path, *lines)
    assert str(step_rows(store)).count(text.strip()) == 1
    assert "kept" in step_rows(store)[-1]["extra"]


@pytest.mark.slow
def test_errors_of_the_program_are_no_calls_of_a_model(tmp_path):
    zero = {"input_tokens": 0, "output_tokens": 0}
    error = answer(3, "API Error: 529", model="<synthetic>", usage=zero, isApiErrorMessage=True)
    store, _ = imported(tmp_path, user(1), answer(2, "Hi."), error)
    [trial] = trial_rows(store)
    assert (trial["model"], trial["n_model_calls"], trial["input_tokens"]) == ("opus", 1, 10)
    assert step_rows(store)[-1]["error"] == "API Error: 529"


@pytest.mark.slow
def test_unknown_tokens_are_null_and_old_costs_are_summed_up(tmp_path):
    lines = [answer(n, "x", usage={"x": 1}, costUSD=0.25, message_id="m") for n in (2, 3)]
    store, _ = imported(tmp_path, user(1), *lines, answer(4, "y", usage={"x": 1}, costUSD=1))
    [trial] = trial_rows(store)
    assert trial["input_tokens"] is trial["output_tokens"] is None
    assert trial["cost_usd"] == 1.25


@pytest.mark.slow
def test_a_session_of_two_models_is_a_system_of_both(tmp_path):
    store, _ = imported(tmp_path, user(1), answer(2, "a"), answer(3, "b", model="haiku"))
    [trial] = trial_rows(store)
    assert trial["system"] == "claude-code 2.0.76 (opus + haiku)"
    assert trial["model"] is None


# --- trials


@pytest.mark.slow
def test_a_clear_begins_another_trial_but_not_at_the_start(tmp_path):
    lines = [user(1, CLEAR), user(2, "One"), answer(3, "1"), user(4, CLEAR), user(5, "Two")]
    lines += [answer(6, "2"), user(7, CLEAR), user(8, "Three")]
    store, _ = imported(tmp_path, *lines)
    rows = query(store, "SELECT trial_id, prompt FROM results ORDER BY trial_id")
    assert [tuple(row.values()) for row in rows] == [("s", "One"), ("s#2", "Two"), ("s#3", "Three")]
    assert [trial["n_steps"] for trial in trial_rows(store)] == [3, 3, 2]


@pytest.mark.slow
def test_a_resumed_session_does_not_count_the_lines_that_it_copies(tmp_path):
    old = [user(1), answer(2, "a")]
    logs = tmp_path / "logs"
    first = write(logs / "old.jsonl", *old)
    second = write(logs / "new.jsonl", *old, user(3, session="t"), answer(4, "b", session="t"))
    store = queried_store(tmp_path / "store")
    import_into(store, first, second, **KEPT)
    assert [(row["trial_id"], row["n_steps"]) for row in trial_rows(store)] == [("s", 2), ("t", 2)]


@pytest.mark.slow
def test_a_compaction_does_not_end_the_session(tmp_path):
    boundary = {"subtype": "compact_boundary", "content": "Compacted", "logicalParentUuid": "u2"}
    lines = [user(1), answer(2, "a"), {**line(3, "system", **boundary), "parentUuid": None}]
    lines += [user(4, "Summary", isCompactSummary=True), user(5, "More"), answer(6, "b")]
    store, _ = imported(tmp_path, *lines)
    [trial] = trial_rows(store)
    assert trial["n_steps"] == 6
    steps = step_rows(store)
    assert [step["kind"] for step in steps[2:4]] == ["compaction", "system"]
    assert {step["trajectory"] for step in steps} == {None}


def test_what_was_asked_anew_is_a_branch_and_the_one_that_ends_last_is_final(tmp_path):
    lines = [user(1), answer(2, "a"), user(3, "first"), answer(4, "b")]
    lines += [user(5, "second", after="u2"), answer(6, "c")]
    store, _ = imported(tmp_path, *lines)
    branches = {step["step_id"]: step["trajectory"] for step in step_rows(store)}
    assert branches == dict.fromkeys(("u1", "u2", "u5", "u6")) | dict.fromkeys(
        ("u3", "u4"), "branch u3"
    )
    assert trial_rows(store)[0]["n_steps"] == 6


@pytest.mark.slow
def test_a_branch_that_was_taken_up_again_is_the_final_one(tmp_path):
    lines = [user(1), answer(2, "a"), user(3, "first"), user(4, "second", after="u2")]
    store, _ = imported(tmp_path, *lines, answer(5, "b", after="u3"))
    branches = {step["step_id"] for step in step_rows(store) if step["trajectory"]}
    assert branches == {"u4"}


def test_results_of_parallel_calls_are_no_branches(tmp_path):
    lines = [
        answer(2, call(call_id="a"), message_id="m"),
        answer(3, call(call_id="b"), message_id="m"),
    ]
    lines += [
        user(4, [result(call_id="a")], after="u2"),
        user(5, [result(call_id="b")], after="u3"),
    ]
    store, _ = imported(tmp_path, user(1), *lines, answer(6, "End."))
    assert {step["trajectory"] for step in step_rows(store)} == {None}


def test_a_sub_agent_in_the_file_of_its_session_is_a_trajectory(tmp_path):
    inner = {"isSidechain": True, "session": "s"}
    lines = [user(1), answer(2, call("Task"))]
    lines += [
        user(3, "Look.", **inner, agentId="a7"),
        answer(4, "Seen.", model="haiku", **inner, agentId="a7"),
    ]
    old = {**user(5, "Old.", **inner), "parentUuid": None}
    lines += [old, answer(6, "Seen.", **inner), user(7, [result()], after="u2")]
    store, _ = imported(tmp_path, *lines)
    steps = [step for step in step_rows(store) if step["kind"] != "tool"]
    expected = [None, None, "a7", "a7", "sidechain u5", "sidechain u5", None]
    assert [step["trajectory"] for step in steps] == expected
    [trial] = trial_rows(store)
    assert (trial["token_scope"], trial["n_steps"], trial["model"]) == ("tree", 7, "opus")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["agent-a7.jsonl", "s/subagents/agent-a7.jsonl"])
def test_the_file_of_a_sub_agent_is_a_trial_of_its_own(tmp_path, name):
    inner = {"isSidechain": True}
    write(tmp_path / "logs" / "s.jsonl", user(1), answer(2, "a"))
    lines = [user(3, "Look.", **inner), answer(4, "Seen.", model="haiku", **inner)]
    write(tmp_path / "logs" / name, *lines)
    store = queried_store(tmp_path / "store")
    import_into(store, tmp_path / "logs", **KEPT)
    rows = [(row["trial_id"], row["model"], row["n_steps"]) for row in trial_rows(store)]
    assert rows == [("s", "opus", 2), ("s/a7", "haiku", 2)]


# --- again, in any order, longer, damaged


@pytest.mark.slow
def test_a_session_that_goes_on_adds_steps_and_ends_later(tmp_path):
    lines = [
        user(1),
        answer(2, call()),
        user(3, [result()]),
        answer(4, "a"),
        user(5),
        answer(6, "b"),
    ]
    store, _ = imported(tmp_path / "grown", *lines[:3])
    for n in (4, 6):
        path = write(tmp_path / "grown" / "logs" / "s.jsonl", *lines[:n])
        assert import_into(store, path, **KEPT).outcomes[FileOutcome.GROWN] == 1
    whole, _ = imported(tmp_path / "whole", *lines)
    [trial], [expected] = trial_rows(store), trial_rows(whole)
    assert trial == expected
    assert trial["ended_at"].second == 6


@pytest.mark.slow
def test_a_call_that_has_a_result_now_is_a_conflict_until_it_replaces(tmp_path):
    lines = [user(1), answer(2, call()), user(3, [result()])]
    store, _ = imported(tmp_path, *lines[:2])
    path = write(tmp_path / "logs" / "s.jsonl", *lines)
    assert import_into(store, path, **KEPT).outcomes[FileOutcome.CONFLICT] == 1
    assert import_into(store, path, replace=True, **KEPT).outcomes[FileOutcome.REPLACED] == 1
    tools = [step for step in step_rows(store) if step["kind"] == "tool"]
    assert [tool["text"] for tool in tools] == ["done"]


@pytest.mark.slow
def test_any_order_of_imports_gives_the_same_store(tmp_path, monkeypatch):
    logs = tmp_path / "logs"
    lines = [user(1), answer(2, "a"), user(3, CLEAR), user(4), answer(5, "b")]
    files = [write(logs / "a.jsonl", *lines)]
    inner = {"isSidechain": True}
    files += [write(logs / "agent-x.jsonl", user(6, **inner), answer(7, "c", **inner))]
    files += [
        write(logs / "copy" / "a.jsonl", *lines),
        rollout(logs / "jobs" / "r__1" / "result.json"),
    ]
    monkeypatch.setattr(
        "peers.import_into", lambda store, *paths: import_into(store, *paths, **KEPT)
    )
    expected = digests_after(tmp_path / "1", files)
    assert digests_after(tmp_path / "2", *([path] for path in reversed(files))) == expected
    assert digests_after(tmp_path / "3", files[::2], files[1::2], files) == expected


def test_a_file_of_summaries_only_is_declined(tmp_path):
    _, summary = imported(tmp_path, {"type": "summary", "summary": "Fix", "leafUuid": "u9"})
    assert summary.outcomes[FileOutcome.DECLINED] == 1
    assert "without a conversation" in summary.messages[0]


def test_lines_without_a_place_are_events_and_what_is_damaged_is_quarantined(tmp_path):
    snapshot = {"type": "file-history-snapshot", "messageId": "x", "snapshot": {}}
    lines = [{"type": "summary", "summary": "Fix", "leafUuid": "u2"}, snapshot, user(1)]
    store, _ = imported(tmp_path, *lines, "{", "[1]", '{"a": 1}', answer(2, "a"))
    events = query(store, "SELECT event FROM events ORDER BY seq")
    assert [row["event"] for row in events] == ["summary", "file-history-snapshot"]
    assert trial_rows(store)[0]["n_steps"] == 2
    quarantine = query(store, "SELECT line, reason FROM quarantine ORDER BY line")
    assert [row["line"] for row in quarantine] == [4, 5, 6]
    assert quarantine[1]["reason"] == "not a JSON object"


def test_a_line_of_progress_is_no_step_of_the_session(tmp_path):
    progress = line(2, "progress", data={"type": "hook"})
    store, _ = imported(tmp_path, user(1), progress, answer(3, "a"))
    assert trial_rows(store)[0]["n_steps"] == 2
    assert [step["name"] for step in step_rows(store)] == [None, "progress", None]


@pytest.mark.slow
@pytest.mark.parametrize(
    "odd",
    [
        {"message": 7},
        {"message": {"content": {"a": 1}, "usage": [1], "model": 3, "id": []}},
        {"message": {"content": [1, None, {"type": "tool_use", "id": {}, "input": "x"}]}},
        {"message": {"content": [{"type": "tool_result", "tool_use_id": [], "content": 7}]}},
        {"message": {"content": [{"type": "text", "text": 7}], "usage": {"input_tokens": "9"}}},
        {"timestamp": 7, "parentUuid": {}, "version": [], "agentId": 1, "isSidechain": "yes"},
        {"message": {"content": "\ud800", "id": "\ud800"}, "uuid": "\ud800", "agentId": "\ud800"},
        {"message": {"id": "m3", "model": "a", "usage": {"input_tokens": -(2**63)}}},
        {"isSidechain": True, "uuid": "\ud800", "message": {"content": []}},
        {"parentUuid": "u2", "costUSD": "free", "subtype": {}, "content": 7},
    ],
)
@pytest.mark.parametrize("kind", ["user", "assistant", "system", "other"])
def test_odd_values_are_kept_and_break_nothing(tmp_path, odd, kind):
    store, summary = imported(tmp_path, user(1), {**line(2, kind), **odd}, answer(3, "a"))
    assert summary.n_results == 1
    assert trial_rows(store)[0]["n_steps"] == (2 if kind == "other" else 3)
    assert step_rows(store)


# --- Codex


def codex(*items):
    """Return the lines of a rollout, of their types and payloads."""
    return [
        {"timestamp": f"2026-01-02T03:04:{n:02}Z", "type": kind, "payload": payload}
        for n, (kind, payload) in enumerate(items)
    ]


def item(kind, **fields):
    return "response_item", {"type": kind, **fields}


def used(n, cached):
    total = {"input_tokens": n, "cached_input_tokens": cached, "output_tokens": n // 10}
    return "event_msg", {"type": "token_count", "info": {"total_token_usage": total}}


ROLLOUT = codex(
    ("session_meta", {"id": "c1", "cli_version": "0.46", "cwd": "/x"}),
    ("turn_context", {"model": "gpt-5", "effort": "high"}),
    ("event_msg", {"type": "user_message", "message": "Fix it."}),
    item("message", role="user", content=[{"type": "input_text", "text": "Fix it."}]),
    item("reasoning", summary=[{"type": "summary_text", "text": "Hm."}], encrypted_content="x"),
    item("function_call", name="shell", arguments='{"cmd": "ls"}', call_id="a"),
    ("event_msg", {"type": "token_count", "info": None}),
    used(100, 10),
    item(
        "function_call_output",
        call_id="a",
        output='{"output": "no", "metadata": {"exit_code": 2}}',
    ),
    item("custom_tool_call", name="apply_patch", input="*** Begin", call_id="b"),
    used(150, 60),
    item("custom_tool_call_output", call_id="b", output="Done"),
    item("message", role="assistant", content=[{"type": "output_text", "text": "Fixed."}]),
    used(150, 60),
)


@pytest.mark.slow
def test_a_rollout_of_codex_is_a_trial_and_its_usage_is_the_last(tmp_path):
    store, summary = imported(tmp_path, *ROLLOUT)
    assert summary.n_quarantined == 0
    [trial] = trial_rows(store)
    assert (trial["trial_id"], trial["system"]) == ("c1", "codex 0.46 (gpt-5)")
    assert (trial["n_steps"], trial["n_tool_calls"], trial["n_tool_errors"]) == (7, 2, 1)
    tokens = (trial["input_tokens"], trial["cached_tokens"], trial["output_tokens"])
    assert tokens == (150, 60, 15)
    assert trial["ended_at"].second == 13
    tools = [step for step in step_rows(store) if step["kind"] == "tool"]
    assert [tool["text"] for tool in tools] == ["no", "Done"]
    assert [tool["arguments"] for tool in tools] == ['{"cmd":"ls"}', '"*** Begin"']
    assert tools[0]["exit_code"] == 2
    assert query(store, "SELECT prompt FROM results") == [{"prompt": "Fix it."}]


@pytest.mark.slow
def test_a_rollout_that_goes_on_adds_steps(tmp_path):
    store, _ = imported(tmp_path / "a", *ROLLOUT[:9])
    import_into(store, write(tmp_path / "a" / "logs" / "s.jsonl", *ROLLOUT), **KEPT)
    whole, _ = imported(tmp_path / "b", *ROLLOUT)
    assert trial_rows(store) == trial_rows(whole)


@pytest.mark.slow
def test_damaged_rollouts_are_quarantined_or_kept(tmp_path):
    odd = codex(
        item("message", role=[], content=7),
        item("function_call", name=1, arguments=[], call_id=None),
        item("function_call_output", call_id="lost", output={"a": 1}),
        item("reasoning", summary=3),
        ("event_msg", {"type": "token_count", "info": {"total_token_usage": [1]}}),
        ("compacted", {"message": "Short."}),
        (7, {}),
    )
    store, summary = imported(tmp_path, *ROLLOUT[:2], *odd, "{")
    assert summary.n_quarantined == 2
    assert trial_rows(store)[0]["n_steps"] == 4


# --- BenchFlow


def rollout(path, **fields):
    """Write the result of a rollout."""
    plain = {
        "task_name": "t",
        "rollout_name": "r__1",
        "rewards": {"reward": 1.0},
        "agent": "gemini",
        "agent_name": "gemini-cli",
        "model": "flash",
        "n_tool_calls": 8,
        "n_prompts": 1,
        "error": None,
        "started_at": "2026-04-22 22:37:42",
        "finished_at": "2026-04-22 22:38:42",
    }
    return write(path, {**plain, **fields})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, (True, "solved", True)),
        ({"rewards": {"reward": 0.5, "style": 1}}, (False, "gave_up", True)),
        ({"rewards": None, "error": "agent timed out"}, (None, "timeout", False)),
        ({"error": "agent timed out"}, (True, "timeout", True)),
        ({"rewards": None, "verifier_error": "no file"}, (None, "unknown", False)),
        ({"rewards": {"reward": "high"}}, (None, "unknown", False)),
        ({"rewards": [1]}, (None, "unknown", False)),
    ],
)
def test_a_rollout_has_the_verdict_of_its_reward(tmp_path, fields, expected):
    rollout(tmp_path / "logs" / "job" / "r__1" / "result.json", **fields)
    store = queried_store(tmp_path / "store")
    import_into(store, tmp_path / "logs")
    [trial] = trial_rows(store)
    [row] = query(store, "SELECT success, run_id, extra FROM results")
    assert (trial["passed"], trial["end_reason"], row["success"]) == expected
    # Rewards that are no scores are kept.
    assert ("rewards" in row["extra"]) is (fields.get("rewards") == [1])
    assert (trial["n_tool_calls"], trial["duration_ms"], row["run_id"]) == (8, 60_000, "job")
    assert not query(store, "FROM checks.contradictory_outcomes")


@pytest.mark.slow
def test_rollouts_of_a_folder_are_a_run_and_a_broken_one_is_quarantined(tmp_path):
    for n in (1, 2):
        path = tmp_path / "logs" / "job" / f"r__{n}" / "result.json"
        rollout(path, rollout_name=f"r__{n}", rewards={"reward": n, "style": 0})
    rollout(tmp_path / "logs" / "job" / "x" / "result.json", rollout_name=None)
    store = queried_store(tmp_path / "store")
    summary = import_into(store, tmp_path / "logs")
    assert "has neither `rollout_name` nor `trial_name`" in summary.messages[0]
    assert [row["run_id"] for row in trial_rows(store)] == ["job", "job"]
    scores = query(store, "SELECT metric, counts FROM lake.result_scores ORDER BY ALL")
    assert [tuple(row.values()) for row in scores] == [("reward", True)] * 2 + [
        ("style", False)
    ] * 2
