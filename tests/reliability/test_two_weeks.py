"""Every figure of two weeks of use, against plain Python over the log of the model server."""

import itertools
import json
import math
import statistics
from collections import Counter, defaultdict

import numpy as np
import pytest
from support import command

from tests.campaigns.two_weeks import INTERRUPTED, PRICES, RUNS, SETTINGS, TASKS, two_weeks
from warehouse.engine.statistics.bounded_means import equality_of_bounded_means

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]


@pytest.fixture(scope="module")
def week(tmp_path_factory):
    with two_weeks(tmp_path_factory.mktemp("weeks")) as week:
        yield week


VIEWS = {
    "leaderboard": "suite, model, settings, n_tasks, n_results, n_unanswered, n_tasks_in_set,"
    " is_comparable, run_id, newer_partial_run_id, n_runs, n_cost_known, pass_rate, pass_rate_low,"
    " pass_rate_high, total_cost_usd, cost_per_passed_usd",
    "leaderboard_pooled": "suite, model, settings, n_runs, n_results, n_judged, n_passed,"
    " n_cost_known, pass_rate, pass_rate_low, pass_rate_high, total_cost_usd",
    "pass_rates": "run_id, model, n_results, n_judged, n_passed, n_trials, pass_rate,"
    " pass_rate_low, pass_rate_high",
    "model_history": "run_id, model, n_tasks, n_results, n_unanswered, n_compared, n_gained,"
    " n_lost, pass_rate, previous_pass_rate",
    "verdict_changes": "run_id, model, task, n_judged, n_passed, previous_run_id, change,"
    " previous_pass_rate",
    "task_history": "task, run_date, n_models, n_judged, n_passed, n_gained, n_lost, pass_rate,"
    " previous_pass_rate",
    "costs": "run_id, model, n_results, n_cost_known, input_tokens, output_tokens, total_cost_usd,"
    " mean_cost_usd, cost_per_passed_usd",
    "failures": "run_id, model, n",
    "pass_at_k": "run_id, model, k, n_tasks, pass_at_k",
    "paired_comparisons": "suite, model_a, model_b, n_tasks, n_both, n_only_a, n_only_b, n_neither,"
    " pass_rate_difference, p_value, p_holm",
    "run_overview": "run_id, n_results, n_tasks, n_judged, n_unanswered, n_cost_known, pass_rate,"
    " total_cost_usd",
}  # fmt: skip


def figures(week, views=VIEWS):
    """Return the rows of views, sorted, with the names of our tasks and runs."""
    labels = {run_id: label for label, run_id in week.run_ids.items()}
    names = {words: name for tasks in TASKS.values() for name, (words, *_) in tasks.items()}

    def name(column, value):
        if column in {"run_id", "previous_run_id", "newer_partial_run_id"}:
            return labels.get(value, value)
        if column == "task":
            return next((name for words, name in names.items() if words in value), value)
        return str(value) if column == "run_date" else value

    found = {}
    for view in views:
        where = " WHERE NOT is_replay AND origin = 'runner'" if view == "run_overview" else ""
        prompts = "(SELECT DISTINCT suite, task_id, coalesce(prompt, task_id) AS task FROM tasks)"
        join = f" JOIN {prompts} USING (suite, task_id)" if "task," in VIEWS[view] else ""
        query = week.store.sql(f"SELECT {VIEWS[view]} FROM {view}{join}{where}")
        columns = [column.strip() for column in VIEWS[view].split(",")]
        rows = [
            tuple(name(column, value) for column, value in zip(columns, row, strict=True))
            for row in query.fetchall()
        ]
        found[view] = sorted(rows, key=repr)
    return found


ORDER = [*list(RUNS)[:5], "friday", *list(RUNS)[5:]]


def expected(week):
    """Return what the views should say, from the server's log."""
    found = defaultdict(list)
    for suite in TASKS:
        calls = [call for label in ORDER for call in week.of(label) if call.suite == suite]
        for model in PRICES:
            _of_model(found, suite, model, [call for call in calls if call.model == model])
        _of_tasks(found, calls)
        found["paired_comparisons"].append(_pair(suite, calls))
    for label in RUNS:
        calls = week.of(label)
        judged, usd = _judged(calls), _costs(calls)
        found["run_overview"].append(
            (label, len(calls), len(_by(calls, "task")), len(judged), len(calls) - len(judged),
             len(usd), statistics.mean(_passed(calls)), math.fsum(usd))
        )  # fmt: skip
    return {view: sorted(found[view], key=repr) for view in VIEWS}


def _by(calls, name):
    groups = defaultdict(list)
    for call in calls:
        groups[getattr(call, name)].append(call)
    return groups


def _judged(calls):
    return [call.passed for call in calls if call.passed is not None]


def _passed(calls):
    """Return whether each call passed; a call without an answer did not."""
    return [bool(call.passed) for call in calls]


def _costs(calls):
    known = [call for call in calls if call.tokens]
    return [sum(map(math.prod, zip(PRICES[c.model], c.tokens, strict=True))) for c in known]


def _per_passed(calls):
    n = sum(bool(call.passed) for call in calls if call.tokens)
    return math.fsum(_costs(calls)) / n if n else None


def _shares(calls):
    """Return each task's share of attempts that passed."""
    return {name: statistics.mean(_passed(calls)) for name, calls in _by(calls, "task").items()}


def _wilson(p, n):
    z = statistics.NormalDist().inv_cdf(0.975)
    middle, reach = p + z * z / 2 / n, z * math.sqrt(p * (1 - p) / n + z * z / 4 / n / n)
    return [(middle + sign * reach) / (1 + z * z / n) for sign in (-1, 1)]


def _rate(calls):
    """Return the mean over tasks and its interval: the issue's effective number of tasks."""
    shares = [*_shares(calls).values()]
    padded = [*shares, 0, 1]
    n, p, spread = len(shares), statistics.mean(padded), statistics.pvariance(padded)
    effective = max(n, min(len(calls), n * p * (1 - p) / spread))
    return statistics.mean(shares), *_wilson(statistics.mean(shares), effective)


def _of_model(found, suite, model, calls):
    runs = _by(calls, "label")
    n_asked = {label: len(_by(of_run, "task")) for label, of_run in runs.items()}
    latest = [label for label in runs if n_asked[label] == 4][-1]
    passed_over = [*runs][-1] if [*runs][-1] != latest else None
    best, judged = runs[latest], _judged(calls)
    found["leaderboard"].append(
        (suite, model, SETTINGS[model], 4, len(best), len(best) - len(_judged(best)), 4, True,
         latest, passed_over, len(runs), len(_costs(best)), *_rate(best),
         math.fsum(_costs(best)), _per_passed(best))
    )  # fmt: skip
    found["leaderboard_pooled"].append(
        (suite, model, SETTINGS[model], len(runs), len(calls), len(judged), sum(judged),
         len(_costs(calls)), statistics.mean(judged),
         *_wilson(statistics.mean(judged), len(judged)), math.fsum(_costs(calls)))
    )  # fmt: skip
    before, previous_rate = {}, None
    for label, of_run in runs.items():
        previous_rate = _of_run(found, label, of_run, before, previous_rate)


def _of_run(found, label, calls, before, previous_rate):
    """Add the rows of one model in one run; `before` has the last run and share of each task."""
    model, judged, usd = calls[0].model, _judged(calls), _costs(calls)
    rate = statistics.mean(_passed(calls))
    # Of so few tasks with different numbers of attempts there is no interval.
    by_tasks, *ends = _rate(calls)
    found["pass_rates"].append(
        (label, model, len(calls), len(judged), sum(judged), len(calls), rate,
         *(ends if math.isclose(by_tasks, rate) else (None, None)))
    )  # fmt: skip
    tokens = [call.tokens for call in calls if call.tokens]
    sums = (
        [*map(sum, zip(*tokens, strict=True)), math.fsum(usd), statistics.mean(usd)] if usd else []
    )
    found["costs"].append(
        (label, model, len(calls), len(usd), *(sums or [None] * 4), _per_passed(calls))
    )
    if len(judged) < len(calls):
        found["failures"].append((label, model, len(calls) - len(judged)))
    changes = []
    counts = {name: _judged(of_task) for name, of_task in _by(calls, "task").items()}
    for name, verdicts in counts.items():
        if verdicts:
            share = statistics.mean(verdicts)
            run, old = before.get(name, (None, None))
            change = old if old is None else _change(old, share)
            changes.append(change)
            found["verdict_changes"].append(
                (label, model, name, len(verdicts), sum(verdicts), run, change, old)
            )
            before[name] = label, share
    rated = _rate(calls)[0]
    found["model_history"].append(
        (label, model, len(counts), len(calls), len(calls) - len(judged),
         len([*filter(None, changes)]), changes.count("gained"), changes.count("lost"), rated,
         previous_rate)
    )  # fmt: skip
    attempts = [_passed(of_task) for of_task in _by(calls, "task").values()]
    for k in range(1, max(map(len, attempts)) + 1):
        chances = [
            1 - math.comb(len(v) - sum(v), k) / math.comb(len(v), k)
            for v in attempts if len(v) >= k
        ]  # fmt: skip
        found["pass_at_k"].append((label, model, k, len(chances), statistics.mean(chances)))
    return rated


def _change(before, after):
    return "gained" if after > before else "lost" if after < before else "same"


def _of_tasks(found, calls):
    changes = [
        dict(zip(_columns("verdict_changes"), row, strict=True)) for row in found["verdict_changes"]
    ]
    for name, of_task in _by(calls, "task").items():
        previous = None
        for day, of_day in _by(of_task, "day").items():
            judged, labels = _judged(of_day), {call.label for call in of_day}
            if not judged:
                continue
            found_changes = [
                c["change"] for c in changes if c["task"] == name and c["run_id"] in labels
            ]
            models = {call.model for call in of_day if call.passed is not None}
            rate = statistics.mean(judged)
            found["task_history"].append(
                (name, str(day), len(models), len(judged), sum(judged),
                 found_changes.count("gained"), found_changes.count("lost"), rate, previous)
            )  # fmt: skip
            previous = rate


def _pairs(suite, calls):
    """Return whether both models passed each task of their latest full runs, by attempt."""
    asked = {(c.model, c.label): set() for c in calls}
    for call in calls:
        asked[call.model, call.label].add(call.task)
    latest = {model: label for (model, label), tasks in asked.items() if len(tasks) == 4}
    attempts = {
        (c.model, c.task): _passed(
            [o for o in calls if (o.model, o.task, o.label) == (c.model, c.task, c.label)]
        )
        for c in calls
        if latest[c.model] == c.label
    }
    return [
        [attempts[model, name] for model in PRICES]
        for name in TASKS[suite]
        if all((model, name) in attempts for model in PRICES)
    ]


def _p_value(attempts):
    """Return the p-value of equal means, of tasks with one attempt by all possible outcomes."""
    differences = [statistics.mean(a) - statistics.mean(b) for a, b in attempts]
    if any(len(a) > 1 for a, _ in attempts):
        return equality_of_bounded_means(np.array(differences), largest=1.0)
    n, score = len(differences), abs(_score(differences))
    as_large = Counter(
        n - signs.count(0)
        for signs in itertools.product((1, 0, -1), repeat=n)
        if _score(signs) >= score - 1e-9
    )
    shares = np.linspace(0, 1, 100_001)
    chance = sum(
        count * (shares / 2) ** differing * (1 - shares) ** (n - differing)
        for differing, count in as_large.items()
    )
    return min(1.0, 2 * float(chance.max()))


def _score(signs):
    """Return the score statistic of equal pass rates."""
    return sum(signs) / math.sqrt(max(1, sum(map(abs, signs))))


def _pair(suite, calls):
    """Return the row of the test on each task's shares of passed attempts in full runs."""
    attempts = _pairs(suite, calls)
    pairs = [[statistics.mean(a), statistics.mean(b)] for a, b in attempts]
    n, only_a, only_b = len(pairs), sum(a > b for a, b in pairs), sum(a < b for a, b in pairs)
    n_both, n_neither = sum(a == b > 0 for a, b in pairs), sum(a == b == 0 for a, b in pairs)
    difference = statistics.mean(a - b for a, b in pairs)
    # Four tasks are too few to be adjusted.
    return (suite, *PRICES, n, n_both, only_a, only_b, n_neither, difference, _p_value(attempts),
            None)  # fmt: skip


def _columns(view):
    return [column.strip() for column in VIEWS[view].split(",")]


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_says_what_the_server_saw(week, view):
    rows = figures(week, [view])[view]
    expected_rows = expected(week)[view]
    assert [row[:3] for row in rows] == [row[:3] for row in expected_rows]
    for row, right in zip(rows, expected_rows, strict=True):
        for column, value, figure in zip(_columns(view), row, right, strict=True):
            is_float = isinstance(figure, float)
            error = 1e-5 if column == "p_value" else 1e-12
            wanted = pytest.approx(figure, rel=error, abs=1e-15) if is_float else figure
            assert value == wanted, (column, row, right)


def test_the_own_export_imported_again_changes_no_figure(week):
    before = figures(week)
    ended = command(week.store.path, "export", "palindrome", "--to", "out")
    assert ended.code == 1  # calls without an answer have no place in a log
    assert command(week.store.path, "import", "out").code == 0
    assert figures(week) == before


def test_an_interrupted_run_repeats_no_call(week):
    assert len(week.of(INTERRUPTED)) == 8
    assert set(Counter((c.model, c.task) for c in week.of(INTERRUPTED)).values()) == {1}


def test_latencies_are_those_of_the_server(week):
    rows = week.store.sql("SELECT run_id, model, n_timed, p50_ms, p95_ms, mean_ms FROM latency")
    for run_id, model, n, p50, p95, mean in rows.fetchall():
        label = next(label for label in ORDER if week.run_ids[label] == run_id)
        waits = [call.ms for call in week.of(label, model) if call.passed is not None]
        slack = 0 if label == "friday" else 60_000
        wanted = statistics.median(waits), statistics.quantiles(waits, n=20, method="inclusive")[-1]
        assert n == len(waits)
        n_tasks = len({c.task for c in week.of(label, model) if c.passed is not None})
        assert (p50 is None, p95 is None) == (n_tasks < 6, n_tasks < 6)
        for figure, wait in zip((p50, p95, mean), (*wanted, statistics.mean(waits)), strict=True):
            if figure is None:
                continue
            assert wait - 1 <= figure <= wait + slack + 1, (label, model)


def test_a_rehearsal_has_its_own_leaderboard(week):
    rows = week.store.sql("SELECT suite, model, n_results, n_passed FROM replay_leaderboard")
    assert rows.fetchall() == [("first", "acme/quick", 4, 3)]


def test_a_comparison_speaks_of_the_latest_verdicts(week):
    ended = command(week.store.path, "compare", "acme/quick", "acme/steady", "--format", "json")
    found = json.loads(ended.out)
    assert [row["suite"] for row in found] == sorted(TASKS)
    for row in found:
        calls = [call for label in ORDER for call in week.of(label) if call.suite == row["suite"]]
        pairs = _pairs(row["suite"], calls)
        differences = [statistics.mean(a) - statistics.mean(b) for a, b in pairs]
        wanted = (differences.count(1), differences.count(-1))
        if any(len(a) > 1 for a, _ in pairs):
            wanted = (None, None)
        assert (row["n_only_a"], row["n_only_b"]) == wanted
        assert row["p_value"] == pytest.approx(_p_value(pairs), rel=1e-5)
        assert (row["n_tasks"], row["difference"]) == (
            len(pairs), pytest.approx(statistics.mean(differences))
        )  # fmt: skip


@pytest.mark.parametrize("label", ["tuesday", "second tuesday"])
def test_summaries_of_openclaw_say_the_same(week, tmp_path, label):
    run_id = week.run_ids[label]
    out = tmp_path / "out"
    assert command(week.store.path, "export", "openclaw", "--run", run_id, "--to", out).code == 0
    (path,) = out.rglob("summary.json")
    for group in json.loads(path.read_text())["models"]:
        calls = week.of(label, group["model"])
        answered = [call for call in calls if call.passed is not None]
        used = [bool(call.passed) for call in calls if call.task[0] == "T"]
        assert (group["n_total"], group["n_ok"]) == (len(calls), len(answered))
        assert group["objective_pass_rate"] == statistics.mean(_judged(calls))
        assert group["tool_use_rate"] == statistics.mean(used)
