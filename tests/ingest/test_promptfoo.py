"""Evaluations of promptfoo: equal to the reference rows, whichever of its files they come from."""

import hashlib
import json
import shutil
import sqlite3

import pytest
from peers import PEERS, digests_after, needs_peers, oracle, query, same, sha256
from support import files_in, import_into, new_store, queried_store, traces

from ingest.formats.common.collector import RowCollector
from ingest.formats.promptfoo.evaluation import EvaluationRows

LOGS = PEERS / "promptfoo"
GENERATED = LOGS / "generated-0.123.1"
INTERRUPTED = LOGS / "interrupted-0.123.1"
USAGE = "how promptfoo counts these tokens is not in the results"
WALL = "the wall time of the evaluation"
DERIVED = "a derived metric: an expression over others"


def row(n, prompt=0, **fields):
    """Return a result as in an export."""
    plain = {
        "id": f"r{n}-{prompt}",
        "promptIdx": prompt,
        "testIdx": n,
        "prompt": {"raw": f"Q{n}?", "label": "ask"},
        "provider": {"id": "p:m", "label": ""},
        "testCase": {"vars": {"q": f"Q{n}"}, "assert": [{"type": "equals", "value": "A"}]},
        "vars": {"q": f"Q{n}"},
        "response": {"output": "A", "tokenUsage": {"prompt": 2, "completion": 1, "total": 3}},
        "gradingResult": {"pass": True, "score": 1, "reason": "fine", "componentResults": []},
        "success": True,
        "score": 1,
        "namedScores": {},
        "latencyMs": 5,
        "cost": 0.5,
        "failureReason": 0,
    }
    return {**plain, **fields}


def export(rows, prompts=(), **members):
    results = {"version": 3, "timestamp": "2026-01-02T03:04:05Z", "prompts": list(prompts)}
    results |= {"results": list(rows), "stats": {}}
    return {"evalId": "eval-1", "results": results, "config": {"description": "quiz"}, **members}


def write(path, document):
    text = document if isinstance(document, str) else json.dumps(document)
    path.write_text(text, "utf-8")
    return path


def imported(tmp_path, document):
    store = queried_store(tmp_path / "store")
    return store, import_into(store, write(tmp_path / "results.json", document))


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    if not PEERS.is_dir():
        pytest.skip("no reference data")
    store = new_store(tmp_path_factory.mktemp("promptfoo") / "store")
    import_into(store, LOGS)
    with store.reading():  # open for all tests
        yield store


@pytest.fixture(scope="module")
def by_file(logs):
    """Return the run of each file."""
    found = query(
        logs,
        """
        SELECT DISTINCT run_id, replace(path, $folder, '') AS path
        FROM results JOIN files ON results.file_sha256 = files.sha256
        WHERE suite = 'promptfoo'
        """,
        folder=f"{LOGS}/",
    )
    return {row["path"]: row["run_id"] for row in found}


def references(kind):
    return oracle("promptfoo", kind)


@needs_peers
def test_every_result_equals_the_reference(logs, by_file):
    found = query(
        logs,
        """
        SELECT r.*, t.extra ->> '$.vars' AS vars,
            (SELECT value FROM result_scores AS s WHERE s.result_id = r.result_id
                AND s.run_id = r.run_id AND metric = 'score') AS score,
            (SELECT list({metric: metric, value: value}) FROM result_scores AS s
                WHERE s.result_id = r.result_id AND s.run_id = r.run_id AND scorer IS NULL
                AND metric NOT IN ('score', 'passed', 'assertion set')) AS named,
            (SELECT list({passed: passed, value: value, scorer: scorer}) FROM result_scores AS s
                WHERE s.result_id = r.result_id AND s.run_id = r.run_id
                AND metric[:10] = 'assertion ') AS components,
        FROM results AS r LEFT JOIN tasks AS t USING (suite, task_set, task_id, task_hash)
        WHERE suite = 'promptfoo'
        """,
    )
    of_run = {}
    for each in found:
        of_run.setdefault(each["run_id"], []).append((each, json.loads(each["extra"])))
    expected = references("result")
    assert len(expected) == 157
    for file in {result["file"] for result in expected}:
        results = [result for result in expected if result["file"] == file]
        rows = sorted(of_run[by_file[file]], key=lambda pair: pair[0]["seq"])
        assert len(rows) == len(results)
        if results[0]["test_idx"] is not None:
            rows.sort(key=lambda pair: (pair[1]["testIdx"], pair[1]["promptIdx"]))
            results.sort(key=lambda result: (result["test_idx"], result["prompt_idx"]))
        for (each, extra), result in zip(rows, results, strict=True):
            assert extra.get("id") == result["result_id"]
            check_result(each, extra, result)


def check_result(each, extra, result):
    assert each["model"] == result["provider"]
    assert sha256(each["prompt"]) == result["prompt_sha256"]
    response = result["response"]
    text = response if isinstance(response, str | None) else json.dumps(response)
    stored = each["raw_output"]
    assert stored == text or json.loads(stored) == json.loads(text)
    assert each["success"] is not (result["failure_reason"] == 2 or result["grading_pass"] is None)
    if each["success"]:
        assert each["objective_pass"] == result["success"]
    assert same(each["score"], result["score"])
    assert each["e2e_ms"] == result["latency_ms"]
    assert same(each["cost_usd"] or 0, result["cost"] or 0)
    assert bool(each["is_cached"]) == bool(result["cached"])
    assert extra.get("failureReason") == result["failure_reason"]
    assert extra.get("error") == result["error"]
    tokens = result["tokens"]
    assert (each["input_tokens"] or 0) == (tokens["prompt"] or 0)
    assert (each["output_tokens"] or 0) == (tokens["completion"] or 0)
    named = {score["metric"]: score["value"] for score in each["named"] or []}
    assert named == (result["named_scores"] or {})
    components = sorted(
        (c["passed"], c["value"], c["scorer"] or "") for c in each["components"] or []
    )
    assert components == sorted((c[0], c[1], c[2] or "") for c in result["components"])
    variables = json.loads(each["vars"]) if each["vars"] else {}
    dumped = json.dumps(variables, sort_keys=True, ensure_ascii=False)
    if result["test_idx"] is not None:
        assert hashlib.sha256(dumped.encode()).hexdigest() == result["vars_sha256"]


@pytest.mark.slow
@needs_peers
def test_every_figure_is_recomputed_or_has_a_reason(logs, by_file):
    audit = query(logs, "FROM metric_audit WHERE suite = 'promptfoo'")
    rows = {(row["run_id"], row["seq"], row["metric"]): row for row in audit}
    n_prompts = {}
    for figure in references("prompt_metric"):
        run_id = by_file[figure["file"]]
        found = rows[run_id, figure["prompt_idx"] + 1, figure["metric"]]
        n_prompts[run_id] = max(n_prompts.get(run_id, 0), figure["prompt_idx"] + 1)
        assert same(found["reported"], figure["value"])
        if figure["recomputable"]:
            assert (found["status"], found["reason"]) == ("equal", None)
        else:
            assert found["status"] == "equal" or found["reason"] in {USAGE, DERIVED}
    for figure in references("stats"):
        if figure["file"].endswith(".db"):
            continue
        run_id = by_file[figure["file"]]
        found = rows[run_id, n_prompts[run_id] + 1, figure["metric"]]
        assert same(found["reported"], figure["value"])
        assert found["status"] == "equal" or found["reason"] in {USAGE, WALL}
    assert {row["status"] for row in audit} == {"equal", "not recomputable"}


@needs_peers
def test_the_database_with_its_log(logs):
    figures = query(
        logs,
        """
        SELECT run_id, seq - 1 AS prompt_idx, n_calls.*
        FROM (SELECT DISTINCT run_id, seq, model, settings FROM reported_metrics
            WHERE suite = 'promptfoo' AND metric = 'score') AS f
        JOIN LATERAL (
            SELECT count(*) AS n, sum(e2e_ms) AS latency_ms, sum(cost_usd) AS cost,
                count(*) FILTER (objective_pass) AS passed, count(*) FILTER (NOT success) AS errors
            FROM results AS r
            WHERE r.run_id = f.run_id AND r.model = f.model AND r.settings = f.settings
        ) AS n_calls ON true
        """,
    )
    rows = {(row["run_id"], row["prompt_idx"]): row for row in figures}
    expected = references("db_prompt")
    assert len(expected) == 12
    for column in expected:
        row = rows[column["eval_id"], column["prompt_idx"]]
        for name in ("n", "passed", "errors", "latency_ms"):
            assert row[name] == column[name]
        assert same(row["cost"] or 0, column["cost"] or 0)
    started = query(logs, "SELECT run_id, epoch_ms(started_at) AS ms, n_results FROM runs")
    runs = {row["run_id"]: row for row in started}
    for evaluation in references("db_eval"):
        run = runs[evaluation["eval_id"]]
        assert (run["ms"], run["n_results"]) == (
            evaluation["created_at_ms"],
            evaluation["n_results"],
        )


@pytest.mark.campaign
@needs_peers
def test_an_export_and_the_database_in_any_order(tmp_path):
    files = [GENERATED / "a.json", GENERATED / "promptfoo.db"]
    both = digests_after(tmp_path / "both", files)
    assert digests_after(tmp_path / "export", [files[0]], [files[1]], [files[0]]) == both
    assert digests_after(tmp_path / "database", [files[1]], [files[0]]) == both


@needs_peers
def test_the_database_stays_as_it_is(tmp_path):
    folder = tmp_path / "user"
    shutil.copytree(INTERRUPTED, folder)
    before = files_in(folder)
    store = queried_store(tmp_path / "store")
    assert import_into(store, folder / "promptfoo.db").n_results == 12
    assert files_in(folder) == before
    assert import_into(store, folder / "promptfoo.db").n_results == 0


@pytest.mark.campaign
@needs_peers
def test_json_lines_that_were_cut_and_come_whole_later(tmp_path):
    log = GENERATED / "a.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    whole = digests_after(tmp_path / "whole", [log])
    cut = tmp_path / "a.jsonl"
    cut.write_bytes(b"".join(lines[:11]))
    assert digests_after(tmp_path / "cut", [cut], [log], [cut]) == whole


@pytest.mark.slow
def test_repetitions_are_attempts_at_a_task(tmp_path):
    """Weighted named scores, and columns that only their place tells apart."""
    named = {"namedScores": {"a.b \u00fc": 0.5}, "latencyMs": 7}
    graded = {"pass": True, "score": 0.5, "namedScoreWeights": {"a.b \u00fc": 3}}
    rows = [row(0, **named, gradingResult=graded), row(1, testCase=row(0)["testCase"], cost=0)]
    rows += [row(0, prompt=1)]
    metrics = {
        "score": 2,
        "testPassCount": 2,
        "testFailCount": 0,
        "testErrorCount": 0,
        "cost": 0.5,
        "totalLatencyMs": 12,
        "namedScores": {"a.b \u00fc": 1.5, "derived": 2},
        "namedScoresCount": {"a.b \u00fc": 1},
        "namedScoreWeights": {"a.b \u00fc": 3},
    }
    prompts = [{"label": "ask", "provider": "p:m", "metrics": metrics}]
    prompts += [{"label": "ask", "provider": "p:m", "metrics": {"testPassCount": 1}}]
    store, _ = imported(tmp_path, export(rows, prompts))
    assert query(store, "SELECT count(DISTINCT task_id) AS n FROM results") == [{"n": 1}]
    audit = query(store, "SELECT metric, status, reason FROM metric_audit")
    assert {row["metric"]: row["reason"] for row in audit if row["status"] != "equal"} == {
        "namedScores.derived": DERIVED
    }
    assert len(audit) == 11
    (unknown,) = query(store, "SELECT cost_usd FROM results WHERE extra ->> '$.testIdx' = '1'")
    assert unknown["cost_usd"] is None
    assert query(store, "SELECT DISTINCT task_set, target FROM tasks") == [
        {"task_set": "quiz", "target": "A"}
    ]


def test_results_are_in_the_order_of_tests_then_prompts(tmp_path):
    """One of a prompt that is not listed has the place that it is given."""
    evaluation = EvaluationRows({"prompts": [{}, {}]}, RowCollector(tmp_path, "r"))
    cells = [row(1, prompt=1), row(0, prompt=1), row(0), row(1), row(5, prompt=2)]
    seqs = [evaluation.add(each, seq)["seq"] for seq, each in enumerate(cells, 11)]
    assert seqs == [4, 2, 1, 3, 15]


def test_cached_answers_and_errors(tmp_path):
    cached = {"response": {"output": {"b": 1, "a": [2]}, "cached": True}, "latencyMs": 1.5}
    failed = {"success": False, "failureReason": 2, "error": "429", "response": {"error": "429"}}
    wrong = {"success": False, "failureReason": 1, "error": "not A"}
    wrong["gradingResult"] = {"pass": False, "reason": "not A"}
    store, _ = imported(tmp_path, export([row(0, **cached), row(1, **failed), row(2, **wrong)]))
    found = query(
        store,
        """
        SELECT r.is_cached, r.success, v.passed, v.cost_usd, r.raw_output, r.violation
        FROM verdicts AS v JOIN results AS r USING (run_id, result_id)
        ORDER BY r.seq
        """,
    )
    assert [tuple(each.values()) for each in found] == [
        (True, True, True, None, '{"b":1,"a":[2]}', None),
        (False, False, None, 0.5, None, None),
        (False, True, False, 0.5, "A", "not A"),
    ]


@pytest.mark.slow
def test_a_label_in_json_that_prompts_and_results_write_differently(tmp_path):
    """As a chat in a YAML block: the evaluation keeps its last line end, its results do not."""
    chat = '[{"role": "user", "content": "{{q}}"}]'
    rows = [row(0) | {"prompt": {"raw": "[]", "label": chat.replace(" ", "")}}]
    prompts = [{"label": f"{chat}\n", "provider": "p:m", "metrics": {"testPassCount": 1}}]
    store, _ = imported(tmp_path, export(rows, prompts))
    assert query(store, "SELECT status, n FROM metric_audit") == [{"status": "equal", "n": 1}]
    again = write(tmp_path / "again.jsonl", json.dumps(row(0) | {"prompt": prompts[0]}))
    import_into(store, again)
    assert len(query(store, "SELECT run_id FROM results")) == 2
    assert len(query(store, "SELECT DISTINCT settings FROM results")) == 1


@pytest.mark.slow
def test_results_of_version_2_find_their_columns(tmp_path):
    """They have no index; the evaluation names a provider by its label, and a result by both."""
    provider = {"id": "p:m", "label": "mild"}
    results = [row(n) | {"provider": provider} for n in range(3)]
    results[2]["prompt"] = {"raw": "Twice?", "label": "twice"}
    for each in results:
        del each["promptIdx"], each["testIdx"], each["id"], each["failureReason"]
    metrics = {"testPassCount": 2, "testFailCount": 0, "totalLatencyMs": 10}
    once = {"label": "ask", "provider": "mild", "metrics": metrics}
    twice = [{"label": "twice", "provider": "mild", "metrics": {"testPassCount": 1}}] * 2
    results = {"version": 2, "results": results, "table": {"head": {"prompts": [once, *twice]}}}
    store, _ = imported(tmp_path, {"evalId": "e", "results": results, "config": {}})
    audit = query(store, "SELECT metric, status, reason FROM metric_audit ORDER BY seq, metric")
    unknown = "which results are of this column is not recorded"
    assert [tuple(each.values()) for each in audit] == [
        *((name, "equal", None) for name in sorted(metrics)),
        ("testPassCount", "not recomputable", unknown),
        ("testPassCount", "not recomputable", unknown),
    ]


@pytest.mark.slow
def test_details_of_tokens(tmp_path):
    """Results without details took none of those tokens."""
    details = {"reasoning": 3, "acceptedPrediction": 0}
    response = {"output": "A", "tokenUsage": {"total": 9, "completionDetails": details}}
    usage = {"numRequests": 2, "completionDetails": {**details, "cacheReadInputTokens": 0}}
    prompts = [{"label": "ask", "provider": "p:m", "metrics": {"tokenUsage": usage}}]
    store, _ = imported(tmp_path, export([row(0), row(1, response=response)], prompts))
    audit = query(store, "SELECT metric, status, recomputed FROM metric_audit ORDER BY metric")
    assert [tuple(each.values()) for each in audit] == [
        ("tokenUsage.completionDetails.acceptedPrediction", "equal", 0),
        ("tokenUsage.completionDetails.cacheReadInputTokens", "equal", 0),
        ("tokenUsage.completionDetails.reasoning", "equal", 3),
        ("tokenUsage.numRequests", "not recomputable", None),
    ]


@pytest.mark.slow
def test_a_column_in_which_every_call_failed(tmp_path):
    failed = {"success": False, "failureReason": 2, "score": 0, "response": {"error": "429"}}
    metrics = {"testPassCount": 0, "testFailCount": 0, "testErrorCount": 2}
    prompts = [{"label": "ask", "provider": "p:m", "metrics": metrics}]
    rows = [row(n, gradingResult=None, **failed) for n in range(2)]
    store, _ = imported(tmp_path, export(rows, prompts))
    assert query(store, "SELECT metric, status, n FROM metric_audit ORDER BY metric") == [
        {"metric": name, "status": "equal", "n": 2} for name in sorted(metrics)
    ]


# As 0.121.20 and 0.118.17 report the same results: the older counts first and compares then.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("version", "n_passed", "n_assertions"), [("new", 1, (1, 3)), ("old", 2, (2, 0))]
)
def test_answers_that_are_compared(tmp_path, version, n_passed, n_assertions):
    """Two answers are compared, and that of a call that failed, which was not graded before."""
    best = {"assertion": {"type": "select-best", "value": "be good"}, "reason": "Not selected"}
    lost, won = {**best, "pass": False, "score": 0}, {**best, "pass": True, "score": 1}
    exact = {"pass": True, "score": 1, "assertion": {"type": "equals"}}
    second = {"pass": False, "score": 0, "componentResults": [exact, lost]}
    graded = [{"pass": True, "score": 1, "componentResults": [won]}, second, lost]
    if version == "old":
        graded[0]["componentResults"] = [exact, won]
    rows = [
        row(0, gradingResult=graded[0]),
        row(1, gradingResult=graded[1], success=False, score=0, failureReason=1),
        row(2, gradingResult=graded[2], success=False, score=0, failureReason=2, response={}),
    ]
    if version == "new":
        graded[1]["componentResults"] = [{**exact, "pass": False}, lost]
    passed, failed = n_assertions
    metrics = {"testPassCount": n_passed, "testFailCount": 2 - n_passed, "testErrorCount": 1}
    metrics |= {"score": n_passed, "assertPassCount": passed, "assertFailCount": failed}
    prompts = [{"label": "ask", "provider": "p:m", "metrics": metrics}]
    document = export(rows, prompts)
    document["results"]["stats"] = {"successes": n_passed, "failures": 2 - n_passed, "errors": 1}
    store, _ = imported(tmp_path, document)
    audit = query(store, "SELECT metric, status, reason FROM metric_audit")
    assert len(audit) == 9
    assert {each["status"] for each in audit if not each["reason"]} == {"equal"}
    reasons = {each["metric"]: each["reason"] for each in audit if each["reason"]}
    compared = {*metrics, "successes", "failures"} - {"testErrorCount"}
    early = "counted before answers were compared with each other"
    assert reasons == (dict.fromkeys(compared, early) if version == "old" else {})
    (found,) = query(
        store, "SELECT count(*) AS n FROM result_scores WHERE metric = 'assertion select-best'"
    )
    assert found == {"n": 3}


@pytest.mark.slow
def test_a_large_export_is_read_result_by_result(tmp_path):
    prompts = [{"label": "ask", "provider": "p:m", "metrics": {"testPassCount": 5000}}]
    store, summary = imported(tmp_path, export((row(n) for n in range(5000)), prompts))
    assert summary.n_results == 5000
    (audit,) = query(store, "SELECT status, recomputed FROM metric_audit")
    assert audit == {"status": "equal", "recomputed": 5000}


@pytest.mark.parametrize(
    "text",
    [
        '{"results": {"version": 3, "results": ' + "[" * 100_000,
        json.dumps(export([row(0)]))[:-40],
        '{"results": {"version": 3}} trailing',
    ],
)
def test_a_broken_export_is_quarantined(tmp_path, text):
    _, summary = imported(tmp_path, text)
    assert summary.n_quarantined == 1
    assert not summary.n_results


def test_what_cannot_be_used_is_rejected_with_its_place(tmp_path):
    strange = {name: [name] for name in row(1)}
    wrong = row(2, score=float("nan"), latencyMs=10**400, cost="free", promptIdx=-1, vars=None)
    wrong["provider"], wrong["namedScores"] = "p:old", {"x": None, "y": "high"}
    wrong["testCase"] = {"assert": [{"type": {}}, {"type": "equals", "value": []}, 7]}
    deep = row(3, metadata=json.loads("[" * 90 + "]" * 90))
    rows = [row(0), 5, strange, wrong, deep, row(0), {}]
    document = export(rows, ["p", {"metrics": {"score": "NaN", "cost": None}, "label": 1}])
    document["results"]["stats"] = [1]
    document["config"] = 3
    _, summary = imported(tmp_path, document)
    assert summary.n_results == 4
    reasons = " ".join(summary.messages)
    assert "nested too deeply" in reasons
    assert "1 elements" in reasons
    assert summary.n_quarantined == 2


def database(path, rows=(), *, table="CREATE TABLE eval_results"):
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE TABLE evals (id TEXT, created_at INTEGER, config, prompts, results)"
        )
        connection.execute(
            "INSERT INTO evals VALUES ('e1', 1795311773858, '{}', '[', ?)", ['{"durationMs": 7}']
        )
        connection.execute("INSERT INTO evals VALUES (NULL, 'x', 'y', X'00', '[]')")
        columns = (
            "id, eval_id, prompt_idx, test_idx, response, success, score, provider, new_column"
        )
        connection.execute(f"{table} ({columns})")
        for values in rows:
            marks = ", ".join("?" * len(values))
            connection.execute(f"INSERT INTO eval_results VALUES ({marks})", values)
    connection.close()
    return path


@pytest.mark.slow
def test_a_database_with_strange_values(tmp_path):
    rows = [
        ("r1", "e1", 0, 0, '{"output": "A"}', 1, 1.0, '{"id": "p"}', "kept"),
        ("r2", "e1", "x", None, "[" * 100_000, 1, 1.0, "{}", None),
        ("r3", "e1", 2**62, -1, b"\xff", "yes", None, "p", 4),
        ("r4", "other", 0, 0, None, None, None, None, None),
    ]
    store = queried_store(tmp_path / "store")
    summary = import_into(store, database(tmp_path / "promptfoo.db", rows))
    assert summary.n_results == 1
    reasons = [message.split("quarantined: ")[1] for message in summary.messages]
    assert sorted(":".join(reason.split(":")[:2])[:32] for reason in reasons) == [
        "eval_results, e1, row 2: respons",
        "eval_results, e1, row 3: provide",
        "evals, row 1: prompts",
        "evals, row 2: has no id",
    ]
    figures = query(store, "SELECT metric, value FROM lake.reported_metrics")
    assert figures == [{"metric": "durationMs", "value": 7}]
    (kept,) = query(store, "SELECT decode(content) AS text FROM artifacts WHERE model = 'p'")[:1]
    assert json.loads(kept["text"]) == {"new_column": "kept"}


def test_a_broken_database_is_quarantined(tmp_path):
    whole = database(tmp_path / "whole.db").read_bytes()
    for n, data in enumerate((whole[:5000], whole[:100] + b"eval_results" * 400, whole[:16] * 400)):
        path = tmp_path / f"{n}.db"
        path.write_bytes(data if b"eval_results" in data else data + b"eval_results")
        store = queried_store(tmp_path / f"store{n}")
        summary = import_into(store, path)
        assert summary.n_quarantined >= 1
        assert not summary.n_results


def test_a_view_instead_of_the_table_is_not_read(tmp_path):
    path = database(tmp_path / "promptfoo.db", table="CREATE TABLE other")
    with sqlite3.connect(path) as connection:
        endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) SELECT * FROM n"
        connection.execute(f"CREATE VIEW eval_results AS {endless}")
    connection.close()
    store = queried_store(tmp_path / "store")
    assert "no table eval_results" in " ".join(import_into(store, path).messages)


@needs_peers
def test_a_table_is_declined(tmp_path):
    store = queried_store(tmp_path / "store")
    (message,) = import_into(store, GENERATED / "a.csv").messages
    assert "a table of promptfoo lacks most of an evaluation" in message


def test_secrets_of_what_is_broken_are_masked_in_quarantine(tmp_path):
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    text = json.dumps(export([row(0), row(1, response={"output": f"use {secret}"})]))
    write(
        tmp_path / "a.json", text.replace('"response": {"output": "use', '"response": {,"": "use')
    )
    store = queried_store(tmp_path / "store")
    assert import_into(store, tmp_path / "a.json", redact=True).n_quarantined == 1
    assert traces(store, secret) == []


@pytest.mark.slow
def test_secrets_are_masked_in_every_form(tmp_path):
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    told = row(0, response={"output": f"use {secret}"})
    write(tmp_path / "a.json", export([told], config={"env": secret}))
    write(tmp_path / "a.jsonl", json.dumps(told) + "\n")
    answer = json.dumps(told["response"])
    values = ("r0", "e1", 0, 0, answer, 1, 1.0, json.dumps(told["provider"]), None)
    database(tmp_path / "promptfoo.db", [values])
    store = queried_store(tmp_path / "store")
    names = ("a.json", "a.jsonl", "promptfoo.db")
    summary = import_into(store, *(tmp_path / name for name in names), redact=True)
    assert summary.n_results == 3
    assert sum(summary.secrets.values()) >= 3
    answers = query(store, "SELECT DISTINCT raw_output, config FROM results, runs")
    assert {answer["raw_output"] for answer in answers} == {"use (redacted)"}
    assert traces(store, secret) == []


def test_variables_are_kept_where_they_differ_from_those_of_the_test(tmp_path):
    store, _ = imported(tmp_path, export([row(1), row(2, vars={"q": "Q2, rendered"})]))
    [kept] = query(store, "SELECT decode(content) AS text FROM artifacts WHERE kind = 'row'")
    assert kept == {"text": '{"vars":{"q":"Q2, rendered"}}'}
