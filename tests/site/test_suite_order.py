"""Suites of the reader's own come first, then those with the newest run."""

import re

import pytest
from support import add_rows

from exports.site.pages import compare, overview, suite
from exports.site.site import opened_site

# By suite: origin and date of its runs, and whether the answers came from a file.
SUITES = {
    "imported-new": ("import", "2026-05-01", "litellm"),
    "own-old": ("runner", "2026-01-01", "litellm"),
    "rehearsed": ("runner", "2026-04-01", "replay"),
    "own-new": ("recorded", "2026-02-01", "litellm"),
    "imported-undated": ("import", None, "litellm"),
}


@pytest.mark.slow
def test_own_suites_come_first_then_the_newest(store):
    runs, results = [], []
    for name, (origin, date, provider) in SUITES.items():
        run = {"suite": name, "run_id": "r", "generation": "root", "run_date": date}
        runs.append({**run, "content_id": name, "origin": origin})
        results += [
            {
                **run,
                "content_id": f"{model} {n}",
                "seq": n,
                "model": model,
                "provider": provider,
                "task_id": f"{n}",
                "is_correct": model == "a",
            }
            for model in ("a", "b")
            for n in range(8)
        ]
    add_rows(store.lake, runs=runs, results=results)
    types = [overview.PAGE_TYPE, compare.PAGE_TYPE, suite.PAGE_TYPE]
    with opened_site(store, types, samples="none") as site:
        pages = {
            page.path: page.data.decode()
            for page_type in types[:2]
            for page in site.pages(page_type)
        }
    own, imported = ["own-new", "own-old"], ["imported-new", "imported-undated"]
    for path in ("index.html", "compare/index.html"):
        headings = re.findall(r"<h2.*?</h2>", pages[path], re.DOTALL)
        listed = [name for heading in headings for name in SUITES if f">{name}<" in heading]
        assert [name for name in listed if name != "rehearsed"] == own + imported, path
        menu = pages[path].split("<summary>Suites</summary>")[1].split("</details>")[0]
        assert re.findall(r">([a-z-]+)</a>", menu) == [*own, imported[0], "rehearsed", imported[1]]
    figure = pages["index.html"].split("<figure")[1].split("</figure>")[0]
    assert "own-new" in figure
    assert re.findall(r"<td>(\d.*?) <small>", figure) == ["100.0 %", "0.0 %"]


@pytest.mark.slow
def test_ratings_are_not_listed_as_a_suite(store):
    runs = [
        {"suite": name, "run_id": "r", "generation": "root", "content_id": name}
        for name in ("quiz", "ratings")
    ]
    add_rows(store.lake, runs=runs)
    with opened_site(store, [overview.PAGE_TYPE, suite.PAGE_TYPE], samples="none") as site:
        [page] = site.pages(overview.PAGE_TYPE)
    text = page.data.decode()
    assert re.search(r"<dt>suites</dt>\s*<dd[^>]*>1<", text)
    assert ">quiz</a>" in text
    assert ">ratings</a>" not in text
