"""Commands on the sample posters, and the reference cases of the poster benchmark."""

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from support import REFERENCE, ROOT, new_store

import evalstore
from warehouse.app.store import Store

SAMPLES = ROOT / "examples" / "posters"
POSTERS = REFERENCE / "posters"


def read_cases(name: str) -> list[dict[str, Any]]:
    """Read a file of cases, one JSON object per line."""
    with (POSTERS / name).open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def read_json(path: Path) -> object:
    """Read a record as the benchmark does: None if it is missing or invalid."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def run(store: Path, *arguments: object, code: int = 0) -> str:
    """Run a command, assert its exit code, and return its output."""
    new_store(store)  # so that an import into a new store need not create the views
    done = CliRunner().invoke(evalstore._cli, ["--store", str(store), *map(str, arguments)])
    assert done.exit_code == code, done.output
    return done.output


def rows(store: Store, query: str, **parameters: Any) -> list[dict[str, Any]]:
    """Return the rows of a query as dicts."""
    return store.sql(query, parameters).to_arrow_table().to_pylist()
