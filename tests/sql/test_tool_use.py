"""The use of tools by OpenClaw answers, against plain Python; prompts come before or after runs."""

import json
import random
from collections import Counter

import pytest
from support import new_store

from warehouse.core.schemas import RESULTS, RUNS, TASKS
from warehouse.engine.views.sql_files import shipped_sql
from warehouse.lake.batch import Generation

RUN_IDS = ("r1", "r2", "r3")
# A text, and the tools in it.
TEXTS = {"`df`": ["df"], "say `Free` and `df`": ["free", "df"], "none": [], None: None}
VIOLATIONS = (None, None, "no_tool_invocation", "no_tool_invocation tools=['df']", "words")
OUTPUTS = (None, {"detected_tools": []}, {"detected_tools": 1}, {"words": 2})
VALIDATORS = (None, {"type": "tool_invocation"}, {"type": "regex_fullmatch", "pattern": "a"})
[DEFINITION] = [file.sql for file in shipped_sql() if file.name == "openclaw_answers"]


def make_tasks(choice):
    """Return versions of some prompts; P3 and P4 are in no file."""
    return [
        {
            "suite": "openclaw",
            "task_set": "p",
            "task_set_hash": "h",
            "seq": n,
            "content_id": f"task {n}",
            "task_id": f"P{n}",
            "task_name": "name",
            "task_hash": f"hash {n}",
            "validator": json.dumps(choice.choice(VALIDATORS)),
            "expected_tools": choice.choice([["df"], ["df", "free"], [], None]),
            "source": "{}",
        }
        for n in range(3)
    ]


def make_results(choice, run_id, n=40):
    has_verdicts = run_id != "r2"
    return [
        {
            "suite": "openclaw",
            "run_id": run_id,
            "generation": "root",
            "content_id": f"{run_id} {i}",
            "seq": i,
            "provider": choice.choice(["p", "q"]),
            "model": choice.choice(["m", "n", None]),
            "thinking_level": choice.choice([None, "low"]),
            "task_id": f"P{number}",
            "task_name": "name",
            "task_hash": f"hash {number}",
            "availability_status": choice.choice(["ok", "ok", "ok", "error", None]),
            "success": choice.choice([True, True, True, False, None]),
            "raw_output": choice.choice(list(TEXTS)),
            "violation": choice.choice(VIOLATIONS) if has_verdicts else None,
            "parsed_output": json.dumps(choice.choice(OUTPUTS) if has_verdicts else None),
            "objective_pass": choice.choice([True, False, None]),
            "tool_use_success": choice.choice([True, False, None]),
        }
        for i in range(1, n + 1)
        for number in [choice.randrange(5)]
    ]


def basis_and_use(row, task):
    """Return why a call counts for the tier, and whether it used a tool, by the rules."""
    if row["availability_status"] != "ok":
        return None, None
    expected = task and task["expected_tools"]
    if expected:
        found = TEXTS[row["raw_output"]] or []
        return "expected", bool(row["success"] and set(found) & set(expected))
    output = json.loads(row["parsed_output"]) or {}
    has_verdict = (row["violation"] or "").startswith("no_tool_invocation") or isinstance(
        output.get("detected_tools"), list
    )
    validator = task and json.loads(task["validator"])
    may_ask = task is None or (validator or {}).get("type") == "tool_invocation"
    if not (has_verdict and may_ask):
        return None, None
    recorded = row["objective_pass"]
    return "inferred", row["tool_use_success"] if recorded is None else recorded


def add(store, table, rows, run_ids=()):
    with store.lake.write("import") as writer:
        writer.add(table, rows)
        header = {"suite": "openclaw", "generation": "root", "task_set": "p"}
        headers = [header | {"run_id": run, "content_id": f"header {run}"} for run in run_ids]
        writer.add(RUNS, headers)
        writer.commit(generations=[Generation("openclaw", run) for run in run_ids])


def wanted(results, tasks):
    """Return the tool use of each result, and the calls that count by run and by model."""
    by_task = {task["task_id"]: task for task in tasks}
    used = {row["content_id"]: basis_and_use(row, by_task.get(row["task_id"])) for row in results}
    by_run, by_model = Counter(), Counter()
    for row in results:
        _, is_used = used[row["content_id"]]
        model = row["provider"], row["model"], row["thinking_level"]
        if is_used is not None:
            for figures, key in ((by_run, (row["run_id"], *model)), (by_model, model)):
                figures[key, "counted"] += 1
                figures[key, "used"] += is_used
    return used, by_run, by_model


def check(store, results, tasks):
    used, by_run, by_model = wanted(results, tasks)
    found = store.sql("SELECT result_id, tier_basis, is_used FROM tool_checks").fetchall()
    assert {result: (basis, is_used) for result, basis, is_used in found} == used
    assert len(found) == len(used)
    scored = store.sql(
        "SELECT result_id, value FROM result_scores WHERE metric = 'tool_use'"
    ).fetchall()
    assert dict(scored) == {key: use for key, (_, use) in used.items() if use is not None}
    recorded = store.sql(
        "SELECT run_id, sum(len(listed)), sum(list_sum(listed)) FROM scores.recorded_attempts "
        "WHERE metric = 'tool_use' GROUP BY run_id"
    ).fetchall()
    uses = {}
    for row in results:
        _, is_used = used[row["content_id"]]
        if is_used is not None:
            uses.setdefault(row["run_id"], []).append(is_used)
    assert set(recorded) == {(run, len(each), sum(each)) for run, each in uses.items()}
    for run_id, provider, model, level, n_counted, n_used in store.sql(
        "SELECT run_id, provider, model, thinking_level, n_counted, n_used FROM tool_use"
    ).fetchall():
        key = run_id, provider, model, level
        assert n_counted == by_run.pop((key, "counted"), 0)
        assert n_used == by_run.pop((key, "used"), 0)
    assert not by_run
    for provider, model, settings, tier in store.sql(
        "SELECT provider, model, settings, tool_tier FROM leaderboard_pooled"
    ).fetchall():
        key = provider, model, "low" if settings else None
        n = by_model[key, "counted"]
        rate = by_model[key, "used"] / n if n else None
        assert tier == (None if rate is None else 1 if rate >= 0.8 else 2 if rate >= 0.5 else 3)
    with store.reading() as connection:
        stored = connection.execute("FROM scores.openclaw_answers").fetchall()
        assert sorted(stored, key=repr) == sorted(
            connection.execute(DEFINITION).fetchall(), key=repr
        )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_the_use_of_tools_follows_the_rules(tmp_path, seed):
    choice = random.Random(seed)
    store = new_store(tmp_path / "store", on_warning=pytest.fail)
    tasks = make_tasks(choice)
    results = []
    for step, run_id in enumerate(RUN_IDS):
        if step == seed % 3:
            add(store, TASKS, tasks)
        results += (new := make_results(choice, run_id))
        add(store, RESULTS, new, [run_id])
        check(store, results, tasks if step >= seed % 3 else [])
    store.sync(rebuild=True)
    check(store, results, tasks)
