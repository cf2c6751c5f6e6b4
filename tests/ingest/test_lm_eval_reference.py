"""Logs of lm-evaluation-harness: every sample and every figure equals the reference rows."""

import hashlib
import json
import math

import pytest
from support import REFERENCE, import_into, needs_reference, new_store

FOLDER = REFERENCE / "peers" / "lm-eval"

pytestmark = needs_reference


def oracle(kind):
    with (FOLDER / "oracle.jsonl").open() as file:
        return [row for row in map(json.loads, file) if row["kind"] == kind]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    store = new_store(tmp_path_factory.mktemp("lm-eval") / "store")
    summary = import_into(store, FOLDER)
    assert summary.n_quarantined == 0
    return store


def is_close(ours, theirs):
    if ours is None or theirs is None:
        return ours is theirs
    if math.isnan(theirs) or math.isinf(theirs):
        return str(ours) == str(theirs)
    return math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-9)


@pytest.mark.slow
def test_every_sample(store):
    found = {}
    for (
        file,
        task,
        doc,
        filter_,
        prompt,
        reference,
        raw,
        parsed,
        metric,
        value,
        text,
        answer,
    ) in store.sql(
        """
            SELECT path, r.task_set, r.task_id, s.filter, r.prompt, t.reference, raw_output,
                parsed_output, metric, value, text, s.answer
            FROM lake.results AS r
            JOIN lake.files AS f ON r.file_sha256 = f.sha256
            JOIN lake.result_scores AS s
                ON s.run_id = r.run_id AND s.result_id = r.content_id
            JOIN lake.tasks AS t
                ON t.task_set = r.task_set AND t.task_id = r.task_id AND t.task_hash = r.task_hash
            """
    ).fetchall():
        key = file.removeprefix(f"{FOLDER}/"), task, int(doc), filter_
        sample = found.setdefault(key, {"metrics": {}})
        sample |= {"prompt": prompt, "reference": reference, "raw": raw, "parsed": parsed}
        sample["metrics"][metric] = text if value is None else value
        sample["answer"] = answer
    rows = oracle("sample")
    assert len(found) == len(rows) == 521
    for row in rows:
        sample = found[row["file"], row["task"], row["doc_id"], row["filter"]]
        assert hashlib.sha256(sample["prompt"].encode()).hexdigest() == row["prompt_sha256"]
        assert sample["reference"] == row["target"]
        if row["n_requests"] == 1:
            assert sample["raw"] == row["response"]
            assert sample["answer"] in (
                row["filtered"][0],
                json.dumps(row["filtered"], separators=(",", ":")),
            )
        else:
            assert json.loads(sample["parsed"])[0][0][0] == row["response"]
            assert [each[0] for each in json.loads(sample["parsed"])] == row["filtered"]
        assert set(sample["metrics"]) == set(row["metrics"])
        for metric, value in row["metrics"].items():
            ours = sample["metrics"][metric]
            if isinstance(value, int | float):
                assert is_close(float(ours), value)
            else:
                assert json.loads(ours) == value


@pytest.mark.slow
def test_every_attempt_of_a_sample(store):
    for row in oracle("sample"):
        if row["n_requests"] == 1 and row["filter"] == "maj@4":
            [(n,)] = store.sql(
                f"SELECT count(*) FROM results WHERE task_set = '{row['task']}' "
                f"AND task_id = '{row['doc_id']}'"
            ).fetchall()
            assert n == row["repeats"][0] == 4
            break


def figures(store):
    return store.sql(
        """
        SELECT coalesce(m.task_group, m.task_set), m.metric, m.filter, m.value, m.text, m.stderr,
            m.extra, m.n, m.task_group IS NOT NULL, m.higher_is_better, f.path, m.statistic
        FROM lake.reported_metrics AS m
        JOIN lake.files AS f ON m.file_sha256 = f.sha256
        """
    ).fetchall()


@pytest.mark.slow
def test_every_figure(store):
    found = {}
    for task, metric, name, value, text, stderr, extra, n, is_group, up, path, kind in figures(
        store
    ):
        more = json.loads(extra) if extra else {}
        key = path.removeprefix(f"{FOLDER}/"), task, more.get("prompt_name"), metric, name
        figure = float(text) if value is None else value
        if kind == "stderr":
            found[key]["stderr"] = figure
        else:
            error = more.get("stderr", stderr)
            found[key] = {"value": figure, "stderr": error, "n": n, "group": is_group, "up": up}
    # `sample_count` is an object of a group, which the reference has as a figure without a value.
    rows = [row for row in oracle("aggregate") if row["metric"] != "sample_count"]
    assert len(found) == len(rows)
    for row in rows:
        ours = found[row["file"], row["task"], row.get("prompt_name"), row["metric"], row["filter"]]
        assert is_close(ours["value"], row["value"])
        error = row["stderr"]
        assert (
            ours["stderr"] == error if isinstance(error, str) else is_close(ours["stderr"], error)
        )
        assert ours["group"] == row["is_group"]
        assert row["n"] is None or ours["n"] == row["n"]
        assert ours["up"] == row.get("higher_is_better")


@pytest.mark.slow
def test_every_figure_is_recomputed_or_says_why_not(store):
    audit = {}
    for path, task, metric, name, statistic, status, reason in store.sql(
        """
        SELECT f.path, coalesce(a.task_group, a.task_set), a.metric, a.filter, a.statistic,
            a.status, a.reason
        FROM metric_audit AS a
        JOIN lake.reported_metrics AS m ON a.reported_id = m.content_id
        JOIN lake.files AS f ON m.file_sha256 = f.sha256
        """
    ).fetchall():
        key = path.removeprefix(f"{FOLDER}/"), task, metric, name
        audit.setdefault(key, {})[statistic if statistic == "stderr" else "value"] = status, reason
    for row in oracle("aggregate"):
        if row["metric"] == "sample_count" or row["layout"] != "0.4":
            continue
        ours = audit[row["file"], row["task"], row["metric"], row["filter"]]
        status, reason = ours["value"]
        # The reference computes some figures of groups from those of their tasks, not from scores.
        if row["recomputable"] and not (row["is_group"] and row["metric"].endswith("_f1")):
            assert status == "equal" or reason == "the store has 10 of 5000"
        else:
            assert status in {"not recomputable", "samples missing"}
            assert reason
        if row.get("stderr_recomputable") and isinstance(row["stderr"], float):
            assert ours["stderr"][0] == "equal" or ours["stderr"][1] == "the store has 10 of 5000"
    assert not [
        key for key, each in audit.items() for status, _ in each.values() if status == "differs"
    ]
