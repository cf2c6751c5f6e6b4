"""Generates a large results.jsonl: one run, ten models, outputs of several sizes, broken lines.

    python -m bench.data.openclaw_rows FILE [--rows 1000000] [--broken 100]

The same arguments give the same bytes. The numbers of the broken lines are printed.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import Any

_MODELS = [f"example/aurora-{size}b" for size in (1, 3, 4, 7, 8, 9, 14, 20, 32, 70)]
_WORDS = [
    "the",
    "disk",
    "holds",
    "`df",
    "-h`",
    "memory",
    "free",
    '"route"',
    "local",
    "premium",
    "ääni",
    "数",
    "uptime",
    "$",
    "load",
]
_PROMPTS = [(f"P{n}", f"task_{n}") for n in range(12)]
_OK_RATE, _PASS_RATE = 0.95, 0.7
_BROKEN = ('{"record_type": "result", "run_id": "big", "prov', '{"a": 1,}', "no JSON", '{"a": 01}')


def record(chance: random.Random, n: int, run_id: str) -> dict[str, Any]:
    """Return a row with the keys of the specification in order."""
    prompt_id, prompt_name = _PROMPTS[n % len(_PROMPTS)]
    text = " ".join(chance.choices(_WORDS, k=chance.randrange(5, 50)))
    is_ok = chance.random() < _OK_RATE
    started = 1_771_027_248_000 + 400 * n
    latency = chance.randrange(100, 30_000)
    parsed = chance.choice([None, text[:40], {"words": 7, "text": text[:60]}])
    return {
        "record_type": "result",
        "run_id": run_id,
        "provider": "ollama_openai",
        "model": _MODELS[n * len(_MODELS) // 1_000_000 % len(_MODELS)],
        "thinking_level": None,
        "prompt_id": prompt_id,
        "prompt_name": prompt_name,
        "availability_status": "ok" if is_ok else "error",
        "started_at_ms": started,
        "ended_at_ms": started + latency,
        "e2e_ms": latency,
        "ttft_ms": None,
        "success": is_ok,
        "failure_type": None if is_ok else "http_500",
        "objective_pass": chance.random() < _PASS_RATE if is_ok else None,
        "violation": None if is_ok else "http_500",
        "input_tokens": chance.randrange(10, 400),
        "output_tokens": chance.randrange(1, 900),
        "raw_output": text + "\n",
        "parsed_output": parsed if is_ok else None,
        "tool_calls": ["df"] if "df -h" in text else [],
        "tool_call_count": 1 if "df -h" in text else 0,
        "tool_use_success": "df -h" in text,
    }


def write_rows(
    path: Path, rows: int, broken: int, *, run_id: str = "big", seed: int = 5
) -> list[int]:
    """Write the file, and return the numbers of its broken lines, from 1."""
    chance = random.Random(seed)
    at = sorted(chance.sample(range(rows), broken))
    places = {line: n for n, line in enumerate(at)}
    with path.open("w", encoding="utf-8") as file:
        for n in range(rows):
            if n in places:
                file.write(_BROKEN[places[n] % len(_BROKEN)] + "\n")
            else:
                file.write(json.dumps(record(chance, n, run_id), ensure_ascii=False) + "\n")
    return [line + 1 for line in at]


def main() -> None:
    """Write a file according to the arguments."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--broken", type=int, default=100)
    arguments = parser.parse_args()
    print(write_rows(arguments.file, arguments.rows, arguments.broken))


if __name__ == "__main__":
    main()
