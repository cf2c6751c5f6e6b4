"""Inspect logs: both kinds of files, logs in parts, and logs that are broken on purpose."""

import copy
import json

import duckdb
import pytest
from inspect_cases import (
    DEFLATED,
    IDS,
    STORED,
    ZSTD,
    figures,
    header,
    members,
    sample,
    write_eval,
    write_json,
    write_zip,
)
from support import PROVENANCE, command, digests, import_into, queried_store

from ingest.formats.inspect.documents import HUGE_NUMBER_GATE, as_moment, read_object
from ingest.formats.inspect.scores import as_number, verdict
from ingest.reconciliation import FileOutcome
from warehouse.core.formats.secrets import may_hold_secrets


@pytest.fixture
def samples():
    return [sample(each) for each in IDS]


def finished(**metrics):
    return {**header(), "results": figures(**metrics)}


def outcomes(summary):
    return dict(summary.outcomes)


def digest_of(folder, *paths):
    """Return the digests of a store into which files were imported one after the other."""
    store = queried_store(folder)
    for path in paths:
        import_into(store, path)
    # Which files a log came in does differ.
    return digests(store, without=["main.files"])


# --- what becomes of a log


@pytest.mark.slow
def test_rows_of_a_sample(store, tmp_path):
    write_eval(tmp_path / "log.eval", finished(), [sample("a/1", 2)])
    import_into(store, tmp_path)
    with store.reading() as connection:
        found = connection.sql("FROM results")
        [values] = found.fetchall()
        row = dict(zip(found.columns, values, strict=True))
    expected = {
        "suite": "inspect",
        "run_id": "E1",
        "task_set": "capitals",
        "task_id": "a/1",
        "attempt": 2,
        "provider": "mockllm",
        "model": "mockllm/model",
        "settings": "temperature 0.5",
        "raw_output": "Paris a/1 2",
        "answer": "Paris",
        "is_correct": True,
        "scorer": "match",
        "input_tokens": 10,
        "output_tokens": 3,
        "duration_seconds": 1.25,
        "e2e_ms": 500,
        "is_cached": False,
        "success": True,
        "seq": 5,  # the first of the four, asked again
    }
    assert {name: row[name] for name in expected} == expected
    assert str(row["run_date"]) == "2026-03-01"
    assert str(row["started_at"]) == "2026-03-01 08:00:02"
    assert json.loads(row["extra"])["metadata"] == {"level": 1}
    [(commit, versions, config)] = store.sql(
        "SELECT git_commit, versions, config FROM runs"
    ).fetchall()
    assert (commit, json.loads(versions)) == ("abc123", {"inspect_ai": "0.3.285"})
    assert json.loads(config)["task_args"] == {"hard": True}


def test_a_score_is_a_number_a_verdict_or_a_text(store, tmp_path):
    scores = {
        "match": {"value": 1.0, "answer": "b", "explanation": "c", "history": [1]},
        "other": {"value": 1},  # no column keeps that it is whole
        "free": {"value": "1", "metadata": {"is_text": True}},
    }
    write_eval(tmp_path / "log.eval", finished(), [sample("a/1", scores=scores)])
    import_into(store, tmp_path)
    found = store.sql(
        "SELECT scorer, value, text, passed, extra FROM lake.result_scores ORDER BY position"
    )
    # The accuracy is that of `match`; an export of ours says what is a text.
    assert found.fetchall() == [
        ("match", 1.0, None, True, '{"history":[1]}'),
        ("other", 1.0, None, None, '{"value":1}'),
        ("free", None, "1", None, '{"metadata":{"is_text":true}}'),
    ]


def test_a_figure_has_the_name_of_its_score_else_of_its_scorer(store, tmp_path):
    metrics = {"accuracy": {"name": "accuracy", "value": 0.5}}
    document = finished()
    document["results"]["scores"] = [
        {"name": "first_letter", "scorer": "letters", "metrics": metrics},
        {"scorer": "match", "metrics": metrics},
        {"name": "old", "metrics": metrics},
    ]
    write_eval(tmp_path / "log.eval", document, [sample("a/1")])
    import_into(store, tmp_path)
    assert store.sql("SELECT scorer, score FROM lake.reported_metrics ORDER BY ALL").fetchall() == [
        ("letters", "first_letter"),
        ("match", "match"),
        ("old", "old"),
    ]


def test_empty_answers_and_explanations_are_kept(store, tmp_path):
    scores = {"match": {"value": "I", "answer": "", "explanation": ""}}
    samples = [sample(1, scores=scores), sample(2, scores={"match": {"value": "I"}})]
    write_eval(tmp_path / "log.eval", header(ids=(1, 2)), samples)
    import_into(store, tmp_path)
    columns = "SELECT answer, explanation FROM lake.result_scores ORDER BY result_id = $1"
    [(first,)] = store.sql("SELECT result_id FROM results WHERE task_id = '1'").fetchall()
    assert store.sql(columns, {"1": first}).fetchall() == [(None, None), ("", "")]
    answers = store.sql("SELECT answer FROM results ORDER BY task_id").fetchall()
    assert answers == [("",), (None,)]


def test_items_have_the_question_and_the_right_answers(store, tmp_path, samples):
    chat = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Where?"}]
    samples[0] |= {"input": chat, "choices": ["here", "there"], "target": "B"}
    write_eval(tmp_path / "log.eval", finished(), samples[:2])
    import_into(store, tmp_path)
    tasks = "SELECT prompt, question, choices, target FROM tasks ORDER BY task_id DESC"
    assert store.sql(tasks).fetchall() == [
        ("Be brief.\nWhere?", "Where?", '["here","there"]', "B"),
        ("Capital 2?", None, None, '["Paris"]'),
    ]
    same = "SELECT item_hash(question, NULL, choices, target) FROM (SELECT 'Where?' AS question, "
    same += """'["here","there"]' AS choices, 'there' AS target)"""
    item = "SELECT item_hash FROM result_items WHERE task_id = 'a/1'"
    assert store.sql(item).fetchall() == store.sql(same).fetchall()


@pytest.mark.slow
def test_cached_answers_are_marked(store, tmp_path, samples):
    call = samples[0]["events"][1]
    samples[0]["events"][1] = {**call, "cache": "read"}
    samples[1]["events"].append({**call, "cache": "read"})
    samples[2]["events"] = []
    write_eval(tmp_path / "log.eval", finished(), samples[:3])
    import_into(store, tmp_path)
    found = store.sql("SELECT task_id, is_cached, e2e_ms FROM lake.results ORDER BY seq").fetchall()
    assert found == [("a/1", True, None), ("2", False, 500), ("ä 3", None, None)]


def test_conversations_keep_tools_and_long_texts(store, tmp_path):
    calls = [{"id": "c1", "function": "add", "arguments": {"x": 1}, "parse_error": "bad"}]
    messages = [
        {"role": "user", "content": "attachment://long"},
        {"role": "assistant", "content": [{"type": "text", "text": "a"}], "tool_calls": calls},
        {
            "role": "tool",
            "tool_call_id": "c1",
            "content": "2",
            "error": {"type": "t", "message": "m"},
        },
    ]
    one = sample(2, messages=messages, attachments={"long": "the long text"})
    write_eval(tmp_path / "log.eval", finished(), [one])
    import_into(store, tmp_path)
    assert store.sql("SELECT seq, role, text, error FROM messages ORDER BY seq").fetchall() == [
        (1, "user", "the long text", None),
        (2, "assistant", "a", None),
        (3, "tool", "2", "t: m"),
    ]
    called = "SELECT function, arguments, error, answer FROM tool_calls"
    assert store.sql(called).fetchall() == [("add", '{"x":1}', "bad", "2")]
    assert store.sql("SELECT prompt, tool_calls FROM results").fetchall() == [
        ("the long text", ["add"])
    ]


@pytest.mark.parametrize(
    ("value", "number", "passed"),
    [
        ("C", 1.0, True),
        ("P", 0.5, False),
        ("I", 0.0, False),
        ("N", 0.0, False),
        ("Yes", 1.0, True),
        ("0.25", 0.25, None),
        ("good", 0.0, None),
        (True, 1.0, True),
        (0.7, 0.7, False),
        (2, 2.0, True),
        (float("nan"), None, None),
        (10**400, None, None),
        ([1], None, None),
        (None, None, None),
    ],
)
def test_scores_are_numbers_by_the_rule_of_inspect(value, number, passed):
    assert as_number(value) == number
    assert verdict(value, is_graded=True) is passed
    if not isinstance(value, str | bool):
        assert verdict(value, is_graded=False) is None


def test_a_score_with_several_values_has_a_row_for_each(store, tmp_path):
    score = {"value": {"x": 1, "y": float("nan")}, "metadata": {"why": "so"}}
    write_json(tmp_path / "log.json", finished(), [sample(2, scores={"multi": score})])
    import_into(store, tmp_path)
    rows = store.sql(
        "SELECT scorer, metric, value, text, extra FROM lake.result_scores ORDER BY metric"
    ).fetchall()
    assert rows == [
        ("multi", "x", 1.0, None, '{"value":{"x":1,"y":"nan"},"metadata":{"why":"so"}}'),
        ("multi", "y", None, "nan", None),
    ]
    [(source,)] = store.sql("SELECT source FROM results").fetchall()
    assert json.loads(source)["scores"]["multi"]["value"]["x"] == 1  # NaN is no JSON


@pytest.mark.slow
def test_figures_are_audited(store, tmp_path, samples):
    samples[3]["scores"]["match"]["value"] = "I"
    metrics = {"value": 0.75, "stderr": 0.25, "mine": 3, "bootstrap_stderr": 0.2}
    write_eval(tmp_path / "right.eval", finished(**metrics), samples)
    import_into(store, tmp_path)
    audit = "SELECT metric, status, reason FROM metric_audit ORDER BY seq"
    assert store.sql(audit).fetchall() == [
        ("accuracy", "equal", None),
        ("stderr", "equal", None),
        ("mine", "not recomputable", "metric of the task's own code"),
        ("bootstrap_stderr", "not recomputable", "random bootstrap"),
    ]


def grouped(label, value, **parameters):
    inner = {"metric": {"type": "metric", "name": "accuracy", "params": {}}, "group_key": "a/b"}
    return {"name": label, "value": value, "group": "grouped", "params": {**inner, **parameters}}


def audits(folder, logs):
    """Import logs into one store, and return the audited figures of each, asked for once."""
    store = queried_store(folder / "store")
    for place, (head, samples) in enumerate(logs):
        head["eval"] |= {"eval_id": f"E{place}", "model": f"mockllm/{place}"}
        import_into(store, write_eval(folder / f"{place}.eval", head, samples))
    found = {place: [] for place in range(len(logs))}
    query = "SELECT run_id, metric, status, n, reason FROM metric_audit ORDER BY run_id, seq"
    for run_id, *figure in store.sql(query).fetchall():
        found[int(run_id.removeprefix("E"))].append(tuple(figure))
    return found


GROUPED = [
    (grouped("x", 0.5), ("equal", 2, None)),
    (grouped("is y!", 1.0, name_template="is {group_name}!"), ("equal", 1, None)),
    (grouped("all", 0.625), ("equal", 4, None)),
    (grouped("whole", 0.625, all_label="whole"), ("equal", 4, None)),
    # The mean of 0.5, 1 and 0.5.
    (grouped("all", 2 / 3, all="groups"), ("equal", 4, None)),
    (grouped("x", 0.625), ("differs", 2, "4 tasks reported, 2 with a score")),
    # `all` is then a group like others.
    (
        grouped("all", 0.5, all=False),
        ("not recomputable", None, "the samples of the group are not recorded"),
    ),
    (
        grouped("x", 0.5, name_template="{group_name!r}"),
        ("not recomputable", None, "how the groups were named is not recorded"),
    ),
    (
        {"name": "x", "value": 1, "group": "grouped", "params": {}},
        ("not recomputable", None, "how the groups were made is not recorded"),
    ),
    # A metric of a project that returns several values, one of them named like Inspect's.
    (
        {"name": "mean", "value": 0.625, "group": "summary", "params": {}},
        ("not recomputable", None, "metric of the task's own code"),
    ),
    (
        grouped("x", 0.5, metric={"name": "own/metric"}),
        ("not recomputable", None, "metric of the task's own code"),
    ),
    (
        grouped("x", 0.5, metric={"name": "stderr", "params": {"cluster": "c"}}),
        ("not recomputable", None, "metric with parameters of its own"),
    ),
    # The mean is 0.625; the clusters' sums of differences are -0.25, 0.375 and -0.125.
    (
        {"name": "stderr", "value": 0.14320549046, "params": {"cluster": "a/b"}},
        ("equal", 4, None),
    ),
    (
        {"name": "stderr", "value": 0.1, "params": {"cluster": "a/b", "more": 1}},
        ("not recomputable", None, "metric with parameters of its own"),
    ),
]


@pytest.mark.slow
def test_figures_of_groups_are_audited(tmp_path, samples):
    for each, letter, group in zip(samples, "CICP", ("x", "x", "y", 3), strict=True):
        each["scores"]["match"]["value"] = letter
        each["metadata"] = {"a/b": group}
    logs = []
    for metric, _ in GROUPED:
        head = finished()
        head["results"]["scores"][0] |= {"scored_samples": 4, "metrics": {"figure": metric}}
        logs.append((head, samples))
    found = audits(tmp_path, logs)
    for place, (metric, expected) in enumerate(GROUPED):
        assert [figure[1:] for figure in found[place]] == [expected], metric


@pytest.mark.slow
def test_clusters_that_a_standard_error_names_are_those_of_the_tasks(store, tmp_path, samples):
    for each, group in zip(samples, ("x", "x", "y", 3), strict=True):
        each["metadata"] = {"a/b": group}
    head = finished()
    stderr = {"name": "stderr", "value": 0.1, "params": {"cluster": "a/b"}}
    head["results"]["scores"][0] |= {"scored_samples": 4, "metrics": {"figure": stderr}}
    import_into(store, write_eval(tmp_path / "log.eval", head, samples))
    together = "SELECT count(*), count(DISTINCT cluster) FROM scores.task_clusters"
    assert store.sql(together).fetchall() == [(2, 1)]
    assert store.sql("SELECT DISTINCT n_clusters FROM leaderboard").fetchall() == [(3,)]


@pytest.mark.slow
@pytest.mark.parametrize("figure", [float("nan"), None])
def test_figures_over_a_score_that_is_not_a_number(store, tmp_path, samples, figure):
    # Inspect 0.3.90 and before did not leave such scores out.
    samples[3]["scores"]["match"]["value"] = float("nan")
    head = finished(value=figure, stderr=figure)
    import_into(store, write_json(tmp_path / "log.json", head, samples))
    audit = "SELECT metric, status, reason FROM metric_audit ORDER BY seq"
    assert store.sql(audit).fetchall() == [
        ("accuracy", "not recomputable", "a score is not a number"),
        ("stderr", "not recomputable", "a score is not a number"),
    ]


INSPECTS = [{"name": "inspect_ai/accuracy"}, {"name": "inspect_ai/stderr"}]
OWN = {"name": "summary"}


OWN_METRICS = [
    ([*INSPECTS, OWN], None, ["equal", "equal"]),
    # A metric of the project that has the same name.
    ([{"name": "accuracy"}, INSPECTS[1]], None, ["not recomputable", "equal"]),
    (INSPECTS, [{"name": "accuracy"}], ["not recomputable", "not recomputable"]),
    # One that returns several values, in a log that does not name it with each.
    ([OWN], None, ["not recomputable", "not recomputable"]),
    ({"*": INSPECTS[:1], "x": [OWN]}, None, ["equal", "not recomputable"]),
    ([{"x": [OWN]}, 3, {"name": 4}], None, ["not recomputable", "not recomputable"]),
    ([], None, ["equal", "equal"]),
    (None, 3, ["equal", "equal"]),
]


@pytest.mark.slow
def test_metrics_of_a_project_with_names_of_inspects(tmp_path, samples):
    samples[3]["scores"]["match"]["value"] = "I"
    logs = []
    for of_scorer, of_task, _ in OWN_METRICS:
        head = finished(value=0.75, stderr=0.25)
        head["eval"] |= {"scorers": [{"name": "match", "metrics": of_scorer}], "metrics": of_task}
        logs.append((head, samples))
    found = audits(tmp_path, logs)
    for place, (of_scorer, of_task, expected) in enumerate(OWN_METRICS):
        statuses = [status for _, status, *_ in found[place]]
        assert statuses == expected, (of_scorer, of_task)
        reasons = {reason for _, status, _, reason in found[place] if status != "equal"}
        assert reasons <= {"metric of the task's own code"}


# --- the same log in several forms and parts


@pytest.mark.slow
@pytest.mark.parametrize(
    ("version", "reported"), [("0.3.100", 0.5), ("0.3.101", 0.75), ("0.4.0", 0.75), (None, 0.75)]
)
def test_what_a_pass_is_depends_on_the_version(store, tmp_path, version, reported):
    values = {"a/1": (1, 0), 2: (2, 0), "ä 3": (1, 3), 4: (0, 0)}
    made = [
        sample(name, epoch, scores={"match": {"value": value}})
        for name, of_epochs in values.items()
        for epoch, value in enumerate(of_epochs, 1)
    ]
    results = figures(value=reported)
    results["scores"][0]["reducer"] = "pass_at_2"
    head = header(epochs=2, packages={"inspect_ai": version} if version else {})
    import_into(store, write_eval(tmp_path / "log.eval", {**head, "results": results}, made))
    found = store.sql("SELECT status, recomputed FROM metric_audit WHERE metric = 'accuracy'")
    assert found.fetchall() == [("equal", reported)]


def lake_rows(store):
    """Return the rows of each table of the lake but those about the files they came in."""
    tables = {}
    with duckdb.connect() as connection:
        for path in store.lake.path.glob("*/*.parquet"):
            names = connection.read_parquet(str(path)).columns
            columns = ", ".join(name for name in names if name not in PROVENANCE)
            rows = connection.execute(f"SELECT {columns} FROM '{path}'").fetchall()
            tables.setdefault(path.name, []).extend(map(repr, rows))
    del tables["files.parquet"]
    return {name: sorted(rows) for name, rows in tables.items()}


@pytest.mark.slow
def test_the_same_log_in_any_form_is_one(store, tmp_path, samples):
    forms = {
        "stored": write_eval(tmp_path / "a.eval", finished(), samples, STORED),
        "deflated": write_eval(tmp_path / "b.eval", finished(), samples, DEFLATED),
        "zstd": write_eval(tmp_path / "c.eval", finished(), samples, ZSTD),
        "json": write_json(tmp_path / "d.json", finished(), samples),
        "reversed": write_json(tmp_path / "e.txt", finished(), samples[::-1]),
    }
    kept = {}
    for name, path in forms.items():
        kept[name] = queried_store(tmp_path / name)
        import_into(kept[name], path)
        assert lake_rows(kept[name]) == lake_rows(kept["stored"]), name
    assert len(lake_rows(kept["stored"])) > 3
    for place, path in enumerate(forms.values()):
        outcome = FileOutcome.UNCHANGED if place else FileOutcome.IMPORTED
        assert outcomes(import_into(store, path)) == {outcome: 1}
    assert lake_rows(store) == lake_rows(kept["stored"])


@pytest.mark.campaign
def test_a_log_imported_while_it_grows_ends_as_the_whole(tmp_path, samples):
    whole = write_eval(tmp_path / "whole.eval", finished(), samples)
    running = header(is_finished=False)
    begun = write_eval(tmp_path / "begun.eval", running, [])
    half = write_eval(tmp_path / "half.eval", running, samples[:2])
    # Killed before the header was written.
    full = write_eval(tmp_path / "full.eval", running, samples)
    cancelled = {**header(), "status": "cancelled"}
    stopped = write_eval(tmp_path / "stopped.eval", cancelled, samples[:3])
    expected = digest_of(tmp_path / "0", whole)
    orders = [
        [half, whole],
        [whole, half],
        [begun, half, full, whole],
        [full, whole],
        [whole, begun],
    ]
    orders += [[stopped, whole], [half, stopped, whole]]
    for number, order in enumerate(orders, 1):
        assert digest_of(tmp_path / str(number), *order) == expected, number


@pytest.mark.slow
def test_of_a_sample_that_was_tried_again_the_last_counts(store, tmp_path, samples):
    first = copy.deepcopy(samples[1]) | {"uuid": "earlier", "scores": {}}
    path = write_eval(tmp_path / "log.eval", finished(), [samples[0], first])
    import_into(store, path)
    write_eval(path, finished(), [samples[0], first, samples[1], samples[1]])
    assert outcomes(import_into(store, path)) == {FileOutcome.GROWN: 1}
    assert store.sql("SELECT task_id, is_correct FROM results ORDER BY seq").fetchall() == [
        ("a/1", True),
        ("2", True),
    ]


@pytest.mark.slow
def test_a_log_scored_differently_conflicts(store, tmp_path, samples):
    import_into(store, write_eval(tmp_path / "a.eval", finished(), samples))
    samples[0]["scores"]["match"]["value"] = "I"
    again = write_eval(tmp_path / "b.eval", finished(), samples)
    assert outcomes(import_into(store, again)) == {FileOutcome.CONFLICT: 1}
    assert outcomes(import_into(store, again, replace=True)) == {FileOutcome.REPLACED: 1}
    assert store.sql("SELECT count(*) FILTER (is_correct) FROM results").fetchall() == [(3,)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["eval", "json"])
def test_a_header_without_samples_is_a_run_with_figures(store, tmp_path, kind):
    write = write_eval if kind == "eval" else write_json
    write(tmp_path / f"log.{kind}", finished(), [])
    import_into(store, tmp_path)
    assert store.sql("SELECT run_id, n_results FROM runs").fetchall() == [("E1", 0)]
    assert store.sql("SELECT status FROM metric_audit").fetchall() == [("samples missing",)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epochs_held", "figure", "expected"),
    [
        (1, 0.5, ("samples missing", "the store has 2 of 8", 8)),
        (1, 1.0, ("equal", None, 2)),
        (4, 0.5, ("differs", None, 2)),
        (4, 1.0, ("equal", None, 2)),
    ],
)
def test_a_log_without_all_its_epochs_lacks_samples(store, tmp_path, epochs_held, figure, expected):
    """A shortened log counts what it has left as all; the number of epochs shows what it lacks."""
    head = {**header(ids=("a", "b"), epochs=4), "results": figures(value=figure, n=2)}
    held = [sample(name, 1 + epoch) for name in ("a", "b") for epoch in range(epochs_held)]
    import_into(store, write_eval(tmp_path / "log.eval", head, held))
    rows = "SELECT status, reason, n_reported FROM metric_audit WHERE statistic = 'mean'"
    assert store.sql(rows).fetchall() == [expected]


@pytest.mark.slow
def test_documents_without_columns_are_kept(store, tmp_path, samples):
    reductions = [{"scorer": "match", "samples": []}]
    named = members(finished(), samples)
    named += [("reductions.json", json.dumps(reductions).encode()), ("new.bin", b"\0\1")]
    write_zip(tmp_path / "log.eval", [*named, ("summaries.json", b"[]")])
    import_into(store, tmp_path)
    kept = store.sql("SELECT name, content FROM lake.artifacts ORDER BY name").fetchall()
    assert [name for name, _ in kept] == ["new.bin", "reductions.json"]
    assert json.loads(kept[1][1]) == reductions


def test_runs_of_old_logs_are_named_by_their_ids(store, tmp_path, samples):
    head = finished()
    del head["eval"]["eval_id"]
    write_json(tmp_path / "log.json", head, samples)
    import_into(store, tmp_path)
    assert store.sql("SELECT run_id FROM runs").fetchall() == [("R1/T1",)]


def test_lists_of_logs_are_declined(store, tmp_path):
    listing = {"a/b.eval": {"version": 2, "status": "success", "eval": {"task": "t"}}}
    (tmp_path / "logs.json").write_text(json.dumps(listing))
    (tmp_path / "eval-set.json").write_text('{"eval_set_id": "x", "tasks": [{"model": "m"}]}')
    done = command(store.path, "import", tmp_path)
    assert done.code == 0
    assert "2 declined" in done.out
    assert "eval-set.json and 1 more: not imported: it lists Inspect logs" in done.err


def test_secrets_are_reported_and_masked(store, tmp_path, samples):
    token = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vX7zA9cE1gI3kM5"
    samples[1]["metadata"] = {"token": token}
    write_eval(tmp_path / "log.eval", finished(), samples)
    assert sum(import_into(store, tmp_path).secrets.values()) == 1
    masked = queried_store(tmp_path / "masked")
    import_into(masked, tmp_path / "log.eval", redact=True)
    extras = "".join(extra for (extra,) in masked.sql("SELECT extra FROM results").fetchall())
    assert token not in extras
    assert "(redacted)" in extras


# --- broken logs


def rejects(store, path):
    """Import a broken log, and return the reasons for what was quarantined."""
    done = command(store.path, "import", path)
    assert done.code == 2, done.out
    assert "Traceback" not in done.err
    return [reason for (reason,) in store.sql("SELECT reason FROM quarantine").fetchall()]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"{", "not JSON"),
        (b"[1]", "not a JSON object"),
        (b"\xff\xfe{}", "not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"id": 1, "epoch": 1, "metadata": ' + b"[" * 100_000, "nested too deeply"),
        (b'{"epoch": 1}', "its id is neither"),
        (b'{"id": true, "epoch": 1}', "its id is neither"),
        (b'{"id": 1, "epoch": "one"}', "its epoch is not"),
        (b'{"id": 1, "epoch": -1}', "its epoch is not"),
        (b'{"id": 1, "epoch": 1e999}', "its epoch is not"),
    ],
)
def test_a_sample_that_cannot_be_used_is_quarantined_with_its_name(
    store, tmp_path, samples, text, reason
):
    named = members(finished(), samples[:1])
    named.insert(1, ("samples/../../etc/passwd.json", text))
    write_zip(tmp_path / "log.eval", named)
    [found] = rejects(store, tmp_path)
    assert found.startswith("samples/../../etc/passwd.json: "), found
    assert reason in found
    assert store.sql("SELECT task_id FROM results").fetchall() == [("a/1",)]


WRONG = [None, True, 0, -1, 1e308, "", "text", [], [None], {}, {"a": None}, [[[]]], 10**30]
FIELDS = [
    *("input", "target", "choices", "messages", "output", "scores", "metadata", "events", "uuid"),
    *("model_usage", "total_time", "error", "error_retries", "attachments", "transcript", "limit"),
    *("score", "started_at", "store"),
]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sample", "nested"])
def test_fields_of_wrong_types_lose_nothing_and_break_nothing(store, tmp_path, kind):
    logged = []
    for number, field in enumerate(FIELDS):
        for place, wrong in enumerate(WRONG):
            value = wrong if kind == "sample" else [wrong, {"role": wrong, "content": wrong}]
            nested = {"mockllm/model": wrong, "message": wrong, "match": wrong, "value": wrong}
            value = {**nested, "choices": value} if kind == "nested" and place % 2 else value
            logged.append(sample(number * 100 + place, **{field: value}))
    write_json(tmp_path / "log.json", finished(), logged)
    assert import_into(store, tmp_path).n_quarantined == 0
    assert store.sql("SELECT count(*) FROM results").fetchall() == [(len(logged),)]


@pytest.mark.slow
def test_headers_of_wrong_types_break_nothing(store, tmp_path, samples):
    for number, wrong in enumerate(WRONG):
        for field in (
            "dataset",
            "config",
            "scorers",
            "model_generate_config",
            "created",
            "revision",
        ):
            head = {**header(**{field: wrong, "eval_id": f"{field} {number}"}), "results": wrong}
            head |= {"stats": wrong, "plan": wrong}
            write_json(tmp_path / f"{field} {number}.json", head, samples[:1])
    summary = import_into(store, tmp_path)
    assert summary.n_quarantined == 0, summary.messages
    assert store.sql("SELECT count(*) FROM runs").fetchall() == [(len(WRONG) * 6,)]


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"size": 5}, "not the 5 bytes that it declares"),
        ({"crc": 1}, "its checksum is another"),
        ({"flags": 0x801}, "encrypted"),
        ({"codec": 12}, "of an unknown compression, 12"),
        ({"size": 2**27}, "134,217,728 bytes; the limit is"),
    ],
)
def test_members_that_lie_are_quarantined(store, tmp_path, samples, changed, reason):
    def changes(name):
        return changed if name.startswith("samples/2") else {}

    write_zip(tmp_path / "log.eval", members(finished(), samples), changes=changes)
    [found] = rejects(store, tmp_path)
    assert found.startswith("samples/2_epoch_1.json: ")
    assert reason in found
    assert store.sql("SELECT count(*) FROM results").fetchall() == [(3,)]


@pytest.mark.slow
@pytest.mark.parametrize("codec", [DEFLATED, ZSTD])
def test_bombs_are_refused(store, tmp_path, samples, codec):
    named = members(finished(), samples)
    bombs = [(f"samples/{n}.json", b" " * 2**20) for n in range(40)]
    sizes = {name: {"size": 60 * 2**20} for name, _ in bombs}
    path = tmp_path / "log.eval"
    write_zip(path, [*named, *bombs], codec, changes=lambda name: sizes.get(name, {}))
    [found] = rejects(store, path)
    assert "it looks like a bomb" in found
    write_zip(path, [*named, ("samples/9.json", b" " * (65 * 2**20))], codec)
    assert any("the limit is 67,108,864" in reason for reason in rejects(store, path))


def test_overlapping_members_are_refused(store, tmp_path, samples):
    def changes(name):
        return {"offset": 0} if name.startswith("samples/2") else {}

    write_zip(tmp_path / "log.eval", members(finished(), samples), changes=changes)
    assert rejects(store, tmp_path) == ["members of the archive overlap"]


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99])
def test_cut_archives_are_quarantined(store, tmp_path, samples, share):
    path = write_eval(tmp_path / "log.eval", finished(), samples)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    assert len(rejects(store, path)) == 1


def test_of_a_cut_json_log_the_whole_samples_are_imported(store, tmp_path, samples):
    path = write_json(tmp_path / "log.json", finished(), samples)
    text = path.read_bytes()
    path.write_bytes(text[: text.rindex('"ä 3"'.encode()) + 40])
    assert rejects(store, path) == ["the log: the file ends in the middle of the object"]
    assert store.sql("SELECT task_id FROM results ORDER BY seq").fetchall() == [("a/1",), ("2",)]


def test_elements_that_are_no_samples_are_counted(store, tmp_path, samples):
    write_json(tmp_path / "log.json", finished(), [1, samples[0], [samples[1]], None])
    assert rejects(store, tmp_path) == ["samples: 3 elements that are not objects"]
    write_json(tmp_path / "log.json", header(eval_id="E2"), {"a": 1})
    assert "samples: not a list" in rejects(store, tmp_path)


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        ({"version": 4}, "version 4 of Inspect's log format"),
        ({"version": "x"}, "version 'x' of Inspect's log format"),
        ({"eval": {"task": "t"}}, "its eval names no task or no model"),
        ({"eval": [{"task": "t"}]}, "its eval names no task or no model"),
    ],
)
def test_headers_that_cannot_be_used_are_quarantined(store, tmp_path, samples, head, reason):
    write_json(tmp_path / "log.json", {**finished(), **head}, samples)
    [found] = rejects(store, tmp_path)
    assert reason in found


def test_what_is_not_a_log_is_left_to_others(store, tmp_path):
    tmp_path = tmp_path / "logs"
    tmp_path.mkdir()
    (tmp_path / "events.json").write_text('{"events": [], "expected": {"eval": {"task": 1}}}')
    (tmp_path / "other.zip").write_bytes(b"PK\3\4" + b"\0" * 100)
    (tmp_path / "other.json").write_text('{"eval": {"task": "t"}, "mine": 1}')
    summary = import_into(store, tmp_path)
    assert (summary.n_other, summary.n_quarantined) == (3, 0)


def test_texts_in_samples_do_not_make_a_log_of_another_tool(store, tmp_path, samples):
    words = ["results", "versions", "n-shot", "configs", "config", "higher_is_better", "n-samples"]
    samples[0]["metadata"] = {word: {"lm_eval": {"evaluation_results": 1}} for word in words}
    write_json(
        tmp_path / "log.json", {**finished(), "error": None}, samples, configs={}, versions={}
    )
    import_into(store, tmp_path)
    assert store.sql("SELECT suite, count(*) FROM results GROUP BY suite").fetchall() == [
        ("inspect", 4)
    ]


# --- values and rows


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-04T05:06:08.123456+00:00", "2026-03-04T05:06:08.123456"),
        ("2026-03-04T05:06:08+00:00", "2026-03-04T05:06:08"),
        ("2026-03-04T05:06:08-05:00", "2026-03-04T10:06:08"),
        ("2026-03-04T05:06:08Z", "2026-03-04T05:06:08"),
        ("2026-03-04T05:06:08", "2026-03-04T05:06:08"),
        ("2026-03-04T05:06:08+01:00+00:00", None),
        ("20260304T0506+01:00+00:00", None),
        ("2026-02-30T05:06:08+00:00", None),
    ],
)
def test_a_time_is_read_in_utc(text, expected):
    moment = as_moment(text)
    assert (moment and moment.isoformat()) == expected


@pytest.mark.parametrize("number", ["1e400", "1e+400", "1E+0400", "1234567890123456789012"])
def test_a_huge_number_is_kept_as_it_is(number):
    read = read_object(f'{{"a": {number}}}'.encode())
    assert read.value == json.loads(f'{{"a": {number}}}')
    assert not read.is_plain


@pytest.mark.parametrize("number", ["1e400", "1.5E+0400", "-1e308", "1234567890123456789012"])
@pytest.mark.parametrize("text", ['{"a":%s}', '{"a": [1, -2,\n%s]}', '{"a": [%s, {}]}'])
def test_the_search_for_huge_numbers_finds_each(text, number):
    """What it does not find is parsed without another look."""
    huge, usual = (text % value for value in (number, "12.25"))
    found = may_hold_secrets([huge.encode(), usual.encode()], also=HUGE_NUMBER_GATE)
    assert found == [True, False]
    assert read_object(usual.encode(), has_usual_numbers=True) == read_object(usual.encode())


def test_a_uuid_is_no_huge_number():
    text = b'{"uuid": "0a1e1234-12e1-4e12-9e10-1e4567890123"}'
    assert may_hold_secrets([text], also=HUGE_NUMBER_GATE) == [False]
