"""What pages fetch does not grow with the results, nor the number of queries with the pages."""

from collections import Counter

import duckdb
import pytest
from support import new_store

from exports.site import report
from exports.site.report import write_site


class Fetched:
    """Counts the rows that each query hands to Python.

    Attributes:
        rows: number of rows by the text of the query.
        queries: number of executions by the text of the query.
    """

    def __init__(self, monkeypatch):
        self.rows, self.queries = Counter(), Counter()
        self._running = {}
        connection = duckdb.DuckDBPyConnection
        execute, fetchall, fetchmany = connection.execute, connection.fetchall, connection.fetchmany

        def counted_execute(it, query, *values, **named):
            # Whether the warehouse is up to date depends on its batches.
            self._running[id(it)] = "" if "lake.batches" in query else query
            self.queries[self._running[id(it)]] += 1
            return execute(it, query, *values, **named)

        def counted(it, rows):
            self.rows[self._running[id(it)]] += len(rows)
            return rows

        monkeypatch.setattr(connection, "execute", counted_execute)
        monkeypatch.setattr(connection, "fetchall", lambda it: counted(it, fetchall(it)))
        monkeypatch.setattr(
            connection, "fetchmany", lambda it, size: counted(it, fetchmany(it, size))
        )


def fetched_for(folder, *, n_runs=2, n_tasks=6, n_attempts=16):
    """Return what a site fetches of a store: two models, each task passed by one of them."""
    store = new_store(folder / "store")
    for run in range(n_runs):
        for model in ("a", "b"):
            with store.record(suite="own", model=model, run_id=f"{run}{model}") as log:
                for task in range(n_tasks):
                    for attempt in range(1, n_attempts + 1):
                        passed = (task % 2 == 0) == (model == "a") or attempt == 1
                        log.log(
                            task_id=f"t{task}",
                            output="an answer",
                            passed=passed,
                            attempt=attempt,
                            cost_usd=0.25,
                            latency_ms=100,
                        )
    store.sync()
    with pytest.MonkeyPatch.context() as patch:
        fetched = Fetched(patch)
        write_site(store, folder / "site", samples="none")
    del fetched.rows[""], fetched.queries[""]
    return fetched


@pytest.mark.campaign
def test_no_page_fetches_rows_in_proportion_to_results(tmp_path):
    # A task's page has the newest 60 of its answers: the smaller store has 64 already.
    few = fetched_for(tmp_path / "few", n_attempts=16)
    many = fetched_for(tmp_path / "many", n_attempts=32)
    assert sum(few.rows.values()) > 200
    assert many.rows == few.rows
    assert many.queries == few.queries


@pytest.mark.campaign
def test_pages_of_more_runs_and_tasks_need_no_more_queries(tmp_path):
    few = fetched_for(tmp_path / "few", n_runs=2, n_tasks=6, n_attempts=2)
    many = fetched_for(tmp_path / "many", n_runs=4, n_tasks=9, n_attempts=2)
    assert many.queries == few.queries
    assert sum(many.rows.values()) > sum(few.rows.values())


@pytest.mark.campaign
def test_where_a_limit_of_memory_is_too_small_there_is_none(store, tmp_path, monkeypatch):
    with store.record(suite="own", model="a", run_id="r") as log:
        log.log(task_id="t", output="an answer", passed=True)
    store.sync()
    write_site(store, tmp_path / "one", samples="none")
    tries = []
    opened = report.opened_site

    def counted(*values, **named):
        tries.append(values)
        return opened(*values, **named)

    monkeypatch.setattr(report, "_MEMORY_MB", 1)
    monkeypatch.setattr(report, "opened_site", counted)
    write_site(store, tmp_path / "two", samples="none")
    assert len(tries) == 2
    assert files_of(tmp_path / "two") == files_of(tmp_path / "one")


def files_of(folder):
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder): path.read_bytes() for path in files}
