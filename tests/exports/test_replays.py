"""Replayed answers are rehearsals: exports leave them out, and write a run that is named."""

import pytest
from support import command, files_in, import_into, log, new_store, task, write_log

MODEL = ("--model", "example/aurora-2", "--limit", 2)
REPLAY = ("--provider", "replay")
LEFT_OUT = "their answers came from a file (provider replay); name the run with --run to export it"


@pytest.fixture
def space(tmp_path, monkeypatch):
    """A workspace whose store holds a real log and a replayed run of each suite."""
    monkeypatch.chdir(tmp_path)
    store = new_store(tmp_path / "store")
    import_into(store, write_log(tmp_path / "2026-04-01-kokeilu.yaml"))
    for suite in ("palindrome", "openclaw"):
        assert command("store", "run", suite, *MODEL, *REPLAY).code == 0
    return tmp_path


def run_id(space, suite):
    query = "SELECT run_id FROM runs WHERE suite = $suite AND is_replay"
    [(found,)] = new_store(space / "store").sql(query, {"suite": suite}).fetchall()
    return found


@pytest.mark.slow
def test_an_export_of_all_leaves_replays_out_and_names_them(space):
    ended = command("store", "export", "palindrome", "--to", "out")
    assert ended.code == 0
    left_out = f"{run_id(space, 'palindrome')}: 2 results not exported: {LEFT_OUT}"
    assert left_out in ended.err.splitlines()
    assert sorted(map(str, files_in(space / "out"))) == [
        "benchmark_logs/2026-04-01-kokeilu.yaml",
        "models/kokeilu-1.yaml",
    ]
    ended = command("store", "export", "openclaw", "--to", "out")
    assert (ended.code, ended.out) == (0, "")
    assert f"{run_id(space, 'openclaw')}: 2 results not exported: {LEFT_OUT}" in ended.err


@pytest.mark.slow
@pytest.mark.parametrize("suite", ["palindrome", "openclaw"])
def test_a_replay_that_is_named_is_exported_with_a_note(space, suite):
    name = run_id(space, suite)
    ended = command("store", "export", suite, "--run", name, "--to", "out")
    assert ended.code == 0
    assert ended.out
    assert f"run {name} is a rehearsal: its answers came from a file" in ended.err


@pytest.mark.slow
def test_an_imported_export_of_a_replay_counts_no_more_than_the_replay(space):
    before = new_store(space / "store").sql("FROM leaderboard").fetchall()
    name = run_id(space, "palindrome")
    assert command("store", "export", "palindrome", "--run", name, "--to", "out").code == 0
    assert command("store", "import", "out").code == 0
    assert new_store(space / "store").sql("FROM leaderboard").fetchall() == before
    ended = command("store", "export", "palindrome", "--to", "again")
    assert ended.code == 0
    assert f"2 results not exported: {LEFT_OUT}" in ended.err


@pytest.mark.slow
def test_calls_that_are_written_once_are_named(tmp_path):
    store = new_store(tmp_path / "store")
    import_into(store, write_log(tmp_path / "2026-04-01-kokeilu.yaml"))
    copy = write_log(tmp_path / "copy.yaml", log(tasks=[task(1), task(3)]))
    import_into(store, copy, run_as="zz")
    ended = command(tmp_path / "store", "export", "palindrome", "--to", tmp_path / "out")
    assert ended.code == 0
    assert "zz: 1 result is a call of run 2026-04-01/models/kokeilu-1.yaml too" in ended.err


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("example/aurora2", "did you mean 'example/aurora-2'"),
        ("x", "it has example/aurora-2, example/kaamos-mini"),
    ],
)
def test_a_model_without_answers_is_refused(tmp_path, monkeypatch, name, hint):
    monkeypatch.chdir(tmp_path)
    new_store(tmp_path / "store")
    for suite in ("palindrome", "openclaw"):
        ended = command("store", "run", suite, "--model", name, *REPLAY)
        assert ended.code == 2
        assert f"the file of responses has no model {name!r}: {hint}" in ended.err


# What is true of a replayed run whether or not its answers count: its rows, and its machine.
OF_EVERY_RUN = {
    *("runs", "results", "verdicts", "events", "resources", "snapshots", "tool_checks"),
    *("result_items", "result_scores", "systems", "texts"),
    *("palindrome_log_tasks", "palindrome_variations", "run_overview", "summary_audit"),
}


@pytest.mark.slow
def test_no_figure_has_rows_of_a_replay(space):
    with new_store(space / "store").reading() as connection:
        views = connection.execute(
            "SELECT table_name, list(column_name) FROM duckdb_columns() "
            "WHERE schema_name = 'main' AND NOT internal GROUP BY ALL"
        ).fetchall()
        ids = [run_id(space, "palindrome"), run_id(space, "openclaw")]
        found = {
            view
            for view, columns in views
            if "run_id" in columns
            and connection.execute(
                f"FROM {view} WHERE list_contains($ids, run_id) LIMIT 1", {"ids": ids}
            ).fetchall()
        }
        models = connection.execute("SELECT DISTINCT suite, model FROM leaderboard").fetchall()
        replayed = connection.execute("SELECT suite, model, n_runs FROM replay_leaderboard")
        assert replayed.fetchall() == [
            ("openclaw", "example/aurora-2", 1),
            ("palindrome", "example/aurora-2", 1),
        ]
    assert found <= OF_EVERY_RUN
    assert models == [("palindrome", "models/kokeilu-1.yaml")]
