"""Exports of our own runs follow every rule of the specification, and can be imported again.

All views of both stores are compared, except for the columns named here, which the files of the
specification cannot represent. `tests/runners/test_poster_suite.py` does the same for posters.
"""

import json
import re

import pytest
from palindrome_cases import check_rules
from serving import chat, http, serving
from support import ROOT, command, new_store

MODELS = ("-m", "example/aurora-2", "-m", "example/kaamos-mini", "--provider")
# Where a row came from, and how our runner numbers rows.
OURS = {"batch", "file_sha256", "result_id", "seq", "origin", "versions", "git_commit"}
OURS |= {"record_keys", "dataset_hashes", "snapshot_id", "score_id"}
NOT_IN_LOGS = OURS | {
    # In a log, a run is a date and a model, and the path follows the rule for exports.
    "run_id", "model_path", "recorded_model", "model_version", "proven_index",
    "run_started_at", "started_at", "ended_at", "e2e_ms", "input_tokens", "output_tokens",
    "raw_output", "task_hash", "sent",
    # A log does not say how its model was reached: the provider is the model file's.
    "provider", "provider_a", "provider_b",
}  # fmt: skip
NOT_IN_RESULTS = OURS | {"prompt", "prompt_hash", "task_hash", "duration_seconds"}
# A log has one run per model; only an import has files and recorded summaries.
BY_FILE = {"files", "runs", "run_overview", "reported_metrics", "metric_audit", "summary_audit"}


@pytest.fixture
def space(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("store", "other"):
        new_store(tmp_path / name)
    return tmp_path


def run(store, *arguments):
    ended = command(store, *arguments)
    assert ended.code == 0, ended.err


def views(store):
    """Return the rows of each view as dicts."""
    with new_store(store).reading() as connection:
        names = connection.execute(
            "SELECT view_name FROM duckdb_views() WHERE NOT internal AND schema_name = 'main'"
        ).fetchall()
        return {name: _rows(connection, name) for (name,) in names}


def _rows(connection, view):
    cursor = connection.execute(f"FROM {view}")
    columns = [column[0] for column in cursor.description]
    return [dict(zip(columns, map(_value, row), strict=True)) for row in cursor.fetchall()]


def _value(value):
    """Return the value of JSON text, so that the order of keys does not matter."""
    if isinstance(value, str) and value[:1] in {"{", "["}:
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def same(ours, theirs, without, left_out):
    assert len(ours) > 30
    for view in ours.keys() - left_out:
        kept = [
            sorted(repr({k: v for k, v in row.items() if k not in without}) for row in rows)
            for rows in (ours[view], theirs[view])
        ]
        assert kept[0] == kept[1], view


@pytest.mark.campaign
def test_palindrome(space):
    with serving(http(200, chat("<answer>innostunut sonni</answer>"))) as server:
        run("store", "run", "palindrome", *MODELS, "ollama_openai", "--base-url", server.base)
    run("store", "export", "palindrome", "--to", "out")
    assert len(check_rules(space / "out")) == 2
    run("other", "import", "--strict", "out", ROOT / "tasks/palindrome.yaml")
    same(views("store"), views("other"), NOT_IN_LOGS, BY_FILE)


@pytest.mark.campaign
def test_openclaw(space):
    run("store", "run", "openclaw", *MODELS, "replay")
    [(run_id,)] = new_store(space / "store").sql("SELECT run_id FROM runs").fetchall()
    run("store", "export", "openclaw", "--run", run_id, "--to", "out")
    (folder,) = (space / "out/runs").iterdir()
    check_run_folder(folder)
    run("other", "import", "--strict", "out/runs", "--prompts", ROOT / "tasks/openclaw.json")
    ours, theirs = views("store"), views("other")
    # The files have no prompts, in `texts` as in `results`.
    assert not any(row["part"] == "prompt" for row in theirs["texts"])
    ours["texts"] = [row for row in ours["texts"] if row["part"] != "prompt"]
    same(ours, theirs, NOT_IN_RESULTS, BY_FILE)
    for column in ("run_id", "config", "inventory", "models", "n_results", "started_at"):
        assert ours["runs"][0][column] == theirs["runs"][0][column], column
    # The exported summary is the one that we compute.
    assert all(row["agrees"] for row in theirs["summary_audit"])


TEXT, WHOLE, TRUTH, NONE = str, int, bool, type(None)
RESULT = {
    "record_type": [TEXT], "run_id": [TEXT], "provider": [TEXT], "model": [TEXT],
    "thinking_level": [TEXT, NONE], "prompt_id": [TEXT], "prompt_name": [TEXT],
    "availability_status": [TEXT], "started_at_ms": [WHOLE], "ended_at_ms": [WHOLE],
    "e2e_ms": [WHOLE], "ttft_ms": [WHOLE, NONE], "success": [TRUTH], "failure_type": [TEXT, NONE],
    "objective_pass": [TRUTH, NONE], "violation": [TEXT, NONE], "input_tokens": [WHOLE, NONE],
    "output_tokens": [WHOLE, NONE], "raw_output": [TEXT], "parsed_output": [dict, NONE],
    "tool_calls": [list], "tool_call_count": [WHOLE], "tool_use_success": [TRUTH],
}  # fmt: skip
SUMMARY = {
    "provider", "model", "thinking_level", "n_total", "n_ok", "n_success",
    "n_skipped_unavailable", "n_rate_limited", "n_error", "success_rate_ok",
    "objective_pass_rate", "wall_clock_ms", "latency_ms", "resources_before", "resources_after",
}  # fmt: skip
STATUSES = {"ok", "skipped_unavailable", "auth_error", "rate_limited", "error"}


def check_run_folder(folder):
    """Check every rule, in the order of the specification."""
    names = {path.name for path in folder.iterdir()}
    assert re.fullmatch(r"\d{8}_\d{6}", folder.name)
    assert {"config.json", "inventory.json", "results.jsonl", "summary.json", "summary.md"} < names
    assert len([n for n in names if re.fullmatch(r"resources_.*_(before|after)\.txt", n)]) == 4
    for line in (folder / "results.jsonl").read_text("utf-8").splitlines():
        check_result(json.loads(line), folder.name)
    for row in json.loads((folder / "summary.json").read_text("utf-8"))["models"]:
        assert row.keys() >= SUMMARY
        counted = ("n_ok", "n_skipped_unavailable", "n_rate_limited", "n_error")
        assert row["n_total"] >= sum(row[name] for name in counted)
        assert row["n_success"] <= row["n_ok"]
        for rate in ("success_rate_ok", "objective_pass_rate"):
            assert row[rate] is None or 0 <= row[rate] <= 1
        assert {"p50", "p95", "p99", "mean"} <= row["latency_ms"].keys()


def check_result(record, run_id):
    assert list(record) == list(RESULT)
    for name, kinds in RESULT.items():
        assert type(record[name]) in kinds, name
    assert (record["record_type"], record["run_id"]) == ("result", run_id)
    assert record["availability_status"] in STATUSES
    assert record["ended_at_ms"] >= record["started_at_ms"]
    assert record["tool_call_count"] == len(record["tool_calls"])
    assert record["success"] == (record["failure_type"] is None)
    assert (record["violation"] is not None) <= (record["objective_pass"] is False)
    assert len(record["raw_output"].encode()) <= 64 * 1024
