"""Ratings in a run of their own, of the results of other runs."""

import pytest
from support import add_rows, command, digests, new_store, traces

from warehouse.app.filtered_warehouse import excerpt
from warehouse.core.hashing import content_hash

SECRET = "zyxwvu-reason"
MEANS = """
SELECT suite, run_id, scorer, metric, mean, n_tasks
FROM metrics
WHERE scorer IS NOT NULL AND reducer = 'mean'
ORDER BY ALL
"""


@pytest.fixture(params=[True, False], ids=["judged", "unjudged"])
def results(store, request):
    """Return the ids of the results of two runs, by run id."""
    for run_id in ("one", "two"):
        with store.record(suite="own", run_id=run_id, model=f"m-{run_id}") as run:
            for n in range(3):
                passed = n > 0 if request.param else None
                run.log(
                    task_id=f"t{n}", prompt=f"question {n}", output=f"{run_id} {n}", passed=passed
                )
    rows = store.sql("SELECT run_id, list(result_id ORDER BY task_id) FROM results GROUP BY 1")
    return dict(rows.fetchall())


def rate(store, results, *run_ids, generation="root", parent=None, value=1.0, run_id="labels"):
    """Store a run in which a person rates the results of other runs."""
    key = content_hash(run_id, generation)
    run = {"suite": "ratings", "run_id": run_id, "generation": generation, "content_id": key}
    ratings = [
        {
            **run,
            "content_id": content_hash(run_id, generation, result_id),
            "seq": seq,
            "task_id": f"t{seq - 1}",
            "result_id": result_id,
            "rated_suite": "own",
            "rated_run_id": rated,
            "rater": "ann",
            "rater_kind": "human",
            "criterion": "helpful",
            "value": value,
            "scale_low": 0.0,
            "scale_high": 1.0,
            "status": "ok",
            "reason": f"{SECRET} {rated}",
        }
        for rated in run_ids
        for seq, result_id in enumerate(results[rated], 1)
    ]
    add_rows(store.lake, runs=[run | {"parent_generation": parent}], ratings=ratings)


def is_as_rebuilt(store):
    """Return whether all views are as in a warehouse that is built from scratch."""
    before = digests(store)
    store.sync(rebuild=True)
    return digests(store) == before


@pytest.mark.slow
def test_ratings_are_scores_of_the_rated_run(store, results):
    rate(store, results, "one", "two")
    mean = ("helpful", 1.0, 3)
    assert store.sql(MEANS).fetchall() == [
        ("own", "one", "people", *mean),
        ("own", "two", "people", *mean),
    ]
    compared = store.sql("SELECT DISTINCT metric FROM score_comparisons").fetchall()
    assert ("helpful",) in compared
    assert is_as_rebuilt(store)


@pytest.mark.slow
def test_ratings_that_are_replaced_leave_no_scores(store, results):
    rate(store, results, "one", "two")
    assert len(store.sql(MEANS).fetchall()) == 2
    rate(store, results, "two", generation="second", parent="root", value=0.0)
    assert store.sql(MEANS).fetchall() == [("own", "two", "people", "helpful", 0.0, 3)]
    assert is_as_rebuilt(store)


@pytest.mark.slow
def test_ratings_go_with_the_run_that_they_rate(store, results):
    rate(store, results, "one", "two")
    assert command(store.path, "forget", "one", "--yes").code == 0
    assert [row[1] for row in store.sql(MEANS).fetchall()] == ["two"]
    assert traces(store, f"{SECRET} one") == []
    assert store.sql("SELECT count(*) FROM ratings").fetchall() == [(3,)]
    assert command(store.path, "info", "--verify").code == 0
    assert is_as_rebuilt(store)
    assert command(store.path, "forget", "labels", "--yes").code == 0
    assert store.sql(MEANS).fetchall() == []
    assert traces(store, SECRET) == []


@pytest.mark.slow
def test_ratings_stay_with_the_chosen_runs(store, results):
    rate(store, results, "one", "two")
    with excerpt(store, suite="own", run="one") as chosen:
        assert [row[1] for row in chosen.sql(MEANS).fetchall()] == ["one"]
        assert chosen.sql("SELECT DISTINCT result_run_id FROM ratings").fetchall() == [("one",)]


@pytest.mark.slow
def test_ratings_of_a_run_that_was_forgotten_here_are_not_imported(store, results, tmp_path):
    here = new_store(tmp_path / "here")
    assert command(here.path, "import", store.path).code == 0
    assert command(here.path, "forget", "one", "--yes").code == 0
    rate(store, results, "one", "two")
    assert command(here.path, "import", store.path).code == 0
    assert [row[1] for row in here.sql(MEANS).fetchall()] == ["two"]
    assert traces(here, f"{SECRET} one") == []
    assert is_as_rebuilt(here)


def vote(store, results):
    """Store a run in which a judge prefers the answers of one run to those of another."""
    run = {"suite": "ratings", "run_id": "votes", "generation": "root", "content_id": "votes"}
    votes = [
        {
            **run,
            "content_id": f"vote {n}",
            "seq": n,
            "task_id": f"t{n}",
            **{f"model_{side}": f"m-{rated}" for side, rated in zip("ab", results, strict=True)},
            **{f"result_{side}": ids[n] for side, ids in zip("ab", results.values(), strict=True)},
            **{f"run_id_{side}": rated for side, rated in zip("ab", results, strict=True)},
            "suite_a": "own",
            "suite_b": "own",
            "rater": "j",
            "rater_kind": "judge",
            "criterion": "overall",
            "outcome": "a",
            "status": "ok",
            "first_shown": "a",
            "reason": SECRET,
        }
        for n in range(3)
    ]
    add_rows(store.lake, runs=[run], preferences=votes)


@pytest.mark.slow
def test_votes_are_of_the_suite_of_the_answers(store, results):
    vote(store, results)
    assert store.sql("SELECT suite, n_votes FROM position_bias").fetchall() == [("own", 3)]
    assert "own: preferences, overall\n\nj\n" in command(store.path, "judges", "own").out
    assert is_as_rebuilt(store)
    with excerpt(store, suite="own") as chosen:
        assert chosen.sql("SELECT count(*) FROM preferences").fetchall() == [(3,)]


@pytest.mark.slow
def test_votes_go_with_either_run(store, results):
    vote(store, results)
    assert command(store.path, "forget", "two", "--yes").code == 0
    assert store.sql("SELECT count(*) FROM preferences").fetchall() == [(0,)]
    assert traces(store, SECRET) == []
