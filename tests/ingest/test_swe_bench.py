"""SWE-bench: variants of predictions, reports and trajectories that the samples lack."""

import json

import pytest
from support import digests, import_into, new_store

from ingest.reconciliation import FileOutcome

ID = "django__django-1"
LABEL = "agent-gpt-4"


def prediction(**fields):
    return {"instance_id": ID, "model_name_or_path": LABEL, "model_patch": "diff", **fields}


def write(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    text = value if isinstance(value, str) else json.dumps(value)
    path.write_text(text, "utf-8")
    return path


def lines(*records):
    return "".join(f"{json.dumps(record)}\n" for record in records)


def instance_report(*, f2p=(), f2p_failed=(), resolved=True, instance=ID):
    return {
        instance: {
            "patch_is_None": False,
            "patch_exists": True,
            "patch_successfully_applied": True,
            "resolved": resolved,
            "tests_status": {
                "FAIL_TO_PASS": {"success": list(f2p), "failure": list(f2p_failed)},
                "PASS_TO_PASS": {"success": [], "failure": []},
                "FAIL_TO_FAIL": {"success": [], "failure": ["old"]},
            },
        }
    }


def run_report(**ids):
    names = ("resolved", "unresolved", "empty_patch", "error", "incomplete")
    lists = {f"{name}_ids": ids.get(name, []) for name in names}
    submitted = [each for name in names[:-1] for each in lists[f"{name}_ids"]]
    counts = {f"{name}_instances": len(lists[f"{name}_ids"]) for name in names[:-1]}
    completed = len(lists["resolved_ids"]) + len(lists["unresolved_ids"])
    return {
        "total_instances": 300,
        "submitted_instances": len(submitted),
        "completed_instances": completed,
        **counts,
        "submitted_ids": submitted,
        **lists,
        "schema_version": 2,
    }


def swe_agent(**fields):
    element = {
        "action": "ls -a\n",
        "observation": "a.py",
        "response": "Look.\nls -a",
        "thought": "Look.",
        "state": {"open_file": "n/a"},
        "execution_time": 0.5,
        "query": [{"role": "system", "content": "you are"}],
    }
    stats = {"instance_cost": 0.5, "tokens_sent": 100, "tokens_received": 7, "api_calls": 2}
    return {
        "environment": "main",
        "trajectory": [element, {**element, "action": ""}],
        "history": [
            {"role": "system", "content": "you are", "agent": "main"},
            {"role": "assistant", "content": "shown", "agent": "main", "is_demo": True},
            {"role": "user", "content": "fix it", "agent": "main"},
            {"role": "assistant", "content": "Look.\nls -a", "agent": "main"},
        ],
        "info": {"exit_status": "submitted", "submission": "diff", "model_stats": stats},
        **fields,
    }


def mini(*, end="Submitted", **fields):
    usage = {"prompt_tokens": 10, "completion_tokens": 3}
    call = {"actions": [{"command": "false"}], "cost": 0.1, "timestamp": 1795454726.0}
    call["response"] = {"usage": usage, "choices": [{"message": "again"}]}
    output = {"raw_output": "no", "returncode": 1, "timestamp": 1795454728.0}
    return {
        "info": {
            "model_stats": {"instance_cost": 0.1, "api_calls": 1},
            "config": {"model": {"model_name": "gpt"}},
            "mini_version": "2.0",
            "exit_status": end,
            "submission": "",
        },
        "messages": [
            {"role": "system", "content": "fix"},
            {"role": "assistant", "content": "try", "extra": call},
            {"role": "tool", "content": "<output>no</output>", "extra": output},
            {"role": "exit", "content": end, "extra": {"exit_status": end}},
        ],
        "trajectory_format": "mini-swe-agent-1.1",
        "instance_id": ID,
        **fields,
    }


@pytest.fixture
def store(tmp_path):
    return new_store(tmp_path / "store")


def rows(store, columns, table="trials"):
    return store.sql(f"SELECT {columns} FROM {table} ORDER BY ALL").fetchall()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("preds.json", {ID: prediction(), "b": prediction(instance_id="b", model_patch="")}),
        ("preds.json", [prediction(), prediction(instance_id="b", model_patch="")]),
        ("all_preds.jsonl", lines(prediction(), prediction(instance_id="b", model_patch=""))),
    ],
)
def test_predictions_of_each_form_are_the_same_trials(store, tmp_path, name, text):
    summary = import_into(store, write(tmp_path / "mine" / name, text))
    assert summary.n_quarantined == 0
    columns = "run_id, trial_id, system, model, passed, end_reason"
    assert rows(store, columns) == [
        ("mine", "b", LABEL, None, None, "unknown"),
        ("mine", ID, LABEL, None, None, "unknown"),
    ]
    assert rows(store, "raw_output", "lake.results") == [("",), ("diff",)]
    again = import_into(store, write(tmp_path / "copy" / "mine" / name, text))
    assert again.n_results == 0


@pytest.mark.slow
def test_predictions_that_cannot_be_used_are_quarantined_with_their_line(store, tmp_path):
    bad = ["[1]", "{", lines({"instance_id": 3}).strip(), json.dumps(prediction(model_patch=[1]))]
    text = lines(prediction(model_patch=None)) + "\n".join(bad)
    import_into(store, write(tmp_path / "x" / "all_preds.jsonl", text))
    found = rows(store, "line, reason", "lake.quarantine")
    assert [line for line, _ in found] == [2, 3, 4, 5]
    assert found[2][1] == "a prediction without instance_id or model_name_or_path"
    assert found[3][1] == "model_patch is not a text"
    assert rows(store, "raw_output", "lake.results") == [(None,)]


@pytest.mark.slow
def test_a_repeated_instance_is_numbered_and_an_equal_line_is_not_repeated(store, tmp_path):
    text = lines(prediction(), prediction(), prediction(model_patch="other"))
    import_into(store, write(tmp_path / "x" / "all_preds.jsonl", text))
    assert rows(store, "trial_id") == [(ID,), (f"{ID}#2",)]
    assert rows(store, "seq, raw_output", "lake.results") == [(1, "diff"), (2, "other")]


@pytest.mark.slow
def test_a_run_report_counts_what_is_not_resolved(store, tmp_path):
    report = run_report(
        resolved=["a"], unresolved=["b"], empty_patch=["c"], error=["d"], incomplete=["e"]
    )
    import_into(store, write(tmp_path / "org__gpt-4.1.my-run.json", report))
    assert rows(store, "run_id, system, trial_id, passed, end_reason") == [
        ("my-run", "org__gpt-4.1", "a", True, "solved"),
        ("my-run", "org__gpt-4.1", "b", False, "gave_up"),
        ("my-run", "org__gpt-4.1", "c", False, "gave_up"),
        ("my-run", "org__gpt-4.1", "d", None, "error"),
    ]
    assert rows(store, "task_id, availability_status, success", "lake.results")[3][1:] == (
        "error",
        False,
    )
    audited = {
        metric: found
        for metric, *found in rows(store, "metric, reported, recomputed", "metric_audit")
    }
    assert audited.pop("total_instances") == [300.0, None]
    assert audited == {
        "submitted_instances": [4.0, 4.0],
        "completed_instances": [2.0, 2.0],
        "resolved_instances": [1.0, 1.0],
        "unresolved_instances": [1.0, 1.0],
        "empty_patch_instances": [1.0, 1.0],
        "error_instances": [1.0, 1.0],
    }
    (extra,) = rows(store, "extra ->> '$.incomplete_ids[0]'", "lake.runs")
    assert extra == ("e",)


@pytest.mark.slow
def test_the_report_of_an_instance_takes_the_place_of_the_line_of_its_run(store, tmp_path):
    logs = tmp_path / "logs" / "run_evaluation" / "my-run" / LABEL
    write(logs / ID / "report.json", instance_report(f2p=["t1"], f2p_failed=["t2"], resolved=False))
    write(logs / ID / "patch.diff", "the patch")
    # The run was scored again, with another verdict.
    report = run_report(resolved=["other", ID])
    write(tmp_path / f"{LABEL}.my-run.json", report)
    import_into(store, tmp_path)
    assert rows(store, "run_id, system, trial_id, passed") == [
        ("my-run", LABEL, ID, False),
        ("my-run", LABEL, "other", True),
    ]
    assert rows(store, "raw_output", "lake.results") == [("the patch",), (None,)]
    columns = "metric, check_class, passed, counts"
    assert rows(store, columns, "lake.result_scores") == [
        ("old", "test", False, False),
        ("resolved", "harness", True, False),
        ("t1", "fail_to_pass", True, True),
        ("t2", "fail_to_pass", False, True),
    ]
    audited = rows(store, "metric, reported, recomputed", "metric_audit")
    assert ("resolved_instances", 2.0, 1.0) in audited
    assert ("submitted_instances", 2.0, 2.0) in audited


def test_equal_reports_of_an_instance_count_for_each_system_and_run(store, tmp_path):
    """Systems that solve an instance with the same tests have the same report of it."""
    expected = [(run, label, ID, True) for run in ("r1", "r2") for label in ("agent-a", "agent-b")]
    for run, label, _, _ in expected:
        folder = tmp_path / "logs" / "run_evaluation" / run / label / ID
        write(folder / "report.json", instance_report(f2p=["t1"]))
    for _ in range(2):
        import_into(store, tmp_path / "logs")
        assert rows(store, "run_id, system, trial_id, passed") == expected


@pytest.mark.slow
def test_a_report_of_sb_cli_names_its_run(store, tmp_path):
    report = {**run_report(resolved=["a"]), "pending_instances": 1, "pending_ids": ["p"]}
    import_into(store, write(tmp_path / "swe-bench_lite__test__v1.json", report))
    assert rows(store, "run_id, trial_id, passed") == [("v1", "a", True), ("v1", "p", None)]


@pytest.mark.slow
def test_a_map_of_verdicts(store, tmp_path):
    verdicts = {"instance_a": True, "instance_b": False, "instance_c": "yes"}
    summary = import_into(store, write(tmp_path / "model-1" / "eval_results.json", verdicts))
    assert rows(store, "run_id, task_set, trial_id, passed") == [
        ("model-1", "swe-bench-pro", "instance_a", True),
        ("model-1", "swe-bench-pro", "instance_b", False),
    ]
    assert rows(store, "seq", "lake.results") == [(1,), (2,)]
    assert summary.n_quarantined == 1


@pytest.mark.slow
def test_the_lists_of_a_submission(store, tmp_path):
    lists = {"no_generation": ["a"], "no_logs": ["b"], "generated": ["b", "c", "d"]}
    folder = tmp_path / "20250101_mine"
    write(folder / "results" / "results.json", {**lists, "resolved": ["d"]})
    write(folder / "all_preds.jsonl", lines(prediction()))
    write(folder / "metadata.yaml", "name: Mine\noss: true\n")
    import_into(store, folder)
    assert rows(store, "run_id, trial_id, passed") == [
        ("20250101_mine", "a", False),
        ("20250101_mine", "b", None),
        ("20250101_mine", "c", False),
        ("20250101_mine", "d", True),
        ("20250101_mine", ID, None),
    ]
    configs = [config for (config,) in rows(store, "config", "lake.runs") if config]
    assert configs == ['{"name":"Mine","oss":true}']


@pytest.mark.slow
def test_zero_tokens_beside_a_cost_are_unknown(store, tmp_path):
    metrics = {"turns": 3, "cost_usd": 0.5, "input_tokens": 0, "output_tokens": 0}
    row = {"instance_id": ID, "success": True, "metrics": metrics, "error": None}
    late = {**row, "instance_id": "b", "error": "Timeout after 9 seconds"}
    import_into(store, write(tmp_path / "run" / "metrics.jsonl", lines(row, late)))
    columns = "trial_id, passed, n_steps, input_tokens, output_tokens, cost_usd, end_reason"
    assert rows(store, columns) == [
        ("b", None, 3, None, None, 0.5, "timeout"),
        (ID, None, 3, None, None, 0.5, "unknown"),
    ]


@pytest.mark.slow
def test_a_trajectory_of_swe_agent(store, tmp_path):
    agent = {"name": ID, "model": {"name": "gpt-4o"}}
    config = json.dumps({"agent": agent, "env": {"repo": "r"}})
    folder = tmp_path / LABEL
    write(folder / ID / f"{ID}.traj", swe_agent(replay_config=config))
    import_into(store, tmp_path)
    columns = "run_id, system, agent, model, trial_id, n_steps, n_tool_calls, input_tokens"
    assert rows(store, columns) == [(LABEL, LABEL, "SWE-agent", "gpt-4o", ID, 2, 2, 100)]
    steps = "seq, kind, parent_id, name, text, reasoning, is_counted"
    assert rows(store, steps, "steps")[:2] == [
        (1, "model", None, None, "Look.\nls -a", None, True),
        (2, "tool", "1", "ls", "a.py", None, False),
    ]
    # A demonstration is in the prompt; what the steps have is not there again.
    assert [text for _, text in rows(store, "seq, text", "messages")] == [
        "you are",
        "shown",
        "fix it",
    ]


@pytest.mark.slow
def test_the_prediction_of_a_trajectory_is_no_second_trial(store, tmp_path):
    folder = tmp_path / LABEL
    write(folder / f"{ID}.traj", swe_agent())
    write(folder / "args.yaml", "agent:\n  model:\n    model_name: gpt4\n")
    write(folder / "all_preds.jsonl", lines(prediction(), prediction(instance_id="b")))
    import_into(store, folder)
    assert rows(store, "trial_id, model, n_steps") == [("b", "gpt4", None), (ID, "gpt4", 2)]
    assert rows(store, "name", "artifacts") == [(f"predictions/{ID}",)]


@pytest.mark.slow
def test_the_prediction_beside_a_trajectory_of_mini_swe_agent_is_no_second_trial(store, tmp_path):
    write(tmp_path / "out" / ID / f"{ID}.traj.json", mini())
    write(tmp_path / "out" / "preds.json", {ID: prediction(model_name_or_path="gpt")})
    import_into(store, tmp_path / "out")
    assert rows(store, "trial_id, n_steps") == [(ID, 4)]
    assert rows(store, "name", "artifacts") == [(f"predictions/{ID}",)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("end", "reason", "status"),
    [
        ("submitted", "unknown", "ok"),
        ("submitted (exit_cost)", "limit", "ok"),
        ("exit_context", "limit", "ok"),
        ("exit_format", "unknown", "ok"),
        ("early_exit", "unknown", "ok"),
        ("exit_error", "error", "error"),
        (None, "unknown", "ok"),
    ],
)
def test_ends_of_swe_agent(store, tmp_path, end, reason, status):
    info = {"exit_status": end, "model_stats": {"instance_cost": 0, "tokens_sent": 0}}
    import_into(store, write(tmp_path / "x" / f"{ID}.traj", swe_agent(info=info)))
    assert rows(store, "recorded_end, end_reason, cost_usd") == [(end, reason, None)]
    assert rows(store, "availability_status", "lake.results") == [(status,)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("end", "reason"),
    [
        ("Submitted", "unknown"),
        ("LimitsExceeded", "limit"),
        ("TimeExceeded", "timeout"),
        ("RepeatedFormatError", "unknown"),
        ("KeyError", "error"),
    ],
)
def test_a_trajectory_of_mini_swe_agent(store, tmp_path, end, reason):
    import_into(store, write(tmp_path / "out" / ID / f"{ID}.traj.json", mini(end=end)))
    columns = (
        "run_id, trial_id, model, n_steps, n_tool_calls, n_tool_errors, input_tokens, "
        "output_tokens, cost_usd, end_reason, duration_ms"
    )
    assert rows(store, columns) == [("out", ID, "gpt", 4, 1, 1, 10, 3, 0.1, reason, 2000.0)]
    assert rows(store, "system") == [("mini-swe-agent 2.0 (gpt)",)]
    (extra,) = rows(store, "extra", "lake.messages WHERE role = 'assistant'")
    assert "again" not in extra[0]


@pytest.mark.slow
def test_bare_messages_of_mini_swe_agent(store, tmp_path):
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{'A' * 500}"}}
    text = {"type": "text", "text": "see"}
    messages = [{"role": "user", "content": [text, picture]}, {"role": "assistant", "content": "a"}]
    import_into(store, write(tmp_path / "t" / "one.traj.json", messages))
    assert rows(store, "trial_id, n_steps, model") == [("one", 2, None)]
    (parts,) = rows(store, "parts", "lake.messages WHERE parts IS NOT NULL")
    assert "AAAA" not in parts[0]
    assert "sha256:" in parts[0]


@pytest.mark.parametrize("text", ['{"trajectory": [', '{"trajectory": 3, "info": 4}', '["a"]'])
@pytest.mark.parametrize("name", ["x.traj", "x.traj.json", "preds.json"])
def test_hostile_files_are_no_trials(store, tmp_path, name, text):
    import_into(store, write(tmp_path / "f" / name, text))
    assert rows(store, "trial_id") == []


def test_a_demonstration_is_declined(store, tmp_path):
    summary = import_into(store, write(tmp_path / "demo.traj", {"history": [], "trajectory": []}))
    assert summary.outcomes[FileOutcome.DECLINED] == 1


@pytest.mark.slow
def test_any_order_halves_and_twice_are_the_same_store(tmp_path):
    folder = tmp_path / LABEL
    files = [
        write(folder / f"{ID}.traj", swe_agent()),
        write(folder / "all_preds.jsonl", lines(prediction(), prediction(instance_id="b"))),
        write(tmp_path / f"{LABEL}.my-run.json", run_report(resolved=["a"], unresolved=[ID])),
    ]
    logs = tmp_path / "logs" / "run_evaluation" / "my-run" / LABEL
    for instance in (ID, "a"):
        report = instance_report(f2p=["t"], instance=instance)
        files.append(write(logs / instance / "report.json", report))
    whole = new_store(tmp_path / "whole")
    import_into(whole, *files)
    halves = new_store(tmp_path / "halves")
    for file in reversed(files):
        import_into(halves, file)
    import_into(halves, *files)
    assert digests(halves) == digests(whole)
