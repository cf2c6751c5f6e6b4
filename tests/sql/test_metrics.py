"""The mart `metrics`: against plain Python, and against the views of the three families."""

import math
import re
import statistics
from collections import Counter
from itertools import groupby

import numpy as np
import pytest
from scipy import stats
from support import EXAMPLES, REFERENCE, ROOT, import_into, needs_reference, new_store

from warehouse.core.schemas import BY_NAME
from warehouse.engine.statistics.macros import macros
from warehouse.lake.batch import Generation

RELATIVE_ERROR = 1e-9
# Kinds of scores: 0 or 1, shares, whole numbers with many ties, any numbers.
KINDS = {
    "binary": lambda random: float(random.integers(2)),
    "share": lambda random: float(random.choice([0, 0.25, 1, random.random()])),
    "points": lambda random: float(random.integers(-1, 3)),
    "number": lambda random: float(random.normal(1e3, 1)),
}
MISSING, UNSCORED = 0.2, 0.15


# --- reducers in plain Python: of the scores of one task, without those that are no number


def majority(scores):
    [(value, count)] = Counter(scores).most_common(1)
    return value if count * 2 > len(scores) else None


def at_least(k):
    return lambda scores: float(sum(score >= 1 for score in scores) >= k)


def pass_at(k):
    def reduced(scores):
        n, c = len(scores), sum(score >= 1 for score in scores)
        return 1 - math.comb(n - c, k) / math.comb(n, k) if n >= k else None

    return reduced


def pass_all(k):
    def reduced(scores):
        n, c = len(scores), sum(score >= 1 for score in scores)
        return math.comb(c, k) / math.comb(n, k) if n >= k else None

    return reduced


def reducers(tasks):
    """Return the reducers that apply to the tasks' scores, by name and k."""
    most = max(len(scores) for scores in tasks)
    found = {("mean", None): statistics.fmean}
    if most == 1:
        return found
    found |= {
        ("median", None): statistics.median,
        ("max", None): max,
        ("mode", None): statistics.mode,
        ("majority", None): majority,
    }
    if all(0 <= score <= 1 for scores in tasks for score in scores if score is not None):
        for k in range(1, most + 1):
            found |= {
                ("at_least_k", k): at_least(k),
                ("pass_at_k", k): pass_at(k),
                ("pass^k", k): pass_all(k),
            }
    return found


def figure(tasks, reduce):
    """Return the figures of `metrics` that do not depend on how the interval is made."""
    scored = [[score for score in scores if score is not None] for scores in tasks]
    values = [value for value in (reduce(s) if s else None for s in scored) if value is not None]
    n = len(values)
    return {
        "n_tasks": n,
        "n_results": sum(map(len, scored)),
        "n_unscored": len(tasks) - n,
        "mean": statistics.fmean(values) if n else None,
        "stderr": statistics.stdev(values) / math.sqrt(n) if n > 1 else None,
        "median": statistics.median(values) if n else None,
        "min": min(values, default=None),
        "max": max(values, default=None),
    }


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a store with random scores, and the scores of each task by metric."""
    random = np.random.default_rng(20250401)
    scores, results, by_metric = [], [], {}
    for kind, draw in KINDS.items():
        for most in (1, 2, 3, 7):
            metric = f"{kind} {most}"
            by_metric[metric] = []
            for task in range(random.integers(1, 9)):
                drawn = [
                    None if random.random() < UNSCORED else draw(random)
                    for _ in range(most)
                    if random.random() > MISSING
                ]
                if drawn:
                    by_metric[metric].append(drawn)
                for attempt, value in enumerate(drawn, 1):
                    key = f"{metric} {task} {attempt}"
                    results.append((key, metric, f"t{task}", attempt))
                    scores.append((key, metric, value))
    store = new_store(tmp_path_factory.mktemp("metrics") / "store", on_warning=pytest.fail)
    of_run = {"suite": "mine", "run_id": "r", "generation": "root"}
    # In an order that has nothing to do with that of the attempts.
    order = [int(index) for index in random.permutation(len(results))]
    with store.lake.write("import") as writer:
        writer.add(BY_NAME["runs"], [of_run | {"content_id": "run"}])
        writer.add(
            BY_NAME["results"],
            [
                of_run
                | {"content_id": key, "seq": seq, "model": metric}
                | {"task_set": "s", "task_id": task, "attempt": attempt}
                for seq, i in enumerate(order, 1)
                for key, metric, task, attempt in [results[i]]
            ],
        )
        writer.add(
            BY_NAME["result_scores"],
            [
                of_run
                | {"content_id": key, "result_id": key, "metric": metric, "value": value}
                | {"scorer": "f", "text": "NaN" if value is None else None}
                for i in order
                for key, metric, value in [scores[i]]
            ],
        )
        writer.commit(generations={Generation("mine", "r", "root", None): None})
    return store, by_metric


def rows(store, query):
    with store.sql(query).cursor() as cursor:
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def close(actual, expected):
    if expected is None or actual is None:
        return actual is expected
    return math.isclose(actual, expected, rel_tol=RELATIVE_ERROR, abs_tol=1e-12)


@pytest.mark.slow
def test_every_reducer_equals_plain_python(made):
    store, by_metric = made
    found = {key: list(group) for key, group in groupby(rows(store, "FROM metrics"), by_name)}
    assert found.keys() == {metric for metric, tasks in by_metric.items() if tasks}
    for metric, tasks in by_metric.items():
        expected = reducers(tasks)
        assert {(row["reducer"], row["k"]) for row in found[metric]} == expected.keys(), metric
        for row in found[metric]:
            figures = figure(tasks, expected[row["reducer"], row["k"]])
            wrong = {k: (row[k], v) for k, v in figures.items() if not close(row[k], v)}
            assert not wrong, (metric, row["reducer"], row["k"], tasks)


def by_name(row):
    return row["metric"]


@pytest.mark.slow
def test_intervals_are_wilsons_or_students(made):
    store, by_metric = made
    for row in rows(store, "FROM metrics WHERE mean IS NOT NULL"):
        n, mean = row["n_tasks"], row["mean"]
        scored = [s for scores in by_metric[row["metric"]] for s in scores if s is not None]
        if all(score in {0, 1} for score in scored):
            assert row["interval_method"] == "wilson"
            if row["n_results"] == n or row["reducer"] in {"max", "majority", "at_least_k"}:
                wilson = stats.binomtest(round(mean * n), n).proportion_ci(method="wilson")
                if math.isclose(mean * n, round(mean * n)):
                    assert close(row["mean_low"], wilson.low)
                    assert close(row["mean_high"], wilson.high)
            assert 0 <= row["mean_low"] <= mean <= row["mean_high"] <= 1
        elif all(0 <= score <= 1 for score in scored):
            assert row["interval_method"] == "wilson_scores"
            assert 0 <= row["mean_low"] <= mean <= row["mean_high"] <= 1
            query = "SELECT wilson_high($1, $2) - wilson_low($1, $2)"
            [(width,)] = macros().execute(query, [mean * n, n]).fetchall()
            assert row["mean_high"] - row["mean_low"] <= width + 1e-9
        elif n > 1 and row["stderr"] > 0:
            assert row["interval_method"] == "student_t"
            low, high = mean - row["stderr"] * stats.t.ppf(0.975, n - 1), row["mean_high"]
            assert math.isclose(row["mean_low"], low, rel_tol=1e-6)
            assert math.isclose(high - mean, mean - row["mean_low"], rel_tol=1e-6, abs_tol=1e-9)
        else:
            assert row["interval_method"] is row["mean_low"] is row["mean_high"] is None


# --- the figures of the three families


FAMILIES = [
    pytest.param(
        [EXAMPLES.parent / name for name in ("palindrome", "openclaw", "posters")], id="examples"
    ),
    pytest.param(
        [REFERENCE / name for name in ("palindrome", "openclaw/runs", "posters/workspace")],
        id="reference",
        marks=[needs_reference, pytest.mark.slow],
    ),
]
# Columns of poster_figures by sub-score; those of them that are rounded, with the number of places.
POSTER_MEANS = {
    "app_quality": ("app_quality_mean", None),
    "app_core": ("app_core_mean", None),
    "schema_valid": ("schema_valid_rate", 3),
    "schema_strict": ("schema_strict_rate", 3),
    "schema_exact": ("schema_exact_rate", 3),
    "parse_ok": ("json_parse_rate", 3),
    "top_level": ("avg_top_level_score", 3),
    "event_match": ("avg_event_match_score", 3),
    "core_event_match": ("avg_core_event_match_score", 3),
    "event_count": ("avg_event_count_score", 3),
    "location": ("avg_location_score", 3),
    "venue": ("avg_venue_score", 3),
    "missing_field_rate": ("avg_missing_field_rate", 3),
    "missing_of_gold_rate": ("avg_missing_of_gold_rate", 3),
    "event_diff": ("avg_event_diff", 3),
    "date_f1": ("avg_date_f1", 3),
}


@pytest.fixture(scope="module", params=FAMILIES)
def families(request, tmp_path_factory):
    store = new_store(tmp_path_factory.mktemp("families") / "store")
    import_into(store, *request.param)
    with store.reading():
        yield store


def test_pass_rates_are_those_of_the_leaderboard_and_of_model_history(families):
    keys = "suite, run_id, provider, model, settings, task_set"
    columns = f"{keys}, n_tasks, n_results, pass_rate, pass_rate_low, pass_rate_high"
    ours = f"""
        SELECT {keys}, n_tasks, n_results, mean, mean_low, mean_high FROM metrics
        WHERE metric = 'passed' AND reducer = 'mean' AND scorer IS NULL ORDER BY ALL
    """
    known = {tuple(r.values())[:6]: tuple(r.values())[6:] for r in rows(families, ours)}
    history = rows(families, f"SELECT {columns} FROM model_history WHERE metric = 'passed'")
    board = rows(families, f"SELECT {columns} FROM leaderboard WHERE pass_rate IS NOT NULL")
    assert history
    assert {tuple(row.values())[:6] for row in history} == known.keys()
    for row in history + board:
        values = tuple(row.values())
        assert known[values[:6]][0] <= values[6], values  # tasks that nothing judges are left out
        assert all(map(close, known[values[:6]][2:], values[8:])), values


def test_scores_of_model_history_are_those_of_the_leaderboard(families):
    keys = "suite, run_id, provider, model, settings, task_set, metric, scorer, filter"
    columns = f"{keys}, n_tasks, n_results, score, score_low, score_high, n_scored"
    history = rows(families, f"SELECT {columns} FROM model_history WHERE metric <> 'passed'")
    known = {tuple(row.values())[:9]: tuple(row.values())[9:] for row in history}
    board = rows(families, f"SELECT {columns} FROM leaderboard WHERE score IS NOT NULL")
    for row in board:
        key, figures = tuple(row.values())[:9], tuple(row.values())[9:]
        assert known[key] == pytest.approx(figures, abs=5e-4, rel=1e-9), key


HEADLINES = """
    SELECT entries.entry, scorer, metric, filter, n_tasks, mean, mean_low, mean_high, remark
    FROM metrics JOIN scores.entries AS entries
        ON metrics.suite = entries.suite AND metrics.run_id = entries.run_id
        AND metrics.provider IS NOT DISTINCT FROM entries.provider
        AND metrics.model IS NOT DISTINCT FROM entries.model
        AND metrics.settings = entries.settings AND metrics.task_set = entries.task_set
    LEFT JOIN suite_traits AS traits ON metrics.suite = traits.suite
    WHERE
        reducer = 'mean'
        AND is_headline(metric, traits.headline_metrics, traits.minor_metrics)
        -- The verdict.
        AND NOT (metric = 'passed' AND scorer IS NULL AND filter IS NULL)
    ORDER BY ALL
"""


def test_headline_scores_are_those_of_metrics_to_the_last_digit(made, families):
    store, _ = made
    for each in (store, families):
        expected = rows(each, HEADLINES)
        others = "n_clusters, is_corrected"
        query = f"SELECT * EXCLUDE ({others}) FROM scores.headline_scores ORDER BY ALL"
        assert rows(each, query) == expected
    assert len(rows(store, HEADLINES)) == len(KINDS) * 4


def test_poster_means_are_those_of_the_report(families):
    columns = ", ".join(name for name, _ in POSTER_MEANS.values())
    query = f"SELECT run_id, model, posters, {columns} FROM poster_report WHERE posters > 0"
    figures = "SELECT run_id, model, metric, n_tasks, mean FROM metrics WHERE suite = 'posters'"
    ours = {(r["run_id"], r["model"], r["metric"]): r for r in rows(families, figures)}
    reports = rows(families, query)
    assert reports
    for report in reports:
        for metric, (column, places) in POSTER_MEANS.items():
            row = ours[report["run_id"], report["model"], metric]
            assert row["n_tasks"] == report["posters"]
            tolerance = 1e-9 if places is None else 0.5 * 10**-places + 1e-12
            assert abs(row["mean"] - report[column]) <= tolerance, (metric, row, report)


def test_tool_use_is_that_of_the_tiers(families):
    query = "SELECT run_id, provider, model, settings, {} ORDER BY ALL"
    ours = query.format(
        "n_results, mean FROM metrics WHERE metric = 'tool_use' AND reducer = 'mean'"
    )
    tiers = query.format("n_counted, rate FROM tool_use WHERE n_counted > 0")
    expected = rows(families, tiers)
    assert expected
    keys = [tuple(row.values())[:5] for row in expected]
    assert [tuple(row.values())[:5] for row in rows(families, ours)] == keys


def test_result_scores_give_the_figures_of_the_families(families):
    query = """
        SELECT {} FROM result_scores AS scores JOIN scores.counted_results AS results
            USING (suite, run_id, result_id)
        WHERE metric = '{}' GROUP BY ALL ORDER BY ALL
    """
    verdicts = rows(families, query.format("suite, run_id, count(*), sum(value)", "passed"))
    counted = """
        SELECT suite, run_id, count(passed), count(*) FILTER (passed)
        FROM scores.counted_verdicts WHERE passed IS NOT NULL GROUP BY ALL ORDER BY ALL
    """
    assert verdicts
    assert [[*r.values()] for r in verdicts] == [[*r.values()] for r in rows(families, counted)]
    scored = "SELECT count(*), count(DISTINCT (suite, run_id, score_id)) FROM result_scores"
    [ids] = rows(families, scored)
    assert len(set(ids.values())) == 1
    [lost] = rows(
        families,
        "SELECT count(*) FROM result_scores ANTI JOIN results USING (suite, run_id, result_id)",
    )
    assert [*lost.values()] == [0]


QUERIES = re.findall(r"```sql\n(.*?)```", (ROOT / "docs/scores.md").read_text("utf-8"), re.DOTALL)


@pytest.mark.parametrize("query", QUERIES)
def test_queries_of_the_page_about_scores_return_rows(made, query):
    store, _ = made
    found = rows(store, query)
    assert found
    for name in found[0]:
        assert any(row[name] is not None for row in found), name
