"""Logs of other tools of any size: each writer makes records until a file is large enough."""

import json
import random
import sqlite3
from contextlib import closing

_WORDS = random.Random(3).choices(
    ["river", "of", "the", "copper", "answer", "seven", "north", "is", "a", "lantern"], k=200_000
)
_TEXT = " ".join(_WORDS)


def text(seq, n_characters):
    """Return text of a length, different for each number."""
    start = seq * 7919 % (len(_TEXT) - n_characters)
    return f"{seq}: {_TEXT[start : start + n_characters]}"


def _fill(file, n_bytes, record, between="\n"):
    """Write records until a file has some bytes; return their number."""
    seq = 0
    while file.tell() < n_bytes:
        file.write((between if seq else "").encode() + record(seq).encode())
        seq += 1
    return seq


# --- HELM


def _request(seq, size):
    return {
        "instance": {
            "input": {"text": text(seq, size // 4)},
            "references": [{"output": {"text": "yes"}, "tags": ["correct"]}],
            "split": "test",
            "id": f"id{seq}",
        },
        "train_trial_index": 0,
        "request": {"model": "acme/a", "prompt": text(seq, size // 2), "temperature": 0.0},
        "result": {
            "success": True,
            "cached": False,
            "completions": [{"text": text(seq, size // 8), "logprob": -1.5, "tokens": []}],
            "request_time": 0.25,
            "request_datetime": 1_700_000_000 + seq,
        },
    }


def _statistics(seq, n_scores):
    names = ["exact_match", "quasi_exact_match", *(f"metric_{at}" for at in range(n_scores - 2))]
    stat = {"count": 1, "sum": seq % 2, "mean": seq % 2}
    return {
        "instance_id": f"id{seq}",
        "train_trial_index": 0,
        "stats": [{"name": {"name": name, "split": "test"}, **stat} for name in names],
    }


def write_helm(folder, n_bytes, size=4000, indent=None, n_scores=20):
    """Write a run of HELM: about half of it requests, half of it statistics."""
    folder.mkdir(parents=True)
    spec = {
        "name": "toy:model=acme_a",
        "scenario_spec": {"class_name": "Toy", "args": {}},
        "adapter_spec": {"method": "generation", "model": "acme/a", "temperature": 0.0},
        "metric_specs": [],
    }
    (folder / "run_spec.json").write_text(json.dumps(spec))
    with (folder / "scenario_state.json").open("wb") as file:
        file.write(b'{"adapter_spec": {}, "request_states": [')
        n = _fill(
            file, n_bytes // 2, lambda seq: json.dumps(_request(seq, size), indent=indent), ","
        )
        file.write(b"]}")
    with (folder / "per_instance_stats.json").open("wb") as file:
        entries = (json.dumps(_statistics(seq, n_scores), indent=indent) for seq in range(n))
        file.write(b"[")
        for seq, entry in enumerate(entries):
            if file.tell() > n_bytes // 2:
                break
            file.write(b"," * (seq > 0) + entry.encode())
        file.write(b"]")
    return n


# --- BFCL


def write_bfcl(folder, n_bytes, size=4000):
    """Write results of BFCL, and scores in which every third of them failed."""
    places = [folder / kind / "acme-a" for kind in ("result", "score")]
    for place in places:
        place.mkdir(parents=True)

    def result(seq):
        return json.dumps(
            {
                "id": f"simple_{seq}",
                "result": [{"look": json.dumps({"up": text(seq, size * 3 // 4)})}],
                "input_token_count": 100 + seq % 7,
                "output_token_count": 10,
                "latency": 0.5,
            }
        )

    def failure(seq):
        return json.dumps(
            {
                "id": f"simple_{3 * seq}",
                "model_name": "acme-a",
                "test_category": "simple",
                "valid": False,
                "error": ["wrong"],
                "prompt": {"question": [[{"role": "user", "content": text(seq, size // 2)}]]},
                "possible_answer": [{"look": {"up": [text(seq, 10)]}}],
            }
        )

    with (places[0] / "BFCL_v4_simple_result.json").open("wb") as file:
        n = _fill(file, n_bytes * 2 // 3, result)
    with (places[1] / "BFCL_v4_simple_score.json").open("wb") as file:
        file.write(b'{"accuracy": 0.5, "correct_count": 1, "total_count": 2}\n')
        _fill(file, n_bytes // 3, failure)
    return n


# --- every_eval_ever


def write_eee(folder, n_bytes, size=4000):
    """Write samples of every_eval_ever."""
    folder.mkdir(parents=True)

    def sample(seq):
        return json.dumps(
            {
                "schema_version": "0.3.0",
                "evaluation_id": "toy/acme_a/1",
                "model_id": "acme/a",
                "evaluation_name": "toy",
                "sample_id": f"s{seq}",
                "interaction_type": "single_turn",
                "input": {"raw": text(seq, size // 2), "reference": ["yes"]},
                "output": {"raw": [text(seq, size // 3)]},
                "answer_attribution": [],
                "evaluation": {"score": seq % 2, "is_correct": bool(seq % 2)},
                "token_usage": {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110},
            }
        )

    with (folder / "toy_samples.jsonl").open("wb") as file:
        return _fill(file, n_bytes, sample)


# --- openai/evals


def write_openai_evals(folder, n_bytes, size=4000):
    """Write the log of an openai/evals run: a sampling and a match for each sample."""
    folder.mkdir(parents=True)
    spec = {
        "spec": {
            "completion_fns": ["acme/a"],
            "eval_name": "toy.dev.v0",
            "base_eval": "toy",
            "split": "dev",
            "run_config": {"seed": 1},
            "run_id": "2401010000ABC",
            "created_at": "2026-01-01 00:00:00.000000",
        }
    }

    def events(seq):
        head = {"run_id": "2401010000ABC", "sample_id": f"toy.dev.{seq}"}
        head["created_at"] = "2026-01-01 00:00:01.000000+00:00"
        asked = {"prompt": text(seq, size * 2 // 3), "sampled": text(seq, size // 5)}
        judged = {"correct": bool(seq % 2), "expected": "yes", "picked": "yes", "sampled": "yes"}
        return "\n".join(
            (
                json.dumps({**head, "event_id": 2 * seq, "type": "sampling", "data": asked}),
                json.dumps({**head, "event_id": 2 * seq + 1, "type": "match", "data": judged}),
            )
        )

    with (folder / "log.jsonl").open("wb") as file:
        file.write(json.dumps(spec).encode() + b"\n")
        n = _fill(file, n_bytes, events)
        file.write(b'\n{"final_report": {"accuracy": 0.5}}\n')
    return n


# --- promptfoo

_PROMPT = {"raw": "Say {{q}}", "label": "say", "provider": "echo", "metrics": {"score": 1}}


def _row(seq, size):
    passed = bool(seq % 2)
    question = text(seq, size // 4)
    return {
        "id": f"row-{seq}",
        "promptIdx": 0,
        "testIdx": seq,
        "latencyMs": 5,
        "cost": 0.001,
        "success": passed,
        "score": float(passed),
        "failureReason": 0 if passed else 1,
        "testCase": {"vars": {"q": question}, "assert": [{"type": "equals", "value": "yes"}]},
        "prompt": {"raw": f"Say {question}", "label": "say"},
        "provider": {"id": "echo", "label": ""},
        "response": {"output": text(seq, size // 4), "tokenUsage": {"prompt": 4, "completion": 2}},
        "gradingResult": {
            "pass": passed,
            "score": float(passed),
            "reason": "",
            "componentResults": [
                {"pass": passed, "score": float(passed), "assertion": {"type": "equals"}}
            ],
        },
        "namedScores": {},
        "vars": {"q": question},
    }


def write_promptfoo(folder, n_bytes, size=4000, indent=2, version=3):
    """Write an evaluation of promptfoo as JSON; version 2 has its prompts in a table."""
    folder.mkdir(parents=True)
    head = {"prompts": [_PROMPT]} if version > 2 else {}
    tail = {"stats": {"successes": 1, "failures": 1}}
    if version == 2:
        tail |= {"table": {"head": {"prompts": [_PROMPT], "vars": ["q"]}, "body": []}}
    with (folder / "export.json").open("wb") as file:
        beginning = {
            "evalId": "eval-toy-2026-01-01T00:00:00",
            "results": {"version": version, **head},
        }
        file.write(json.dumps(beginning).removesuffix("}}").encode() + b', "results": [')
        n = _fill(file, n_bytes, lambda seq: json.dumps(_row(seq, size), indent=indent), ",")
        file.write(b"], " + json.dumps(tail)[1:].encode() + b', "config": {"description": "toy"}}')
    return n


def write_promptfoo_lines(folder, n_bytes, size=4000):
    """Write results of promptfoo as JSON lines."""
    folder.mkdir(parents=True)
    with (folder / "results.jsonl").open("wb") as file:
        return _fill(file, n_bytes, lambda seq: json.dumps(_row(seq, size)))


_EVALS = "CREATE TABLE evals (id, created_at, results, config, prompts, vars, runtime_options)"
_EVAL_RESULTS = (
    "CREATE TABLE eval_results (id, eval_id, prompt_idx, test_idx, prompt_id, latency_ms, cost, "
    "error, success, score, failure_reason, test_case, prompt, provider, response, "
    "grading_result, named_scores, metadata)"
)


def write_promptfoo_database(folder, n_bytes, size=4000):
    """Write a database of promptfoo with one evaluation."""
    folder.mkdir(parents=True)
    path = folder / "promptfoo.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(_EVALS)
        connection.execute(_EVAL_RESULTS)
        evaluation = ("toy", 1_700_000_000_000, "{}", "{}", json.dumps([_PROMPT]), None, None)
        connection.execute("INSERT INTO evals VALUES (?, ?, ?, ?, ?, ?, ?)", evaluation)
        n = written = 0
        while written < n_bytes:
            row = _row(n, size)
            documents = [
                json.dumps(row[name])
                for name in ("testCase", "prompt", "provider", "response", "gradingResult")
            ]
            connection.execute(
                f"INSERT INTO eval_results VALUES ({', '.join('?' * 18)})",
                (
                    *(row["id"], "toy", 0, n, None, 5, 0.001, None, row["success"]),
                    *(row["score"], row["failureReason"], *documents, "{}", None),
                ),
            )
            written += 200 + sum(map(len, documents))
            n += 1
        connection.commit()
    return n


# --- lm-evaluation-harness


def write_lm_eval(folder, n_bytes, size=4000):
    """Write a samples file of generated answers; return their number."""

    def sample(seq):
        record = {
            "doc_id": seq,
            "doc": {"question": text(seq, size // 4), "answer": "yes"},
            "target": "yes",
            "arguments": {
                "gen_args_0": {"arg_0": text(seq, size // 2), "arg_1": {"until": ["\n"]}}
            },
            "resps": [[text(seq, size // 8)]],
            "filtered_resps": ["yes"],
            "filter": "none",
            "metrics": ["exact_match"],
            "exact_match": float(seq % 2),
        }
        return json.dumps(record)

    folder.mkdir(parents=True)
    with (folder / "samples_rivers_2026-03-04T05-06-07.123456.jsonl").open("wb") as file:
        return _fill(file, n_bytes, sample)


# --- A table of results


def write_table(path, n_rows):
    """Write a wide table: ten models, two scores, a verdict, costs, times and texts."""
    chance = random.Random(5)
    names = "model,item,epoch,prompt,output,target,correct,accuracy,f1,cost_usd,latency_ms,time"
    with path.open("w", encoding="utf-8") as file:
        file.write(f"{names},note\n")
        for n in range(n_rows):
            task = n % 20_000
            file.write(
                f"model-{n * 10 // n_rows},q{task},{n // 20_000 % 5 + 1},"
                f'"What is {task} plus {task}, and why? Explain it in a few words",'
                f"It is {2 * task} because of addition {n},{2 * task},"
                f"{'true' if n % 3 else 'false'},{chance.random():.4f},{chance.random():.3f},"
                f"{chance.random() / 1000:.6f},{chance.randrange(50, 9000)},"
                f"2026-03-{n % 28 + 1:02}T10:{n % 60:02}:{n // 60 % 60:02}Z,n{n % 7}\n"
            )


WRITERS = {
    "lm-eval": write_lm_eval,
    "HELM": write_helm,
    "BFCL": write_bfcl,
    "every_eval_ever": write_eee,
    "openai/evals": write_openai_evals,
    "promptfoo JSON": write_promptfoo,
    "promptfoo JSON lines": write_promptfoo_lines,
    "promptfoo SQLite": write_promptfoo_database,
}
