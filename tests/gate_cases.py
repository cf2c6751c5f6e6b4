"""Runs for tests of the gate, and its decisions about them."""

from support import add_rows

from warehouse.analysis.decisions.gate.gate import run_gate
from warehouse.analysis.decisions.gate.rules import Rule, Rules


def run_rows(model, passed, *, run_id=None, attempts=1, suite="mine", version="1", cost=0.01):
    """Return the rows of a run; `passed` has the number of passed attempts of each task.

    None is an answer without a verdict.
    """
    run_id = run_id or model.replace("/", "-")
    key = {"suite": suite, "run_id": run_id, "generation": "root"}
    run = {**key, "content_id": f"run {run_id}", "origin": "import", "run_date": "2026-04-01"}
    results = [
        {
            **key,
            "content_id": f"{run_id} {n} {attempt}",
            "seq": n,
            "model": model,
            "task_set": suite,
            "task_id": f"t{n}",
            "task_hash": f"{n} {version}",
            "attempt": attempt + 1,
            "answer": f"of {run_id}",
            "availability_status": "ok",
            "success": True,
            "is_correct": None if count is None else attempt < count,
            "cost_usd": cost,
            "e2e_ms": 100 + n,
        }
        for n, count in enumerate(passed)
        for attempt in range(attempts)
    ]
    return run, results


def write(store, *runs):
    """Write runs as one batch of the lake."""
    results = [result for _, of_run in runs for result in of_run]
    add_rows(store.lake, runs=[run for run, _ in runs], results=results)


def decide(store, *rules, candidate="m/same", baseline="m/base", **fields):
    fields.setdefault("suite", "mine")
    with store.reading() as connection:
        return run_gate(
            connection, Rules(candidate=candidate, baseline=baseline, rules=rules, **fields)
        )


def drop(limit=0.02, **fields):
    return Rule(kind="max_drop", limit=limit, **fields)


def only(verdict):
    [decision] = verdict.decisions
    return decision
