"""Logs of openai/evals: equal to the reference rows, however they are cut, and never a crash."""

import json

import pytest
from peers import PEERS, digests_after, needs_peers, oracle, query, same, sha256
from support import import_into, new_store, queried_store

LOGS = PEERS / "openai-evals"
SPEC = {
    "completion_fns": ["m"],
    "eval_name": "e.dev.v0",
    "base_eval": "e",
    "split": "dev",
    "run_config": {"eval_spec": {"cls": "evals:Match"}, "seed": 7},
    "run_id": "r",
    "created_at": "2024-02-06 06:28:16.123456",
}
NOT_RECOMPUTED = {"boostrap_std": "random bootstrap"}


def event(n, kind, sample="e.dev.1", **data):
    return {"run_id": "r", "event_id": n, "sample_id": sample, "type": kind, "data": data}


def write(path, *lines, spec=None):
    lines = [{"spec": {**SPEC, **(spec or {})}}, *lines]
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("".join(f"{text}\n" for text in texts), "utf-8")
    return path


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    if not PEERS.is_dir():
        pytest.skip("no reference data")
    store = new_store(tmp_path_factory.mktemp("openai-evals") / "store")
    import_into(store, LOGS)
    with store.reading():  # open for all tests
        yield store


@needs_peers
def test_every_sample_equals_the_reference(logs):
    found = query(
        logs,
        """
        SELECT run_id, task_id, prompt, raw_output, input_tokens, output_tokens, success,
            (SELECT list({role: role, content: text} ORDER BY seq) FROM messages AS m
             WHERE m.result_id = r.result_id) AS chat,
            (SELECT list({value: value, answer: answer, extra: extra} ORDER BY score_id)
             FROM result_scores s WHERE s.result_id = r.result_id AND metric = 'passed') AS matches,
            (SELECT list({metric: metric, value: value, text: text}) FROM result_scores s
             WHERE s.result_id = r.result_id AND metric <> 'passed') AS others
        FROM results r WHERE suite = 'openai_evals'
        """,
    )
    by_id = {(row["run_id"], row["task_id"]): row for row in found}
    expected = oracle("openai-evals", "sample")
    assert len(expected) == len(found) == 199
    for sample in expected:
        row = by_id[sample["file"].split("_")[0], sample["sample_id"]]
        if row["chat"] is None:
            assert sha256(row["prompt"]) == sample["prompt_sha256"]
        else:
            text = json.dumps(row["chat"][:-1], sort_keys=True, ensure_ascii=False)
            assert sha256(text) == sample["prompt_sha256"]
        sampled = next(iter(sample["sampled"]), None)
        assert row["raw_output"] == (sampled[0] if isinstance(sampled, list) else sampled)
        assert row["success"] is not bool(sample["errors"])
        assert row["input_tokens"] == sample["prompt_tokens"]
        assert row["output_tokens"] == sample["completion_tokens"]
        matches = row["matches"] or []
        assert [bool(match["value"]) for match in matches] == sample["correct"]
        datas = [json.loads(match["extra"])["data"] for match in matches]
        assert [data["expected"] for data in datas] == sample["expected"]
        picked = [p if isinstance(p, str | None) else json.dumps(p) for p in sample["picked"]]
        assert [match["answer"] for match in matches] == [
            None if p is None else p.replace('", "', '","') for p in picked
        ]
        scores = {score["metric"]: score for score in row["others"] or []}
        for name, value in [pair for metrics in sample["metrics"] for pair in metrics.items()]:
            if value == {"special": "nan"}:
                assert scores[name]["text"] == "NaN"
            else:
                assert scores[name]["text" if isinstance(value, str) else "value"] == value


@needs_peers
def test_every_figure_is_recomputed_or_has_a_reason(logs):
    found = query(logs, "FROM metric_audit WHERE suite = 'openai_evals'")
    by_id = {(row["run_id"], row["metric"]): row for row in found}
    expected = oracle("openai-evals", "metric")
    assert len(expected) == len(found) == 31
    for figure in expected:
        row = by_id[figure["file"].split("_")[0], figure["metric"]]
        assert same(row["reported"], figure["value"])
        if figure["reproducible"]:
            assert row["status"] == "equal"
        else:
            assert row["reason"] == NOT_RECOMPUTED[figure["metric"]]


@pytest.mark.campaign
@needs_peers
def test_a_log_that_was_cut_and_comes_whole_later(tmp_path):
    log = next(LOGS.glob("*_all-events.jsonl"))
    lines = log.read_bytes().splitlines(keepends=True)
    whole = digests_after(tmp_path / "whole", [log])
    for n in (1, 2, 3, 8, len(lines) - 1):
        cut = tmp_path / str(n) / log.name
        cut.parent.mkdir()
        cut.write_bytes(b"".join(lines[:n]))
        folder = tmp_path / f"store{n}"
        assert digests_after(folder, [cut], [log], [cut]) == whole


@pytest.mark.slow
def test_calls_after_the_first_are_kept_and_counted(tmp_path):
    judged = [
        event(0, "sampling", prompt="Q", sampled="A", usage={"prompt_tokens": 3}),
        event(1, "sampling", prompt="Is A right?", sampled="Y", usage={"prompt_tokens": 5}),
        event(2, "metrics", choice="Y", score=1.0),
        event(3, "sampling", "e.dev.2", prompt="Q2", sampled="B"),
        event(4, "metrics", "e.dev.2", choice="N", score=None),
        {"final_report": {"score": 1.0, "counts/Y": 1, "usage_prompt_tokens": 8}, "run_id": "r"},
    ]
    config = {"eval_spec": {"cls": "evals.elsuite.modelgraded.classify:ModelBasedClassify"}}
    path = write(tmp_path / "log.jsonl", *judged, spec={"run_config": config})
    store = queried_store(tmp_path / "store")
    import_into(store, path)
    audit = query(store, "SELECT metric, status, reason FROM metric_audit ORDER BY seq, metric")
    assert [tuple(row.values()) for row in audit] == [
        ("counts/Y", "not recomputable", "counts of a choice are not computed"),
        ("score", "equal", None),
        ("usage_prompt_tokens", "equal", None),
    ]
    answers = query(store, "SELECT raw_output FROM results ORDER BY seq")
    assert [row["raw_output"] for row in answers] == ["A", "B"]


@pytest.mark.slow
def test_each_of_several_matches_counts(tmp_path):
    matches = [event(n, "match", correct=n != 2, expected="x") for n in (1, 2, 3)]
    report = {"final_report": {"accuracy": 3 / 4}, "run_id": "r"}
    other = [event(4, "sampling", "e.dev.2", prompt="Q", sampled="A")]
    other += [event(5, "match", "e.dev.2", correct=True)]
    store = queried_store(tmp_path / "store")
    import_into(store, write(tmp_path / "log.jsonl", *matches, *other, report))
    (row,) = query(store, "SELECT status, n FROM metric_audit")
    assert row == {"status": "equal", "n": 4}
    (run,) = query(store, "SELECT seed, task_set, started_at::VARCHAR AS started_at FROM runs")
    assert run == {"seed": 7, "task_set": "e.dev", "started_at": "2024-02-06 06:28:16.123456"}


@pytest.mark.slow
def test_what_cannot_be_used_is_rejected_with_its_line(tmp_path):
    log = write(
        tmp_path / "log.jsonl",
        event(1, "sampling", prompt="Q", sampled="A"),
        "[" * 100_000,
        '{"run_id": "r", "event_id": 2, "type": "match", "data": {"correct": tr',
        "[1, 2]",
        {"run_id": "r", "event_id": 3},
        {**event(4, "match", correct=True), "run_id": "another"},
        event(5, "match", correct="maybe", expected=float("nan")),
        event(6, "metrics", accuracy=10**400, f1=[1], g=None, h=float("nan")),
        {**event(7, "sampling", prompt=[1, {"role": 2}], sampled={"a": 1}), "sample_id": "x"},
        {**event(8, "match"), "data": 3, "sample_id": 4, "created_at": 5},
        {**event(9, "sampling"), "data": None, "sample_id": "y"},
        event(1, "sampling", prompt="Q", sampled="A"),
        event(5, "match", correct="maybe", expected=float("nan")),
        spec={"completion_fns": 3, "run_config": [], "created_at": "yesterday", "split": {}},
    )
    store = queried_store(tmp_path / "store")
    summary = import_into(store, log)
    lines = [int(message.split(":")[1]) for message in summary.messages]
    assert sorted(lines) == [3, 4, 5, 6, 7]
    assert summary.n_results == 3
    scores = query(store, "SELECT metric, value, text FROM result_scores ORDER BY metric")
    assert [tuple(row.values()) for row in scores] == [
        ("accuracy", None, str(10**400)),
        ("f1", None, "[1]"),
        ("h", None, "NaN"),
        ("passed", None, "maybe"),
    ]


def verdicts(store):
    found = query(store, "SELECT task_id, passed FROM verdicts ORDER BY task_id")
    return [row["passed"] for row in found]


@pytest.mark.slow
def test_a_match_is_the_verdict(store, tmp_path):
    samples = [
        event(at, kind, f"e.dev.{at // 2}", **data)
        for at, (kind, data) in enumerate(
            [
                ("sampling", {"prompt": "a", "sampled": "x"}),
                ("match", {"correct": True, "picked": "x"}),
                ("sampling", {"prompt": "b", "sampled": "y"}),
                ("match", {"correct": False}),
                ("sampling", {"prompt": "c", "sampled": "z"}),
            ]
        )
    ]
    import_into(store, write(tmp_path / "e.jsonl", *samples))
    assert verdicts(store) == [True, False, None]
    # The score of that name is no second metric.
    metrics = query(
        store, "SELECT scorer, metric, mean, n_tasks FROM metrics WHERE reducer = 'mean'"
    )
    assert metrics == [{"scorer": None, "metric": "passed", "mean": 0.5, "n_tasks": 2}]
    more = event(5, "match", "e.dev.0", correct=False)
    import_into(store, write(tmp_path / "e.jsonl", *samples, more))
    assert verdicts(store) == [None] * 3
    metrics = query(
        store, "SELECT scorer, metric, mean, n_tasks FROM metrics WHERE reducer = 'mean'"
    )
    assert metrics == [{"scorer": "Match", "metric": "passed", "mean": 0.25, "n_tasks": 2}]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cls", "values", "expected"),
    [
        ("JsonValidator", (1.0, 0.0), [True, False]),
        ("ModelBasedClassify", (1.0, 0.0), [None, None]),
        ("JsonValidator", (0.5, 1.0), [None, True]),
    ],
)
def test_only_a_validator_judges_by_metrics(store, tmp_path, cls, values, expected):
    config = {"run_config": {"eval_spec": {"cls": f"evals.elsewhere:{cls}"}}}
    lines = [
        event(2 * at + later, kind, f"e.dev.{at}", **data)
        for at, value in enumerate(values)
        for later, (kind, data) in enumerate(
            [("sampling", {"prompt": "p", "sampled": "s"}), ("metrics", {"accuracy": value})]
        )
    ]
    import_into(store, write(tmp_path / "e.jsonl", *lines, spec=config))
    assert verdicts(store) == expected


@pytest.mark.slow
@needs_peers
def test_verdicts_of_the_reference_logs_are_their_matches(logs):
    found = query(
        logs,
        """
        SELECT count(*) AS n, count(*) FILTER (v.passed = (s.value = 1)) AS n_equal
        FROM verdicts AS v JOIN result_scores AS s USING (suite, run_id, result_id)
        WHERE s.metric = 'passed'
        """,
    )
    assert found == [{"n": 198, "n_equal": 198}]
    statuses = query(logs, "SELECT status, count(*) AS n FROM metric_audit GROUP BY ALL ORDER BY 1")
    assert [(row["status"], row["n"]) for row in statuses] == [
        ("equal", 26),
        ("not recomputable", 5),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("cls", ["JsonValidator", "MatchWithSolvers", "MultipleChoice", "Lambada"])
def test_accuracies_of_matches(store, tmp_path, cls):
    """As the classes of version 3.0.1 record and report them; `JsonValidator` expects nothing."""
    name = "bootstrap_std" if cls == "MatchWithSolvers" else "boostrap_std"
    write(
        tmp_path / "log.jsonl",
        event(0, "match", correct=True, expected=None, picked="{}"),
        event(1, "match", "e.dev.2", correct=False, expected=None, picked="{"),
        {"final_report": {"accuracy": 0.5, name: 0.1}, "run_id": "r"},
        spec={"run_config": {"eval_spec": {"cls": f"evals.elsuite.x:{cls}"}}},
    )
    import_into(store, tmp_path)
    assert store.sql(
        "SELECT metric, status, reason FROM metric_audit ORDER BY metric"
    ).fetchall() == [
        ("accuracy", "equal", None),
        (name, "not recomputable", "random bootstrap"),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cls", "more"), [("JsonValidator", {}), ("FuzzyMatch", {"boostrap_std": 0.1})]
)
def test_accuracies_of_metrics(store, tmp_path, cls, more):
    """As validators before version 3.0.1 and fuzzy matches report them: there are no matches."""
    lines = [
        event(n, kind, f"e.dev.{n // 2}", **data)
        for n, (kind, data) in enumerate(
            (kind, data)
            for value in (1.0, 0.0)
            for kind, data in [("sampling", {"prompt": "p"}), ("metrics", {"accuracy": value})]
        )
    ]
    write(
        tmp_path / "log.jsonl",
        *lines,
        {"final_report": {"accuracy": 0.5, **more}, "run_id": "r"},
        spec={"run_config": {"eval_spec": {"cls": f"evals.elsuite.x:{cls}"}}},
    )
    import_into(store, tmp_path)
    assert store.sql(
        "SELECT status, recomputed FROM metric_audit WHERE metric = 'accuracy'"
    ).fetchall() == [("equal", 0.5)]


def test_the_texts_of_a_conversation_are_the_prompt(store, tmp_path):
    parts = [{"type": "text", "text": "Why?"}]
    contents = {"system": "Be brief.", "user": parts, "assistant": None}
    prompt = [{"role": role, "content": content} for role, content in contents.items()]
    import_into(
        store, write(tmp_path / "e.jsonl", event(0, "sampling", prompt=prompt, sampled=["So."]))
    )
    assert store.sql("SELECT prompt, raw_output FROM lake.results").fetchall() == [
        ("Be brief.\nWhy?", "So.")
    ]


def test_a_first_line_that_is_broken(store, tmp_path):
    path = write(tmp_path / "r_m_e.jsonl", event(0, "match", correct=True))
    first, second = path.read_text().splitlines()
    path.write_text(f"{first[:80]}\n{second}\n")
    import_into(store, tmp_path)
    reasons = [
        reason for (reason,) in store.sql("SELECT reason FROM quarantine ORDER BY line").fetchall()
    ]
    assert reasons[0].startswith("not JSON")
    assert reasons[1:] == ["which run it belongs to is not known: the first line does not say it"]
