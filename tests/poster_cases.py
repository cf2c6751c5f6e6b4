"""Reference cases of the poster benchmark, read from where they lie beside the project."""

import json
from pathlib import Path
from typing import Any

import pytest

POSTERS = Path(__file__).parents[1].parent / "shared" / "data" / "posters"

needs_cases = pytest.mark.skipif(
    not POSTERS.is_dir(), reason="the poster reference data is not beside the project"
)


def read_cases(name: str) -> list[dict[str, Any]]:
    """Read a file of cases, a JSON object per line."""
    with (POSTERS / name).open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def read_json(path: Path) -> object:
    """Read a record as the benchmark does: None where it is absent or broken."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
