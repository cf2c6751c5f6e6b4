"""Made-up runs whose truth is known: a judge rated all answers, people labelled some of them."""

import numpy as np
from support import add_rows

RUN, SUITE, TASK_SET, JUDGE, CRITERION = "r", "arena", "core", "lenient", "correct"
N_TASKS = 400


def truth(model="ant", rate=0.6, n_tasks=N_TASKS):
    """Return which answers of a model are right: exactly the rate of them."""
    random = np.random.default_rng(sum(map(ord, model)))
    return random.permutation(n_tasks) < round(rate * n_tasks)


def lenient(right, errors=0.5, seed=1):
    """Return what a judge says who passes all that is right and some of what is not."""
    return right | (np.random.default_rng(seed).random(len(right)) < errors)


def generation(suite, run_id):
    return {"suite": suite, "run_id": run_id, "content_id": run_id}


def rating(n, run_id, kind, value, **fields):
    rater = {"judge": JUDGE, "human": "ann", "gold": "key"}[kind]
    return {
        "suite": SUITE,
        "run_id": run_id,
        "content_id": f"{run_id} {n} {rater}",
        "seq": n + 1,
        "task_set": TASK_SET,
        "task_id": f"t{n:03}",
        "result_id": f"{run_id} {n}",
        "criterion": CRITERION,
        "rater": rater,
        "rater_kind": kind,
        "status": "ok",
        "value": None if value is None else float(value),
        "scale_low": 0.0,
        "scale_high": 1.0,
    } | fields


def run(right, judged, drawn, *, run_id=RUN, model="ant", chance=None, kind="human"):
    """Return the rows of a run: its answers, the judge's ratings and the labels of those drawn.

    Args:
        right: whether each answer is right.
        judged: what the judge says of it.
        drawn: whether it is labelled.
        run_id: its name.
        model: who answered.
        chance: recorded probability of being drawn: a number, or one for each answer.
        kind: who labelled, human or gold.
    """
    chances = np.broadcast_to(np.array(chance, dtype=object), len(right))
    results, ratings = [], []
    for n, (is_right, value, is_drawn) in enumerate(zip(right, judged, drawn, strict=True)):
        results.append(
            {
                "suite": SUITE,
                "run_id": run_id,
                "content_id": f"{run_id} {n}",
                "seq": n + 1,
                "task_set": TASK_SET,
                "task_id": f"t{n:03}",
                "model": model,
                "raw_output": "text",
            }
        )
        ratings.append(rating(n, run_id, "judge", value))
        if is_drawn:
            ratings.append(rating(n, run_id, kind, is_right, sampling_probability=chances[n]))
    return {"runs": [generation(SUITE, run_id)], "results": results, "ratings": ratings}


def drawn_at_random(n_labels, n_tasks=N_TASKS, seed=2):
    """Return a simple random sample of tasks."""
    return np.random.default_rng(seed).permutation(n_tasks) < n_labels


def add(store, *runs):
    """Write runs, each as a batch."""
    for tables in runs:
        of_runs = {
            name: [{"generation": "root"} | row for row in rows] if name != "tasks" else rows
            for name, rows in tables.items()
        }
        add_rows(store.lake, **of_runs)
    return store
