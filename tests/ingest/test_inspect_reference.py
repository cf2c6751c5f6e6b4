"""Inspect logs of all versions, next to the rows that Inspect's own reader makes of them."""

import json
import math
from collections import defaultdict
from hashlib import sha256

import pytest
from support import REFERENCE, import_into, needs_reference, new_store

FOLDER = REFERENCE / "peers" / "inspect"
pytestmark = [pytest.mark.slow, needs_reference]

# The same run in another form of file: events and long texts are kept differently.
SAME_RUN = {"log_formats.json"}
NOT_LOGS = {"basic.json", "eval-set.json", "log_invalid.txt", "log_version_3.txt"}
# Two versions of one header, of the same run: a figure that both state is kept once.
SAME_HEADER = {"log_with_nan.txt": "log_valid.txt"}
LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
# Shortened by hand: the header is that of the whole log, but counts the samples that are left.
OTHER_SAMPLES = {"shortened/drop.json", "shortened/lab-bench-litqa.json"}
# Only its number of epochs shows that it was.
FEWER_EPOCHS = "shortened/gpqa-diamond.json"


@pytest.fixture(scope="module")
def reference():
    """Return the reference rows by kind and file."""
    rows = defaultdict(lambda: defaultdict(list))
    for line in (FOLDER / "oracle.jsonl").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            row = json.loads(line)
            rows[row["row"]][row["file"]].append(row)
    return rows


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    store = new_store(tmp_path_factory.mktemp("inspect") / "store")
    summary = import_into(store, FOLDER)
    assert summary.n_quarantined == 1, summary.messages
    return store


def rows_by_file(store, query):
    """Return the rows of a query by file; its table is called `rows`."""
    with store.reading() as connection:
        found = connection.sql(
            f"SELECT files.path, found.* FROM ({query}) AS found "
            "JOIN lake.files ON files.sha256 = found.file_sha256"
        )
        by_file = defaultdict(list)
        for path, *values in found.fetchall():
            row = dict(zip(found.columns[1:], values, strict=True))
            by_file[str(path).removeprefix(f"{FOLDER}/")].append(row)
    return by_file


def digest(text):
    return sha256((text or "").encode()).hexdigest()


def number(value):
    return float(value["special"]) if isinstance(value, dict) and "special" in value else value


def test_samples_are_those_of_inspect(store, reference):
    found = rows_by_file(
        store,
        """
        SELECT results.*, tasks.prompt AS input, tasks.target, tasks.choices
        FROM lake.results JOIN (SELECT DISTINCT ON (task_set, task_id, task_hash) * FROM tasks)
            AS tasks USING (suite, task_set, task_id, task_hash)
        """,
    )
    n_compared = 0
    for file, expected in reference["sample"].items():
        ours = {(row["task_id"], row["attempt"]): row for row in found[file]}
        for sample in expected if file not in SAME_RUN else ():
            row = ours.pop((str(sample["id"]), sample["epoch"]))
            assert_same_sample(row, sample)
            n_compared += 1
        assert not ours, file
    assert n_compared == 602


def assert_same_sample(row, sample):
    extra, target = json.loads(row["extra"]), sample["target"]
    tokens = (sample["tokens"] or {}).get(row["model"]) or {}
    shown = target if isinstance(target, str) else json.dumps(target, ensure_ascii=False)
    message = sample["error"]
    expected = {
        "input": sample["input_sha256"],
        "target": shown.replace('", "', '","'),
        "choices": sample["choices"],
        "raw_output": sample["completion_sha256"],
        "uuid": sample["uuid"],
        "duration_seconds": sample["total_time"],
        "input_tokens": tokens.get("input"),
        "output_tokens": tokens.get("output"),
        "tool_calls": [call["function"] for call in sample["tool_calls"] or ()],
        "n_retries": sample["n_error_retries"],
        "limit": sample["limit"],
        "error": message and message[:100],
    }
    ours = {
        **{name: row[name] for name in expected if name in row},
        "input": digest(row["input"]),
        "choices": row["choices"] and json.loads(row["choices"]),
        "raw_output": digest(row["raw_output"]),
        "tool_calls": row["tool_calls"] or [],
        "n_retries": len(json.loads(row["retries"] or "[]")),
        "uuid": extra.get("uuid"),
        "limit": (extra.get("limit") or {}).get("type"),
        "error": ((extra.get("error") or {}).get("message") or "")[:100] or None,
    }
    assert ours == expected, sample["file"]
    assert row["success"] == (message is None)


def test_conversations_and_scores_are_those_of_inspect(store, reference):
    results = rows_by_file(
        store,
        """
        SELECT results.*, (SELECT count(*) FROM lake.messages WHERE result_id = results.content_id)
            AS n_messages
        FROM lake.results
        """,
    )
    scores = defaultdict(dict)
    for result, scorer, metric, *values in store.sql(
        "SELECT result_id, scorer, metric, value, text, answer, explanation FROM lake.result_scores"
    ).fetchall():
        scores[result][scorer, metric] = values
    for file, samples in reference["sample"].items():
        ours = {(row["task_id"], row["attempt"]): row for row in results[file]}
        for sample in samples if file not in SAME_RUN else ():
            row = ours[str(sample["id"]), sample["epoch"]]
            assert row["n_messages"] == sample["n_messages"], file
            expected = {}
            for scorer, score in (sample["scores"] or {}).items():
                expected |= dict(scores_of_inspect(scorer, score))
            found = {
                name: (value, text, answer, explanation and digest(explanation))
                for name, (value, text, answer, explanation) in scores[row["content_id"]].items()
            }
            assert found == expected, file


def scores_of_inspect(scorer, score):
    value = score["value"]
    is_dict = isinstance(value, dict) and "special" not in value
    rest = score["answer"], score["explanation_sha256"]
    for name, each in value.items() if is_dict else [(scorer, value)]:
        part = number(each)
        if isinstance(part, str):
            yield (scorer, name), (LETTERS[part], part, *rest)
        elif math.isfinite(part):
            yield (scorer, name), (part, None, *rest)
        else:
            yield (scorer, name), (None, str(part), *rest)


def test_figures_are_kept_and_those_of_complete_logs_are_equal(store, reference):
    found = rows_by_file(store, "FROM lake.reported_metrics")
    ours, theirs = defaultdict(set), defaultdict(set)
    for file, rows in found.items():
        for row in rows:
            value = row["text"] if row["value"] is None else row["value"]
            figure = row["scorer"], row["score"], row["metric"], value
            ours[SAME_HEADER.get(file, file)].add(figure)
    for file, metrics in reference["metric"].items():
        for metric in metrics if file not in SAME_RUN else ():
            value = number(metric["value"])
            shown = value if math.isfinite(value) else str(value)
            figure = metric["scorer"], metric["score"], metric["metric_key"], shown
            theirs[SAME_HEADER.get(file, file)].add(figure)
    # Of the oldest form of a header, Inspect's reader skips the figures.
    theirs["log_valid.txt"].add(("model_graded_fact", "model_graded_fact", "accuracy", 1.0))
    assert ours == theirs
    assert sum(map(len, found.values())) == 408
    audit = rows_by_file(
        store,
        "SELECT audit.*, reported.file_sha256 FROM metric_audit AS audit "
        "JOIN lake.reported_metrics AS reported ON audit.run_id = reported.run_id "
        "AND audit.reported_id = reported.content_id",
    )
    rows = [(file, row) for file, given in audit.items() for row in given]
    assert {file for file, row in rows if row["status"] == "differs"} == OTHER_SAMPLES
    short = {row["reason"] for file, row in rows if file == FEWER_EPOCHS}
    assert short == {"the store has 5 of 20"}
    assert sum(row["status"] == "equal" for _, row in rows) == 299
    assert all(row["reason"] for _, row in rows if row["status"] == "not recomputable")


def test_runs_have_the_facts_of_the_header(store, reference):
    found = {
        run_id: values
        for run_id, *values in store.sql(
            """
            SELECT run_id, task_set, extra ->> '$.status', versions ->> '$.inspect_ai',
                json_extract_string(config, '$.config.epochs')
            FROM runs
            """
        ).fetchall()
    }
    for (file,) in reference["file"].values():
        spec = found.get(file["eval_id"])
        if spec is not None:
            epochs = None if file["epochs"] is None else str(file["epochs"])
            assert spec == [file["task"], file["status"], file["inspect_ai"], epochs]
    n_named = sum(file["eval_id"] in found for (file,) in reference["file"].values())
    assert n_named == 42


def test_what_is_not_a_log_is_not_imported(store, reference):
    files = {name.rpartition("/")[2] for (name,) in store.sql("SELECT path FROM files").fetchall()}
    assert set(reference["unreadable"]) == NOT_LOGS
    assert files & NOT_LOGS == {"log_version_3.txt"}
    [(path, reason)] = store.sql("SELECT path, reason FROM quarantine").fetchall()
    assert path.endswith("log_version_3.txt")
    assert reason == "version 4 of Inspect's log format; evalstore reads 1 and 2"
