"""A store with answers of two models to be labelled."""

from support import add_rows, new_store

from warehouse.app.labelling.samples import SampleRequest, take_sample

PROMPT, REFERENCE = "Is 7 prime?", "Yes, it is."
MODELS = ("ant-9000", "bee-large")
N_TASKS = 6


def result(model, task, **columns):
    return {
        "suite": "arena",
        "run_id": f"night-{model}",
        "generation": "root",
        "content_id": f"{model}/{task}",
        "seq": task,
        "model": model,
        "task_set": "core",
        "task_id": f"t{task}",
        "prompt": f"{PROMPT} ({task})",
        "raw_output": f"answer {task} in style {MODELS.index(model)}",
        "success": True,
        **columns,
    }


def labelled_store(path):
    """Return a store with two runs of a suite, of six answers each."""
    store = new_store(path)
    runs = [
        {"suite": "arena", "run_id": f"night-{model}", "generation": "root", "content_id": model}
        for model in MODELS
    ]
    rows = [result(model, task) for model in MODELS for task in range(1, N_TASKS + 1)]
    asked = [
        {
            "suite": "arena",
            "task_set": "core",
            "task_set_hash": "s",
            "content_id": f"task {task}",
            "seq": task,
            "task_id": f"t{task}",
            "task_hash": f"h{task}",
            "prompt": f"{PROMPT} ({task})",
            "reference": REFERENCE,
        }
        for task in range(1, N_TASKS + 1)
    ]
    add_rows(store.lake, runs=runs, results=rows, tasks=asked)
    store.sync()
    return store


def request(*targets, **asked):
    defaults = {"criterion": "overall", "scale": "pass/fail", "sample": None, "seed": 0}
    return SampleRequest(targets=targets, **{**defaults, "stratified": False, **asked})


def sample_of(store, *targets, **asked):
    return take_sample(store, request(*targets, **asked))
