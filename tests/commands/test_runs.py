"""`evalstore runs`: newest first, over all suites."""

import csv

import pytest
from support import command, import_into, new_store, write_log

from tools.screens import shown_on_terminal

STARTS = {"early": "2026-03-03T10:00:00", "late": "2026-03-03T11:00:00"}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Return a store with runs of a table, both of one day, between two of palindrome."""
    folder = tmp_path_factory.mktemp("runs")
    store = new_store(folder / "store")
    for day in (2, 4):
        import_into(store, write_log(folder / f"{day}.yaml", date=f"2026-03-0{day}"))
    for name, start in reversed(STARTS.items()):
        path = folder / f"{name}.csv"
        path.write_text(f"task,model,passed,started_at\na,m,true,{start}\n", "utf-8")
        assert command(store.path, "import", "--yes", "--suite", "own", path).code == 0
    return store


@pytest.mark.slow
def test_the_newest_run_is_first_whatever_its_suite(store):
    rows = list(csv.DictReader(command(store.path, "runs", "--format", "csv").out.splitlines()))
    assert [row["suite"] for row in rows] == ["palindrome", "own", "own", "palindrome"]
    assert [row["run_id"] for row in rows][1:3] == ["late", "early"]
    assert [row["run_date"][-1] for row in rows] == ["4", "3", "3", "2"]


@pytest.mark.slow
def test_suite_and_date_are_seen_at_80_columns(store):
    screen = shown_on_terminal(store.path, ["runs"], 80)
    assert {"suite", "run_date", "pass_rate"} <= set(screen.splitlines()[0].split())
    assert "2026-03-04" in screen.splitlines()[2]
    assert "empty or false: is_replay, label" in screen
