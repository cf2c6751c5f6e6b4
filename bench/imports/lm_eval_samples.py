"""The import of a large samples file of lm-evaluation-harness, compared with plain readers."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.processes import Spent, evalstore, python
from bench.ratios import Ratio

_SAMPLES, _QUICK_SAMPLES, _ROUNDS = 200_000, 2_000, 2
_NAME = "samples_trivia_2026-03-04T05-06-07.123456.jsonl"
_WORDS = [
    *("which", "of", "the", "rivers", "near", "this", "old", "town", "was", "crossed", "by", "a"),
    *("stone", "bridge", "in", "winter"),
]

_PANDAS = """
import sys, pandas
assert len(pandas.read_json(sys.argv[1], lines=True))
"""
_READ_JSON = """
import sys, duckdb
source, target = sys.argv[1:]
duckdb.sql(f"COPY (FROM read_json('{source}', format = 'newline_delimited')) "
           f"TO '{target}' (FORMAT parquet, COMPRESSION zstd)")
"""


def measure(*, quick: bool) -> list[Ratio]:
    """Compare times with both, and memory with pandas."""
    count = _QUICK_SAMPLES if quick else _SAMPLES
    with TemporaryDirectory(prefix="evalstore-bench-") as name:
        folder = Path(name)
        log = folder / "example__aurora-8b" / _NAME
        log.parent.mkdir()
        write_samples(log, count)
        size = log.stat().st_size / 1e6
        ours, pandas, plain = [], [], []
        for _ in range(_ROUNDS):
            pandas.append(python(_PANDAS, str(log)))
            plain.append(python(_READ_JSON, str(log), str(folder / "plain.parquet")))
            ours.append(_import(log.parent, folder / "store", count))
    best, best_pandas, best_plain = map(_fastest, (ours, pandas, plain))
    memory = max(spent.megabytes for spent in ours)
    work = f"import of {count:,} samples of lm-eval ({size:,.0f} MB)"
    return [
        Ratio(
            work,
            "pandas `read_json` (speedup)",
            best_pandas.seconds / best.seconds,
            f"{best_pandas.seconds:.1f} s / {best.seconds:.1f} s",
            at_least=1.5,
        ),
        Ratio(
            work,
            "pandas `read_json` (memory reduction)",
            best_pandas.megabytes / memory,
            f"{best_pandas.megabytes:,.0f} MB / {memory:,.0f} MB",
            at_least=4,
        ),
        Ratio(
            work,
            "DuckDB's plain `read_json` to Parquet (relative time)",
            best.seconds / best_plain.seconds,
            f"{best.seconds:.1f} s / {best_plain.seconds:.1f} s",
            at_most=5.2,
        ),
    ]


def write_samples(path: Path, count: int) -> None:
    """Write a samples file of questions with one answer each; equal arguments, equal bytes."""
    chance = random.Random(7)
    with path.open("w", encoding="utf-8") as file:
        for n in range(count):
            file.write(json.dumps(_sample(chance, n), ensure_ascii=False) + "\n")


def _sample(chance: random.Random, n: int) -> dict[str, Any]:
    question = f"Question {n}: {' '.join(chance.choices(_WORDS, k=50))}?"
    answer, given = (" ".join(chance.choices(_WORDS, k=k)) for k in (3, 12))
    prompt = f"{question}\nAnswer:"
    hashes = (json.dumps(question), prompt, answer)
    doc_hash, prompt_hash, target_hash = (hashlib.sha256(t.encode()).hexdigest() for t in hashes)
    return {
        "doc_id": n,
        "doc": {"question": question, "answer": answer},
        "target": answer,
        "arguments": {
            "gen_args_0": {"arg_0": prompt, "arg_1": {"until": ["\n"], "do_sample": False}}
        },
        "resps": [[given]],
        "filtered_resps": [given],
        "filter": "none",
        "metrics": ["exact_match"],
        "doc_hash": doc_hash,
        "prompt_hash": prompt_hash,
        "target_hash": target_hash,
        "exact_match": float(chance.randrange(2)),
    }


def _import(folder: Path, store: Path, count: int) -> Spent:
    """Import into a new store, and check that it has all samples."""
    import duckdb

    shutil.rmtree(store, ignore_errors=True)
    spent = evalstore("--store", str(store), "import", str(folder))
    (path,) = store.glob("lake/*/results.parquet")
    (found,) = duckdb.sql("SELECT count(*) FROM read_parquet(?)", params=[str(path)]).fetchall()
    if found[0] != count:
        raise SystemExit(f"{count} samples gave {found[0]} results")
    return spent


def _fastest(rounds: list[Spent]) -> Spent:
    return min(rounds, key=lambda spent: spent.seconds)
