"""Verdicts that are missing: no board, rank or comparison may be right only if they are ignored."""

import csv

import pytest
from support import command, new_store

from exports.site.boards import boards
from exports.site.site import opened_site
from tools.screens import shown_on_terminal
from warehouse.charts.registry import draw_chart

N = 60


def import_verdicts(folder, models):
    """Return a store with a run for each model; a verdict of None is missing."""
    with (folder / "runs.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["run_id", "model", "task_id", "attempt", "passed"])
        for model, verdicts in models.items():
            for task, attempts in enumerate(verdicts):
                for attempt, verdict in enumerate(
                    attempts if isinstance(attempts, tuple) else (attempts,), 1
                ):
                    said = "" if verdict is None else str(verdict).lower()
                    table.writerow([f"run-{model}", model, f"t{task:02}", attempt, said])
    store = new_store(folder / "store")
    ended = command(store.path, "import", folder / "runs.csv", "--yes", "--suite", "quiz")
    assert ended.code == 0, ended.err
    return store


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Return a store in which `lucky` passed 38 of 39 judged tasks, and 21 verdicts are missing."""
    lucky = [*[True] * 38, False, *[None] * 21]
    solid = [task % 6 != 0 for task in range(N)]  # 50 of 60
    weak = [task % 6 == 0 for task in range(N)]  # 10 of 60
    models = {"lucky": lucky, "solid": solid, "weak": weak}
    return import_verdicts(tmp_path_factory.mktemp("missing"), models)


REMARK = (
    "38 of 39 judged, 60 tasks; 63.3 % if the missing verdicts are failures, 98.3 % if passes; "
    "the interval is of the judged"
)


def test_the_board_counts_missing_verdicts_as_failures(store):
    columns = "model, pass_rate, min_pass_rate, max_pass_rate, remark"
    assert store.sql(f"SELECT {columns} FROM leaderboard").fetchall() == [
        ("solid", pytest.approx(50 / 60), None, None, None),
        ("lucky", pytest.approx(38 / 39), pytest.approx(38 / 60), pytest.approx(59 / 60), REMARK),
        ("weak", pytest.approx(10 / 60), None, None, None),
    ]


def test_a_terminal_says_so_below_the_board(store):
    shown = shown_on_terminal(store.path, ["show", "leaderboard"], 80)
    assert f"lucky: {REMARK}" in " ".join(shown.split())
    header, _, first, second = shown.splitlines()[1:5]
    assert "min_p" in header
    assert "solid" in first
    assert "63.3 %" in second
    assert "98.3 %" in second


def test_charts_say_so(store):
    (text,) = draw_chart(store, "leaderboard").notes
    assert "order counts the missing ones as failures" in text


def test_a_page_says_so(store):
    with opened_site(store, [], samples="none") as site:
        [board] = boards(site)
    assert [place.row["remark"] for place in board.places] == [None, REMARK, None]
