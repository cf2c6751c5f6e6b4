"""Trials of agents between evalstore, Harbor and Inspect, by their own programs."""

import json
from pathlib import Path

import pytest
from peers import query, same
from support import command, import_into, new_store
from trials import TRIALS, needs_trials

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
FORMS = ("atif", "harbor", "inspect-agents", "otel", "sessions", "swe-bench", "tau-bench")
SUMS = ("n_model_calls", "n_tool_calls", "n_tool_errors", "input_tokens", "output_tokens")
OURS = "FROM trials WHERE n_steps IS NOT NULL"


def lines(text):
    """Return the rows that a program printed; Inspect prints empty lines, too."""
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def imported(folder, *paths, **options):
    store = new_store(folder)
    assert import_into(store, *paths, **options).n_quarantined == 0
    store.sync()
    return store


def export(store, form, folder):
    """Export a store; code 1 says that some results have no steps or verdict."""
    done = command(store.path, "export", form, "--to", folder)
    assert done.code in {0, 1}, done.err
    return folder


@needs_trials
@pytest.mark.parametrize("form", FORMS)
def test_harbor_reads_our_trajectories_of_any_format(harbor, tmp_path, form):
    store = imported(tmp_path / "store", TRIALS / form, redact=True)
    folder = export(store, "atif", tmp_path / "out")
    theirs = lines(harbor("python", HERE / "harbor_trajectories.py", "read", folder))
    again = imported(tmp_path / "again", folder)
    ours = {row["trial_id"]: row for row in query(again, OURS)}
    assert theirs
    assert len(theirs) == len(list(folder.rglob("*.json")))
    for row in theirs:
        trial = ours[row["trial_id"]]
        if form != "inspect-agents":  # two logs of the same trials: the first is imported
            names = ("n_steps", "n_tool_calls")
            assert [trial[name] for name in names] == [row[name] for name in names]


def test_trials_that_harbor_writes_are_imported_with_equal_rows(harbor, tmp_path):
    program = HERE / "harbor_trajectories.py"
    written = lines(harbor("python", program, "write", tmp_path / "job"))
    store = imported(tmp_path / "store", tmp_path / "job")
    ours = {row["trial_id"]: row for row in query(store, OURS)}
    assert len(written) == len(ours) == 3
    for row in written:
        assert all(
            same(ours[row["trial_id"]][name], value)
            for name, value in row.items()
            if name != "trial_id"
        )
    # Harbor reads of the export what it wrote.
    read = lines(harbor("python", program, "read", export(store, "atif", tmp_path / "out")))
    assert sorted(read, key=str) == sorted(written, key=str)


@needs_trials
@pytest.mark.parametrize("form", FORMS)
def test_inspect_reads_the_steps_of_any_format_as_events(inspect, tmp_path, form):
    store = imported(tmp_path / "store", TRIALS / form, redact=True)
    folder = export(store, "inspect", tmp_path / "out")
    program = HERE / "agents_of_inspect.py"
    theirs = lines(inspect("python", "-W", "ignore", program, "read", folder))
    [ours] = query(
        store,
        """
        FROM steps
        SELECT
            count(*) FILTER (kind = 'model') AS n_model_calls,
            count(*) FILTER (kind = 'tool') AS n_tool_calls,
            count(*) FILTER (kind = 'tool' AND (error IS NOT NULL OR exit_code <> 0))
                AS n_tool_errors,
            sum(input_tokens) FILTER (kind = 'model') AS input_tokens,
            sum(output_tokens) FILTER (kind = 'model') AS output_tokens
        WHERE NOT is_copied
        """,
    )
    for name in SUMS:
        assert sum(row[name] for row in theirs) == (ours[name] or 0)


def test_an_agent_that_inspect_runs_is_imported_with_equal_rows(inspect, tmp_path):
    program = HERE / "agents_of_inspect.py"
    [written] = lines(inspect("python", "-W", "ignore", program, "write", tmp_path / "logs"))
    store = imported(tmp_path / "store", tmp_path / "logs")
    [ours] = query(store, OURS)
    assert {name: ours[name] for name in ("trial_id", *SUMS)} == {
        name: written[name] for name in ("trial_id", *SUMS)
    }
    assert written["agents"] == ["helper", "react"]
    assert (ours["n_tool_errors"], ours["passed"]) == (1, True)
    found = query(store, "SELECT DISTINCT agent FROM steps WHERE trajectory IS NOT NULL")
    assert [row["agent"] for row in found] == ["helper"]
    # Its own events come back as they were.
    folder = export(store, "inspect", tmp_path / "out")
    assert lines(inspect("python", "-W", "ignore", program, "read", folder)) == [written]
