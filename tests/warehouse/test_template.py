import os
import shutil

import duckdb
import pytest
from support import EXAMPLES, child, digests, import_into

from warehouse.app.store import Store
from warehouse.engine.connection import open_for_reading
from warehouse.engine.tables import definitions
from warehouse.engine.views import template


@pytest.fixture
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("EVALSTORE_CACHE", str(folder))
    return folder / "warehouses"


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    folder = tmp_path_factory.mktemp("template")
    Store(folder / "store").sync()
    assert template.copy_template(definitions.digest(), folder / "empty.duckdb")
    return folder / "empty.duckdb"


@pytest.fixture
def defined(empty, monkeypatch):
    """The warehouses that were created by defining all views, which takes long: here by a copy."""
    created = []

    def create(warehouse, _wait_seconds):
        shutil.copyfile(empty, warehouse)
        created.append(warehouse)

    monkeypatch.setattr("warehouse.engine.tables.definitions._create_empty", create)
    return created


@pytest.fixture
def filled(tmp_path):
    store = Store(tmp_path / "store")
    import_into(store, EXAMPLES)
    return store


@pytest.mark.campaign
def test_a_copy_of_the_template_gives_what_defining_the_views_gives(filled, cache):
    filled.sync()
    before = digests(filled, ("main", "checks", "scores"))
    [kept] = cache.iterdir()
    filled.sync(rebuild=True)
    assert digests(filled, ("main", "checks", "scores")) == before
    assert list(cache.iterdir()) == [kept]


@pytest.mark.slow
def test_a_copy_needs_no_view_defined(filled, cache, defined):
    filled.sync()
    filled.sync(rebuild=True)
    assert filled.sql("SELECT count(*) > 0 FROM results").fetchall() == [(True,)]
    assert len(defined) == len(list(cache.iterdir())) == 1


@pytest.mark.slow
def test_the_template_holds_no_rows(filled, cache, defined):
    filled.sync()
    with open_for_reading(next(cache.iterdir()), wait_seconds=0) as connection:
        tables = connection.execute(
            "SELECT DISTINCT schema_name || '.' || table_name FROM duckdb_tables() "
            "WHERE table_name <> 'meta'"
        ).fetchall()
        for (table,) in tables:
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,), table
    assert ("lake.results",) in tables
    assert len(defined) == 1


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"", b"no database", bytes(1 << 20)])
def test_a_damaged_template_is_replaced(filled, cache, defined, content):
    filled.sync()
    expected = filled.sql("FROM results").fetchall()
    [kept] = cache.iterdir()
    kept.write_bytes(content)
    for _ in range(2):
        filled.sync(rebuild=True)
        assert filled.sql("FROM results").fetchall() == expected
        assert kept.stat().st_size > 1 << 18
    assert len(defined) == 2


@pytest.mark.slow
def test_a_damaged_template_that_stays_is_not_copied_again(filled, cache, defined, monkeypatch):
    filled.sync()
    [kept] = cache.iterdir()
    kept.write_bytes(b"no database")
    # As in a cache folder that cannot be written; root could write one.
    monkeypatch.setattr("warehouse.engine.tables.sync.discard_template", lambda _definitions: None)
    monkeypatch.setattr(
        "warehouse.engine.tables.definitions.keep_template", lambda _definitions, _empty: None
    )
    assert filled.sync(rebuild=True).rebuilt
    assert filled.sql("SELECT count(*) > 0 FROM results").fetchall() == [(True,)]
    assert kept.read_bytes() == b"no database"
    assert len(defined) == 2


@pytest.mark.slow
def test_a_template_of_another_database_is_replaced(filled, cache, defined):
    filled.sync()
    [kept] = cache.iterdir()
    kept.unlink()
    with template.duckdb.connect(str(kept)) as connection:
        connection.execute("CREATE TABLE something (of_others INT)")
    filled.sync(rebuild=True)
    assert filled.sql("SELECT count(*) > 0 FROM results").fetchall() == [(True,)]
    assert len(defined) == 2


@pytest.mark.slow
def test_without_a_cache_folder_the_views_are_defined(filled, tmp_path, defined, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("EVALSTORE_CACHE", str(tmp_path / "file"))
    assert filled.sync().rebuilt
    monkeypatch.delenv("EVALSTORE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "~nobody-of-this-name")
    assert filled.sync(rebuild=True).rebuilt
    assert filled.sql("SELECT count(*) > 0 FROM results").fetchall() == [(True,)]
    assert len(defined) == 2


@pytest.mark.slow
def test_other_code_or_definitions_have_a_template_of_their_own(
    filled, cache, defined, monkeypatch
):
    filled.sync()
    monkeypatch.setattr("warehouse.engine.views.template._code_digest", lambda: "other code")
    filled.sync(rebuild=True)
    assert len(defined) == len(list(cache.iterdir())) == 2


def test_the_columns_of_the_lake_shape_the_template():
    """Otherwise a version with another column would start from a file that lacks it."""
    assert {"core/schemas", "core/types"} <= set(template._CODE)


def test_the_least_recently_used_templates_are_removed(empty, cache):
    cache.mkdir(parents=True)
    for n in range(12):
        (cache / f"{n}.duckdb").touch()
        os.utime(cache / f"{n}.duckdb", (n, n))
    template.keep_template("definitions", empty)
    kept = {path.stem for path in cache.iterdir()}
    assert len(kept) == 8
    assert kept >= {str(n) for n in range(5, 12)}


@pytest.mark.slow
@pytest.mark.skipif(duckdb.__version__ < "2", reason="DuckDB 1 imports pandas itself")
@pytest.mark.parametrize(
    ("arguments", "used"),
    [
        (("import", EXAMPLES), []),
        (("show", "leaderboard"), []),
        # Boards have other pairs, whose tests are computed.
        (("sync", "--rebuild"), ["scipy"]),
        (("forget", "2024-11-04/models/example-aurora-2-1.yaml", "--yes"), ["scipy"]),
    ],
)
def test_no_command_waits_for_libraries_that_it_does_not_use(filled, arguments, used):
    if "import" not in arguments:
        import_into(filled, EXAMPLES)
        filled.sync()
    script = """if True:
        import atexit, sys, evalstore
        named = {"pandas", "scipy", "polars", "litellm", "great_expectations"}
        atexit.register(lambda: print(sorted(named & sys.modules.keys()), file=sys.stderr))
        evalstore.main(sys.argv[1:])
    """
    ended = child("-c", script, "--store", filled.path, *arguments)
    assert ended.code == 0, ended.err
    assert ended.err.splitlines()[-1] == str(used)
