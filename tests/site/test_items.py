"""The page of items: the suspect tasks of a suite with their evidence, and a picture."""

import pytest
from rendering import HOSTILE
from support import add_rows, new_store

from exports.site.addresses import items_page, suite_page
from exports.site.pages import items, suite
from exports.site.report import write_site
from exports.site.site import opened_site

N_SYSTEMS, N_TASKS = 12, 10
ATTACK = f'{HOSTILE}"><img src=x onerror="window.hit = 1">'


def results(suite_name, passes):
    """Return the results of twelve systems; those that fail the first task agree."""
    return [
        {"suite": suite_name, "run_id": f"r{rank}", "generation": "root"}
        | {"content_id": f"{suite_name}/{rank}/{task}", "seq": task, "task_set": "core"}
        | {"model": f"m{rank}", "task_id": f"t{task}", "objective_pass": passes(rank, task)}
        | {"answer": "yes" if passes(rank, task) else f"no {rank}" if task else ATTACK}
        for rank in range(N_SYSTEMS)
        for task in range(N_TASKS)
    ]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Return a store with a task that all fail, and a suite whose tasks are as they should be."""
    store = new_store(tmp_path_factory.mktemp("items") / "store")
    rows = results(ATTACK, lambda rank, task: rank > task > 0)
    rows += results("sound", lambda rank, task: rank > task)
    keys = {(row["suite"], row["run_id"]) for row in rows}
    runs = [
        {"suite": suite, "run_id": run_id, "generation": "root", "content_id": f"{suite}/{run_id}"}
        for suite, run_id in sorted(keys)
    ]
    add_rows(store.lake, runs=runs, results=rows)
    return store


@pytest.mark.slow
def test_the_page_has_the_suspect_items_and_a_picture(store, tmp_path):
    folder = tmp_path / "site"
    write_site(store, folder)
    page = (folder / items_page(ATTACK)).read_text("utf-8")
    assert "nobody passes" in page
    assert f"None of {N_SYSTEMS} systems passes it." in page
    assert "wrong key suspected" in page
    assert r"\x1b[31mred" in page
    assert "<img src=x" not in page
    pictures = folder / items_page(ATTACK).removesuffix(".html")
    assert {path.name for path in pictures.iterdir()} == {"items.svg", "items-narrow.svg"}
    assert items_page(ATTACK).rpartition("/")[2] in (folder / suite_page(ATTACK)).read_text("utf-8")


@pytest.mark.slow
def test_pages_that_link_to_items_do_not_read_them(store, monkeypatch):
    monkeypatch.setattr(items, "work_lists", lambda *_: pytest.fail("takes seconds"))
    with opened_site(store, [suite.PAGE_TYPE, items.PAGE_TYPE], samples="none") as site:
        assert list(items.PAGE_TYPE.addresses(site)) == [items_page(ATTACK), items_page("sound")]
        pages = {page.path: page.data.decode() for page in site.pages(suite.PAGE_TYPE)}
    for name in (ATTACK, "sound"):
        assert "What the tasks are worth" in pages[suite_page(name)]


@pytest.mark.slow
def test_a_page_without_findings_says_so(store):
    with opened_site(store, [items.PAGE_TYPE], samples="none") as site:
        pages = {page.path: page.data.decode() for page in site.pages(items.PAGE_TYPE)}
    assert "Nothing was found." in pages[items_page("sound")]
    assert "Nothing was found." not in pages[items_page(ATTACK)]


@pytest.mark.slow
def test_a_page_of_tasks_without_ids_says_so(tmp_path):
    unnamed = new_store(tmp_path / "store")
    rows = [row | {"task_id": None} for row in results("quiz", lambda rank, task: rank > task)]
    runs = [
        {"suite": "quiz", "run_id": f"r{rank}", "generation": "root", "content_id": f"quiz/{rank}"}
        for rank in range(N_SYSTEMS)
    ]
    add_rows(unnamed.lake, runs=runs, results=rows)
    with opened_site(unnamed, [items.PAGE_TYPE], samples="none") as site:
        [page] = site.pages(items.PAGE_TYPE)
    assert "in no task set do two systems have verdicts of tasks with an ID" in page.data.decode()


@pytest.mark.slow
def test_a_site_without_the_page_does_not_link_to_it(store):
    with opened_site(store, [suite.PAGE_TYPE], samples="none") as site:
        pages = {page.path: page.data.decode() for page in site.pages(suite.PAGE_TYPE)}
    assert "What the tasks are worth" not in pages[suite_page(ATTACK)]
