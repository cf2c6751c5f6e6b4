"""What a small sync leaves in DuckDB's log file is read, copied and repaired like all else."""

import duckdb
import pytest
from support import digests, import_into, log, task, write_log

from warehouse.app.filtered_warehouse import excerpt
from warehouse.engine import connection
from warehouse.engine.connection import checkpoint, log_file, open_for_reading

COUNT = "SELECT count(*) FROM lake.results"


@pytest.fixture
def grown(store, tmp_path):
    """Return a store whose warehouse has two runs, one of them only in the log file."""
    for name in "ab":
        tasks = [task(number) for number in range(1, 4)]
        fields = {"model": f"models/{name}.yaml", "tasks": tasks}
        import_into(store, write_log(tmp_path / f"{name}.yaml", log(**fields)))
        store.sync()
    assert log_file(store.warehouse).stat().st_size > 0
    return store


def count(path):
    with duckdb.connect(str(path), read_only=True) as client:
        return client.execute(COUNT).fetchone()[0]


def test_any_client_reads_the_log_file(grown):
    assert count(grown.warehouse) == 6
    assert log_file(grown.warehouse).exists()


@pytest.mark.parametrize("is_read", [False, True])
def test_a_snapshot_needs_no_log_file(grown, tmp_path, is_read):
    copy = tmp_path / "copy.duckdb"
    if is_read:
        with open_for_reading(grown.warehouse, wait_seconds=0):
            grown.write_snapshot(copy)
    else:
        grown.write_snapshot(copy)
    assert not log_file(copy).exists()
    assert count(copy) == count(grown.warehouse) == 6


@pytest.mark.slow
def test_an_excerpt_has_the_rows_of_the_log_file(grown):
    runs = [run for (run,) in grown.sql("SELECT run_id FROM runs ORDER BY ALL").fetchall()]
    with excerpt(grown, run=runs[-1]) as chosen:
        assert chosen.sql("SELECT DISTINCT run_id FROM results").fetchall() == [(runs[-1],)]


@pytest.mark.campaign
def test_a_larger_log_file_is_moved_into_the_warehouse(grown, tmp_path, monkeypatch):
    monkeypatch.setattr(connection, "_LOG_BYTES", 1)
    import_into(grown, write_log(tmp_path / "c.yaml", log(model="models/c.yaml")))
    grown.sync()
    assert not log_file(grown.warehouse).exists()
    monkeypatch.undo()
    before = digests(grown)
    grown.sync(rebuild=True)
    assert digests(grown) == before


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["cut", "flipped", "gone", "stale"])
def test_a_damaged_log_file_costs_nothing(grown, damage):
    before = digests(grown)
    path = log_file(grown.warehouse)
    held = path.read_bytes()
    if damage == "cut":
        path.write_bytes(held[: len(held) // 2])
    elif damage == "flipped":
        half = len(held) // 2
        path.write_bytes(held[:half] + bytes([held[half] ^ 1]) + held[half + 1 :])
    elif damage == "gone":
        path.unlink()
    else:  # of a warehouse that has been deleted
        grown.warehouse.unlink()
    assert digests(grown) == before


@pytest.mark.slow
def test_a_checkpoint_keeps_every_row(grown):
    before = digests(grown)
    checkpoint(grown.warehouse, wait_seconds=0)
    assert not log_file(grown.warehouse).exists()
    assert digests(grown) == before
