"""What is said before a long rebuild, and how to read without one."""

import duckdb
import pytest
from support import import_into, log, write_log

from warehouse.app.opening import open_store
from warehouse.core.errors import StoreDamaged
from warehouse.engine.base_store import NO_SYNC
from warehouse.lake.forgetting import forget

SYNC = "warehouse.engine.tables.sync"


@pytest.fixture
def said(monkeypatch):
    """What is announced of rebuilds, which count as long from the first result on."""
    monkeypatch.setattr(f"{SYNC}._USUAL_PACE", 0.1)
    # A build on a busy machine may take as long as what is announced; its pace is not kept.
    monkeypatch.setattr(f"{SYNC}._SHORT_SECONDS", 19.0)
    return []


@pytest.fixture
def store(tmp_path, said):
    store = open_store(tmp_path / "store", on_rebuild=said.append)
    import_into(store, write_log(tmp_path / "2026-04-01-one.yaml", log([1, 2])))
    return store


@pytest.fixture
def other_definitions(monkeypatch):
    def change():
        monkeypatch.setattr(f"{SYNC}._MOST_REDEFINED", 0)
        monkeypatch.setattr("warehouse.engine.tables.definitions.digest", lambda: "other")

    return change


def announcement(reason):
    return [f"building the warehouse from 2 results ({reason}); this takes about 20 seconds"]


@pytest.mark.slow
def test_the_first_build_is_announced(store, said):
    store.sync()
    assert said == announcement("there is none yet")
    store.sync()
    assert len(said) == 1


@pytest.mark.slow
def test_a_rebuild_says_that_it_was_asked_for(store, said):
    store.sync()
    said.clear()
    store.sync(rebuild=True)
    assert said == announcement("as asked")


@pytest.mark.slow
def test_a_damaged_warehouse_is_the_reason(store, said):
    store.warehouse.write_bytes(b"no database")
    store.sync()
    assert said == announcement("it is damaged")


@pytest.mark.slow
def test_an_update_that_fails_is_the_reason_with_its_error(store, said, tmp_path, monkeypatch):
    store.sync()
    said.clear()
    import_into(store, write_log(tmp_path / "2026-04-02-two.yaml", log([1], model="two")))

    def fail(*_, **__):
        raise duckdb.OutOfMemoryException("no room")

    monkeypatch.setattr("warehouse.engine.tables.loading.is_preserved", fail)
    store.sync()
    [message] = said
    assert "(bringing it up to date failed: no room)" in message


@pytest.mark.slow
def test_other_definitions_are_the_reason(store, said, other_definitions):
    store.sync()
    said.clear()
    other_definitions()
    store.sync()
    assert said == announcement("this version of evalstore has other views, scores or statistics")


@pytest.mark.slow
def test_other_tables_are_the_reason(store, said, monkeypatch):
    store.sync()
    said.clear()
    monkeypatch.setattr("warehouse.engine.tables.loading.tables_digest", lambda: "other")
    store.sync()
    assert said == announcement("this version of evalstore has other tables")


@pytest.mark.slow
def test_removed_rows_are_the_reason(store, said, tmp_path):
    later = log([3], date="2026-04-02")
    import_into(store, write_log(tmp_path / "2026-04-02-one.yaml", later))
    runs = store.sql("SELECT suite, run_id FROM runs ORDER BY run_id").fetchall()
    said.clear()
    forget(store.lake, runs[-1])
    store.sync()
    assert said == announcement("rows that it holds were removed from the lake")


def test_a_short_build_is_not_announced(store, said, monkeypatch):
    monkeypatch.setattr(f"{SYNC}._USUAL_PACE", 1e9)
    store.sync()
    assert said == []


@pytest.mark.slow
def test_the_next_estimate_is_that_of_the_last_build(store, said, monkeypatch):
    monkeypatch.setattr(f"{SYNC}._SHORT_SECONDS", 0.0)
    store.sync()
    [(pace,)] = store.sql(
        "SELECT value::DOUBLE FROM lake.meta WHERE key = 'results per second'"
    ).fetchall()
    assert 0.01 < pace < 100
    said.clear()
    store.sync(rebuild=True)
    assert said != announcement("as asked")
    assert said[0].endswith("seconds")


@pytest.mark.slow
def test_a_store_is_read_as_it_is(store, tmp_path, monkeypatch):
    assert store.sql("SELECT count(*) FROM results").fetchall() == [(2,)]
    later = log([3], date="2026-04-02")
    import_into(store, write_log(tmp_path / "2026-04-02-one.yaml", later))
    monkeypatch.setenv(NO_SYNC, "1")
    warnings = []
    frozen = open_store(store.path, on_warning=warnings.append)
    assert frozen.sql("SELECT count(*) FROM results").fetchall() == [(2,)]
    [warning] = warnings
    assert "the figures are those of the last sync" in warning
    assert warning.endswith("without 1 batch of the lake")
    monkeypatch.setenv(NO_SYNC, "0")
    assert frozen.sql("SELECT count(*) FROM results").fetchall() == [(3,)]


@pytest.mark.slow
def test_a_warehouse_of_another_version_is_marked(store, monkeypatch, other_definitions):
    store.sync()
    other_definitions()
    monkeypatch.setenv(NO_SYNC, "1")
    warnings = []
    open_store(store.path, on_warning=warnings.append).sql("FROM runs").fetchall()
    assert warnings[0].endswith("; its views are those of another version of evalstore")


@pytest.mark.slow
def test_what_a_warehouse_of_another_version_lacks(store, monkeypatch, other_definitions):
    store.sync()
    monkeypatch.setenv(NO_SYNC, "1")
    store = open_store(store.path, on_warning=lambda _: None)
    query = "SELECT no_such_function(1)"
    # Of the same version it would be a mistake of ours.
    with pytest.raises(duckdb.CatalogException), store.reading() as connection:
        connection.execute(query)
    other_definitions()
    lacks = f"lacks what this one asks for; without {NO_SYNC} it is built again"
    with pytest.raises(StoreDamaged, match=lacks), store.reading() as connection:
        connection.execute(query)


@pytest.mark.slow
def test_a_damaged_warehouse_is_not_read_as_it_is(store, monkeypatch):
    store.warehouse.write_bytes(b"no database")
    monkeypatch.setenv(NO_SYNC, "1")
    with pytest.raises(StoreDamaged, match=f"without {NO_SYNC} it is built again"):
        store.sql("FROM runs").fetchall()
    monkeypatch.delenv(NO_SYNC)
    assert len(store.sql("FROM runs").fetchall()) == 1


@pytest.mark.slow
def test_a_store_without_a_warehouse_gets_one_all_the_same(store, monkeypatch):
    monkeypatch.setenv(NO_SYNC, "1")
    assert len(store.sql("FROM runs").fetchall()) == 1


@pytest.mark.slow
def test_commands_that_write_bring_the_warehouse_up_to_date(store, tmp_path, monkeypatch, cli):
    store.sync()
    later = log([3], date="2026-04-02")
    import_into(store, write_log(tmp_path / "2026-04-02-one.yaml", later))
    monkeypatch.setenv(NO_SYNC, "1")
    result = cli("--store", store.path, "sync")
    assert result.code == 0
    assert NO_SYNC not in result.err
    monkeypatch.setenv(NO_SYNC, "1")
    shown = cli(
        "--store", store.path, "sql", "SELECT count(*) AS n FROM results", "--format", "csv"
    )
    assert shown.out == "n\n3\n"
    assert shown.err.startswith(f"warning: {NO_SYNC} is set: the figures are those of the last")
