"""Harbor's trials and jobs, and ATIF: what the reference logs do not have."""

import json

import pytest
from peers import query
from support import digests, import_into, new_store


def step(number, source="agent", **fields):
    return {"step_id": number, "source": source, "message": f"m{number}", **fields}


def document(*steps, **fields):
    return {
        "schema_version": "ATIF-v1.7",
        "session_id": "s",
        "agent": {"name": "crab", "version": "2", "model_name": "gpt"},
        "steps": list(steps),
        **fields,
    }


def write(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), "utf-8")
    return path


def trial(name="t__1", **fields):
    return {
        "id": f"id-{name}",
        "task_name": "t",
        "trial_name": name,
        "task_checksum": "c",
        "source": None,
        "config": {"job_id": "job", "trials_dir": "/jobs/j"},
        "agent_info": {"name": "crab", "version": "2", "model_info": None},
        "agent_result": None,
        "verifier_result": None,
        "exception_info": None,
        "step_results": None,
        **fields,
    }


def imported(store, *paths):
    summary = import_into(store, *paths)
    store.sync()
    return summary


@pytest.mark.slow
def test_a_chain_is_one_trial_and_copied_context_does_not_count(store, tmp_path):
    tokens = {"prompt_tokens": 10, "completion_tokens": 2}
    first = document(step(1, "user"), step(2, metrics=tokens))
    first["continued_trajectory_ref"] = "trajectory.cont-1.json"
    copied = [step(1, "user", is_copied_context=True)]
    copied.append(step(2, is_copied_context=True, metrics=tokens, tool_calls=[call()]))
    second = document(*copied, step(3, metrics=tokens), session_id="s-cont-1")
    sub = document(step(1, metrics=tokens), agent={"name": "summary", "version": "2"})
    write(tmp_path / "logs/trajectory.json", first)
    write(tmp_path / "logs/trajectory.cont-1.json", second)
    write(tmp_path / "logs/trajectory.summarization-1-summary.json", sub)
    imported(store, tmp_path / "logs")
    [row] = query(store, "FROM trials")
    assert (row["trial_id"], row["n_steps"], row["n_tool_calls"]) == ("s", 3, 0)
    assert (row["input_tokens"], row["token_scope"]) == (30, "chain")
    names = {(row["trajectory"], row["agent"]) for row in query(store, "FROM steps")}
    assert names == {
        (None, None),
        ("trajectory.cont-1", None),
        ("trajectory.summarization-1-summary", "summary"),
    }


@pytest.mark.slow
def test_what_is_no_document_among_several_is_rejected(store, tmp_path):
    several = {
        "a": document(step(1)),
        "b": 7,
        "c": {"steps": []},
        "d": document(step(1), session_id="d"),
    }
    summary = imported(store, write(tmp_path / "several.json", several))
    assert [row["trial_id"] for row in query(store, "FROM trials ORDER BY ALL")] == ["d", "s"]
    assert summary.n_quarantined == 2
    reasons = [row["reason"] for row in query(store, "FROM quarantine ORDER BY reason")]
    assert reasons == ["b: no ATIF document", "c: no ATIF document"]


def call(**fields):
    return {"tool_call_id": "c", "function_name": "bash", "arguments": {"cmd": "ls"}, **fields}


@pytest.mark.slow
def test_a_call_with_its_result_and_a_result_without_a_call(store, tmp_path):
    results = [
        {"source_call_id": "c", "content": "gone", "extra": {"exit_code": 2, "is_error": True}},
        {"content": [{"type": "text", "text": "seen"}, {"type": "image", "data": "A" * 2000}]},
    ]
    acted = step(1, tool_calls=[call()], observation={"results": results})
    write(tmp_path / "a.json", document(acted, step(2, llm_call_count=0)))
    imported(store, tmp_path / "a.json")
    rows = query(store, "FROM steps ORDER BY seq")
    assert [(row["seq"], row["kind"], row["text"]) for row in rows] == [
        (1, "model", "m1"),
        (2, "tool", "gone"),
        (3, "sandbox", "seen"),
        (4, "agent", "m2"),
    ]
    tool = rows[1]
    assert (tool["name"], tool["arguments"]) == ("bash", '{"cmd":"ls"}')
    assert (tool["error"], tool["exit_code"], tool["is_counted"]) == ("gone", 2, False)
    assert "AAAA" not in rows[2]["extra"]
    assert "sha256" in rows[2]["extra"]
    [row] = query(store, "FROM trials")
    assert (row["n_steps"], row["n_tool_errors"], row["passed"]) == (2, 1, None)
    assert query(store, "SELECT seq, event FROM events") == [{"seq": 1, "event": "trajectory"}]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rewards", "exception", "expected"),
    [
        ({"reward": 1.0}, None, (True, "solved", "ok")),
        ({"reward": 1}, "AgentTimeoutError", (True, "timeout", "ok")),
        ({"reward": 0.5, "exists": 1}, None, (False, "gave_up", "ok")),
        ({"a": 1, "b": 1}, None, (True, "solved", "ok")),
        ({"a": 1, "b": 0}, None, (False, "gave_up", "ok")),
        ({"a": None, "b": 0}, None, (False, "gave_up", "ok")),
        ({"a": None, "b": 1}, None, (None, "unknown", "ok")),
        (None, "EnvironmentStartTimeoutError", (None, "error", "error")),
        (None, "ContextLengthExceededError", (None, "limit", "error")),
        (None, None, (None, "unknown", "ok")),
    ],
)
def test_the_verdict_and_the_end(store, tmp_path, rewards, exception, expected):
    value = trial()
    value["verifier_result"] = rewards and {"rewards": rewards}
    value["exception_info"] = exception and {"exception_type": exception}
    write(tmp_path / "j/t__1/result.json", value)
    imported(store, tmp_path / "j")
    [row] = query(store, "FROM results JOIN trials USING (suite, run_id, result_id)")
    assert (row["passed"], row["end_reason"], row["availability_status"]) == expected
    assert row["recorded_end"] == exception
    assert row["system"] == "crab 2 (model not recorded)"


@pytest.mark.slow
def test_a_task_of_several_steps(store, tmp_path):
    value = trial(verifier_result={"rewards": {"reward": 0.5}})
    value["step_results"] = [
        {
            "step_name": name,
            "agent_result": {"n_input_tokens": 10, "n_output_tokens": 1, "cost_usd": 0.5},
            "verifier_result": {"rewards": {"reward": reward}},
        }
        for name, reward in (("one", 1), ("two", 0))
    ]
    folder = tmp_path / "j/t__1"
    write(folder / "result.json", value)
    for name in ("one", "two"):
        write(folder / "steps" / name / "agent/trajectory.json", document(step(1), step(2)))
    imported(store, tmp_path / "j")
    [row] = query(store, "FROM trials")
    assert (row["input_tokens"], row["cost_usd"], row["n_steps"]) == (20, 1.0, 4)
    assert row["passed"] is False
    found = query(
        store,
        "FROM result_scores SELECT metric, value, counts "
        "WHERE check_class = 'reward' ORDER BY metric",
    )
    assert [tuple(each.values()) for each in found] == [
        ("one/reward", 1.0, False),
        ("reward", 0.5, True),
        ("two/reward", 0.0, False),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("tokens", [0, None])
def test_a_cost_without_tokens_is_known(store, tmp_path, tokens):
    amounts = {"n_input_tokens": tokens, "n_output_tokens": tokens, "cost_usd": 0.42}
    write(tmp_path / "j/t__1/result.json", trial(agent_result=amounts))
    imported(store, tmp_path / "j")
    [row] = query(store, "FROM trials")
    assert (row["cost_usd"], row["input_tokens"], row["output_tokens"]) == (0.42, None, None)


@pytest.mark.slow
def test_a_trial_in_the_file_of_its_job_and_in_its_own_is_one(tmp_path):
    amounts = {"n_input_tokens": 0, "n_output_tokens": None, "cost_usd": 0}
    value = trial(verifier_result={"rewards": {"reward": 1}}, agent_result=amounts)
    other = trial("t__2", verifier_result={"rewards": {"reward": 0}})
    stats = {"n_trials": 2, "n_errors": 0, "evals": {}}
    stats["evals"]["crab__adhoc"] = {
        "n_trials": 2,
        "metrics": [{"mean": 0.5}],
        "pass_at_k": {"2": 1.0},
    }
    job = {"id": "job", "n_total_trials": 2, "stats": stats, "trial_results": [value, other]}
    alone = write(tmp_path / "alone/result.json", job)
    write(tmp_path / "j/result.json", job)
    own = write(tmp_path / "j/t__1/result.json", value)
    found = []
    for name, paths in {"a": [own, alone], "b": [alone, own], "c": [alone.parent]}.items():
        store = new_store(tmp_path / name)
        for path in paths:
            imported(store, path)
        rows = query(store, "FROM trials ORDER BY trial_id")
        assert [(row["trial_id"], row["input_tokens"], row["cost_usd"]) for row in rows] == [
            ("id-t__1", None, None),
            ("id-t__2", None, None),
        ]
        assert {row["status"] for row in query(store, "FROM metric_audit")} == {"equal"}
        found.append(digests(store))
    assert found[0] == found[1]


@pytest.mark.slow
def test_what_cannot_be_used_is_rejected_with_its_place(store, tmp_path):
    text = json.dumps(document(step(1), 7, step(2)), indent=1)
    (tmp_path / "a.json").write_text(text.replace('"m2"', "m2"), "utf-8")
    write(tmp_path / "b.json", {"schema_version": "ATIF-v1.7", "agent": {}, "steps": 3})
    (tmp_path / "j/t__1").mkdir(parents=True)
    (tmp_path / "j/t__1/result.json").write_text(json.dumps(trial())[:-1], "utf-8")
    assert imported(store, tmp_path).n_quarantined == 4
    rows = query(store, "FROM quarantine ORDER BY path, reason")
    assert {row["path"].rpartition("/")[2] for row in rows} == {"a.json", "b.json", "t__1"}
    line = text[: text.index('"m2"')].count("\n")
    assert any(row["line"] is not None and abs(row["line"] - line) < 4 for row in rows)
    [trial_row] = query(store, "FROM trials WHERE n_steps IS NOT NULL")
    assert trial_row["n_steps"] == 1


@pytest.mark.slow
def test_a_document_that_is_cut_off_keeps_its_whole_steps(store, tmp_path):
    text = json.dumps({**document(step(1), step(2), step(3)), "schema_version": "ATIF-v1.7"})
    (tmp_path / "a.json").write_text(text[: text.index('"m3"')], "utf-8")
    assert imported(store, tmp_path).n_quarantined == 1
    [row] = query(store, "FROM trials")
    assert row["n_steps"] == 2


@pytest.mark.slow
def test_ids_of_calls_that_are_no_texts_join_nothing(store, tmp_path):
    calls = [{"tool_call_id": [1], "function_name": "ls", "arguments": {}}]
    observed = {"results": [{"source_call_id": [1], "content": "a.txt"}]}
    write(tmp_path / "a.json", document(step(1, tool_calls=calls, observation=observed)))
    imported(store, tmp_path)
    rows = query(store, "FROM steps WHERE NOT is_counted ORDER BY seq")
    assert [(row["name"], row["text"]) for row in rows] == [("ls", None), (None, "a.txt")]


@pytest.mark.slow
def test_documents_without_ids_are_told_apart_by_their_first_step(store, tmp_path):
    for name, text in {"a": "one", "b": "two", "copy": "one"}.items():
        value = document(step(1, "user", message=text), step(2))
        del value["session_id"]
        write(tmp_path / name / "t.json", value)
    imported(store, tmp_path)
    assert len(query(store, "FROM trials")) == 2


@pytest.mark.slow
def test_a_step_of_an_unknown_source_keeps_its_source_and_no_tokens_twice(store, tmp_path):
    odd = step(1, "oracle", metrics={"prompt_tokens": 5, "logprobs": [0.5]})
    write(tmp_path / "a.json", document(odd))
    imported(store, tmp_path)
    [row] = query(store, "FROM steps")
    assert (row["kind"], row["input_tokens"]) == ("other", 5)
    assert json.loads(row["extra"]) == {"source": "oracle", "metrics": {"logprobs": [0.5]}}
