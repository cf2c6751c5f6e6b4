"""Logs as lm-evaluation-harness 0.4 writes them, made on the spot."""

import json

TIME = "2026-03-04T05-06-07.123456"


def sample(n, task="capitals", **fields):
    """Return a sample of a multiple-choice task; the right choice is the second."""
    prompt = f"Which is {task} {n}?\nAnswer:"
    scores = [["-2.5", "False"], ["-0.5" if n % 2 else "-3.5", "False"]]
    return {
        "doc_id": n,
        "doc": {"question": f"Which is {task} {n}?", "choices": ["Turku", "Oulu"], "gold": 1},
        "target": "1",
        "arguments": {
            "gen_args_0": {"arg_0": prompt, "arg_1": " Turku"},
            "gen_args_1": {"arg_0": prompt, "arg_1": " Oulu"},
        },
        "resps": [[each] for each in scores],
        "filtered_resps": scores,
        "filter": "none",
        "metrics": ["acc"],
        "doc_hash": "d",
        "prompt_hash": "p",
        "target_hash": "t",
        "acc": float(n % 2),
        **fields,
    }


def generated(n, answers=("a", "b"), filter_="first", score=1.0):
    """Return a sample of a task whose answers are generated, after a filter."""
    return {
        **sample(n),
        "doc": {"question": f"Say {n}", "answer": "a"},
        "target": "a",
        "arguments": {
            "gen_args_0": {"arg_0": f"Q: Say {n}\nA:", "arg_1": {"until": ["\n"], "top_p": 0.5}}
        },
        "resps": [list(answers)],
        "filtered_resps": [answers[0]],
        "filter": filter_,
        "metrics": ["exact_match"],
        "exact_match": score,
    }


def results(tasks, model="org/m", **fields):
    """Return a results file of tasks with the metric acc: name, and scores of the samples."""
    return {
        "results": {task: _figures(scores) for task, scores in tasks.items()},
        "configs": {
            task: {"metric_list": [{"metric": "acc", "aggregation": "mean"}]} for task in tasks
        },
        "versions": dict.fromkeys(tasks, 1.0),
        "n-samples": {task: {"original": 9, "effective": len(s)} for task, s in tasks.items()},
        "higher_is_better": {task: {"acc": True} for task in tasks},
        "config": {"model": "hf", "model_args": f"pretrained={model}", "random_seed": 7},
        "git_hash": "abc1234",
        "date": 1772600767.5,
        "lm_eval_version": "0.4.9",
        "model_name": model,
        "total_evaluation_time_seconds": "12.5",
        **fields,
    }


def _figures(scores):
    n = len(scores)
    mean = sum(scores) / n
    variance = sum((each - mean) ** 2 for each in scores) / (n - 1)
    return {"alias": "x", "acc,none": mean, "acc_stderr,none": (variance / n) ** 0.5}


def lines(samples):
    """Return samples as the lines of a file."""
    return "".join(f"{json.dumps(each)}\n" for each in samples)


def write_run(folder, n=6, time=TIME, **fields):
    """Write a run of two tasks, and return its files: results, samples of each task."""
    folder.mkdir(parents=True, exist_ok=True)
    tasks = {"capitals": range(n), "rivers": range(n + 3)}
    files = [folder / f"results_{time}.json"]
    scores = {task: [float(i % 2) for i in numbers] for task, numbers in tasks.items()}
    files[0].write_text(json.dumps(results(scores, **fields)))
    for task, numbers in tasks.items():
        files.append(folder / f"samples_{task}_{time}.jsonl")
        files[-1].write_text(lines(sample(i, task) for i in numbers))
    return files
