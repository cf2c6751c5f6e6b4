"""The import of a large log of Inspect, compared with `inspect_ai.read_eval_log` of the file."""

from __future__ import annotations

import json
import random
import shutil
import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from bench.processes import ROOT, Spent, evalstore, python
from bench.ratios import Ratio

if TYPE_CHECKING:
    from collections.abc import Mapping

_SAMPLES, _QUICK_SAMPLES, _ROUNDS = 20_000, 300, 2
_MODEL = "example/aurora-8b"
_WORDS = [
    *("which", "of", "the", "rivers", "near", "this", "old", "town", "was", "crossed", "by", "a"),
    *("stone", "bridge", "in", "winter"),
]
# An environment of its own, which `make peers` installs.
_INSPECT = ROOT / "build" / "tools" / "inspect" / "bin" / "python"

_READ = """
import sys, time
from inspect_ai.log import read_eval_log
assert read_eval_log(sys.argv[1]).samples
print(time.process_time())
"""


def measure(*, quick: bool) -> list[Ratio]:
    """Compare processor time and memory, where Inspect is installed."""
    if not _INSPECT.exists():
        print("not measured: Inspect, which `make peers` installs", file=sys.stderr)
        return []
    count = _QUICK_SAMPLES if quick else _SAMPLES
    with TemporaryDirectory(prefix="evalstore-bench-") as name:
        folder = Path(name)
        log = folder / "2026-03-04T05-06-07+00-00_rivers_AbCdEfGhIjKlMnOpQrStUv.eval"
        write_log(log, count)
        size = log.stat().st_size / 1e6
        ours, theirs = [], []
        for _ in range(_ROUNDS):
            theirs.append(python(_READ, str(log), executable=str(_INSPECT)))
            ours.append(_import(log, folder / "store", count))
    best, best_theirs = min(map(_processor, ours)), min(map(_processor, theirs))
    memory, memory_theirs = (max(s.megabytes for s in of) for of in (ours, theirs))
    work = f"import of {count:,} samples of Inspect ({size:,.0f} MB)"
    return [
        Ratio(
            work,
            "`inspect_ai.read_eval_log` (processor time)",
            best_theirs / best,
            f"{best_theirs:.1f} s / {best:.1f} s",
            at_least=4,
        ),
        Ratio(
            work,
            "`inspect_ai.read_eval_log` (memory reduction)",
            memory_theirs / memory,
            f"{memory_theirs:,.0f} MB / {memory:,.0f} MB",
            at_least=3,
        ),
    ]


def write_log(path: Path, count: int) -> None:
    """Write an `.eval` archive; equal arguments give equal members."""
    chance = random.Random(11)
    header = _header(count)
    start = {"version": 2, "eval": header["eval"], "plan": header["plan"]}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_journal/start.json", json.dumps(start))
        for n in range(1, count + 1):
            archive.writestr(f"samples/{n}_epoch_1.json", json.dumps(_sample(chance, n)))
        archive.writestr("header.json", json.dumps(header))


def _header(count: int) -> dict[str, Any]:
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "eval_id": "eRqzbPXzRzTxzqBqC6rbUy",
            "run_id": "ZAkfmHBVTn3zdgtFZvv6Ae",
            "created": "2026-03-04T05:06:07+00:00",
            "task": "rivers",
            "task_id": "AbCdEfGhIjKlMnOpQrStUv",
            "task_version": 0,
            "task_attribs": {},
            "task_args": {},
            "dataset": {"name": "rivers", "samples": count, "shuffled": False},
            "model": _MODEL,
            "model_args": {},
            "config": {"epochs": 1},
        },
        "plan": {"name": "plan", "steps": [{"solver": "generate", "params": {}}], "config": {}},
        "results": {"total_samples": count, "completed_samples": count, "scores": []},
        "stats": {
            "started_at": "2026-03-04T05:06:07+00:00",
            "completed_at": "2026-03-04T06:06:07+00:00",
            "model_usage": {},
        },
    }


def _sample(chance: random.Random, n: int) -> Mapping[str, Any]:
    question, answer, target = (" ".join(chance.choices(_WORDS, k=k)) for k in (60, 20, 2))
    message = {"id": f"a{n}", "content": answer, "source": "generate", "role": "assistant"}
    messages = [
        {"id": f"s{n}", "content": "Answer in one sentence.", "role": "system"},
        {"id": f"u{n}", "content": question, "source": "input", "role": "user"},
        {**message, "model": _MODEL},
    ]
    usage = {"input_tokens": 80, "output_tokens": 25, "total_tokens": 105}
    output = {
        "model": _MODEL,
        "choices": [{"message": messages[2], "stop_reason": "stop"}],
        "completion": answer,
        "usage": usage,
        "time": 1.25,
    }
    moment = "2026-03-04T05:06:08.123456+00:00"
    event = {"uuid": f"e{n}", "span_id": "main", "timestamp": moment, "working_start": 1.5}
    call = {"model": _MODEL, "input": messages[:2], "tools": [], "tool_choice": "auto"}
    value = chance.choice("CCI")
    score = {"value": value, "answer": answer, "explanation": answer, "history": []}
    return {
        "id": n,
        "epoch": 1,
        "input": question,
        "target": target,
        "messages": messages,
        "output": output,
        "scores": {"match": score},
        "metadata": {"river": n % 40},
        "store": {},
        "events": [
            {**event, "event": "span_begin", "id": "main", "name": "main"},
            {**event, "event": "model", **call, "config": {}, "output": output},
            {**event, "event": "score", "score": score, "target": target},
            {**event, "event": "span_end", "id": "main"},
        ],
        "model_usage": {_MODEL: usage},
        "started_at": moment,
        "completed_at": moment,
        "total_time": 1.5,
        "working_time": 1.25,
        "uuid": f"uuid-{n}",
        "error_retries": [],
        "attachments": {},
    }


def _processor(spent: Spent) -> float:
    return float(spent.output.split()[-1])


def _import(log: Path, store: Path, count: int) -> Spent:
    """Import into a new store, and check that it has all samples."""
    import duckdb

    shutil.rmtree(store, ignore_errors=True)
    spent = evalstore("--store", str(store), "import", str(log))
    (path,) = store.glob("lake/*/results.parquet")
    (found,) = duckdb.sql("SELECT count(*) FROM read_parquet(?)", params=[str(path)]).fetchall()
    if found[0] != count:
        raise SystemExit(f"{count} samples gave {found[0]} results")
    return spent
