"""The pages of models: what a model cost, and its pairs with others."""

from support import add_rows

from exports.site.pages import model
from exports.site.site import opened_site
from warehouse.lake.lake import Lake

KEYS = {"suite": "s", "run_id": "r", "generation": "root"}


def fill(store, results):
    """Add a run, each of whose results passed."""
    rows = [
        {**KEYS, "content_id": str(n), "seq": n, "objective_pass": True, **row}
        for n, row in enumerate(results, 1)
    ]
    add_rows(Lake(store.path), runs=[{**KEYS, "content_id": "run"}], results=rows)
    store.sync()


def test_the_cost_of_a_model_is_that_of_its_runs(store):
    calls = [
        {"model": "m", "task_id": "a", "cost_usd": 0.25},
        {"model": "m", "task_id": "b", "cost_usd": 4.0, "is_cached": True},
        {"model": "m", "task_id": "c", "cost_usd": 0.5, "provider": "replay"},
    ]
    fill(store, calls)
    with opened_site(store, [], samples="none") as site:
        model.PAGE_TYPE.addresses(site)
        [row] = site.rows("FROM site_models")
        [run] = site.rows("FROM run_overview")
    assert row["n_results"] == run["n_results"] == 3
    assert row["n_replayed"] == 1
    assert row["n_cost_known"] == run["n_cost_known"] == 2
    assert row["total_cost_usd"] == run["total_cost_usd"] == 0.75


def test_pairs_that_nobody_tested_are_not_said_to_be_alike(store):
    wide = [{"model": f"m{n:03}", "task_id": "a"} for n in range(101)]
    tested = [{"model": f"m{n:03}", "task_id": "b", "task_set": "small"} for n in range(2)]
    fill(store, [*wide, *tested])
    with opened_site(store, [], samples="none") as site:
        pages = dict(list(model.PAGE_TYPE.addresses(site).items())[1:4])
        first, _, third = (page.data.decode() for page in site.pages(model.PAGE_TYPE, pages))
    said = "not tested on 1 task set that more than 100 models did"
    assert said in first
    assert first.count("not known to differ") == 1
    assert said in third
    assert "not known to differ" not in third
