"""The server's pages are those of the site, of the store as it is now."""

import re
import threading
import time

import pytest
from support import add_rows

from exports.site import boards, pictures
from exports.site.addresses import chart_files, suite_page
from exports.site.report import write_site
from exports.view.server import server_parts
from exports.view.store_pages import StorePages
from warehouse.analysis.charts.theme import WIDE, WIDTH
from warehouse.core.errors import StoreBusy
from warehouse.engine.connection import open_for_writing
from warehouse.engine.tables.sync import sync_lock

# What a page of the server has in addition, and where docs/viewing.md says so.
_OWN = re.compile(rb"<!-- view:(\w+) -->\n.*?<!-- /view:\1 -->\n", re.DOTALL)
_POLICY = re.compile(rb'<meta http-equiv="Content-Security-Policy"[^>]*>\n')


def served(store, **options):
    return StorePages(store.path, name="store", server=server_parts, **options)


@pytest.mark.slow
def test_pages_equal_those_of_the_site(shared_examples, tmp_path):
    written = write_site(shared_examples, tmp_path / "site", name="store")
    pages = served(shared_examples)
    files = [path for path in (tmp_path / "site").rglob("*") if path.is_file()]
    names = {str(path.relative_to(tmp_path / "site")): path for path in files}
    del names["evalstore-site.json"]
    assert len(names) == written.n_files > 50
    for name, path in names.items():
        data = pages.file(name)
        if name.endswith(".html"):
            assert b"<!-- view:state -->" in data
            data = _OWN.sub(b"", data)
        assert data == _POLICY.sub(b"", path.read_bytes()), name
    pages.close()


@pytest.mark.slow
def test_a_page_is_the_same_whatever_was_asked_for_before(shared_examples):
    pages = served(shared_examples)
    with pages.reading() as site:
        addresses = [[*page_type.addresses(site)] for page_type in site.types]
    names = [name for of_type in addresses for name in {*of_type[:1], *of_type[-1:]}]
    together = {name: _OWN.sub(b"", pages.file(name)) for name in names}
    for name in names:
        pages.close()
        pages._cache.clear()
        assert _OWN.sub(b"", pages.file(name)) == together[name], name
    pages.close()


@pytest.mark.slow
def test_what_all_pages_share_is_computed_once_for_the_same_data(store, monkeypatch):
    made = []
    monkeypatch.setattr(boards, "_boards", lambda site: made.append(site) or [])
    add_rows(store.lake, runs=[_run("one")])
    pages = served(store)
    for _ in range(3):
        pages.file("index.html")
        pages.close()
        pages._cache.clear()
    assert len(made) == 1
    add_rows(store.lake, runs=[_run("two")])
    pages.file("index.html")
    assert len(made) == 2
    pages.close()


@pytest.mark.slow
def test_what_the_menu_has_read_is_kept_for_other_pages(store):
    with store.record(suite="own", model="m") as run:
        run.log(task_id="t", output="x", passed=True)
    pages = served(store)
    pages.file("audit.html")
    assert len(pages._known.tables["leaderboard"]) == 1
    pages.close()


@pytest.mark.slow
def test_a_picture_is_drawn_when_it_is_asked_for_and_once(store, monkeypatch):
    drawn = []
    monkeypatch.setattr(pictures, "_svg", lambda drawing: drawn.append(drawing) or b"<svg/>")
    for model in ("a", "b"):
        with store.record(suite="own", model=model, run_id=model) as run:
            run.log(task_id="t", output="x", passed=model == "a")
    pages = served(store)
    page = pages.file(suite_page("own")).decode()
    assert not drawn
    picture, narrow = chart_files("own", "difficulty")
    assert picture.rpartition("/")[2] in page
    assert {pages.file(picture), pages.file(picture)} == {b"<svg/>"}
    pages.close()  # and without the warehouse, which it does not need
    assert pages.file(narrow) == b"<svg/>"
    assert [each.width for each in drawn] == [WIDE, WIDTH]
    pages.close()


@pytest.mark.slow
def test_at_most_seven_entries_of_the_menu_are_seen_first(store):
    with store.record(suite="own", model="m") as run:
        run.log(task_id="t", output="x", passed=True)
    pages = served(store)
    text = pages.file("audit.html").decode()
    pages.close()
    menu = text.split('<nav aria-label="Pages">')[1].split("</nav>")[0]
    suites, more = re.findall(r"<details.*?</details>", menu, re.DOTALL)
    first = menu.replace(suites, "").replace(more, "")
    assert ">own</a>" in suites
    assert 4 <= first.count("<a ") + 2 <= 7
    assert ">Find</a>" in first
    assert all(f">{name}</a>" in more for name in ("Audit", "Live", "Grid", "Review"))
    assert '<details class="menu" open>' in more  # it has the page that is shown
    assert more.count("aria-current") == 1


def test_parts_of_the_server_are_listed():
    from support import ROOT

    templates = "".join(path.read_text() for path in ROOT.glob("exports/**/templates/*.html"))
    text = (ROOT / "docs" / "viewing.md").read_text("utf-8")
    listed = re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)
    assert sorted(listed) == sorted(set(re.findall(r"<!-- view:(\w+) -->", templates)))


@pytest.mark.parametrize("path", ["nope.html", "../x", "suites/../index.html", "runs/", "", "a\0b"])
def test_other_paths_have_no_page(shared_examples, path):
    pages = served(shared_examples)
    assert pages.file(path) is None
    pages.close()


@pytest.mark.slow
def test_a_new_run_is_seen_within_two_seconds(store):
    add_rows(store.lake, runs=[_run("one")])
    pages = served(store)
    assert b"one" in pages.file("runs/index.html")
    add_rows(store.lake, runs=[_run("two")])
    assert b"two" not in pages.file("runs/index.html")  # not older than two seconds
    time.sleep(2.1)
    assert b"two" in pages.file("runs/index.html")
    pages.close()


@pytest.mark.slow
def test_the_warehouse_is_closed_when_no_request_can_share_it(store):
    pages = served(store)
    pages.file("index.html")
    time.sleep(2.1)
    pages.close_if_idle()
    with open_for_writing(store.warehouse, wait_seconds=0):
        pass


@pytest.mark.slow
def test_a_sync_elsewhere_gets_the_warehouse_at_once(store):
    add_rows(store.lake, runs=[_run("one")])
    pages = served(store)
    before = pages.file("runs/index.html")
    with sync_lock(store.path):
        assert pages.file("runs/index.html") == before
        with open_for_writing(store.warehouse, wait_seconds=0):
            pass


@pytest.mark.slow
def test_a_page_waits_for_a_sync_elsewhere(store, monkeypatch):
    monkeypatch.setattr("exports.view.store_pages._PATIENCE_SECONDS", 0.1)
    pages = served(store)
    with sync_lock(store.path), pytest.raises(StoreBusy, match="another process is updating"):
        pages.file("index.html")
    pages.file("index.html")
    pages.close()


@pytest.mark.slow
def test_pages_are_made_one_at_a_time(shared_examples):
    pages = served(shared_examples)
    names = ["index.html", "runs/index.html", "models/index.html", "compare/index.html"] * 5
    results = {}
    threads = [
        threading.Thread(target=lambda n=n: results.setdefault(n, pages.file(n))) for n in names
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pages.close()
    assert sorted(results) == sorted(set(names))
    assert all(results.values())


@pytest.mark.slow
def test_kept_pages_are_bounded(shared_examples, monkeypatch):
    monkeypatch.setattr("exports.view.store_pages._CACHE_BYTES", 10_000)
    pages = served(shared_examples)
    first = _OWN.sub(b"", pages.file("index.html"))
    pages.file("runs/index.html")
    assert _OWN.sub(b"", pages.file("index.html")) == first
    assert len(pages._cache) < 3
    pages.close()


def _run(run_id):
    return {"suite": "s", "run_id": run_id, "generation": "root", "content_id": run_id}
