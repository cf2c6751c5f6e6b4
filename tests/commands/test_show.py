"""`evalstore show`: what it says about rankings that are empty."""

import pytest
from support import command, import_into, new_store, write_log

EMPTY = "all runs are rehearsals"


@pytest.fixture
def space(tmp_path, monkeypatch):
    """An empty workspace."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_an_empty_ranking_says_that_all_runs_are_rehearsals(space):
    replay = ("--model", "example/aurora-2", "--limit", 2, "--provider", "replay")
    assert command("store", "run", "palindrome", *replay).code == 0
    assert EMPTY in command("store", "show", "leaderboard").err
    assert EMPTY not in command("store", "show", "replay_leaderboard").err
    import_into(new_store(space / "store"), write_log(space / "2026-04-01-kokeilu.yaml"))
    assert EMPTY not in command("store", "show", "leaderboard").err


def test_a_ranking_of_real_calls_says_nothing(space):
    import_into(new_store(space / "store"), write_log(space / "2026-04-01-kokeilu.yaml"))
    for ranking in ("leaderboard", "leaderboard_pooled"):
        assert command("store", "show", ranking).err == ""
