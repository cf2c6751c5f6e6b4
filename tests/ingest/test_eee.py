"""Every_eval_ever: equal to the files themselves, in any order of imports, and never a crash."""

import hashlib
import json
import shutil
from collections import Counter

import pytest
from peers import PEERS, digests_after, needs_peers, oracle, query, same, sha256
from support import import_into, new_store, queried_store

LOGS = PEERS / "eee"
POPULARITY = "converted/2025-09-15T15-04-34-04-00_popularity_jKN69eAYYpZFAZhRgMAztp"
PUBLISHED = "copied from a publication, not computed from samples"
SAMPLE = {
    "schema_version": "0.3.0",
    "evaluation_id": "e/m/1",
    "model_id": "m",
    "evaluation_name": "quiz",
    "sample_id": "s1",
    "interaction_type": "single_turn",
    "input": {"raw": "2 + 2?", "formatted": "Q: 2 + 2?", "reference": ["4"], "choices": ["4", "5"]},
    "output": {"raw": ["4"]},
    "answer_attribution": [{"extracted_value": "four"}, {"extracted_value": "4"}],
    "evaluation": {"score": 1.0, "is_correct": True},
    "token_usage": {"input_tokens": 3, "output_tokens": 1, "total_tokens": 4},
    "performance": {"latency_ms": 12.5},
}
AGGREGATE = {
    "schema_version": "0.3.0",
    "evaluation_id": "e/m/1",
    "evaluation_timestamp": "1750000000",
    "source_metadata": {"source_type": "evaluation_run"},
    "model_info": {"id": "m", "name": "M"},
    "evaluation_results": [
        {
            "evaluation_name": "quiz",
            "metric_config": {"metric_name": "accuracy", "lower_is_better": False},
            "score_details": {"score": 0.5},
        },
        {
            "evaluation_name": "quiz",
            "metric_config": {"metric_name": "f1"},
            "score_details": {"score": 0.5},
        },
    ],
}


def write_samples(path, *samples):
    texts = [s if isinstance(s, str) else json.dumps(s) for s in samples]
    path.write_text("".join(f"{text}\n" for text in texts), "utf-8")
    return path


def write(path, document):
    path.write_text(document if isinstance(document, str) else json.dumps(document), "utf-8")
    return path


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    if not PEERS.is_dir():
        pytest.skip("no reference data")
    store = new_store(tmp_path_factory.mktemp("eee") / "store")
    import_into(store, LOGS)
    with store.reading():  # open for all tests
        yield store


def by_file(store, table):
    """Return the rows of a table with the path of their file, by path and place in it."""
    rows = query(
        store,
        f"""
        SELECT r.*, replace(f.path, $folder, '') AS path
        FROM lake.{table} AS r JOIN files AS f ON r.file_sha256 = f.sha256
        """,
        folder=f"{LOGS}/",
    )
    return {(row["path"], row["seq"]): row for row in rows}


@pytest.mark.slow
@needs_peers
def test_every_sample_equals_the_reference(logs):
    found = query(
        logs,
        """
        SELECT replace(f.path, $folder, '') AS path, r.*, t.question, t.target, t.choices,
            s.value AS score, s.scorer,
            (SELECT count(*) FROM messages AS m WHERE m.result_id = r.result_id) AS n_messages
        FROM results AS r
        JOIN files AS f ON r.file_sha256 = f.sha256
        LEFT JOIN tasks AS t ON r.task_set = t.task_set AND r.task_id = t.task_id
            AND r.task_hash = t.task_hash
        LEFT JOIN result_scores AS s ON r.result_id = s.result_id AND s.metric = 'score'
        WHERE r.suite = 'eee'
        """,
        folder=f"{LOGS}/",
    )
    rows = {(row["path"], row["seq"]): row for row in found}
    expected = oracle("eee", "sample")
    assert len(expected) == len(rows) == len(found) == 93
    for sample in expected:
        row = rows[sample["file"], sample["line"]]
        assert row["run_id"] == sample["evaluation_id"]
        assert (row["task_set"], row["task_id"]) == (sample["evaluation_name"], sample["sample_id"])
        assert (row["model"], row["scorer"]) == (sample["model_id"], sample["evaluation_result_id"])
        assert sha256(row["question"]) == sample["input_sha256"]
        reference = sample["reference"]
        assert row["target"] == (reference[0] or None if len(reference) == 1 else reference or None)
        choices = sample["choices"]
        assert (row["choices"] and json.loads(row["choices"])) == (choices or None)
        assert row["raw_output"] == (sample["output"][0] if sample["output"] else None)
        assert same(row["score"], sample["score"])
        assert row["objective_pass"] == sample["is_correct"]
        assert row["tool_call_count"] == sample["tool_calls_count"]
        assert row["n_messages"] == sample["n_messages"]
        for tokens in ("input_tokens", "output_tokens"):
            assert row[tokens] == sample[tokens]
        assert same(row["latency_ms"], sample["latency_ms"])
        assert row["answer"] == (sample["extracted"][-1] if sample["extracted"] else None)


@needs_peers
def test_every_figure_is_there(logs):
    rows = by_file(logs, "reported_metrics")
    expected = oracle("eee", "metric")
    # A file is there twice.
    assert len(rows) == len(expected) == 343
    for figure in expected:
        row = rows[figure["file"], figure["index"] + 1]
        assert same(row["value"], figure["score"])
        assert same(row["stderr"], figure["stderr"])
        assert row["n"] == figure["num_samples"]
        assert row["higher_is_better"] is not figure["lower_is_better"]
        details = json.loads(row["extra"])
        assert details["evaluation_name"] == figure["evaluation_name"]
        assert details["metric_config"].get("max_score") == figure["max"]


@needs_peers
def test_every_figure_is_recomputed_or_has_a_reason(logs):
    audit = query(logs, "SELECT status, reason, run_id, statistic, recomputed FROM metric_audit")
    # Three means and two standard errors; three scorers of which the samples have one score.
    assert Counter((row["status"], row["reason"]) for row in audit) == {
        ("equal", None): 5,
        ("not recomputable", "no scores of that name"): 5,
        ("not recomputable", PUBLISHED): len(audit) - 10,
    }
    means = {s["evaluation_name"]: s["mean"] for s in oracle("eee", "samples_mean")}
    equal = [r for r in audit if r["status"] == "equal" and r["statistic"] == "mean"]
    for row in equal:
        assert same(row["recomputed"], means[row["run_id"].split("/")[0]])


@pytest.mark.campaign
@needs_peers
def test_aggregate_and_samples_in_any_order(tmp_path):
    files = sorted((LOGS / POPULARITY).rglob("*.json*"))
    aggregate, samples = files
    lines = samples.read_bytes().splitlines(keepends=True)
    cut = tmp_path / samples.name
    cut.write_bytes(b"".join(lines[:7]))
    whole = digests_after(tmp_path / "whole", files)
    orders = {
        "aggregate": ([aggregate], [samples]),
        "samples": ([samples], [aggregate]),
        "cut": ([cut], [aggregate], [samples], [cut], files),
    }
    for name, imports in orders.items():
        assert digests_after(tmp_path / name, *imports) == whole


@pytest.mark.slow
def test_epochs_and_scales(tmp_path):
    """Lines of the same sample are its attempts; percentages are not compared with samples."""
    wrong = {**SAMPLE, "evaluation": {"score": 0.0, "is_correct": False}}
    samples = write_samples(tmp_path / "a_samples.jsonl", SAMPLE, wrong, SAMPLE, SAMPLE)
    percent = json.loads(json.dumps(AGGREGATE))
    percent["evaluation_results"][0]["score_details"]["score"] = 75
    percent["evaluation_results"][0]["metric_config"]["max_score"] = 100
    store = queried_store(tmp_path / "store")
    import_into(store, samples, write(tmp_path / "a.json", percent))
    rows = query(
        store,
        "SELECT attempt, objective_pass, latency_ms, answer, prompt FROM results ORDER BY seq",
    )
    assert [row["attempt"] for row in rows] == [1, 2, 3, 4]
    assert [row["objective_pass"] for row in rows] == [True, False, True, True]
    assert {(row["latency_ms"], row["answer"], row["prompt"]) for row in rows} == {
        (12.5, "4", "Q: 2 + 2?")
    }
    reasons = query(store, "SELECT metric, status, reason FROM metric_audit ORDER BY metric")
    assert [tuple(row.values())[:2] for row in reasons] == [
        ("accuracy", "not recomputable"),
        ("f1", "not recomputable"),
    ]
    assert "percent" in reasons[0]["reason"]


def test_the_checksum_of_the_samples(tmp_path):
    samples = write_samples(tmp_path / "a_samples.jsonl", SAMPLE)
    details = {
        "file_path": "data/../../else/a_samples.jsonl",
        "hash_algorithm": "sha256",
        "checksum": hashlib.sha256(samples.read_bytes()).hexdigest(),
    }
    document = {**AGGREGATE, "detailed_evaluation_results": details}
    store = queried_store(tmp_path / "store")
    assert import_into(store, write(tmp_path / "a.json", document)).n_violations == 0
    write_samples(samples, SAMPLE, SAMPLE)
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(samples, other)
    moved = write(other / "b.json", {**document, "retrieved_timestamp": "2"})
    summary = import_into(store, moved)
    assert "another SHA-256" in summary.violations[0]


def test_samples_of_older_versions(tmp_path):
    old = {
        **SAMPLE,
        "schema_version": "instance_level_eval_0.2.2",
        "input": {"raw": "Q", "reference": "A"},
        "output": {"raw": "B"},
        "interactions": [{"role": "user", "content": "Q"}],
        "evaluation": {"score": 0.75, "is_correct": None},
    }
    store = queried_store(tmp_path / "store")
    import_into(store, write_samples(tmp_path / "s.jsonl", old))
    (row,) = query(
        store,
        """
        SELECT question, target, raw_output, objective_pass, value, text
        FROM results JOIN tasks USING (task_set, task_id)
            JOIN lake.result_scores USING (run_id) JOIN (SELECT run_id, text FROM messages)
            USING (run_id)
        """.replace("value, text", "value, messages_text").replace(
            "SELECT run_id, text", "SELECT run_id, text AS messages_text"
        ),
    )
    assert tuple(row.values()) == ("Q", "A", "B", None, 0.75, "Q")


def test_what_cannot_be_used_is_rejected_with_its_line(tmp_path):
    bad = {name: [] for name in SAMPLE} | {"evaluation_id": "e", "evaluation_name": "n"}
    strange = {**SAMPLE, "evaluation": {"score": float("inf"), "is_correct": 1}, "output": 3}
    samples = write_samples(
        tmp_path / "s.jsonl",
        SAMPLE,
        "[" * 100_000,
        json.dumps(SAMPLE)[:-5],
        {**SAMPLE, "sample_id": None},
        bad,
        {**bad, "sample_id": "x"},
        {**strange, "sample_id": "y", "token_usage": {"input_tokens": 10**30}},
    )
    store = queried_store(tmp_path / "store")
    summary = import_into(store, samples)
    assert [int(message.split(":")[1]) for message in summary.messages] == [2, 3, 4, 5]
    assert summary.n_results == 3
    scores = query(store, "SELECT value, text FROM lake.result_scores ORDER BY ALL")
    assert [tuple(row.values()) for row in scores] == [(1.0, None), (None, "Infinity")]


@pytest.mark.parametrize(
    "text",
    [
        '{"evaluation_id": "e", "evaluation_results": ' + "[" * 100_000,
        '{"evaluation_id": "e", "evaluation_results": [{"score',
        '{"evaluation_id": 3, "evaluation_results": []}',
    ],
)
def test_a_broken_aggregate_is_quarantined(tmp_path, text):
    store = queried_store(tmp_path / "store")
    summary = import_into(store, write(tmp_path / "a.json", text))
    assert summary.n_quarantined == 1
    assert not summary.runs


def test_an_aggregate_of_wrong_types(tmp_path):
    result = {
        "evaluation_name": 3,
        "metric_config": [],
        "score_details": {"score": float("nan"), "uncertainty": 4},
    }
    document = {
        "evaluation_id": "e",
        "evaluation_timestamp": {},
        "model_info": "m",
        "evaluation_results": [result, 5, {}],
        "source_metadata": 6,
        "detailed_evaluation_results": {"file_path": "..", "checksum": 1},
    }
    store = queried_store(tmp_path / "store")
    summary = import_into(store, write(tmp_path / "a.json", document))
    assert [message.rpartition("quarantined: ")[2] for message in summary.messages] == [
        "1 elements of `evaluation_results` are not objects"
    ]
    figures = query(store, "SELECT metric, text FROM reported_metrics ORDER BY seq")
    assert [tuple(row.values()) for row in figures] == [("3", "NaN"), ("score", None)]


def test_an_aggregate_without_a_list_of_results(tmp_path):
    document = {"evaluation_id": "e", "evaluation_results": {}, "source_metadata": {}}
    store = queried_store(tmp_path / "store")
    summary = import_into(store, write(tmp_path / "a.json", document))
    assert [message.rpartition("quarantined: ")[2] for message in summary.messages] == [
        "`evaluation_results` is not a list"
    ]
    assert query(store, "SELECT run_id FROM runs") == [{"run_id": "e"}]


@needs_peers
def test_an_index_is_declined(tmp_path):
    store = queried_store(tmp_path / "store")
    (message,) = import_into(store, LOGS / "community" / "aggregate.jsonl").messages
    assert "an index of every_eval_ever files" in message
