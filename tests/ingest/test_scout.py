"""Inspect Scout's transcripts: a trial per row, equal to the reference rows."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from peers import query
from support import NO_REFERENCE, REFERENCE, digests, import_into, new_store

FOLDER = REFERENCE / "trials" / "inspect-agents"

ROW = {
    "transcript_id": "t1",
    "source_type": "eval_log",
    "source_id": "e1",
    "date": "2026-11-23T17:27:40Z",
    "task_set": "agents",
    "task_id": "wrong-1",
    "task_repeat": 2,
    "agent": "react",
    "model": "m",
    "score": "I",
    "success": False,
    "total_time": 5.5,
    "error": "",
    "limit": "message",
    "messages": json.dumps(
        [{"id": "a", "role": "user", "content": "hi"}, {"id": "b", "role": "tool", "content": "x"}]
    ),
    "events": json.dumps(
        [
            {"event": "span_begin", "id": "s", "type": "agent", "name": "react"},
            {
                "event": "model",
                "span_id": "s",
                "model": "m",
                "output": {
                    "choices": [{"message": {"id": "z", "content": "sub"}}],
                    "usage": {"input_tokens": 5, "output_tokens": 2},
                },
            },
            {"event": "tool", "id": "c", "function": "f", "arguments": {}, "message_id": "b",
             "result": "x", "error": {"type": "timeout", "message": "late"}},
        ]
    ),
}  # fmt: skip


def write(path, *rows):
    pq.write_table(pa.Table.from_pylist(list(rows)), path)
    return path


@pytest.fixture(scope="module")
def transcripts(tmp_path_factory):
    if not FOLDER.is_dir():
        pytest.skip(NO_REFERENCE)
    store = new_store(tmp_path_factory.mktemp("scout") / "store")
    import_into(store, FOLDER / "scout_s")
    with store.reading():  # open for all tests
        yield store


def test_every_transcript_equals_its_reference(transcripts):
    found = {row["trial_id"]: row for row in query(transcripts, "FROM trials")}
    rows = map(json.loads, (FOLDER / "oracle.jsonl").read_text("utf-8").splitlines())
    expected = [row for row in rows if row["row"] == "scout_transcript"]
    assert len(found) == len(expected) == 21
    for trial in expected:
        row = found[trial["transcript_id"]]
        same = {"source_id": "run_id", "task_set": "task_set", "task_id": "task_id"}
        same |= {"task_repeat": "attempt", "agent": "agent", "model": "model", "success": "passed"}
        for name, column in same.items():
            assert row[column] == trial[name], (trial["transcript_id"], name)
        assert row["duration_ms"] == pytest.approx(trial["total_time"] * 1000)
        assert row["input_tokens"] + row["output_tokens"] == trial["total_tokens"]
        assert (row["recorded_end"] or "") == (trial["limit"] or trial["error"])
        counted = query(
            transcripts,
            "SELECT count(*) AS n FROM messages WHERE result_id = $id",
            id=row["result_id"],
        )
        assert counted == [{"n": trial["message_count"]}]


@pytest.mark.slow
def test_a_row_is_a_trial(tmp_path):
    store = new_store(tmp_path / "store")
    import_into(store, write(tmp_path / "a.parquet", ROW))
    before = digests(store)
    (trial,) = query(store, "FROM trials")
    assert (trial["end_reason"], trial["recorded_end"]) == ("limit", "message")
    assert (trial["n_steps"], trial["n_tool_calls"], trial["n_tool_errors"]) == (3, 1, 1)
    assert (trial["input_tokens"], trial["system"]) == (5, "react (m)")
    agent, model, tool = query(store, "FROM steps ORDER BY seq")
    assert (agent["kind"], model["parent_id"], model["text"]) == ("agent", "s", "sub")
    assert (tool["text"], tool["first_message"]) == (None, 2)
    (score,) = query(store, "FROM result_scores WHERE metric = 'score'")
    assert score["text"] == "I"
    import_into(store, tmp_path / "a.parquet")
    assert digests(store) == before


@pytest.mark.slow
def test_a_transcript_with_an_error_and_a_verdict_is_no_contradiction(tmp_path):
    rows = [
        {**ROW, "transcript_id": f"t{n}", "error": "lost", "success": passed}
        for n, passed in enumerate((None, False, True))
    ]
    store = new_store(tmp_path / "store")
    import_into(store, write(tmp_path / "a.parquet", *rows))
    found = query(store, "SELECT success, failure_type, violation FROM results ORDER BY trial_id")
    expected = [(False, "error", "lost"), (True, None, "lost"), (True, None, None)]
    assert [tuple(row.values()) for row in found] == expected
    assert {row["end_reason"] for row in query(store, "FROM trials")} == {"error"}
    assert not query(store, "FROM checks.contradictory_outcomes")


@pytest.mark.slow
def test_what_cannot_be_used_is_rejected(tmp_path):
    broken = {**ROW, "messages": "[7, {", "events": '[1, {"event": 3}]', "transcript_id": "t2"}
    store = new_store(tmp_path / "store")
    import_into(store, write(tmp_path / "a.parquet", ROW, {**ROW, "transcript_id": None}, broken))
    trials = query(store, "FROM trials ORDER BY trial_id")
    assert [row["trial_id"] for row in trials] == ["t1", "t2"]
    (reject,) = query(store, "FROM quarantine")
    assert (reject["line"], reject["reason"]) == (2, "has no transcript_id")
