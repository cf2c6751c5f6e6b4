"""Runs of HELM: every request, statistic and figure equals the reference rows."""

import hashlib
import json
import math

import pytest
from support import REFERENCE, import_into, needs_reference, new_store

FOLDER = REFERENCE / "peers" / "helm"

pytestmark = needs_reference


def oracle(kind):
    with (FOLDER / "oracle.jsonl").open() as file:
        return [row for row in map(json.loads, file) if row["kind"] == kind]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    store = new_store(tmp_path_factory.mktemp("helm") / "store")
    summary = import_into(store, FOLDER)
    assert summary.n_quarantined == 0
    return store


@pytest.fixture(scope="module")
def run_ids(store):
    """Run ids by folder."""
    paths = store.sql(
        """
        SELECT parse_dirpath(path), run_id FROM lake.runs
        JOIN (SELECT DISTINCT run_id, file_sha256 FROM lake.results) AS r USING (run_id)
        JOIN lake.files AS f ON f.sha256 = r.file_sha256
        """
    ).fetchall()
    return {path.removeprefix(f"{FOLDER}/"): run_id for path, run_id in paths}


def is_close(ours, theirs):
    if ours is None or theirs is None:
        return ours is theirs
    return math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-9)


@pytest.mark.slow
def test_every_request(store, run_ids):
    columns = (
        "seq, model, task_id, attempt, prompt, raw_output, answer, success, failure_type, "
        "is_cached, duration_seconds, epoch(started_at), extra"
    )
    found = {
        (run_id, row[0]): row[1:]
        for run_id, *row in store.sql(f"SELECT run_id, {columns} FROM lake.results").fetchall()
    }
    rows = oracle("request")
    assert len(found) == len(rows)
    for row in rows:
        (
            model,
            task,
            attempt,
            prompt,
            response,
            answer,
            success,
            error,
            cached,
            seconds,
            moment,
            extra,
        ) = found[run_ids[row["run"]], row["seq"]]
        assert (model, task, attempt) == (
            row["model"],
            row["instance_id"],
            row["train_trial_index"] + 1,
        )
        assert hashlib.sha256(prompt.encode()).hexdigest() == row["prompt_sha256"]
        assert (response, answer, success, cached) == (
            row["response"],
            row["mapped"],
            row["success"],
            row["cached"],
        )
        assert error == row["error"]
        assert is_close(seconds, row["request_time_s"])
        assert is_close(moment, row["request_datetime"])
        completions = json.loads(extra)["result"]["completions"]
        assert len(completions) == row["n_completions"]
        assert completions[0]["logprob"] == row["logprob"]


@pytest.mark.slow
def test_every_item(store, run_ids):
    found = {
        (run_id, task): (question, target)
        for run_id, task, question, target in store.sql(
            """
            SELECT r.run_id, t.task_id, t.question, t.target FROM lake.tasks AS t
            JOIN lake.results AS r USING (suite, task_set, task_id, task_hash)
            """
        ).fetchall()
    }
    for row in oracle("request"):
        question, target = found[run_ids[row["run"]], row["instance_id"]]
        assert hashlib.sha256(question.encode()).hexdigest() == row["input_sha256"]
        correct = row["correct"]
        if len(correct) > 1:
            assert json.loads(target) == correct
        else:
            assert target == (correct[0] if correct else None)


@pytest.mark.slow
def test_every_statistic_of_an_instance(store, run_ids):
    found = {}
    for run_id, task, metric, filter_, value in store.sql(
        """
        SELECT s.run_id, r.task_id, s.metric, s.filter, s.value FROM lake.result_scores AS s
        JOIN lake.results AS r ON r.run_id = s.run_id AND r.content_id = s.result_id
        WHERE s.metric <> 'passed'
        """
    ).fetchall():
        found[run_id, task, metric, filter_] = value
    n = 0
    for row in oracle("per_instance"):
        for name, (count, _, mean) in row["stats"].items():
            metric, split, perturbation = name.split("|")
            assert perturbation == "None"
            value = found[run_ids[row["run"]], row["instance_id"], metric, split]
            assert is_close(value, mean if count else None)
            n += 1
    assert n == len(found)


@pytest.mark.slow
def test_every_figure_is_recomputed_or_says_why_not(store, run_ids):
    found = {}
    for run_id, metric, reported, status, reason in store.sql(
        "SELECT run_id, metric, reported, status, reason FROM metric_audit "
        "WHERE source = 'log' ORDER BY run_id, seq"
    ).fetchall():
        found.setdefault((run_id, metric), []).append((reported, status, reason))
    rows = {}
    for row in oracle("stat"):
        if row["run"] in run_ids:
            rows.setdefault((run_ids[row["run"]], row["name"]), []).append(row)
    assert sum(map(len, rows.values())) >= 2600
    for key, stats in rows.items():
        assert len(stats) == len(found[key])
        for row, (reported, status, reason) in zip(stats, found[key], strict=True):
            assert is_close(reported, row["mean"])
            assert status == ("equal" if row["recomputable"] else "not recomputable")
            assert (reason is None) == row["recomputable"]


@pytest.mark.slow
def test_every_cell_of_a_table(store):
    found = set(store.sql("SELECT report, seq - 1, model, metric, value FROM published").fetchall())
    n = 0
    for row in oracle("cell"):
        if row["value"] is None:
            continue
        report = "v3/" + row["table"].rpartition("/")[2].removesuffix(".json")
        value = float(row["value"]) if isinstance(row["value"], int | float) else None
        assert (report, row["row"], row["row_name"], row["header"], value) in found
        n += 1
    assert n == len(found)
