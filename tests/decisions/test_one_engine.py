"""One raw p-value and one interval of a pair: in views, `compare`, pages, tools and the gate."""

import csv
import json

import numpy as np
import pytest
from support import add_rows, command, new_store

from exports.site.pages import compare as compare_pages
from exports.site.site import opened_site
from warehouse.analysis.decisions.comparison import compare
from warehouse.app.agents.session import open_session
from warehouse.app.agents.tools import call_tool
from warehouse.engine.statistics.score_test import excess_of_proportions

N = 40


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Return a store of models with one and with three attempts at 40 tasks, and a score."""
    folder = tmp_path_factory.mktemp("engine")
    random = np.random.default_rng(5)
    with (folder / "runs.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["run_id", "model", "task_id", "attempt", "passed", "f1", "points"])
        for model, rate, attempts in (("a", 0.9, 1), ("b", 0.5, 1), ("c", 0.6, 3), ("d", 0.55, 3)):
            for task in range(N):
                for attempt in range(1, attempts + 1):
                    passed = random.random() < rate
                    f1 = round(random.random() ** (0.5 / rate), 3)
                    table.writerow([model, model, f"t{task}", attempt, passed, f1, 7 * f1 + rate])
    store = new_store(folder / "store")
    assert command(store.path, "import", folder / "runs.csv", "--yes").code == 0
    return store


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["passed", "f1", "points"])
def test_views_and_compare_give_the_same(store, metric):
    view, ends, only = "paired_comparisons", "pass_rate_difference", ""
    if metric != "passed":
        view, ends, only = "score_comparisons", "difference", f"WHERE metric = '{metric}'"
    rows = store.sql(
        f"SELECT model_a, model_b, test, p_value, {ends}_low, {ends}_high FROM {view} {only}"
    ).fetchall()
    assert len(rows) == 6
    tests = set()
    for a, b, *figures in rows:
        ended = command(store.path, "compare", a, b, "--metric", metric, "--format", "json")
        (row,) = json.loads(ended.out)
        tests.add(row["test"])
        assert figures[0] == row["test"]
        assert figures[1:] == pytest.approx([row["p_value"], row["low"], row["high"]], abs=1e-12)
    assert tests == {"passed": {"score", "bounded_mean"}, "f1": {"bounded_mean"}}.get(
        metric, {"sign_flip"}
    )


@pytest.mark.slow
def test_pages_and_tools_give_what_compare_gives(store, monkeypatch):
    shown = []

    def compared(contests, **options):
        shown.extend(compare(contests, **options))
        return shown

    monkeypatch.setattr(compare_pages, "compare", compared)
    with opened_site(store, [compare_pages.PAGE_TYPE], samples="none") as site:
        assert len(list(site.pages(compare_pages.PAGE_TYPE))) == 2
    session = open_session(store.path, max_seconds=60)
    assert len(shown) == 6
    for row in shown:
        figures = [row.p_value, row.low, row.high]
        ended = command(store.path, "compare", row.a, row.b, "--format", "json")
        told = json.loads(call_tool(session, "compare_models", {"a": row.a, "b": row.b}))
        for (other,) in (json.loads(ended.out), told["comparisons"]):
            found = [other[name] for name in ("p_value", "low", "high")]
            assert found == pytest.approx(figures, abs=1e-12)


@pytest.mark.slow
def test_the_gate_has_the_one_sided_half(store):
    [(only_a, only_b, p_value)] = store.sql(
        "SELECT n_only_a, n_only_b, p_value FROM paired_comparisons "
        "WHERE model_a = 'a' AND model_b = 'b'"
    ).fetchall()
    assert p_value == pytest.approx(2 * excess_of_proportions(only_a, only_b, N, 0.0), abs=1e-12)


@pytest.mark.slow
def test_pairs_that_are_known_are_not_tested_again(store, monkeypatch):
    before = store.sql("FROM scores.pair_tests ORDER BY ALL").fetchall()
    monkeypatch.setattr(
        "warehouse.engine.statistics.bounded_means.equality_of_bounded_means",
        lambda *_, **__: pytest.fail("tested again"),
    )
    with store.record(suite="other", model="z") as run:
        run.log(task_id="t", output="x", passed=True)
    assert store.sql("FROM scores.pair_tests ORDER BY ALL").fetchall() == before


@pytest.mark.slow
def test_a_pair_has_an_interval_though_a_bound_was_tested_on_the_same_counts(tmp_path):
    store = new_store(tmp_path / "store")

    def record(suite, model, verdicts):
        with store.record(suite=suite, model=model) as run:
            for task, passed in enumerate(verdicts):
                run.log(task_id=f"t{task}", output="x", passed=passed)

    record("partial", "a", [True] * 8)
    record("partial", "b", [True] * 7 + [None])
    [(tasks, only_a, only_b)] = store.sql(
        "SELECT bounded_tasks, bounded_better_a, bounded_better_b FROM scores.board_pairs"
    ).fetchall()
    n_both = tasks - only_a - only_b
    record("full", "a", [True] * (n_both + only_a) + [False] * only_b)
    record("full", "b", [True] * n_both + [False] * only_a + [True] * only_b)
    counts = store.sql(
        "SELECT n_only_a, n_only_b, pass_rate_difference_low IS NOT NULL FROM paired_comparisons "
        "WHERE suite = 'full'"
    ).fetchall()
    assert counts == [(only_a, only_b, True)]


@pytest.mark.slow
def test_the_pairs_of_a_wide_board_are_listed_without_tests(tmp_path):
    store = new_store(tmp_path / "store")
    runs = [
        {"suite": "wide", "run_id": f"r{n:03}", "generation": "root", "content_id": f"r{n}"}
        for n in range(101)
    ]
    calls = [
        {**run, "model": run["run_id"], "task_id": "t", "seq": 1, "is_correct": True}
        for run in runs
    ]
    add_rows(store.lake, runs=runs, results=calls)
    pairs = "SELECT count(*), count(p_value), sum(n_both) FROM paired_comparisons"
    assert store.sql(pairs).fetchall() == [(5050, 0, 5050)]
    ranks = "SELECT count(*), count(rank_low), min(len(alike_models)) FROM leaderboard_groups"
    assert store.sql(ranks).fetchall() == [(101, 0, 100)]


@pytest.mark.slow
def test_intervals_of_pairs_do_not_depend_on_what_was_tested_before(tmp_path):
    """A board of twenty models has them, one of twenty-one does not."""
    store = new_store(tmp_path / "store")
    table = tmp_path / "runs.csv"
    figures = "SELECT count(pass_rate_difference_low), count(*) FROM paired_comparisons"

    def import_models(*numbers):
        rows = [f"m{n},m{n},t{task},{(task + n) % 3 > 0}" for n in numbers for task in range(9)]
        table.write_text("\n".join(["run_id,model,task_id,passed", *rows]))
        assert command(store.path, "import", table, "--yes").code == 0
        return store.sql(figures).fetchall()

    assert import_models(*range(20)) == [(190, 190)]
    assert import_models(20) == [(0, 210)]
