"""BFCL: equal to the reference rows, in any order of imports; no pass without both files."""

import json

import pytest
from peers import PEERS, digests_after, needs_peers, oracle, query, same, sha256
from support import import_into, new_store, queried_store

from ingest.reconciliation import FileOutcome

LOGS = PEERS / "bfcl"
MODEL = "some-model-FC"


def call(n, **fields):
    return {"id": f"simple_java_{n}", "result": [{"f": "{}"}], "latency": 0.5, **fields}


def figures(correct, total):
    return {"accuracy": correct / total, "correct_count": correct, "total_count": total}


def failure(n, **fields):
    return {"id": f"simple_java_{n}", "valid": False, "error_type": "type_error:java", **fields}


def write(path, *lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("".join(f"{text}\n" for text in texts), "utf-8")
    return path


def results(folder, *lines):
    path = folder / "tree" / "result" / MODEL / "non_live" / "BFCL_v4_simple_java_result.json"
    return write(path, *lines)


def scores(folder, *lines):
    path = folder / "tree" / "score" / MODEL / "BFCL_v4_simple_java_score.json"
    return write(path, *lines)


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    if not PEERS.is_dir():
        pytest.skip("no reference data")
    store = new_store(tmp_path_factory.mktemp("bfcl") / "store")
    import_into(store, LOGS)
    with store.reading():  # open for all tests
        yield store


@pytest.mark.campaign
@needs_peers
def test_every_sample_equals_the_reference(logs):
    found = query(
        logs,
        """
        SELECT r.run_id, r.task_set, r.task_id, r.seq, r.raw_output, r.input_tokens,
            r.output_tokens, r.duration_seconds, v.passed
        FROM results AS r JOIN verdicts AS v USING (suite, run_id, result_id)
        WHERE r.suite = 'bfcl'
        """,
    )
    rows = {(row["run_id"], row["task_set"], row["task_id"]): row for row in found}
    expected = oracle("bfcl", "sample")
    assert len(expected) == len(rows) == len(found) == 3541
    for sample in expected:
        row = rows[sample["set"], f"bfcl:{sample['task']}", sample["id"]]
        assert row["seq"] == sample["line"]
        result = row["raw_output"]
        result = result if sample["result_type"] == "str" else json.loads(result)
        text = json.dumps(result, sort_keys=True, ensure_ascii=False)
        assert sha256(text) == sample["result_sha256"]
        for tokens in ("input_tokens", "output_tokens"):
            assert (row[tokens] or 0) == sample[tokens]
        assert same(row["duration_seconds"] or 0, sample["latency_s"])
        assert row["passed"] is sample["valid"]


@pytest.mark.slow
@needs_peers
def test_every_figure_is_recomputed_or_has_a_reason(logs):
    audit = query(logs, "FROM metric_audit WHERE suite = 'bfcl'")
    rows = {(row["run_id"], row["task_set"], row["metric"], row["model"]): row for row in audit}
    expected = oracle("bfcl", "metric")
    for figure in expected:
        task_set = f"bfcl:{figure['task']}"
        found = [row for key, row in rows.items() if key[:2] == (figure["set"], task_set)]
        by_metric = {row["metric"]: row for row in found}
        assert len(by_metric) == 3
        assert same(by_metric["accuracy"]["reported"], figure["value"])
        assert by_metric["correct_count"]["reported"] == figure["correct"]
        assert by_metric["total_count"]["reported"] == figure["n"]
        assert {row["status"] for row in found} == {"equal"}
    cells = oracle("bfcl", "leaderboard")
    tables = [row for row in audit if row["task_set"] is None]
    texts = {(row["model"], row["metric"], row["reported_text"]) for row in tables}
    assert {(cell["model"], cell["metric"], cell["text"]) for cell in cells} <= texts
    assert {row["status"] for row in tables} == {"not recomputable"}
    assert len(audit) == 3 * len(expected) + len(tables)


@pytest.mark.slow
@needs_peers
def test_every_failure_is_kept(logs):
    found = query(logs, "SELECT run_id, document FROM events WHERE suite = 'bfcl'")
    documents = [(row["run_id"], json.loads(row["document"])) for row in found]
    rows = {(run_id, document["id"]): document for run_id, document in documents}
    expected = oracle("bfcl", "failure")
    assert len(rows) == len(found) == len(expected) == 402
    for wrong in expected:
        assert sorted(rows[wrong["set"], wrong["id"]]) == wrong["keys"]


@pytest.mark.campaign
@needs_peers
def test_results_and_scores_in_any_order(tmp_path):
    tree = LOGS / "claude_small"
    by_name = sorted(tree.rglob("*.json"))
    score_files = [path for path in by_name if path.name.endswith("_score.json")]
    whole = digests_after(tmp_path / "whole", [tree])
    assert digests_after(tmp_path / "scores", score_files, [tree]) == whole
    assert digests_after(tmp_path / "parts", by_name[::-2], by_name[1::2], [tree]) == whole


@pytest.mark.slow
def test_without_a_failure_all_have_passed(tmp_path):
    results(tmp_path, call(0), call(1))
    scores(tmp_path, figures(2, 2))
    store = queried_store(tmp_path / "store")
    import_into(store, tmp_path / "tree")
    assert query(store, "SELECT passed FROM verdicts") == [{"passed": True}, {"passed": True}]


def test_equal_files_of_two_models_and_trees_count_for_each(tmp_path):
    """Scores without a failure are one short line, so that those of two models are often equal."""
    for tree in (tmp_path / "one", tmp_path / "two"):
        for model in ("a-FC", "b-FC"):
            result = tree / "result" / model / "BFCL_v4_simple_java_result.json"
            write(result, call(0), call(1))
            write(tree / "score" / model / "BFCL_v4_simple_java_score.json", figures(2, 2))
    store = queried_store(tmp_path / "store")
    for _ in range(2):
        import_into(store, tmp_path / "one", tmp_path / "two")
        verdicts = query(
            store, "SELECT run_id, model, count(*) FILTER (passed) AS n FROM verdicts GROUP BY ALL"
        )
        passed = {(row["run_id"], row["model"]): row["n"] for row in verdicts}
        assert passed == {(run, model): 2 for run in ("one", "two") for model in ("a-FC", "b-FC")}


@pytest.mark.parametrize("before", [(figures(1, 2), failure(0)), (figures(2, 2),)])
def test_scores_that_changed_are_a_conflict(tmp_path, before):
    """Next to those that the store has, no verdict would follow."""
    results(tmp_path, call(0), call(1))
    scores(tmp_path, *before)
    store = queried_store(tmp_path / "store")
    import_into(store, tmp_path / "tree")
    verdicts = query(store, "SELECT task_id, passed FROM verdicts ORDER BY task_id")
    changed = (figures(2, 2),) if len(before) > 1 else (figures(1, 2), failure(1))
    summary = import_into(store, scores(tmp_path, *changed))
    assert summary.outcomes == {FileOutcome.CONFLICT: 1}
    assert query(store, "SELECT task_id, passed FROM verdicts ORDER BY task_id") == verdicts


@pytest.mark.slow
def test_a_pass_needs_both_files_and_right_numbers(tmp_path):
    def passes(store):
        rows = query(store, "SELECT passed FROM verdicts ORDER BY seq")
        return [row["passed"] for row in rows]

    given = results(tmp_path, call(0), call(1), call(2))
    store = queried_store(tmp_path / "store")
    import_into(store, given)
    assert passes(store) == [None, None, None]
    import_into(store, scores(tmp_path, figures(2, 3), failure(1, error={"error_type": "x"})))
    assert passes(store) == [True, False, True]
    violations = query(store, "SELECT violation FROM scores.bfcl_verdicts WHERE NOT is_correct")
    assert violations == [{"violation": "type_error:java"}]

    only_scores = queried_store(tmp_path / "only-scores")
    import_into(only_scores, tmp_path / "tree" / "score")
    assert passes(only_scores) == []
    (status,) = query(only_scores, "SELECT DISTINCT status FROM metric_audit")
    assert status == {"status": "samples missing"}

    for wrong in ([figures(1, 3), failure(1)], [figures(2, 3), failure(7)], [figures(2, 4)]):
        folder = tmp_path / str(wrong[0]) / str(wrong[-1]["id"] if len(wrong) > 1 else "")
        results(folder, call(0), call(1), call(2))
        scores(folder, *wrong)
        contradictory = queried_store(folder / "store")
        import_into(contradictory, folder / "tree")
        assert passes(contradictory) == [None, None, None]


def test_lists_of_steps_and_errors(tmp_path):
    steps = [[{"a": "{}"}, {"b": "{}"}], ["text"]]
    several = call(1, result=steps, latency=[[0.5, 0.25], [1]], input_token_count=[[1, 2], [3]])
    error = call(2, result="Error during inference: 429", traceback="Traceback …")
    store = queried_store(tmp_path / "store")
    import_into(store, results(tmp_path, several, error))
    first, second = query(store, "FROM results ORDER BY seq")
    assert (first["duration_seconds"], first["input_tokens"]) == (1.75, 6)
    assert first["tool_calls"] == ["a", "b"]
    assert json.loads(first["extra"])["latency"] == [[0.5, 0.25], [1]]
    assert (second["success"], second["failure_type"]) == (False, "error")


@pytest.mark.slow
def test_figures_of_the_configurations_of_prompts(tmp_path):
    """As bfcl-eval 2026.3.23 writes the category format_sensitivity."""
    name = "BFCL_v4_format_sensitivity"
    tasks = [("style=classic", 1), ("style=classic", 2), ("style=new", 1)]
    ids = [
        f"format_sensitivity_{n}:{style}:simple_python_{of}" for n, (style, of) in enumerate(tasks)
    ]
    write(
        tmp_path / "tree" / "result" / MODEL / "format_sensitivity" / f"{name}_result.json",
        *({"id": each, "result": "[f()]"} for each in ids),
    )
    spread = {"accuracy_max_delta": 50.0, "accuracy_variance": 1250.0, "accuracy_std": 35.36}
    configurations = {"style=classic": figures(1, 2), "style=new": figures(1, 1)}
    write(
        tmp_path / "tree" / "score" / MODEL / "format_sensitivity" / f"{name}_score.json",
        {**figures(2, 3), **spread, **configurations},
        {"id": ids[1], "valid": False, "error_type": "value_error:string"},
    )
    store = queried_store(tmp_path / "store")
    import_into(store, tmp_path / "tree")
    audit = query(store, "SELECT task_group, metric, n, status, reason FROM metric_audit")
    equal = {(row["task_group"], row["n"]) for row in audit if row["status"] == "equal"}
    assert equal == {(None, 3), ("style=classic", 2), ("style=new", 1)}
    assert {row["metric"]: row["reason"] for row in audit if row["reason"]} == dict.fromkeys(
        spread, "rounded, and computed from the accuracies of the configurations"
    )
    assert len(audit) == 12


@pytest.mark.slow
def test_what_cannot_be_used_is_rejected_with_its_line(tmp_path):
    strange = call(3, latency=[[float("nan"), "x", 10**400]], input_token_count=-(10**30))
    path = results(
        tmp_path,
        call(0),
        "[" * 100_000,
        json.dumps(call(1))[:-4],
        {"result": []},
        {"id": "simple_java_9"},
        strange,
        call(4, result=None, latency={}, output_token_count=True),
        call(0),
    )
    score = scores(
        tmp_path,
        {"accuracy": float("nan"), "total_count": "many", "correct_count": None},
        failure(1, prompt=[], possible_answer=float("nan")),
        failure(2, prompt={"question": [[{"role": "user", "content": [1, {}]}], 3, [4]]}),
        [1],
        {"valid": False},
    )
    store = queried_store(tmp_path / "store")
    summary = import_into(store, path, score)
    rejected = {name: [] for name in (path.name, score.name)}
    for message in summary.messages:
        place, line, _ = message.split(":", 2)
        rejected[place.rpartition("/")[2]].append(int(line))
    assert rejected == {path.name: [2, 3, 4, 5], score.name: [4, 5]}
    assert summary.n_results == 3
    assert query(store, "SELECT DISTINCT passed FROM verdicts") == [{"passed": None}]


@needs_peers
def test_results_without_ids_are_declined(tmp_path):
    store = queried_store(tmp_path / "store")
    summary = import_into(store, LOGS / "aya")
    assert len(summary.messages) == 5
    assert summary.n_quarantined == summary.n_results == 0


def test_a_table_with_more_cells_than_names(tmp_path):
    path = tmp_path / "tree" / "score" / "data_live.csv"
    write(path, "Rank,Model,Live Overall Acc", "1,M,74.32%,more,cells", "2,N", "")
    store = queried_store(tmp_path / "store")
    import_into(store, path)
    figures = query(store, "SELECT model, metric, text FROM reported_metrics")
    assert [tuple(row.values()) for row in figures] == [("M", "Live Overall Acc", "74.32%")]
