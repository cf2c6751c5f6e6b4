"""Tasks that depend on each other: which, and that every output counts their clusters."""

import csv
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from helm_cases import entry, request, stat, write_run
from support import command, import_into, kept_open, new_store

from warehouse.analysis.decisions.clusters import set_clusters
from warehouse.analysis.decisions.contests import Choice, find_contests
from warehouse.app.agents.session import open_session
from warehouse.app.agents.tools import call_tool
from warehouse.engine.statistics.bounded_means import equality_of_bounded_means
from warehouse.engine.statistics.macros import macros

PAGES, SIZE = 12, 5


def write_table(path, suite, *, models=("a", "b"), pages=PAGES, cluster="cluster", missing=()):
    """Write runs of models on questions about pages, which mostly pass or fail together."""
    random = np.random.default_rng(len(suite) + pages)
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        columns = ["run_id", "model", "task_id", cluster, "passed", "question", "f1", "points"]
        table.writerow(columns)
        for place, model in enumerate(models):
            for page in range(pages):
                whole = random.random() < 0.8 - 0.5 * place
                for n in range(SIZE):
                    passed = whole != (random.random() < 0.1)
                    task, f1 = f"p{page}q{n}", round(random.random(), 3)
                    verdict = "" if (model, task) in missing else passed
                    page_name = "" if cluster == "other" else f"page {page}"
                    question = f"Question {n} about page {page}"
                    points = 7 * f1 + place
                    row = [f"{suite}-{model}", model, task, page_name, verdict, question, f1]
                    table.writerow([*row, points])
    return path


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Return a store with a table of 12 pages, one with a missing verdict, and one of 4 pages."""
    folder = tmp_path_factory.mktemp("clusters")
    store = new_store(folder / "store")
    tables = [
        write_table(folder / "pages.csv", "pages"),
        write_table(folder / "gaps.csv", "gaps", missing={("a", "p1q1"), ("b", "p2q2")}),
        write_table(folder / "few.csv", "few", pages=4),
    ]
    for table in tables:
        assert command(store.path, "import", table, "--yes").code == 0
    yield from kept_open(store)


def rates(store, suite):
    rows = store.sql(
        "SELECT model, task_id, pass_rate FROM scores.task_rates WHERE suite = $suite ORDER BY ALL",
        {"suite": suite},
    ).fetchall()
    return {
        model: {task: rate for name, task, rate in rows if name == model} for model in ("a", "b")
    }


def sums_of(values):
    """Return the sums and sizes of the pages, of values by task."""
    pages = {}
    for task, value in values.items():
        if value is not None:
            pages.setdefault(task.partition("q")[0], []).append(value)
    of_pages = list(pages.values())
    return np.array([sum(page) for page in of_pages]), np.array([len(page) for page in of_pages])


def clustered_interval(sums, sizes):
    query = "SELECT clustered_interval($1::DOUBLE[], $2::BIGINT[])"
    [(ends,)] = macros().execute(query, [sums.tolist(), sizes.tolist()]).fetchall()
    return ends


@pytest.mark.parametrize("suite", ["pages", "gaps"])
def test_boards_have_the_interval_of_clusters(store, suite):
    rows = store.sql(
        "SELECT model, n_clusters, pass_rate_low, pass_rate_high FROM leaderboard "
        "WHERE suite = $suite AND metric = 'passed' ORDER BY model",
        {"suite": suite},
    ).fetchall()
    for model, n_clusters, *ends in rows:
        sums, sizes = sums_of(rates(store, suite)[model])
        assert n_clusters == PAGES
        assert ends == pytest.approx(clustered_interval(sums, sizes), abs=1e-12)
    others = {
        "metrics": f"SELECT model, mean_low, mean_high FROM metrics WHERE suite = '{suite}' "
        "AND metric = 'passed'",
        "model_history": "SELECT model, pass_rate_low, pass_rate_high FROM model_history "
        f"WHERE suite = '{suite}' AND metric = 'passed'",
    }
    for query in others.values():
        found = {model: ends for model, *ends in store.sql(query).fetchall()}
        assert found == {model: pytest.approx(ends, abs=1e-12) for model, _, *ends in rows}


@pytest.mark.slow
def test_below_six_clusters_there_is_no_interval_and_no_test(store):
    ends = (
        "SELECT DISTINCT n_clusters, pass_rate_low, score_low FROM leaderboard WHERE suite = 'few'"
    )
    assert store.sql(ends).fetchall() == [(4, None, None)]
    assert store.sql("SELECT p_holm FROM paired_comparisons WHERE suite = 'few'").fetchall() == [
        (None,)
    ]
    ended = command(store.path, "compare", "a", "b", "--suite", "few")
    assert ended.out.startswith("The data do not show which is better")
    assert "20 tasks in 4 clusters" in ended.out
    assert "4 clusters: too few for an interval, which takes 6" in ended.err
    ended = command(store.path, "plan", "a", "b", "--suite", "few", "--difference", "0.1")
    assert ended.code == 2
    assert "or 6 clusters of them" in ended.err


@pytest.mark.parametrize("suite", ["pages", "gaps"])
@pytest.mark.parametrize("metric", ["passed", "f1", "points"])
def test_every_output_tests_clusters(store, suite, metric):
    ended = command(
        store.path, "compare", "a", "b", "--suite", suite, "--metric", metric, "--format", "json"
    )
    (row,) = json.loads(ended.out)
    assert (row["n_clusters"], row["test"] == "sign_flip") == (PAGES, metric == "points")
    view, ends, p_missing = "score_comparisons", "difference", "NULL"
    if metric == "passed":
        view, ends, p_missing = "paired_comparisons", "pass_rate_difference", "p_missing"
    [(test, n_clusters, *figures)] = store.sql(
        f"SELECT test, n_clusters, p_value, {ends}_low, {ends}_high, {p_missing} FROM {view} "
        f"WHERE suite = '{suite}'" + ("" if metric == "passed" else f" AND metric = '{metric}'")
    ).fetchall()
    assert (test, n_clusters) == (row["test"], PAGES)
    names = ("p_value", "low", "high", "p_missing")
    assert figures == pytest.approx([row[name] for name in names], abs=1e-12)
    assert (row["p_missing"] is None) == (suite == "pages" or metric != "passed")
    session = open_session(store.path, max_seconds=60)
    sides = {"a": "a", "b": "b", "suite": suite, "metric": metric}
    (told,) = json.loads(call_tool(session, "compare_models", sides))["comparisons"]
    assert [told[name] for name in names[:3]] == figures[:3]
    sliced = json.loads(call_tool(session, "compare_models", {**sides, "by": "prompt_length"}))
    assert sliced["differences_by"] == []
    assert "of tasks in clusters it is not tested" in sliced["notes"][-1]


def test_a_column_that_no_two_tasks_share_is_named(store):
    ended = command(store.path, "compare", "a", "b", "--suite", "pages", "--cluster", "question")
    assert "no two tasks have the same 'question': each counts by itself" in ended.err


def test_the_test_is_of_the_sums_of_clusters(store):
    a, b = rates(store, "pages").values()
    differences = np.array([a[task] - b[task] for task in a])
    clusters = np.repeat(np.arange(PAGES), SIZE)
    [(p_value,)] = store.sql(
        "SELECT p_value FROM paired_comparisons WHERE suite = 'pages'"
    ).fetchall()
    expected = equality_of_bounded_means(differences, largest=1.0, clusters=clusters)
    assert p_value == pytest.approx(expected, abs=1e-12)
    assert p_value > 2 * equality_of_bounded_means(differences, largest=1.0)


def test_the_gate_and_the_plan_count_clusters(store, tmp_path):
    rules = {"baseline": "a", "candidate": "b", "suite": "pages", "min_tasks": 6}
    rules["rules"] = [{"max_drop": 0}, {"min_value": 0.1}]
    (tmp_path / "gate.yaml").write_text(json.dumps(rules))
    ended = command(store.path, "gate", tmp_path / "gate.yaml", "--format", "json")
    decision, floor = json.loads(ended.out)["decisions"]
    [(p_value,)] = store.sql(
        "SELECT p_value FROM paired_comparisons WHERE suite = 'pages'"
    ).fetchall()
    assert decision["n_clusters"] == PAGES
    assert decision["p_value"] == pytest.approx(p_value / 2, abs=1e-12)
    sums, sizes = sums_of(rates(store, "pages")["b"])
    limits = clustered_interval(sums, sizes)
    assert [floor["low"], floor["high"]] == pytest.approx(limits, abs=1e-9)
    planned = command(
        store.path, "plan", "a", "b", "--suite", "pages", "--difference", "0.1", "--format", "json"
    )
    row = next(row for row in json.loads(planned.out) if row["n_attempts"] == 1)
    a, b = rates(store, "pages").values()
    differences = np.array([a[task] - b[task] for task in a])
    spread = differences - differences.mean()
    effect = (spread.reshape(PAGES, SIZE).sum(axis=1) ** 2).sum() / (spread**2).sum()
    needed = 7.849 * (differences**2).mean() * effect / 0.1**2
    assert (row["n_clusters_known"], row["n_tasks_known"]) == (PAGES, PAGES * SIZE)
    assert row["n_tasks"] == pytest.approx(needed, rel=0.03)
    assert effect > 2


@pytest.mark.slow
def test_items_carry_their_clusters_to_other_sets(tmp_path):
    """Runs without clusters gain them from a table with the same items, whichever comes first."""
    found = []
    for order in ((0, 1), (1, 0)):
        folder = tmp_path / f"{order}"
        folder.mkdir()
        tables = [
            write_table(folder / "plain.csv", "plain", cluster="other"),
            write_table(folder / "pages.csv", "pages", models=("c",)),
        ]
        store = new_store(folder / "store")
        for place in order:
            assert command(store.path, "import", tables[place], "--yes").code == 0
        board = "SELECT model, n_clusters, pass_rate_low FROM leaderboard WHERE metric = 'passed'"
        found.append(sorted(store.sql(board).fetchall()))
        assert {row[:2] for row in found[-1]} == {(name, PAGES) for name in "abc"}
        with store.reading() as connection:
            (across,) = find_contests(connection, ["a", "c"], Choice())
            assert across.paired.panel.suite == "pages+plain"
            assert across.paired.clusters.max() + 1 == PAGES
    assert found[0] == found[1]


@pytest.mark.slow
def test_of_two_suites_the_clusters_of_a_set_come_from_all_its_series(tmp_path):
    store = new_store(tmp_path / "store")
    tables = [
        write_table(tmp_path / "pages.csv", "pages", models=("a",)),
        write_table(tmp_path / "plain.csv", "plain", models=("c",), cluster="other"),
    ]
    for table in tables:
        assert command(store.path, "import", table, "--yes").code == 0
    with store.reading() as connection:
        (contest,) = find_contests(connection, ["a", "c"], Choice())
        panel = contest.paired.panel
        whole = next(one for one in panel.series if one.key.suite == "pages")
        # The last series of the set was asked one task.
        panel.series.append(replace(whole, asked=dict([*whole.asked.items()][:1])))
        panel.series = [one for one in panel.series if one.key.suite == "pages"]
        set_clusters(connection, [panel])
        assert len(np.unique(panel.clusters)) == PAGES


def test_of_two_suites_that_cluster_items_differently_the_links_are_joined(store):
    with store.reading() as connection:
        (contest,) = find_contests(connection, ["a", "b"], Choice(suite="pages"))
        panel = contest.paired.panel
        set_clusters(connection, [panel], "question")  # no two tasks share a question
        assert panel.clusters is None
        set_clusters(connection, [panel])
        assert len(np.unique(panel.clusters)) == PAGES
        other = panel.series[1]
        panel.series[1] = type(other)(
            key=other.key._replace(suite="few", task_set="few"),
            metric=other.metric,
            asked=other.asked,
            values=other.values,
        )
        # The 4 pages of the other suite are pages of this one, too.
        set_clusters(connection, [panel])
        assert len(np.unique(panel.clusters)) == PAGES


@pytest.mark.slow
def test_perturbed_copies_are_on_no_board(tmp_path):
    """HELM's perturbed instances are no further tasks; their scores stay in `metrics`."""
    perturbation = {"name": "typos", "robustness": True}
    plain, changed = [request(n) for n in range(4)], [request(n) for n in range(4)]
    for each in changed:
        each["instance"]["perturbation"] = perturbation
    scored = [entry(n) for n in range(4)]
    scored += [
        entry(n, perturbation=perturbation)
        | {"stats": [stat("exact_match", 0.0, perturbation=perturbation)]}
        for n in range(4)
    ]
    write_run(tmp_path / "logs" / "run", requests=plain + changed, entries=scored)
    store = new_store(tmp_path / "store")
    import_into(store, tmp_path / "logs")
    assert store.sql("SELECT count(DISTINCT task_id) FROM results").fetchall() == [(8,)]
    assert store.sql(
        "SELECT n_tasks, n_tasks_in_set, pass_rate, n_clusters FROM leaderboard "
        "WHERE metric = 'passed'"
    ).fetchall() == [(4, 4, 0.5, None)]
    robust = "SELECT n_tasks, mean FROM metrics WHERE filter LIKE '%typos%'"
    assert store.sql(robust).fetchall() == [(4, 0.0)]


@pytest.mark.slow
def test_a_prompt_that_many_tasks_share_links_no_other_set(tmp_path):
    store = new_store(tmp_path / "store")
    for suite, cluster in (("pages", "cluster"), ("plain", "other")):
        table = write_table(tmp_path / f"{suite}.csv", suite, cluster=cluster)
        table.write_text(
            re.sub(r"Question \d+ about page \d+", "What is shown?", table.read_text())
        )
        assert command(store.path, "import", table, "--yes").code == 0
    sets = "SELECT DISTINCT suite, n_clusters FROM leaderboard ORDER BY suite"
    assert store.sql(sets).fetchall() == [("pages", PAGES), ("plain", None)]


def test_the_largest_scores_count_in_views_as_in_compare(tmp_path):
    large = tmp_path / "large.csv"
    lines = ["run_id,model,task_id,cluster,question,points"]
    for place, model in enumerate("ab"):
        for page in range(8):
            points = 3e15 * (1 + place) if page == 0 else page + place
            lines += [f"r-{model},{model},p{page}q{n},{page},{page} {n},{points}" for n in range(3)]
    large.write_text("\n".join(lines))
    store = new_store(tmp_path / "store")
    assert command(store.path, "import", large, "--yes").code == 0
    ended = command(store.path, "compare", "a", "b", "--format", "json")
    [compared] = json.loads(ended.out)
    figures = (
        "mean_a, mean_b, mean_difference, difference_low, difference_high, p_value, n_clusters"
    )
    found = store.sql(f"SELECT {figures} FROM score_comparisons").fetchall()
    names = ("mean_a", "mean_b", "difference", "low", "high", "p_value", "n_clusters")
    assert found == [tuple(compared[name] for name in names)]
    assert (found[0][0], found[0][5]) == (3e15 / 8 + 3.5, 1.0)
