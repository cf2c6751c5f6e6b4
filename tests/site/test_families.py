"""The pages of the families show every row of their views."""

import re

import pytest
from support import ROOT, import_into, log, new_store, task, write_log

from exports.site.pages import openclaw, palindrome
from exports.site.site import opened_site
from warehouse.core.text.figures import percent

HEADER = re.compile(r"<th[^>]*>([^<]*)</th>")


def page_of(store, module):
    with opened_site(store, [module.PAGE_TYPE], samples="none") as site:
        assert site.has(module.PAGE_TYPE.name)
        [page] = site.pages(module.PAGE_TYPE)
    return page.data.decode()


def test_palindromes_have_each_model_and_task(examples):
    page = page_of(examples, palindrome)
    models = examples.sql("SELECT model, accuracy FROM palindrome_accuracy").fetchall()
    tasks = examples.sql("SELECT reference, n FROM palindrome_tasks").fetchall()
    assert len(models) > 2
    for model, accuracy in models:
        assert f">{model}<" in page
        assert percent(accuracy) in page
    assert page.count("<tr>") == len(models) + len(tasks) + 2
    headers = HEADER.findall(page)
    assert "cost of a right answer, US$" in headers
    assert headers.count("accuracy [95\u00a0% interval]") == 2
    assert not any("_" in header for header in headers)


@pytest.mark.slow
def test_of_many_models_that_solved_a_palindrome_three_are_named(tmp_path):
    store = new_store(tmp_path / "store")
    solvers = {"easy": "abcde", "middling": "abc", "hard": ""}
    for model in "abcde":
        tasks = [task(prompt=name, is_correct=model in right) for name, right in solvers.items()]
        write_log(tmp_path / "logs" / f"{model}.yaml", log(tasks=tasks, model=model))
    import_into(store, tmp_path / "logs")
    rows = re.findall(r"<tr><td.*?</tr>", page_of(store, palindrome).replace("\n", ""))
    last = {row[0]: row[-1] for row in (re.findall(r">([^<>]*)</td>", row) for row in rows)}
    assert last["easy"] == "a, b, c and 2 more"
    assert last["middling"] == "a, b, c"
    assert last["hard"] == ""


@pytest.mark.slow
def test_openclaw_says_which_tiers_are_proven(tmp_path):
    store = new_store(tmp_path / "store")
    import_into(store, ROOT / "examples" / "openclaw")
    tiers = store.sql("SELECT tier, is_supported, is_recommended FROM tool_tiers").fetchall()
    assert tiers
    page = page_of(store, openclaw)
    n_proven = sum(tier is not None and is_supported for tier, is_supported, _ in tiers)
    assert f"{n_proven} tier" in page
    assert not any("_" in header for header in HEADER.findall(page))
    assert "passed, of the judged" in page  # boards count calls without an answer, too
    if not any(is_supported and is_recommended for _, is_supported, is_recommended in tiers):
        assert "No model is proven to be of tier 1" in page


def test_a_store_without_a_family_has_no_page(store):
    with opened_site(store, [openclaw.PAGE_TYPE, palindrome.PAGE_TYPE], samples="none") as site:
        assert not site.types
