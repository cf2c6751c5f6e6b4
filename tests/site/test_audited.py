"""Reported figures on pages are all those of the view, and cost nothing where there are none."""

import pytest
from support import add_rows

from exports.site.audited import audited
from exports.site.pages import audit
from exports.site.site import Site, opened_site

_ALL = "SELECT suite, run_id, metric, status, reason FROM metric_audit ORDER BY ALL"
_RUN = {"suite": "openclaw", "run_id": "r", "generation": "root", "content_id": "r"}
_RESULT = {"seq": 1, "model": "m", "provider": "p", "task_id": "t", "objective_pass": True}


def rows_of(store):
    with opened_site(store, [], samples="none") as site:
        return site.rows(_ALL), audited(site, _ALL)


@pytest.mark.slow
def test_reported_figures_are_those_of_the_view(store):
    run = {**_RUN, "suite": "own"}
    figures = [{**run, "content_id": f"{n}", "seq": n, "metric": "f1", "value": n} for n in (1, 2)]
    add_rows(store.lake, runs=[run], results=[{**run, **_RESULT}], reported_metrics=figures)
    expected, found = rows_of(store)
    assert found == expected
    assert len(found) == len(figures)


@pytest.mark.slow
@pytest.mark.parametrize(("summary", "has_figures"), [("{}", True), (None, False)])
def test_a_summary_without_figures_lacks_those_of_the_store(store, summary, has_figures):
    result = {**_RUN, **_RESULT, "availability_status": "ok", "success": True}
    add_rows(store.lake, runs=[{**_RUN, "recorded_summary": summary}], results=[result])
    expected, found = rows_of(store)
    assert (found, bool(found)) == (expected, has_figures)


@pytest.mark.slow
def test_the_view_is_not_read_where_nothing_is_reported(store):
    with store.record(suite="own", model="m") as run:
        run.log(task_id="t", output="x", passed=True)
    with opened_site(store, [], samples="none") as site:
        assert audited(site, "FROM no_such_view") == []


@pytest.mark.slow
def test_checks_of_figures_are_not_read_where_nothing_is_reported(store, monkeypatch):
    with store.record(suite="own", model="m") as run:
        run.log(task_id="t", output="x", passed=True)
    read, queries = Site.rows, []
    monkeypatch.setattr(Site, "rows", lambda *given: queries.append(given[1]) or read(*given))
    with opened_site(store, [], samples="none") as site:
        [page] = site.pages(audit.PAGE_TYPE)
    assert "checks.metric_mismatches" in page.data.decode()
    assert not any("mismatches" in query for query in queries)
    assert any("checks.time_order" in query for query in queries)


@pytest.mark.slow
def test_checks_of_figures_are_read_where_some_are_reported(store):
    result = {**_RUN, **_RESULT, "availability_status": "ok", "success": True}
    add_rows(store.lake, runs=[{**_RUN, "recorded_summary": "{}"}], results=[result])
    [(n,)] = store.sql("SELECT count(*) FROM checks.summary_mismatches").fetchall()
    assert n
    with opened_site(store, [], samples="none") as site:
        [check] = [each for each in audit._checks(site) if "summary" in each.name]
    assert check.n_rows == n
