"""Runs as HELM writes them, made on the spot."""

import json

NAME = "trivia:subject=towns,method=multiple_choice_joint,model=org_m"


def request(n, **fields):
    """Return an element of `request_states`; the answer is right if `n` is odd."""
    answer = "B" if n % 2 else "A"
    return {
        "instance": {
            "input": {"text": f"Which town is {n}?"},
            "references": [
                {"output": {"text": "Turku"}, "tags": []},
                {"output": {"text": "Oulu"}, "tags": ["correct"]},
            ],
            "split": "test",
            "id": f"id{n}",
        },
        "train_trial_index": 0,
        "output_mapping": {"A": "Turku", "B": "Oulu"},
        "request": {
            "model": "org/m",
            "prompt": f"Question: Which town is {n}?\nAnswer:",
            "temperature": 0.0,
        },
        "result": {
            "success": True,
            "cached": n == 0,
            "request_time": 0.25 + n,
            "request_datetime": 1_772_600_767 + n,
            "completions": [{"text": f" {answer}", "logprob": -1.5, "tokens": []}],
            "embedding": [],
        },
        "num_train_instances": 0,
        "prompt_truncated": False,
        **fields,
    }


def stat(name, *values, split="test", **fields):
    """Return a statistic of some values."""
    n = len(values)
    made = {"name": {"name": name, "split": split, **fields}, "count": n, "sum": sum(values)}
    return {**made, "mean": sum(values) / n} if n else made


def entry(n, *stats, **fields):
    """Return the statistics of an instance."""
    basic = [stat("exact_match", float(n % 2)), stat("num_references", 2), stat("idle")]
    return {"instance_id": f"id{n}", "train_trial_index": 0, "stats": [*basic, *stats], **fields}


def write_run(folder, n=4, *, name=NAME, requests=None, entries=None, stats=None, **spec):
    """Write a run's folder, and return it."""
    folder.mkdir(parents=True)
    adapter = {"method": "multiple_choice_joint", "model": "org/m", "temperature": 0.0}
    run_spec = {"name": name, "scenario_spec": {}, "adapter_spec": adapter, **spec}
    numbers = range(n)
    mean = [stat("exact_match", sum(float(i % 2) for i in numbers) / n), stat("num_instances", n)]
    worst = {"name": "robustness", "computed_on": "worst"}
    mean.append(stat("exact_match", mean[0]["mean"], perturbation=worst))
    documents = {
        "run_spec": run_spec,
        "scenario": {"name": "trivia"},
        "scenario_state": {
            "adapter_spec": adapter,
            "request_states": requests or [request(i) for i in numbers],
        },
        "per_instance_stats": entries or [entry(i) for i in numbers],
        "stats": stats or [*mean, stat("ece", 0.5), stat("idle")],
    }
    for each, document in documents.items():
        (folder / f"{each}.json").write_text(json.dumps(document, indent=2))
    return folder
