"""Verdicts that are missing: no board, rank or comparison may be right only if they are ignored."""

import csv
import json

import numpy as np
import pytest
from support import command, kept_open, new_store

from exports.site.boards import boards
from exports.site.site import opened_site
from tools.screens import shown_on_terminal
from warehouse.analysis.charts.registry import draw_chart
from warehouse.analysis.decisions.comparison import Contest, compare
from warehouse.analysis.decisions.paired import pair, panels
from warehouse.analysis.decisions.series import Asked, MetricKey, Series, SeriesKey
from warehouse.engine.statistics.score_test import equality_p_values

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
    yield from kept_open(import_verdicts(tmp_path_factory.mktemp("missing"), models))


REMARK = (
    "38 of 39 judged passed, 60 tasks; 63.3 % if the missing verdicts are failures, "
    "98.3 % if passes; the interval is of the judged"
)


def test_the_board_counts_missing_verdicts_as_failures(store):
    columns = "model, pass_rate, min_pass_rate, max_pass_rate, remark"
    assert store.sql(f"SELECT {columns} FROM leaderboard").fetchall() == [
        ("solid", pytest.approx(50 / 60), None, None, None),
        ("lucky", pytest.approx(38 / 39), pytest.approx(38 / 60), pytest.approx(59 / 60), REMARK),
        ("weak", pytest.approx(10 / 60), None, None, None),
    ]


def test_if_only_attempts_lack_verdicts_all_tasks_are_judged(store):
    call = "pass_rate_remark(0.2, 30, 30, 0.05, 0.8, 0, 60)"
    [(remark,)] = store.sql(f"SELECT {call}").fetchall()
    assert remark == (
        "6 of 30 tasks passed by their judged attempts; 5.0 % if the missing verdicts are "
        "failures, 80.0 % if passes; the interval is of the judged"
    )
    of_one = "SELECT pass_rate_remark(0.5, 1, 1, 0.25, 0.75, 0, 4)"
    [(remark,)] = store.sql(of_one).fetchall()
    assert remark.startswith("50.0 % of 1 task passed by its judged attempts; 25.0 %")


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


def test_no_model_leads_by_ignoring_them(store):
    ranks = store.sql("SELECT model, rank_low, rank_high FROM leaderboard_groups").fetchall()
    assert ranks == [("solid", 1, 2), ("lucky", 1, 2), ("weak", 3, 3)]
    pairs = "SELECT model_a, model_b, p_value < 0.05, p_missing, p_holm FROM paired_comparisons"
    found = {row[:2]: row[2:] for row in store.sql(pairs).fetchall()}
    # With the missing verdicts against it, lucky passes fewer tasks than solid.
    assert found["lucky", "solid"] == (True, 1.0, 1.0)
    assert found["solid", "weak"][1] is None


def test_a_comparison_says_that_it_would_not_hold(store):
    ended = command(store.path, "compare", "lucky", "solid")
    said = " ".join(ended.out.split())
    assert "lucky is ahead of solid on the tasks that both were judged on" in said
    assert "but need not be better: not if the missing verdicts are counted against it." in said
    said = " ".join(command(store.path, "compare", "lucky", "weak", "--margin", "0.05").out.split())
    assert "lucky passes" in said
    assert "; this holds with the missing verdicts counted against it." in said
    assert "lucky is not worse than weak by 5 points" in said
    # On the judged tasks lucky is far better than solid less 5 points, on all it need not be.
    margin = command(store.path, "compare", "lucky", "solid", "--margin", "0.05").out
    assert "It is not shown that lucky is less than 5 points worse than solid" in margin


@pytest.mark.slow
@pytest.mark.parametrize("attempts", [1, 3])
def test_views_and_compare_agree(tmp_path, attempts):
    random = np.random.default_rng(attempts)

    def verdicts(rate, missing):
        drawn = random.random((40, attempts)) < rate
        is_missing = random.random((40, attempts)) < missing
        listed = np.where(is_missing, None, drawn).tolist()
        return [tuple(task) for task in listed]

    shares = {"a": (0.95, 0.1), "b": (0.5, 0.05), "c": (0.2, 0.0), "d": (0.15, 0.2)}
    store = import_verdicts(tmp_path, {name: verdicts(*each) for name, each in shares.items()})
    pairs = "SELECT model_a, model_b, p_value, p_missing FROM paired_comparisons"
    rows = store.sql(pairs).fetchall()
    assert len(rows) == 6
    for a, b, *p_values in rows:
        (row,) = json.loads(command(store.path, "compare", a, b, "--format", "json").out)
        for found, expected in zip(p_values, (row["p_value"], row["p_missing"]), strict=True):
            assert found == (None if expected is None else pytest.approx(expected, abs=1e-12))
        assert (row["p_missing"] or 1.0) >= row["p_value"] - 1e-12
    ended = command(store.path, "compare", "a", "b", "c", "d", "--ranks", "--format", "json")
    ranked = {row["model"]: (row["rank_low"], row["rank_high"]) for row in json.loads(ended.out)}
    groups = store.sql("SELECT model, rank_low, rank_high FROM leaderboard_groups").fetchall()
    assert ranked == {model: tuple(ranks) for model, *ranks in groups}


@pytest.mark.parametrize("seed", range(20))
def test_a_claim_holds_whatever_the_missing_verdicts_are(seed):
    random = np.random.default_rng(seed)
    values = (random.random((2, 60)) < np.array([[0.9], [0.45]])).astype(float)
    is_missing = random.random((2, 60)) < 0.1
    series = [
        Series(
            key=SeriesKey(side, "quiz", "quiz", None, f"m{side}", ""),
            metric=MetricKey("passed", None, None),
            asked={f"t{task}": Asked("r", None) for task in range(60)},
            values={f"t{t}": (v,) for t, v in enumerate(values[side]) if not is_missing[side, t]},
            bounds={f"t{task}": (0.0, 1.0) for task in np.flatnonzero(is_missing[side])},
        )
        for side in range(2)
    ]
    (panel,) = panels(series)
    (row,) = compare([Contest(a="a", b="b", paired=pair(panel, 0, 1))])
    for _ in range(20):
        drawn = (random.random((2, 60)) < random.random((2, 1))).astype(float)
        filled = np.where(is_missing, drawn, values)
        only_a = int((filled[0] > filled[1]).sum())
        only_b = int((filled[0] < filled[1]).sum())
        assert only_a > only_b
        assert equality_p_values([only_a], [only_b], 60)[0] <= row.p_missing + 1e-12
