"""The pages of posters: each event of gold and prediction, next to the one it was matched with."""

import html
import json
import re

import pytest
from support import ROOT, add_rows, import_into, new_store

from exports.site.addresses import POSTERS, poster_page, run_page
from exports.site.pages import posters, run
from exports.site.site import opened_site


@pytest.mark.slow
def test_a_page_has_every_value_of_its_events(tmp_path):
    store = new_store(tmp_path / "store")
    import_into(store, ROOT / "examples" / "posters")
    with opened_site(store, [posters.PAGE_TYPE], samples="none") as site:
        pages = {page.path: page.data.decode() for page in site.pages(posters.PAGE_TYPE)}
    rows = store.sql(
        """
        SELECT run_id, task_id, gold_event, predicted_event, similarity
        FROM poster_matches WHERE assignment = 'full'
        """
    ).fetchall()
    assert len(rows) > 5
    checked = 0
    for run_id, task_id, gold, predicted, similarity in rows:
        page = pages[poster_page(run_id, task_id)]
        for event in filter(None, (gold, predicted)):
            values = json.loads(event)
            for name in ("date", "venue", "city", "ticket_info"):
                if values[name] is not None:
                    assert html.escape(values[name]) in page
                    checked += 1
        if gold and predicted:
            assert f">{similarity:.2f}<" in page
    assert checked > 20
    assert not any("<img" in page for page in pages.values())
    headers = re.findall(r"<th[^>]*>([^<]*)</th>", pages[POSTERS])
    assert "cost of the predictions, US$" in headers
    assert not any("_" in header for header in headers)
    assert "a bootstrap over the posters" in pages[POSTERS]
    n_posters = len({row[:2] for row in store.sql("FROM poster_scores").fetchall()})
    assert len(pages) >= 1 + n_posters


@pytest.mark.slow
def test_a_call_without_an_answer_has_a_reason(tmp_path):
    store = new_store(tmp_path / "store")
    import_into(store, ROOT / "examples" / "posters")
    query = "SELECT failure_type FROM failures WHERE availability_status = 'ok'"
    assert store.sql(query).fetchall() == [("invalid_json",)]


@pytest.mark.slow
def test_a_call_without_a_recorded_reason_says_so(store):
    about = {"suite": "own", "run_id": "r", "generation": "root"}
    failed = {"content_id": "1", "seq": 1, "model": "m", "task_id": "t", "success": False}
    add_rows(store.lake, runs=[{**about, "content_id": "r"}], results=[{**about, **failed}])
    with opened_site(store, [run.PAGE_TYPE], samples="none") as site:
        [page] = [each for each in site.pages(run.PAGE_TYPE) if each.path == run_page("own", "r")]
    assert "not recorded; the log says that the call did not succeed" in page.data.decode()


def test_a_store_without_posters_has_no_page(store):
    with opened_site(store, [posters.PAGE_TYPE], samples="none") as site:
        assert not site.has("posters")
