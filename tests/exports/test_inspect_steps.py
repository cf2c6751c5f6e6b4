"""Exports of trials as Inspect logs: their steps are events, and are imported again as steps."""

import json
import zipfile
from datetime import datetime

import pytest
from support import add_rows, command, import_into, new_store
from trials import TRIALS, needs_trials

from exports.inspect.messages import made_message

AT = datetime.fromisoformat("2026-01-01T00:00:05")
RUN = {"suite": "arena", "run_id": "r", "generation": "root"}
SUMS = """
    SELECT
        count(*) FILTER (kind = 'model'), sum(input_tokens), sum(output_tokens),
        sum(cached_tokens), round(sum(cost_usd), 9)
    FROM steps
    WHERE kind = 'model' AND NOT is_copied
"""
CALLS = """
    SELECT name, count(*), count(*) FILTER (error IS NOT NULL OR exit_code <> 0)
    FROM steps
    WHERE kind = 'tool' AND NOT is_copied
    GROUP BY name
    ORDER BY name
"""


def exported(store, folder):
    """Export a store, and return the samples and what a store of them has."""
    done = command(store.path, "export", "inspect", "--to", folder / "out")
    assert done.code == 0, done.err
    again = new_store(folder / "again")
    assert import_into(again, folder / "out").n_quarantined == 0
    again.sync()
    samples = []
    for path in sorted((folder / "out").glob("*.eval")):
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if name.startswith("samples/")]
            samples += [json.loads(archive.read(name)) for name in names]
    return samples, again


@pytest.fixture
def trial(store):
    """Return a store of a trial with a sub-agent, a failed call and a repeated step."""
    sub = {"trajectory": "x", "agent": "helper"}
    steps = [
        {"kind": "user", "text": "Go."},
        {"kind": "model", "model": "gpt", "first_message": 1, "last_message": 2, "reasoning": "hm"}
        | {"input_tokens": 5, "started_at": AT, "ended_at": AT},
        {"kind": "tool", "name": "run", "arguments": '"ls"', "text": "no", "exit_code": 2},
        {"kind": "tool", "name": "look", "call_id": "k"},
        {"kind": "model", "model": "nano", "text": "found", "output_tokens": 1, **sub},
        {"kind": "agent", "name": "planner", "step_id": "span"},
        {"kind": "model", "text": "planned", "parent_id": "span"},
        {"kind": "model", "text": "again", "is_copied": True},
        {"kind": "other", "name": "mark"},
        {"kind": "error", "error": "broken"},
    ]
    result = {"content_id": "t", "trial_id": "t", "seq": 1, "model": "crab 2 (gpt)"}
    said = [{"role": "user", "text": "Go."}, {"role": "assistant", "text": "Going."}]
    add_rows(
        store.lake,
        runs=[{**RUN, "content_id": "run"}],
        results=[{**RUN, **result, "task_set": "core", "task_id": "t1"}],
        steps=[
            {**RUN, "content_id": f"t#{seq}", "result_id": "t", "seq": seq, **step}
            for seq, step in enumerate(steps, 1)
        ],
        messages=[
            {**RUN, "content_id": f"m{seq}", "result_id": "t", "seq": seq, **message}
            for seq, message in enumerate(said, 1)
        ],
    )
    store.sync()
    return store


@pytest.mark.slow
def test_steps_are_events_in_spans(trial, tmp_path):
    [sample], again = exported(trial, tmp_path)
    found = [(event["event"], event["span_id"]) for event in sample["events"]]
    assert found == [
        *[("span_begin", "trial"), ("input", "trial"), ("model", "trial"), ("tool", "trial")],
        ("tool", "trial"),
        *[("span_begin", "x"), ("model", "x"), ("span_begin", "span"), ("model", "span")],
        *[("error", "trial"), ("span_end", "span"), ("span_end", "x"), ("span_end", "trial")],
    ]
    begin, _, model, tool, look, helper, *_ = sample["events"]
    assert (begin["name"], helper["name"], helper["parent_id"]) == (
        *("crab 2 (gpt)", "helper"),
        "trial",
    )
    assert model["output"]["usage"] == {"input_tokens": 5, "total_tokens": 5}
    [choice] = model["output"]["choices"]
    reasoning = {"type": "reasoning", "reasoning": "hm"}
    assert choice["message"]["content"] == [reasoning, {"type": "text", "text": "Going."}]
    assert model["timestamp"] == model["completed"] == "2026-01-01T00:00:05+00:00"
    assert tool["error"] == {"type": "unknown", "message": "exit code 2"}
    assert (tool["id"], tool["arguments"]) == ("call-3", {"value": "ls"})
    assert (look["id"], look["arguments"], look["result"]) == ("k", {}, "")
    trajectories = (
        "SELECT agent, trajectory, count(*) FROM steps WHERE kind = 'model' GROUP BY ALL ORDER BY 1"
    )
    assert again.sql(trajectories).fetchall() == [
        ("crab 2 (gpt)", None, 1),
        ("helper", "x", 1),
        ("planner", "span", 1),
    ]


@pytest.mark.slow
def test_a_sample_without_steps_has_no_events(examples, tmp_path):
    samples, _ = exported(examples, tmp_path)
    assert samples
    assert {len(sample["events"]) for sample in samples} == {0}


@pytest.mark.slow
@needs_trials
@pytest.mark.parametrize("form", ["atif", "harbor", "otel", "sessions", "swe-bench", "tau-bench"])
def test_calls_tokens_and_errors_come_back(store, tmp_path, form):
    import_into(store, TRIALS / form, redact=True)
    store.sync()
    _, again = exported(store, tmp_path)
    for text in (SUMS, CALLS):
        assert again.sql(text).fetchall() == store.sql(text).fetchall()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"role": "exit", "text": "done"}, {"role": "user", "content": "done"}),
        (
            {"role": "user", "text": "3", "tool_call_id": "c"},
            {"role": "tool", "content": "3", "tool_call_id": "c"},
        ),
        (
            {"role": "user", "text": "a", "parts": '[{"type": "text", "text": "b"}]'},
            {"role": "user", "content": [{"type": "text", "text": "b"}]},
        ),
        (
            {"role": "user", "text": "a", "parts": '[{"type": "tool_call", "id": "c"}]'},
            {"role": "user", "content": "a"},
        ),
        (
            {"role": "assistant", "tool_calls": '[{"id": "c", "function": "f"}, {"id": 1}]'},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [
                    {"arguments": {}, "id": "c", "function": "f", "type": "function"},
                ],
            },
        ),
    ],
)
def test_a_message_has_only_what_inspect_takes(given, expected):
    names = ("role", "text", "parts", "tool_calls", "tool_call_id", "extra")
    assert made_message({**dict.fromkeys(names), **given}) == expected
