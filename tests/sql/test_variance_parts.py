"""`variance_parts` finds the variances that answers were drawn with."""

import numpy as np
import pytest
from support import add_rows, new_store

N_SETS, N_MODELS, N_TASKS, N_ATTEMPTS, N_RUNS = 10, 4, 30, 2, 4
SD = {"task": 0.3, "attempt": 0.2, "run": 0.1, "template": 0.2, "judge": 0.15}
JUDGES = ("judge one", "judge two")

pytestmark = pytest.mark.slow


def drawn(random, is_alike):
    """Return the rows of task sets; alike runs, templates and judges shift nothing."""
    shifts = {name: 0 if is_alike else SD[name] for name in ("run", "template", "judge")}
    runs = [
        {"run_id": f"r{run}", "run_date": f"2026-01-{run + 1:02}", "template_hash": f"t{run // 2}"}
        for run in range(N_RUNS)
    ]
    tables = {"results": [], "result_scores": [], "ratings": []}
    for number in np.ndindex(N_SETS, N_MODELS):
        rates = random.uniform(size=N_TASKS)
        tasks = random.normal(0, SD["task"], N_TASKS)
        own = random.normal(0, shifts["run"], N_RUNS)
        own += np.repeat(random.normal(0, shifts["template"], N_RUNS // 2), 2)
        severity = random.normal(0, shifts["judge"], len(JUDGES))
        for run, task, attempt in np.ndindex(N_RUNS, N_TASKS, N_ATTEMPTS):
            key = "-".join(map(str, (*number, run, task, attempt)))
            score = tasks[task] + own[run] + random.normal(0, SD["attempt"])
            result = {
                "run_id": f"r{run}",
                "content_id": key,
                "task_set": f"set {number[0]}",
                "task_id": f"task {task}",
                "model": f"model {number[1]}",
                "attempt": attempt + 1,
                "raw_output": "an answer",
                "success": True,
                "is_correct": bool(random.random() < rates[task]),
            }
            tables["results"].append(result)
            scored = {"run_id": f"r{run}", "result_id": key, "content_id": f"s{key}"}
            tables["result_scores"].append(scored | {"metric": "quality", "value": score})
            tables["ratings"] += [
                scored
                | {
                    "content_id": f"{judge}{key}",
                    "task_set": result["task_set"],
                    "criterion": "style",
                    "rater": judge,
                    "rater_kind": "judge",
                    "status": "ok",
                    "scale_low": -9.0,
                    "scale_high": 9.0,
                    "value": score + shift + random.normal(0, 0.1),
                }
                for judge, shift in zip(JUDGES, severity, strict=True)
                if run == N_RUNS - 1
            ]
    places = {"results": "seq", "result_scores": "position", "ratings": "seq"}
    rows = {
        name: [row | {place: n} for n, row in enumerate(tables[name])]
        for name, place in places.items()
    }
    rows["runs"] = [row | {"content_id": row["run_id"]} for row in runs]
    key = {"suite": "own", "generation": "root"}
    return {name: [row | key for row in rows[name]] for name in rows}


@pytest.fixture(scope="module", params=[False, True], ids=["shifted", "alike"])
def found(request, tmp_path_factory):
    store = new_store(tmp_path_factory.mktemp("variance") / "store")
    add_rows(store.lake, **drawn(np.random.default_rng(33), request.param))
    return store.sql("FROM variance_parts").df(), request.param


def assert_recovers(estimates, truth):
    """The mean over task sets is within four of its standard errors."""
    error = estimates.std() / np.sqrt(len(estimates))
    assert abs(estimates.mean() - truth) < 4 * error, (estimates.mean(), truth, error)


def test_tasks_and_attempts_of_verdicts(found):
    verdicts = found[0][lambda rows: rows.metric == "passed"]
    assert_recovers(verdicts.task_variance, 1 / 12)
    assert_recovers(verdicts.attempt_variance, 1 / 6)
    covered = (verdicts.attempt_share_low < 2 / 3) & (verdicts.attempt_share_high > 2 / 3)
    assert covered.mean() > 0.8


def test_parts_of_scores(found):
    rows, is_alike = found
    scores = rows[rows.metric == "quality"]
    runs = 0 if is_alike else SD["run"] ** 2
    assert_recovers(scores.task_variance, SD["task"] ** 2)
    assert_recovers(scores.attempt_variance, SD["attempt"] ** 2)
    assert_recovers(scores.run_variance, runs)
    assert_recovers(scores.template_variance, 0 if is_alike else runs + SD["template"] ** 2)
    style = rows[rows.metric == "style"]
    assert len(style) == N_SETS * len(JUDGES)
    assert_recovers(style.judge_variance, 0 if is_alike else SD["judge"] ** 2)
    assert scores.judge_variance.isna().all()


def test_shifts_are_significant_where_there_are_any(found):
    rows, is_alike = found
    for name in ("run_p", "template_p", "judge_p"):
        p_values = rows[name][(rows.metric != "passed")].dropna()
        share = (p_values < 0.05).mean()
        assert share <= 0.15 if is_alike else share == 1, (name, share)
