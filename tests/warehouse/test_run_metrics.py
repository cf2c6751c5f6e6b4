"""The figures that sync keeps of each run are those of their definition, whatever changes."""

import random

import pytest
from support import add_rows, command

from warehouse.core.hashing import content_hash
from warehouse.engine.views.sql_files import shipped_sql

DEFINITIONS = {
    file.qualified: file.sql
    for file in shipped_sql()
    if file.name in {"run_metrics", "run_changes"}
}
CHANGES = ("run", "run", "run", "replace", "rate", "prompts", "clusters", "forget")
TASKS = range(8)


def figures(store):
    """Return the kept figures and changes, after comparing them with their definition."""
    kept = {}
    with store.reading() as connection:
        for table, query in DEFINITIONS.items():
            # As text, in which NaN is equal to itself.
            kept[table], defined = (
                sorted(map(repr, connection.execute(sql).fetchall()))
                for sql in (f"FROM {table}", query)
            )
            assert kept[table] == defined
    return kept


def one_of(choice, store, query):
    """Return one of the rows of a query; None if it has none."""
    rows = store.sql(f"{query} ORDER BY ALL").fetchall()
    return choice.choice(rows) if rows else None


def of_run(suite, run_id, generation="root", **fields):
    key = content_hash(suite, run_id, generation, *fields.values())
    return {"suite": suite, "run_id": run_id, "generation": generation, "content_id": key}


def add_run(store, choice, suite, run_id, generation="root", *, parent=None):
    """Add a run with verdicts, other scores, or both, of one attempt or several."""
    most, judged = choice.choice([1, 1, 3]), choice.random()
    results, scores = [], []
    for n in choice.sample(TASKS, choice.randint(1, len(TASKS))):
        for attempt in range(1, choice.randint(1, most) + 1):
            key = of_run(suite, run_id, generation, task=n, attempt=attempt)
            results.append(
                key
                | {"seq": len(results) + 1, "task_set": "s", "task_id": f"t{n}", "attempt": attempt}
                | {"provider": "p", "model": choice.choice("mn"), "availability_status": "ok"}
                | {"success": choice.random() < 0.9, "raw_output": choice.choice(["`df`", "no"])}
                | {"objective_pass": choice.random() < 0.5 if choice.random() < judged else None}
            )
            for scorer, metric in ((None, "f1"), ("a", "points"), (None, "passed")):
                if choice.random() < 0.3:
                    score = of_run(suite, run_id, generation, of=key["content_id"], metric=metric)
                    score |= {"result_id": key["content_id"], "scorer": scorer, "metric": metric}
                    scores.append(score | {"value": choice.choice([0.0, 0.25, 1.0])})
    header = of_run(suite, run_id, generation) | {"parent_generation": parent, "task_set": "s"}
    add_rows(store.lake, runs=[header], results=results, result_scores=scores)


def add_ratings(store, choice, step):
    by_run = "SELECT suite, run_id, list(result_id ORDER BY result_id) FROM results GROUP BY 1, 2"
    suite, rated, ids = one_of(choice, store, by_run)
    rater = {"rater": "ann", "rater_kind": "human", "criterion": "helpful", "status": "ok"}
    about = {"rated_suite": suite, "rated_run_id": rated}
    ratings = [
        of_run("ratings", f"l{step}", result=result)
        | {"seq": n, "result_id": result, "value": choice.choice([0.0, 1.0]), **rater, **about}
        for n, result in enumerate(choice.sample(ids, min(3, len(ids))), 1)
    ]
    add_rows(store.lake, runs=[of_run("ratings", f"l{step}")], ratings=ratings)


def add_tasks(store, choice, suite, step):
    """Add what openclaw prompts ask for, or clusters of tasks."""
    rows = [
        {"suite": suite, "task_set": "s", "task_set_hash": f"{step}", "task_id": f"t{n}"}
        | {"content_id": f"{suite} {step} {n}", "seq": n, "source": "{}"}
        | {"task_hash": f"h{n}", "expected_tools": choice.choice([["df"], []])}
        | {"cluster": choice.choice(["a", "b"]) if suite == "mine" else None}
        for n in choice.sample(TASKS, 5)
    ]
    add_rows(store.lake, tasks=rows)


def change(store, choice, step):
    """Change a store in one of the ways that change figures."""
    run = one_of(choice, store, "SELECT suite, run_id FROM runs WHERE suite <> 'ratings'")
    match choice.choice(CHANGES) if run else "run":
        case "run":
            add_run(store, choice, choice.choice(["mine", "openclaw"]), f"r{step}")
        case "replace":
            now = f"SELECT DISTINCT generation FROM lake.results WHERE run_id = '{run[1]}'"
            [parent] = one_of(choice, store, now)
            add_run(store, choice, *run, f"g{step}", parent=parent)
        case "rate":
            add_ratings(store, choice, step)
        case "prompts":
            add_tasks(store, choice, "openclaw", step)
        case "clusters":
            add_tasks(store, choice, "mine", step)
        case "forget":
            assert command(store.path, "forget", run[1], "--yes").code == 0


def check_random_changes(store, seed, n_steps):
    choice = random.Random(seed)
    seen = set()
    for step in range(n_steps):
        change(store, choice, step)
        seen |= {table for table, rows in figures(store).items() if rows}
    grown = figures(store)
    store.sync(rebuild=True)
    assert figures(store) == grown
    assert seen == DEFINITIONS.keys()


@pytest.mark.slow
def test_kept_figures_follow_every_change(store, monkeypatch):
    monkeypatch.setattr("warehouse.engine.tables.runs._MOST_RESULTS", 10)  # in parts
    check_random_changes(store, 0, 16)


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(1, 13))
def test_kept_figures_follow_every_change_at_length(store, seed):
    check_random_changes(store, seed, 25)


@pytest.mark.slow
def test_prompts_that_come_later_make_a_figure(store):
    choice = random.Random(0)
    add_run(store, choice, "openclaw", "r")
    metrics = "SELECT DISTINCT metric FROM metrics ORDER BY metric"
    assert ("tool_use",) not in store.sql(metrics).fetchall()
    add_tasks(store, choice, "openclaw", 0)
    assert ("tool_use",) in store.sql(metrics).fetchall()
    figures(store)


@pytest.mark.slow
def test_ratings_that_come_later_change_what_a_run_gained(store):
    for run_id in ("r1", "r2"):
        add_run(store, random.Random(0), "mine", run_id)
    for step in range(6):
        add_ratings(store, random.Random(step), step)
    compared = "SELECT true FROM model_history WHERE metric = 'helpful' AND n_compared > 0"
    assert store.sql(compared).fetchall()
    figures(store)
