"""A store with the results of many models on a suite, which can be run."""

import json

from support import add_rows

from runners.suites.custom.document import read_suite_file
from runners.suites.custom.tasks import hashed_suite, tasks_of
from tests.items.matrices import drawn
from warehouse.core.hashing import content_hash

FAMILIES = ("ant", "bee", "cow", "dog", "eel", "fox")


def task_id(number):
    return f"t{number:03}"


def fill(store, folder, n_models=30, n_tasks=60, *, spread=1.5, suite="mine"):
    """Add full runs of drawn models; write the suite to `mine.json`; return what another passed."""
    tasks = [
        {"id": task_id(n), "prompt": f"question {n}", "reference": "yes"} for n in range(n_tasks)
    ]
    (folder / "mine.json").write_text(json.dumps({"suite": suite, "tasks": tasks}))
    answers = drawn(n_models + 1, n_tasks, spread=spread)
    results, runs, tables = [], [], []
    file = read_suite_file(folder / "mine.json")
    hashes = [task.task_hash for task in tasks_of(file)]
    version = content_hash(hashed_suite(file.content))
    for n, task in enumerate(tasks):
        row = {"suite": suite, "task_set": "mine", "task_id": task["id"], "prompt": task["prompt"]}
        row |= {"reference": "yes", "task_set_hash": version, "task_hash": hashes[n], "seq": n}
        tables.append({**row, "content_id": f"t{n}"})
    for model in range(n_models):
        key = {"suite": suite, "run_id": f"r{model}", "generation": "root"}
        runs.append({**key, "content_id": f"run{model}", "task_set": "mine"})
        name = f"{FAMILIES[model % len(FAMILIES)]}-{model}"
        for n, task in enumerate(tasks):
            cell = {
                "model": name,
                "task_set": "mine",
                "task_id": task["id"],
                "task_hash": hashes[n],
            }
            cell |= {"success": True, "availability_status": "ok", "prompt": task["prompt"]}
            cell |= {"objective_pass": bool(answers.passed[model, n]), "raw_output": f"{model} {n}"}
            cell |= {"seq": n, "content_id": f"c{model}-{n}", "attempt": 1}
            results.append({**key, **cell})
    add_rows(store.lake, runs=runs, tasks=tables, results=results)
    return answers.passed[-1]
