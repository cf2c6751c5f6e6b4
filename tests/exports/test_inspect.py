"""Exports of any suite as Inspect logs: Inspect's own come back as they were."""

import json
import math
import zipfile
from collections import defaultdict

import pyarrow.parquet as pq
import pytest
from helm_cases import entry, stat, write_run
from inspect_cases import IDS, figures, header, sample, write_eval, write_zip
from inspect_cases import members as member_texts
from support import REFERENCE, command, digests, files_in, import_into, needs_reference
from support import new_store as store_in

from exports.inspect.samples import sample_documents, summary_of
from ingest.reconciliation import FileOutcome
from warehouse.core.hashing import file_sha256

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


@pytest.mark.campaign
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


def made_without_positions(store):
    """Turn a store into one written before scores had positions."""
    store.warehouse.unlink()
    for folder in map(store.lake.path.joinpath, store.lake.batch_names()):
        scores = folder / "result_scores.parquet"
        pq.write_table(pq.ParquetFile(scores).read().drop_columns(["position"]), scores)
        document = json.loads((folder / "batch.json").read_bytes())
        document["files"]["result_scores"]["sha256"] = file_sha256(scores)
        (folder / "batch.json").write_text(json.dumps({**document, "schema_version": 4}))


@pytest.mark.campaign
@pytest.mark.parametrize("is_old", [False, True], ids=["as it is now", "without positions"])
def test_scores_of_a_sample_keep_their_order(store, tmp_path, is_old):
    """The verdict is that of the first scorer, whatever its name."""
    both = {"zeta": {"value": "C"}, "mid": {"value": {"y": 1, "x": 2}}, "alpha": {"value": "I"}}
    graded = {"zeta": {"value": 3.5}, "alpha": {"value": "C"}}
    samples = [sample(1, scores=both), sample(2, scores=graded)]
    declared = [{"name": name, "options": {}, "metrics": []} for name in both]
    log = write_eval(tmp_path / "log.eval", header(scorers=declared), samples)
    import_into(store, log)
    if is_old:
        before = digests(store)
        made_without_positions(store)
        after = digests(store, without=["main.result_scores"])
        assert after == {name: before[name] for name in after}
        # What the store has stays as it is.
        assert import_into(store, log).outcomes == {FileOutcome.UNCHANGED: 1}
    [path] = export(store, tmp_path / "out")
    made = members(path)
    assert list(made["samples/1_epoch_1.json"]["scores"]) == list(both)
    again = store_in(tmp_path / "again")
    import_into(again, path)
    verdicts = "SELECT task_id, passed FROM verdicts ORDER BY task_id"
    assert again.sql(verdicts).fetchall() == store.sql(verdicts).fetchall()
    assert again.sql(verdicts).fetchall() == [("1", True), ("2", None)]
    if not is_old:
        assert members(path)["samples/1_epoch_1.json"]["scores"] == both
        assert list(made["samples/1_epoch_1.json"]["scores"]["mid"]["value"]) == ["y", "x"]


@pytest.mark.slow
def test_results_without_a_verdict_gain_none(store, tmp_path):
    """A score `passed` of which HELM does not say that it decides."""
    disputed = stat("quasi_exact_match", 1.0)
    write_run(tmp_path / "run", entries=[entry(n, disputed) for n in range(4)])
    import_into(store, tmp_path / "run")
    verdicts = "SELECT count(*), count(passed) FROM verdicts"
    assert store.sql(verdicts).fetchall() == [(4, 0)]
    export(store, tmp_path / "out")
    again = store_in(tmp_path / "again")
    import_into(again, tmp_path / "out")
    assert again.sql(verdicts).fetchall() == [(4, 0)]
    assert again.sql("FROM metric_audit WHERE status <> 'equal'").fetchall() == []


@pytest.mark.slow
def test_samples_that_runs_share_have_uuids_of_their_own(store, tmp_path):
    """Inspect's `samples_df` leaves out samples whose uuid another one has."""
    for n in (1, 2):
        import_into(store, write_run(tmp_path / f"run{n}", name=f"trivia:seed={n}"))
    assert store.sql(
        "SELECT count(*), count(DISTINCT content_id) FROM lake.results"
    ).fetchall() == [(8, 4)]
    uuids = [
        [
            document["uuid"]
            for path in export(store, tmp_path / folder)
            for name, document in members(path).items()
            if name.startswith("samples/")
        ]
        for folder in ("one", "two")
    ]
    assert len(set(uuids[0])) == len(uuids[0]) == 8
    assert uuids[0] == uuids[1]


@pytest.mark.campaign
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


@pytest.mark.campaign
@needs_reference
@pytest.mark.parametrize("folder", ["openclaw", "palindrome", "peers/promptfoo"])
def test_figures_follow_from_exported_samples(store, tmp_path, folder):
    """Also where calls without an answer count as failed, and have no verdict."""
    import_into(store, REFERENCE / folder)
    export(store, tmp_path / "out")
    again = store_in(tmp_path / "again")
    import_into(again, tmp_path / "out")
    assert again.sql("FROM metric_audit WHERE status <> 'equal'").fetchall() == []
    counted = "SELECT passed, count(*) FROM verdicts WHERE NOT is_replay GROUP BY passed ORDER BY 1"
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
@pytest.mark.parametrize("samples", [[], [sample()]], ids=["no samples", "one sample"])
def test_a_short_log_comes_back_as_it_was(store, tmp_path, samples):
    head = {**header(ids=[2], task_args={"x": 1}), "results": figures(value=0.5, stderr=0.25)}
    notes = ("reductions.json", b'{"kept": "as it was"}')
    log = write_zip(tmp_path / "log.eval", [*member_texts(head, samples), notes])
    import_into(store, log)
    [path] = export(store, tmp_path / "new" / "out")
    given, made = members(log), members(path)
    for name in ("_journal/start.json", "header.json"):
        given[name]["eval"] = {k: v for k, v in given[name]["eval"].items() if v != {}}
    assert {name: made[name] for name in given} == given
    assert len(made["summaries.json"]) == len(samples)
    with zipfile.ZipFile(path) as archive:
        assert {member.date_time for member in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert import_into(store, path).outcomes == {FileOutcome.UNCHANGED: 1}


@pytest.mark.campaign
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


@pytest.mark.slow
def test_a_run_without_a_time_is_not_of_1970(store, tmp_path):
    row = {"id": "a", "result": "Hi.", "inference_log": ""}
    path = tmp_path / "result" / "m" / "BFCL_v4_simple_python_result.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(row) + "\n")
    import_into(store, tmp_path / "result")
    [path] = export(store, tmp_path / "out")
    assert path.name.startswith("bfcl-simple_python_")
    made = members(path)["header.json"]["eval"]
    assert made["created"].startswith("1970-01-01T")
    assert (made["model"], made["dataset"]["sample_ids"]) == ("none/m", ["a"])
    again = store_in(tmp_path / "again")
    import_into(again, path)
    dates = (
        "SELECT runs.started_at, results.run_date, n_results FROM runs JOIN results USING (run_id)"
    )
    assert again.sql(dates).fetchall() == [(None, None, 1)]


def test_a_result_of_another_suite_keeps_its_cost():
    row = {"suite": "mine", "run_id": "r", "result_id": "a", "seq": 1, "input_tokens": 3}
    for cost in (0.25, None):
        [made] = sample_documents([defaultdict(lambda: None, row, cost_usd=cost)], ())
        assert made["metadata"] == ({} if cost is None else {"cost_usd": cost})
        assert made["model_usage"]["none/unknown"].get("total_cost") == cost


def test_the_summary_of_a_sample_has_its_scores_and_messages():
    found = summary_of(sample())
    assert found["scores"] == {"match": {"value": "C", "answer": "Paris"}}
    assert found["message_count"] == 2
    found = summary_of({"id": 1, "epoch": 1, "input": "?", "target": ""})
    assert (found["scores"], found["message_count"]) == ({}, 0)


def test_repeated_samples_take_the_next_free_epoch():
    """In as many steps as there are samples, also where some of the epochs are recorded."""
    epochs = [1, 1, 3, 2, 1, *[1] * 50_000]
    rows = [
        {"suite": "inspect", "source": json.dumps({"id": 7, "epoch": epoch})} for epoch in epochs
    ]
    made = [sample["epoch"] for sample in sample_documents(rows, ())]
    assert made == [1, 2, 3, 4, 5, *range(6, 50_006)]
