"""Exports of trials as trajectories in ATIF, of whatever format they came in."""

import json
from collections import Counter
from datetime import datetime

import pytest
from peers import query
from support import add_rows, command, files_in, import_into, new_store
from trials import TRIALS, needs_trials

TOKENS = ("prompt_tokens", "completion_tokens", "cached_tokens")
COLUMNS = ("input_tokens", "output_tokens", "cached_tokens")
END = datetime.fromisoformat("2026-01-01T00:00:01")
RUN = {"suite": "arena", "run_id": "r", "generation": "root"}
# A name of a system may say the models of sub-agents, where a job's result does not.
TRIAL = "run_id, trial_id, agent, agent_version, model"
FIGURES = "n_steps, n_model_calls, n_tool_calls, n_tool_errors, round(cost_usd, 9), " + ", ".join(
    COLUMNS
)
STEPS = """
    SELECT trial_id, steps.* EXCLUDE (suite, result_id, step_row_id, extra, file_sha256, batch)
    FROM steps
    JOIN trials USING (suite, run_id, result_id)
"""


def export(store, folder, *arguments, code=0):
    """Return the documents that an export writes, by the names of their files."""
    done = command(store.path, "export", "atif", "--to", folder, *arguments)
    assert done.code == code, done.err
    return {path.name: json.loads(path.read_text("utf-8")) for path in folder.rglob("*.json")}


def write(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), "utf-8")
    return path


def step(number, source="agent", **fields):
    return {"step_id": number, "source": source, "message": f"m{number}", **fields}


def document(*steps, **fields):
    agent = {"name": "crab", "version": "2", "model_name": "gpt"}
    head = {"schema_version": "ATIF-v1.7", "session_id": "s", "agent": agent}
    return {**head, "steps": list(steps), **fields}


def call(call_id="c", **fields):
    return {"tool_call_id": call_id, "function_name": "bash", "arguments": {"x": 1}, **fields}


def observed(*results):
    return {"observation": {"results": list(results)}}


@pytest.fixture
def arena(tmp_path):
    """Return a function that gives a store of one trial with some steps."""

    def made(*steps, messages=(), **result):
        store = new_store(tmp_path / "store")
        base = {**RUN, "content_id": "t", "seq": 1, "model": "gpt", "task_set": "core"}
        rows = [
            {**RUN, "content_id": f"t#{seq}", "result_id": "t", "seq": seq, **each}
            for seq, each in enumerate(steps, 1)
        ]
        said = [
            {**RUN, "content_id": f"m{seq}", "result_id": "t", "seq": seq, **each}
            for seq, each in enumerate(messages, 1)
        ]
        add_rows(
            store.lake,
            runs=[{**RUN, "content_id": "run"}],
            results=[{**base, "trial_id": "a.b", "task_id": "t1", **result}],
            steps=rows,
            messages=said,
        )
        store.sync()
        return store

    return made


@pytest.mark.slow
@needs_trials
@pytest.mark.parametrize("form", ["atif", "harbor"])
def test_imported_trajectories_come_back_with_equal_rows(tmp_path, monkeypatch, form):
    store, again = new_store(tmp_path / "store"), new_store(tmp_path / "again")
    import_into(store, TRIALS / form)
    store.sync()
    code = 0 if form == "atif" else 1  # some trials of jobs have no steps
    export(store, tmp_path / "out", code=code)
    monkeypatch.setattr("exports.atif.trajectories._TRIALS_AT_ONCE", 5)
    export(store, tmp_path / "blocks", code=code)
    assert files_in(tmp_path / "blocks") == files_in(tmp_path / "out")
    assert import_into(again, tmp_path / "out").n_quarantined == 0
    again.sync()
    trials = f"SELECT {TRIAL}, {FIGURES} FROM trials WHERE n_steps IS NOT NULL"
    for text in (trials, STEPS):
        assert Counter(again.sql(text).fetchall()) == Counter(store.sql(text).fetchall())
    assert {row["status"] for row in query(again, "FROM metric_audit")} <= {
        *("equal", "not recomputable")
    }
    if form == "atif":
        systems = "SELECT run_id, system, models FROM systems ORDER BY ALL"
        assert again.sql(systems).fetchall() == store.sql(systems).fetchall()


FORMS = ("atif", "harbor", "inspect-agents", "otel", "sessions", "swe-bench", "tau-bench")


@pytest.mark.slow
@needs_trials
@pytest.mark.parametrize("form", FORMS)
def test_every_call_and_token_of_any_format_is_written_once(tmp_path, form):
    store = new_store(tmp_path / "store")
    import_into(store, TRIALS / form, redact=True)
    store.sync()
    written = export(store, tmp_path / "out", code=int(form in {"harbor", "otel", "swe-bench"}))
    trees = [each for root in written.values() for each in tree(root)]
    steps = [step for each in trees for step in each["steps"]]
    sums = "count(*) FILTER (kind = 'tool') AS n_calls" + "".join(
        f", sum({column}) FILTER (kind = 'model') AS {name}"
        for name, column in zip(TOKENS, COLUMNS, strict=True)
    )
    [expected] = query(store, f"SELECT {sums} FROM steps")
    results = [each for step in steps for each in step.get("observation", {}).get("results", ())]
    n_calls = sum(len(step.get("tool_calls", ())) for step in steps)
    n_beside = sum("function_name" in each.get("extra", {}).get("call", ()) for each in results)
    n_others = query(store, "SELECT count(name) AS n FROM steps WHERE kind = 'sandbox'")[0]["n"]
    assert n_calls + n_beside - n_others == expected.pop("n_calls")
    for name, total in expected.items():
        assert sum(step.get("metrics", {}).get(name, 0) for step in steps) == (total or 0)


def tree(root):
    """Return a document and those inside it."""
    return [root, *root.get("subagent_trajectories", ())]


@pytest.mark.slow
def test_sub_agents_copies_and_what_the_format_cannot_hold(tmp_path):
    tokens = {"prompt_tokens": 10, "completion_tokens": 2, "logprobs": [-0.5]}
    first = document(
        step(1, "user", message=[{"type": "text", "text": "Look."}]),
        step(
            2,
            metrics={**tokens, "odd": 1},
            tool_calls=[call(), call("d", odd=True)],
            llm_call_count=1,
        ),
        extra={"kept": 1},
        continued_trajectory_ref="trajectory.cont-1.json",
    )
    by_file = {"session_id": "x", "trajectory_path": "logs/trajectory.sub-1.json"}
    nowhere = {"source_call_id": "no such call", "subagent_trajectory_ref": [{"session_id": "x"}]}
    second = document(
        step(1, is_copied_context=True, metrics={"prompt_tokens": 10}),
        step(2, **observed({"content": "done", "subagent_trajectory_ref": [by_file]}, nowhere)),
    )
    inner = {**document(step(1)), "trajectory_id": "inner"}
    sub = document(
        step(1, model_name="nano", metrics={"prompt_tokens": 3}),
        agent={"name": "helper", "version": "1"},
        subagent_trajectories=[inner],
    )
    write(tmp_path / "logs/trajectory.json", first)
    write(tmp_path / "logs/trajectory.cont-1.json", second)
    write(tmp_path / "logs/trajectory.sub-1.json", sub)
    store, again = new_store(tmp_path / "store"), new_store(tmp_path / "again")
    import_into(store, tmp_path / "logs")
    store.sync()
    [(name, root)] = export(store, tmp_path / "out").items()
    assert name.startswith("s-")
    assert (root["schema_version"], root["session_id"]) == ("ATIF-v1.8", "s")
    assert (root["agent"]["version"], root["extra"]) == ("2", {"kept": 1})
    assert "continued_trajectory_ref" not in root
    asked, acted, copied, last = root["steps"]
    assert [each["step_id"] for each in root["steps"]] == [1, 2, 3, 4]
    assert asked["message"] == [{"type": "text", "text": "Look."}]
    assert acted["metrics"] == {**tokens, "extra": {"odd": 1}}
    assert acted["tool_calls"][1]["extra"] == {"odd": True}
    assert "observation" not in acted
    assert (copied["is_copied_context"], copied["metrics"]) == (True, {"prompt_tokens": 10})
    assert copied["extra"] == {"trajectory": "trajectory.cont-1"}
    found, lost = last["observation"]["results"]
    [reference] = found["subagent_trajectory_ref"]
    assert reference == {"trajectory_id": "trajectory.sub-1", "session_id": "x"}
    assert set(lost) == {"extra"}
    assert lost["extra"]["call"]["tool_call_id"] == "no such call"
    subs = root["subagent_trajectories"]
    assert [(each["trajectory_id"], each["agent"]["name"]) for each in subs] == [
        ("trajectory.sub-1", "helper"),
        ("trajectory.sub-1/inner", "crab"),
    ]
    assert subs[0]["agent"]["model_name"] == "nano"
    import_into(again, tmp_path / "out")
    again.sync()
    trials = f"SELECT {TRIAL}, {FIGURES} FROM trials"
    assert again.sql(trials).fetchall() == store.sql(trials).fetchall()


@pytest.mark.slow
def test_steps_of_another_format_become_turns_with_their_calls(tmp_path, arena):
    told = {"first_message": 3, "last_message": 4}
    tool = {"kind": "tool", "name": "run", "arguments": '"ls"', "error": "gone", "exit_code": 2}
    store = arena(
        {"kind": "other", "name": "span"},
        {"kind": "tool", "name": "start"},
        {"kind": "model", "model": "gpt", "input_tokens": 5, "reasoning_tokens": 1, **told},
        tool,
        {"kind": "model", "model": "nano", "text": "sub", "trajectory": "x", "agent": "helper"},
        {"kind": "user", "text": "why?", "input_tokens": 7, "model": "sim", "step_id": "u"},
        {"kind": "tool", "name": "look", "parent_id": "u", "text": "seen", "call_id": "k"},
        {"kind": "error", "name": "error", "error": "broken", "ended_at": END},
        messages=[
            {"role": "system", "text": "Be brief."},
            {"role": "assistant", "text": "an answer that no step has"},
            {"role": "user", "text": "Go."},
            {"role": "assistant", "text": "Going."},
        ],
        objective_pass=False,
    )
    [root] = export(store, tmp_path / "out").values()
    began, system, user, acted, asked, broken = root["steps"]
    assert (began["message"], began["llm_call_count"], began["tool_calls"]) == (
        *("", 0),
        [{"tool_call_id": "call-2", "function_name": "start", "arguments": {}}],
    )
    assert [each["message"] for each in (system, user, acted)] == ["Be brief.", "Go.", "Going."]
    assert acted["metrics"] == {"prompt_tokens": 5, "extra": {"reasoning_tokens": 1}}
    assert acted["tool_calls"][0]["arguments"] == {"value": "ls"}
    assert acted["observation"]["results"] == [
        {
            "content": "gone",
            "extra": {"exit_code": 2, "is_error": True},
            "source_call_id": "call-4",
            "subagent_trajectory_ref": [{"trajectory_id": "x"}],
        }
    ]
    # Steps of others than the agent have neither metrics nor calls.
    assert set(asked) == {"step_id", "source", "message", "extra", "observation"}
    assert asked["extra"] == {"model_name": "sim", "metrics": {"prompt_tokens": 7}}
    [seen] = asked["observation"]["results"]
    assert (seen["content"], seen["extra"]["call"]["function_name"]) == ("seen", "look")
    assert (broken["source"], broken["message"]) == ("system", "broken")
    end = "2026-01-01T00:00:01+00:00"
    assert broken["extra"] == {"kind": "error", "name": "error", "ended_at": end}
    [sub] = root["subagent_trajectories"]
    assert (sub["trajectory_id"], sub["agent"]) == (
        "x",
        {"name": "helper", "version": "", "model_name": "nano"},
    )
    assert root["final_metrics"] == {"total_prompt_tokens": 12}
    assert root["extra"]["evalstore"]["passed"] is False


@pytest.mark.slow
def test_what_was_asked_comes_before_steps_that_do_not_say_it(tmp_path, arena):
    messages = [{"role": "user", "text": "2 + 2?"}, {"role": "assistant", "text": "4"}]
    store = arena({"kind": "model", "text": "4"}, messages=[*messages, messages[0]])
    [root] = export(store, tmp_path / "out").values()
    assert [(each["source"], each["message"]) for each in root["steps"]] == [
        ("user", "2 + 2?"),
        ("agent", "4"),
    ]
    assert root["agent"] == {"name": "agent not recorded", "version": "", "model_name": "gpt"}
    assert "final_metrics" not in root


@pytest.mark.slow
def test_the_same_trials_give_the_same_files_which_are_no_parts_of_others(tmp_path, arena):
    store = arena({"kind": "model", "text": "4"})
    [name] = export(store, tmp_path / "one")
    export(store, tmp_path / "two")
    assert files_in(tmp_path / "one") == files_in(tmp_path / "two")
    assert name.startswith("a_b-")
    done = command(store.path, "export", "atif", "--to", tmp_path / "one")
    assert done.out == f"{tmp_path / 'one' / 'arena' / 'r'}\n"


@pytest.mark.slow
def test_a_trial_without_a_turn_is_left_out_and_counted(tmp_path, arena):
    store = arena({"kind": "other", "name": "span"})
    assert export(store, tmp_path / "out", code=1) == {}


@pytest.mark.slow
def test_a_run_without_steps_is_refused(tmp_path, arena):
    store = arena()
    done = command(store.path, "export", "atif", "--to", tmp_path / "out", "--run", "r")
    assert done.code == 2
    assert "run 'r' has no steps of agents" in done.err
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_runs_without_steps_are_counted(tmp_path, arena):
    store = arena({"kind": "model", "text": "4"})
    other = {**RUN, "run_id": "q"}
    result = {**other, "content_id": "q", "seq": 1, "model": "gpt", "task_set": "core"}
    add_rows(store.lake, runs=[{**other, "content_id": "run q"}], results=[result])
    done = command(store.path, "export", "atif", "--to", tmp_path / "out")
    assert done.code == 0
    assert "runs without steps, and so without trajectories: 1" in done.err
