"""Logs of other tools, damaged: small ones of every form, as the tools write them."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests import helm_cases, lm_eval_cases
from tests.inspect_cases import (
    DEFLATED,
    IDS,
    STORED,
    ZSTD,
    figures,
    header,
    sample,
    write_eval,
    write_json,
)

if TYPE_CHECKING:
    from tests.campaigns.fuzz_round import Round

_EVENTS = (
    {"spec": {"completion_fns": ["m"], "base_eval": "e", "split": "dev", "run_id": "r"}},
    {"event_id": 0, "sample_id": "e.dev.1", "type": "sampling", "data": {"prompt": "Q"}},
    {"event_id": 1, "sample_id": "e.dev.1", "type": "match", "data": {"correct": True}},
    {"event_id": 2, "sample_id": "e.dev.2", "type": "metrics", "data": {"accuracy": 0.5}},
    {"final_report": {"accuracy": 1.0, "usage_total_tokens": 3}},
)
_SAMPLE = {
    "evaluation_id": "e/m/1",
    "model_id": "m",
    "evaluation_name": "quiz",
    "sample_id": "s1",
    "input": {"raw": "2 + 2?", "reference": ["4"], "choices": ["4", "5"]},
    "output": {"raw": ["4"]},
    "messages": [{"role": "assistant", "tool_calls": [{"id": "c", "name": "f"}]}],
    "evaluation": {"score": 1.0, "is_correct": True},
    "performance": {"latency_ms": 12.5},
}
_AGGREGATE = {
    "evaluation_id": "e/m/1",
    "source_metadata": {"source_type": "evaluation_run"},
    "model_info": {"id": "m"},
    "evaluation_results": [
        {
            "evaluation_name": "accuracy on quiz for scorer s",
            "metric_config": {"max_score": 1},
            "score_details": {"score": 0.5, "uncertainty": {"standard_error": {"value": 0.1}}},
        }
    ],
    "detailed_evaluation_results": {"file_path": "a", "hash_algorithm": "sha256", "checksum": "b"},
}
_CALLS = (
    {"id": "simple_0", "result": [{"f": "{}"}], "latency": [[0.5]], "input_token_count": 3},
    {"id": "simple_1", "result": "[f(x=1)]"},
)
_FAILURES = (
    {"accuracy": 0.5, "correct_count": 1, "total_count": 2},
    {"id": "simple_1", "error": {"error_type": "x"}, "prompt": {"question": [[{"role": "user"}]]}},
)
_ROW = {
    "id": "r0",
    "promptIdx": 0,
    "testIdx": 0,
    "prompt": {"raw": "Q", "label": "ask"},
    "provider": {"id": "p:m", "label": "mine"},
    "testCase": {"vars": {"q": "Q"}, "assert": [{"type": "equals", "value": "A"}]},
    "response": {"output": {"a": 1}, "tokenUsage": {"prompt": 2}, "cached": False},
    "gradingResult": {"pass": True, "componentResults": [{"assertion": {"type": "equals"}}]},
    "success": True,
    "score": 1,
    "namedScores": {"n": 1},
}
_PROMPT = {"label": "ask", "provider": "mine", "metrics": {"score": 1, "namedScores": {"n": 1}}}


def other_tools(around: Round) -> None:
    """Import logs of openai/evals, every_eval_ever, BFCL and promptfoo."""
    export = {"results": {"version": 3, "prompts": [_PROMPT], "results": [_ROW], "stats": {}}}
    files = {
        "evals.jsonl": _lines(*_EVENTS),
        "eee/a.json": json.dumps(_AGGREGATE).encode(),
        "eee/a_samples.jsonl": _lines(_SAMPLE, _SAMPLE),
        "tree/result/m/BFCL_v4_simple_result.json": _lines(*_CALLS),
        "tree/score/m/BFCL_v4_simple_score.json": _lines(*_FAILURES),
        "tree/score/data_live.csv": b"Rank,Model,Live Overall Acc\n1,m,74.32%\n",
        "promptfoo/a.json": json.dumps({"evalId": "e1", **export, "config": {}}).encode(),
        "promptfoo/a.jsonl": _lines(_ROW, _ROW),
        "promptfoo/promptfoo.db": _database(),
    }
    for number in range(4):
        for name, data in files.items():
            around.put(Path(str(number)) / name, data)
    around.command("import", around.inputs, *around.choice.choice([(), ("--redact",)]))
    if around.store.is_dir():
        around.look()


def inspect_logs(around: Round) -> None:
    """Import Inspect logs of both kinds, and export them again."""
    head = {**header(), "results": figures(stderr=0.1)}
    samples = [sample(name) for name in IDS]
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        files = {
            "a.json": write_json(Path(folder) / "a.json", head, samples, reductions=[]),
            "b.eval": write_eval(Path(folder) / "b.eval", head, samples, STORED),
            "c.eval": write_eval(Path(folder) / "c.eval", head, samples, DEFLATED),
            "d.eval": write_eval(Path(folder) / "d.eval", head, samples, ZSTD),
        }
        for number in range(6):
            for name, path in files.items():
                around.put(Path(str(number)) / name, path.read_bytes())
    around.command("import", around.inputs, *around.choice.choice([(), ("--redact",)]))
    if around.store.is_dir():
        around.look()
        around.command("export", around.choice.choice(["inspect", "eee"]), "--to", around.out)


def lm_eval_runs(around: Round) -> None:
    """Import results and samples of lm-evaluation-harness, also the lists of 0.4.0 to 0.4.2."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
        folder = Path(name)
        files = lm_eval_cases.write_run(folder)
        answers = [lm_eval_cases.generated(n, filter_=f) for n in range(3) for f in ("a", "none")]
        unnamed = [{k: v for k, v in each.items() if k != "filter"} for each in answers]
        texts = {
            f"samples_words_{lm_eval_cases.TIME}.jsonl": lm_eval_cases.lines(answers),
            "samples_old.jsonl": json.dumps(unnamed, indent=2),
        }
        for each, text in texts.items():
            (folder / each).write_text(text)
        for number in range(6):
            for path in (*files, *(folder / each for each in texts)):
                around.put(Path(str(number)) / "org__m" / path.name, path.read_bytes())
    around.command("import", around.inputs, *around.choice.choice([(), ("--redact",)]))
    if around.store.is_dir():
        around.look()


def helm_runs(around: Round) -> None:
    """Import runs of HELM, and the tables of their suite."""
    head = [{"value": "Model", "markdown": False}, {"value": "EM", "markdown": False}]
    row = [{"value": "org/m"}, {"value": 0.5, "run_spec_names": [helm_cases.NAME]}]
    table = {"title": "trivia", "header": head, "rows": [row]}
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
        folder = helm_cases.write_run(Path(name) / helm_cases.NAME)
        for number in range(6):
            for path in folder.iterdir():
                around.put(Path(f"v{number}") / folder.name / path.name, path.read_bytes())
            data = json.dumps(table).encode()
            around.put(Path(f"v{number}") / "groups" / "json" / "trivia_accuracy.json", data)
    around.command("import", around.inputs, *around.choice.choice([(), ("--redact",)]))
    if around.store.is_dir():
        around.look()


def _lines(*records: object) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def _database() -> bytes:
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        path = Path(folder) / "promptfoo.db"
        connection = sqlite3.connect(path)
        connection.execute("CREATE TABLE evals (id, created_at, config, prompts)")
        prompts = json.dumps([_PROMPT])
        connection.execute("INSERT INTO evals VALUES ('e2', 1795311773858, '{}', ?)", [prompts])
        connection.execute("CREATE TABLE eval_results (id, eval_id, test_idx, response, provider)")
        values = ("r0", "e2", 0, json.dumps(_ROW["response"]), json.dumps(_ROW["provider"]))
        connection.execute("INSERT INTO eval_results VALUES (?, ?, ?, ?, ?)", values)
        connection.commit()
        connection.close()
        return path.read_bytes()
