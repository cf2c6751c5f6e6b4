"""Runs of Terminal-Bench: both schemas, submissions' layouts, trials that occur twice."""

import json

import pytest
from peers import digests_after, query
from support import import_into, new_store, queried_store

from ingest.discovery import find_files

START = "2026-01-02T03:04:05+00:00"
END = "2026-01-02T03:05:05+00:00"


def trial(n, *, run="r1", task="t", of=1, **fields):
    """Return a trial in the newer schema."""
    name = f"{task}.{n}-of-{of}.{run}"
    plain = {
        "id": f"id-{task}-{n}",
        "trial_name": name,
        "task_id": task,
        "instruction": f"Do {task}.",
        "is_resolved": True,
        "failure_mode": "unset",
        "parser_results": {"test_a": "passed", "test_b": "failed", "test_c": "skipped"},
        "recording_path": f"{run}/{task}/{name}/sessions/agent.cast",
        "total_input_tokens": 0,
        "total_output_tokens": 0,
        "trial_started_at": START,
        "trial_ended_at": END,
        "agent_started_at": START,
        "agent_ended_at": None,
        "test_started_at": None,
        "test_ended_at": None,
    }
    return {**plain, **fields}


def old_trial(n, *, task="t", of=5, **fields):
    """Return a trial in the older schema: `uuid`, no times, no run in its name."""
    name = f"{task}.{n}-of-{of}"
    plain = {
        "uuid": f"uuid-{task}-{n}",
        "trial_name": name,
        "task_id": task,
        "instruction": f"Do {task}.",
        "is_resolved": True,
        "failure_mode": "unset",
        "parser_results": {"test_a": "passed"},
        "recording_path": None,
        "total_input_tokens": 7,
        "total_output_tokens": 3,
    }
    return {**plain, **fields}


def run(trials, **members):
    resolved = [each["task_id"] for each in trials if each["is_resolved"]]
    n = len(trials)
    return {
        "results": trials,
        "pass_at_k": {},
        "n_resolved": len(resolved),
        "n_unresolved": n - len(resolved),
        "resolved_ids": resolved,
        "unresolved_ids": [],
        "accuracy": len(resolved) / n if n else 0.0,
        **members,
    }


def metadata(**members):
    plain = {
        "run_id": "r1",
        "dataset_name": "core",
        "dataset_version": "0.1.1",
        "agent_name": "crab",
        "model_name": "gpt",
        "dataset_size": 1,
        "n_attempts": 1,
        "accuracy": None,
        "start_time": START,
        "end_time": None,
        "commit_hash": "unknown",
    }
    return {**plain, **members}


def lock(**agent):
    return {
        "lockfile_version": "1.0",
        "invocation": {"command": "terminal-bench", "args": []},
        "harness": {"package": "terminal-bench", "version": "0.2.17"},
        "agent": {"name": "crab", "import_path": "a:B", "model_name": None, **agent},
        "dataset": {"name": "core", "version": "0.1.1"},
        "local_config": {"run_id": "r1"},
    }


def write(path, document):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(document if isinstance(document, str) else json.dumps(document, indent=2))
    return path


def imported(folder, *paths):
    store = queried_store(folder / "store")
    return store, import_into(store, *(paths or (folder / "logs",)))


def trial_rows(store):
    return query(store, "FROM trials ORDER BY run_id, trial_id")


@pytest.mark.slow
def test_a_trial_has_the_verdict_times_and_system_that_its_run_records(tmp_path):
    logs = tmp_path / "logs" / "any"
    write(logs / "results.json", run([trial(1)]))
    write(logs / "run_metadata.json", metadata())
    write(logs / "tb.lock", lock())
    store, summary = imported(tmp_path)
    assert summary.n_quarantined == 0
    [row] = trial_rows(store)
    assert (row["run_id"], row["task_set"], row["attempt"]) == ("r1", "core==0.1.1", 1)
    assert (row["system"], row["agent"], row["model"]) == ("crab (gpt)", "crab", "gpt")
    assert (row["harness"], row["harness_version"]) == ("terminal-bench", "0.2.17")
    assert (row["passed"], row["end_reason"], row["recorded_end"]) == (True, "solved", "unset")
    assert row["duration_ms"] == 60_000
    assert row["agent_version"] is row["n_steps"] is row["n_tool_calls"] is row["cost_usd"] is None
    [result] = query(store, "SELECT phases FROM results")
    assert json.loads(result["phases"]) == [
        {"name": "agent", "started_at": START, "ended_at": None}
    ]
    [header] = query(store, "SELECT git_commit, versions, started_at FROM runs")
    assert header["git_commit"] is None
    assert json.loads(header["versions"]) == {"terminal-bench": "0.2.17"}


@pytest.mark.slow
def test_each_test_is_a_check_and_an_unknown_verdict_is_kept_as_text(tmp_path):
    write(tmp_path / "logs" / "results.json", run([trial(1)]))
    store, _ = imported(tmp_path)
    rows = query(
        store,
        "SELECT metric, value, text, passed, check_class, counts FROM lake.result_scores"
        " ORDER BY position",
    )
    assert [tuple(row.values()) for row in rows] == [
        ("test_a", 1.0, None, True, "test", True),
        ("test_b", 0.0, None, False, "test", True),
        ("test_c", None, "skipped", None, "test", True),
    ]


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [((0, 0), (None, None)), ((None, None), (None, None)), ((7, 3), (7, 3)), ((7, 0), (7, None))],
)
def test_tokens_of_0_are_unknown(tmp_path, tokens, expected):
    record = trial(1, total_input_tokens=tokens[0], total_output_tokens=tokens[1])
    write(tmp_path / "logs" / "results.json", run([record]))
    store, _ = imported(tmp_path)
    [row] = trial_rows(store)
    assert (row["input_tokens"], row["output_tokens"]) == expected


@pytest.mark.parametrize(
    ("mode", "resolved", "end"),
    [
        ("unset", False, "gave_up"),
        ("none", True, "solved"),
        ("agent_timeout", True, "timeout"),
        ("agent_timeout", False, "timeout"),
        ("test_timeout", None, "timeout"),
        ("parse_error", None, "error"),
        ("unknown_agent_error", None, "error"),
        ("unknown_agent_error", False, "error"),
        ("fatal_llm_parse_error", False, "error"),
        ("agent_installation_failed", None, "error"),
        ("context_length_exceeded", False, "limit"),
        ("output_length_exceeded", False, "limit"),
        ("unknown", None, "unknown"),
        (None, None, "unknown"),
        ("new_word", False, "gave_up"),
    ],
)
def test_how_a_trial_ended(tmp_path, mode, resolved, end):
    record = trial(1, is_resolved=resolved, failure_mode=mode, parser_results=None)
    write(tmp_path / "logs" / "results.json", run([record]))
    store, _ = imported(tmp_path)
    [row] = trial_rows(store)
    assert (row["passed"], row["end_reason"], row["recorded_end"]) == (resolved, end, mode)
    [result] = query(store, "SELECT success, availability_status FROM results")
    expected = (False, "error") if resolved is None else (True, "ok")
    assert tuple(result.values()) == expected
    assert not query(store, "FROM checks.contradictory_outcomes")


@pytest.mark.slow
def test_figures_count_a_trial_without_verdict_as_not_resolved(tmp_path):
    trials = [old_trial(n, is_resolved=[True, None, False][n % 3]) for n in range(1, 6)]
    trials += [old_trial(n, task="u") for n in range(1, 6)]
    # c of n = 5 attempts at each task: 1 and 5
    found = run(trials, pass_at_k={"2": (0.4 + 1) / 2, "5": 1.0})
    write(tmp_path / "logs" / "run" / "results.json", found)
    recorded = metadata(n_attempts=5, dataset_size=2, accuracy=0.6, pass_at_k=found["pass_at_k"])
    write(tmp_path / "logs" / "run" / "run_metadata.json", recorded)
    store, _ = imported(tmp_path)
    rows = query(store, "SELECT metric, reported, status FROM metric_audit ORDER BY ALL")
    figures = [("accuracy", 0.6), ("n_resolved", 6), ("n_unresolved", 4), ("pass@2", 0.7)]
    figures += [("pass@5", 1), ("resolved_ids", 6)]
    twice = {"accuracy", "pass@2", "pass@5"}
    expected = [figure for figure in figures for _ in range(1 + (figure[0] in twice))]
    listed = [row for row in rows if row["metric"] != "unresolved_ids"]
    assert [(row["metric"], row["reported"]) for row in listed] == expected
    assert {row["status"] for row in listed} == {"equal"}
    [header] = query(store, "SELECT task_set FROM runs")
    assert header["task_set"] == "core==0.1.1"


@pytest.mark.slow
def test_a_run_without_metadata_is_named_by_its_trials_and_pooled_with_none(tmp_path):
    write(tmp_path / "logs" / "a" / "2026_results.json", run([trial(1, run="a1")]))
    write(tmp_path / "logs" / "b" / "2026_results.json", run([trial(1, run="b1", id="other")]))
    store, _ = imported(tmp_path)
    rows = trial_rows(store)
    assert [row["run_id"] for row in rows] == ["a1", "b1"]
    assert len({row["system"] for row in rows}) == 2
    assert {row["model"] for row in rows} == {row["agent"] for row in rows} == {None}


def test_where_nothing_names_the_run_the_folder_does(tmp_path):
    write(tmp_path / "logs" / "my-run" / "results.json", run([old_trial(1)]))
    path = tmp_path / "logs" / "my-run" / "t" / "t.1-of-5" / "results.json"
    write(path, old_trial(1))
    store, _ = imported(tmp_path)
    assert [row["run_id"] for row in trial_rows(store)] == ["my-run"]


@pytest.mark.slow
def test_a_lock_file_names_the_run_and_model_where_metadata_do_not(tmp_path):
    logs = tmp_path / "logs"
    write(logs / "results.json", run([trial(1, run="elsewhere")]))
    write(logs / "tb.lock", lock(model_name="gpt", extra_kwargs={"effort": "low"}))
    store, _ = imported(tmp_path)
    [row] = trial_rows(store)
    assert (row["run_id"], row["model"], row["task_set"]) == ("r1", "gpt", "core==0.1.1")
    [system] = query(store, "SELECT configuration FROM systems")
    assert json.loads(system["configuration"])["agent_kwargs"] == {"effort": "low"}


def layout(folder):
    """Write a run whose trials are in its file, in their own, and in both; and a copy of it."""
    shared, only_run, only_tree = (trial(1, task=task) for task in ("both", "file", "tree"))
    for root in (folder / "r1", folder / "r2" / "r1"):
        write(root / "results.json", run([shared, only_run]))
        write(root / "run_metadata.json", metadata())
        for each in (shared, only_tree):
            path = root / each["task_id"] / each["trial_name"] / "results.json"
            write(path, each)
    write(folder / "r2" / "results.json", run([trial(1, run="r2", id="second")]))
    return folder


@pytest.mark.slow
def test_a_trial_in_several_files_is_one(tmp_path):
    store, summary = imported(tmp_path, layout(tmp_path / "logs"))
    assert summary.n_results == 4
    rows = [(row["run_id"], row["task_id"]) for row in trial_rows(store)]
    assert rows == [("r1", "both"), ("r1", "file"), ("r1", "tree"), ("r2", "t")]
    assert {row["duplicate_of"] for row in trial_rows(store)} == {None}


@pytest.mark.slow
def test_any_order_of_imports_gives_the_same_store(tmp_path):
    files = sorted(find_files([layout(tmp_path / "logs")]).readers)
    expected = digests_after(tmp_path / "a", files)
    assert digests_after(tmp_path / "b", *([path] for path in reversed(files))) == expected
    assert digests_after(tmp_path / "c", files[::2], files[1::2], files) == expected


def test_a_run_that_went_on_adds_its_trials_and_another_verdict_is_a_conflict(tmp_path):
    path = write(tmp_path / "logs" / "results.json", run([trial(1)]))
    store, _ = imported(tmp_path, path)
    write(path, run([trial(1), trial(1, task="u")]))
    assert import_into(store, path).n_results == 1
    write(path, run([trial(1, is_resolved=False), trial(1, task="u")]))
    summary = import_into(store, path)
    assert summary.n_results == 0
    assert "conflicts with run r1" in summary.messages[0]


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ('{"results": [{"trial_name": "a", "is_resolved": 1, "failure_mode": 2,', "not JSON"),
        (run([trial(1)]) | {"results": [trial(1), 7]}, "results[1]: not a JSON object"),
        (run([trial(1, task_id=None)]), "results[0]: has no `task_id`"),
        (trial(1, task_id=None), "has no `task_id`"),
        (trial(1, id=None, trial_name=None), "has neither `id` nor `uuid` nor `trial_name`"),
        ('{"run_id": 1, "dataset_name": 1, "agent_name": 1, "commit_hash": 1', "not JSON"),
    ],
)
def test_what_is_damaged_is_quarantined_with_the_reason(tmp_path, document, reason):
    path = write(tmp_path / "logs" / "results.json", document)
    store = new_store(tmp_path / "store")
    summary = import_into(store, path)
    assert summary.n_quarantined == 1
    assert reason in summary.messages[0]


@pytest.mark.parametrize(
    "damage", ["[]", '{"run_id": 7}', '{"run_id": "r1", "model_name": []}', "{"]
)
def test_damaged_metadata_do_not_keep_trials_out(tmp_path, damage):
    logs = tmp_path / "logs"
    write(logs / "run_metadata.json", damage)
    odd = {"is_resolved": "yes", "parser_results": [1], "total_input_tokens": "7"}
    odd |= {"failure_mode": 3, "trial_started_at": "never", "recording_path": {}}
    write(logs / "results.json", run([trial(1, **odd)]))
    store, summary = imported(tmp_path)
    assert summary.n_results == 1
    [row] = trial_rows(store)
    assert row["passed"] is row["input_tokens"] is row["recorded_end"] is row["started_at"] is None
    [result] = query(store, "SELECT extra FROM results")
    assert json.loads(result["extra"]).items() >= odd.items()


@pytest.mark.slow
def test_secrets_of_all_files_are_masked(tmp_path):
    key = "sk-" + "proj-" + "Ab1" * 16
    logs = tmp_path / "logs"
    write(logs / "results.json", run([trial(1, instruction=f"export OPENAI_API_KEY={key}")]))
    write(logs / "run_metadata.json", metadata(agent_kwargs={"api_key": key}))
    write(logs / "tb.lock", lock(extra_kwargs={"api_key": key}))
    store = queried_store(tmp_path / "store")
    import_into(store, logs, redact=True)
    text = str([query(store, f"FROM {table}") for table in ("results", "runs", "systems")])
    assert key not in text
    assert "OPENAI_API_KEY" in text
