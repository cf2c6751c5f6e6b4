"""Reference cases made with the original harness."""

import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1].parent / "shared" / "data" / "openclaw"


def read_cases(name):
    path = FOLDER / f"{name}.jsonl"
    if not path.exists():
        pytest.skip(f"the reference cases {name}.jsonl are not here")
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
