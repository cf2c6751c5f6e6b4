"""Exports read blocks of results and few queries, whatever runs the results are from."""

import json

import pytest
from openclaw_cases import line, write_run
from support import command, files_in, import_into

from exports.rows import fetch_rows, iterate_rows
from exports.run_rows import OF_RUNS, rows_by_run

_RUNS = "FROM runs ORDER BY suite, run_id"
_RESULTS = "SELECT suite, run_id, result_id FROM results {} ORDER BY suite, run_id, result_id"


def test_each_run_has_its_rows(examples):
    """Also where runs in between are not chosen, and where a run has none."""
    with examples.reading() as connection:
        chosen = fetch_rows(connection, _RUNS, {})[::2]
        filters = (f"run_id <> '{chosen[1]['run_id']}'", "false")
        queries = [_RESULTS.format(f"{OF_RUNS} WHERE {each}") for each in filters]
        found = list(rows_by_run(connection, chosen, *queries))
        rows = fetch_rows(connection, _RESULTS.format("WHERE " + filters[0]), {})
        assert list(rows_by_run(connection, [], *queries)) == []
    keys = [(run["suite"], run["run_id"]) for run in chosen]
    expected = [[row for row in rows if (row["suite"], row["run_id"]) == key] for key in keys]
    assert [run for run, _ in found] == chosen
    assert [by_query for _, by_query in found] == [(rows, []) for rows in expected]
    assert [bool(rows) for rows in expected[:3]] == [True, False, True]


@pytest.fixture
def queries(monkeypatch):
    """Return the list that gets the queries of exports."""
    queries = []

    def recorded(connection, query, parameters):
        queries.append(query)
        return iterate_rows(connection, query, parameters)

    monkeypatch.setattr("exports.run_rows.iterate_rows", recorded)
    return queries


@pytest.mark.slow
@pytest.mark.parametrize("name", ["inspect", "eee"])
def test_blocks_leave_no_trace(examples, tmp_path, monkeypatch, queries, name):
    """Blocks end within files and between them, and one has results of several runs."""
    command(examples.path, "export", name, "--to", tmp_path / "one")
    assert len(queries) == len(set(queries)) == 4  # not one for each run
    monkeypatch.setattr("exports.run_rows._BLOCK", 7)
    command(examples.path, "export", name, "--to", tmp_path / "two")
    assert len(queries) > 4 + 8
    assert len(files_in(tmp_path / "one")) > 4
    assert files_in(tmp_path / "two") == files_in(tmp_path / "one")


@pytest.mark.slow
def test_summaries_are_read_at_once(store, tmp_path, queries):
    runs = ("a", "b", "c")
    for name in runs:
        lines = [line(run_id=name, prompt_id=f"P{n}") for n in range(5)]
        write_run(tmp_path / "runs" / name, *lines, config=None, inventory=None)
    import_into(store, tmp_path / "runs")
    assert command(store.path, "export", "openclaw", "--to", tmp_path / "out").code == 0
    assert len(queries) == 2
    for name in runs:
        summary = json.loads((tmp_path / "out/runs" / name / "summary.json").read_text("utf-8"))
        assert summary["run_dir"] == f"runs/{name}"
        assert [model["n_total"] for model in summary["models"]] == [5]
