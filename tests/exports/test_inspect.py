"""Exports of any suite as Inspect logs: Inspect's own come back as they were."""

import json
import math
import zipfile

import pytest
from helm_cases import write_run
from inspect_cases import IDS, figures, header, sample, write_eval
from support import REFERENCE, command, digests, files_in, import_into, needs_reference
from support import new_store as store_in

from ingest.reconciliation import FileOutcome

PEERS = REFERENCE / "peers"


def export(store, folder, *arguments):
    done = command(store.path, "export", "inspect", "--to", folder, *arguments)
    assert done.code == 0, done.err
    return sorted(folder.glob("*.eval"))


def members(path):
    with zipfile.ZipFile(path) as archive:
        return {
            name: json.loads(archive.read(name))
            for name in archive.namelist()
            if name.endswith(".json")
        }


@pytest.fixture
def log(tmp_path):
    """Return a log with all that the columns and `extra` hold."""
    calls = [{"id": "c", "function": "f", "arguments": {"x": [1]}, "type": "function"}]
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Where?"}], "id": "1"},
        {"role": "assistant", "content": "", "tool_calls": calls, "model": "m"},
        {"role": "tool", "content": "ok", "tool_call_id": "c", "error": {"type": "t"}},
        {"role": "user", "content": "attachment://long"},
    ]
    samples = [sample(name, epoch) for epoch in (1, 2) for name in IDS]
    samples[0] |= {"messages": messages, "input": messages[:2], "choices": ["a", "b"]}
    samples[0] |= {"target": "A", "attachments": {"long": "a long text"}}
    samples[1] |= {"scores": {"parts": {"value": {"x": 1, "y": 0.5}, "metadata": {"z": 1}}}}
    samples[2] |= {"error": {"message": "RuntimeError('no')", "traceback": "t"}, "scores": {}}
    samples[3] |= {"scores": {"match": {"value": 1, "answer": "", "history": []}}}
    head = {**header(epochs=2), "results": figures(value=0.5, stderr=0.25)}
    head["results"]["scores"][0]["reducer"] = "at_least_2"
    return write_eval(tmp_path / "log.eval", head, samples)


@pytest.mark.slow
def test_a_log_of_inspect_comes_back_as_it_was(store, tmp_path, log):
    import_into(store, log)
    [path] = export(store, tmp_path / "out")
    assert path.name == "2026-03-01T10-00-00-02-00_capitals_E1.eval"
    given, made = members(log), members(path)
    for name in ("_journal/start.json", "header.json"):
        # Empty objects are the defaults.
        given[name]["eval"] = {k: v for k, v in given[name]["eval"].items() if v != {}}
    assert {name: made[name] for name in given} == given
    again = store_in(tmp_path / "again")
    import_into(again, path)
    without = ["main.files"]
    assert digests(again, without=without) == digests(store, without=without)
    assert import_into(store, path).outcomes == {FileOutcome.UNCHANGED: 1}


@pytest.mark.slow
def test_the_same_runs_give_the_same_bytes(examples, tmp_path):
    paths = export(examples, tmp_path / "one")
    assert paths
    export(examples, tmp_path / "two")
    assert files_in(tmp_path / "one") == files_in(tmp_path / "two")


@pytest.mark.slow
def test_results_of_other_suites_keep_their_figures(examples, tmp_path):
    export(examples, tmp_path / "out")
    again = store_in(tmp_path / "again")
    assert import_into(again, tmp_path / "out").n_quarantined == 0
    counted = "SELECT count(*), count(is_correct) FILTER (is_correct) FROM results"
    verdicts = "SELECT count(*), count(*) FILTER (passed) FROM verdicts WHERE NOT is_replay"
    assert again.sql(counted).fetchall() == examples.sql(verdicts).fetchall()
    statuses = dict(
        again.sql("SELECT status, count(*) FROM metric_audit GROUP BY status").fetchall()
    )
    assert statuses["equal"] > 10
    assert "differs" not in statuses


@pytest.mark.slow
@needs_reference
@pytest.mark.parametrize("folder", ["openclaw", "palindrome", "peers/promptfoo"])
def test_figures_follow_from_exported_samples(store, tmp_path, folder):
    """Also where calls without an answer count as failed."""
    import_into(store, REFERENCE / folder)
    export(store, tmp_path / "out")
    again = store_in(tmp_path / "again")
    import_into(again, tmp_path / "out")
    assert again.sql("FROM metric_audit WHERE status <> 'equal'").fetchall() == []
    counted = "SELECT count(*) FILTER (passed) FROM verdicts WHERE NOT is_replay"
    assert again.sql(counted).fetchall() == store.sql(counted).fetchall()


@pytest.mark.slow
def test_a_score_without_a_value_is_nan(store, tmp_path):
    # HELM has a statistic of nothing with each instance; Inspect refuses null.
    write_run(tmp_path / "run")
    import_into(store, tmp_path / "run")
    [path] = export(store, tmp_path / "out")
    scores = [
        (score, given["value"])
        for name, sample in members(path).items()
        if name.startswith("samples/")
        for score, given in sample["scores"].items()
    ]
    assert {score for score, value in scores if isinstance(value, float) and math.isnan(value)} == {
        "idle/test"
    }
    assert all(value is not None for _, value in scores)


@pytest.mark.slow
def test_an_unfinished_log_stays_unfinished(store, tmp_path):
    running = header(is_finished=False)
    import_into(store, write_eval(tmp_path / "log.eval", running, [sample()]))
    [path] = export(store, tmp_path / "out")
    assert "header.json" not in members(path)
    assert import_into(store, path).outcomes == {FileOutcome.UNCHANGED: 1}


@pytest.mark.slow
@needs_reference
def test_all_seen_logs_come_back_as_they_were(tmp_path):
    store = store_in(tmp_path / "store")
    import_into(store, PEERS / "inspect")
    paths = export(store, tmp_path / "out")
    assert len(paths) == len(store.sql("FROM runs").fetchall()) >= 49
    summary = import_into(store, tmp_path / "out")
    # The figures of one run are those of two headers, and one of them has NaN.
    grown = summary.outcomes.pop(FileOutcome.GROWN)
    assert summary.outcomes == {FileOutcome.UNCHANGED: len(paths) - grown}
    assert grown <= 2


def test_a_run_without_a_time_is_not_of_1970(store, tmp_path):
    row = {"id": "a", "result": "Hi.", "inference_log": ""}
    path = tmp_path / "result" / "m" / "BFCL_v4_simple_python_result.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(row) + "\n")
    import_into(store, tmp_path / "result")
    [path] = export(store, tmp_path / "out")
    assert path.name.startswith("bfcl-simple_python_")
    assert members(path)["header.json"]["eval"]["created"].startswith("1970-01-01T")
    again = store_in(tmp_path / "again")
    import_into(again, path)
    dates = (
        "SELECT runs.started_at, results.run_date, n_results FROM runs JOIN results USING (run_id)"
    )
    assert again.sql(dates).fetchall() == [(None, None, 1)]
