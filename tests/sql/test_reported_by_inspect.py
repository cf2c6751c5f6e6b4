"""The figures that Inspect's logs state, next to ours from the scores of their samples.

The reference rows are those of Inspect's own reader.
"""

import json
import math
import re
from collections import defaultdict

import pytest
from support import REFERENCE, add_rows, needs_reference, new_store

ORACLE = REFERENCE / "peers" / "inspect" / "oracle.jsonl"
STATISTICS = {"accuracy": "mean", **{name: name for name in ("mean", "std", "var", "stderr")}}
LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
REDUCERS = {"at_least": "at_least_k", "pass_at": "pass_at_k", "pass_k": "pass^k"}
# Shortened by hand: the header is that of the whole log, but counts the samples that are left.
OTHER_SAMPLES = {
    "shortened/drop.json",
    "shortened/gpqa-diamond.json",
    "shortened/lab-bench-litqa.json",
}


def read_rows():
    rows = defaultdict(list)
    for line in ORACLE.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            row = json.loads(line)
            rows[row["row"]].append(row)
    return rows


def row_of(file, content_id, **values):
    key = {"suite": "inspect", "run_id": file, "generation": "root"}
    return {**key, "content_id": content_id, **values}


def number(value):
    return float(value["special"]) if isinstance(value, dict) and "special" in value else value


def parts(name, score):
    """Yield the named values of a score: one, or one for each key."""
    value = number(score["value"])
    yield from value.items() if isinstance(value, dict) else [(name, value)]


def score_columns(value):
    value = number(value)
    if isinstance(value, str):
        return {"value": LETTERS.get(value, 0.0), "text": value}
    is_number = isinstance(value, int | float) and math.isfinite(value)
    return {"value": float(value)} if is_number else {"text": str(value)}


def sample_rows(samples):
    for seq, sample in enumerate(samples, 1):
        file, result = sample["file"], f"sample {seq}"
        task = {"task_id": str(sample["id"]), "attempt": sample["epoch"]}
        yield "results", row_of(file, result, seq=seq, model="m", task_set="t", **task)
        for scorer, score in (sample["scores"] or {}).items():
            for name, value in parts(scorer, score):
                yield (
                    "result_scores",
                    row_of(
                        file,
                        f"{result} {scorer} {name}",
                        result_id=result,
                        scorer=scorer,
                        metric=name,
                        **score_columns(value),
                    ),
                )


def metric_rows(metrics, files):
    for seq, metric in enumerate(metrics, 1):
        is_plain = not metric["group"] and not metric["params"]
        reducer, k = metric["reducer"], None
        if found := re.fullmatch(r"(\w+)_(\d+)", reducer or ""):
            reducer, k = REDUCERS[found[1]], int(found[2])
        file = files[metric["file"]]
        n = metric["scored_samples"]
        if n is None:
            n = (file["total_samples"] or 0) // (file["epochs"] or 1) or None
        yield row_of(
            metric["file"],
            f"figure {seq}",
            seq=seq,
            scorer=metric["scorer"],
            score=metric["score"],
            metric=metric["metric"],
            statistic=STATISTICS.get(metric["metric"]) if is_plain else None,
            reducer=reducer,
            reducer_parameters=json.dumps({"k": k}),
            n=n,
            **score_columns(metric["value"]),
        )


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    rows = read_rows()
    files = {file["file"]: file for file in rows["file"]}
    tables = defaultdict(list, {"runs": [row_of(file, "run") for file in files]})
    for table, row in sample_rows(rows["sample"]):
        tables[table].append(row)
    tables["reported_metrics"] += metric_rows(rows["metric"], files)
    store = new_store(tmp_path_factory.mktemp("inspect") / "store", on_warning=pytest.fail)
    add_rows(store.lake, **tables)
    return store


@pytest.mark.slow
@needs_reference
def test_figures_of_complete_logs_are_equal(store):
    found = store.sql(
        "SELECT status, run_id FROM metric_audit WHERE statistic IS NOT NULL"
    ).fetchall()
    assert {run for status, run in found if status == "differs"} == OTHER_SAMPLES
    assert sum(status == "equal" for status, _ in found) == 238
