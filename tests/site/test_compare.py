"""The pages of comparisons: they say what the command says that they name."""

import html
import json
import re
import shlex

import pytest
from support import command

from exports.site.pages import compare
from exports.site.site import opened_site
from warehouse.analysis.decisions.comparison import Comparison
from warehouse.analysis.decisions.sentences import sentence


def pages_of(store):
    with opened_site(store, [compare.PAGE_TYPE], samples="none") as site:
        return {page.path: page.data.decode() for page in site.pages(compare.PAGE_TYPE)}


def plain(text):
    """Return a text of a page as commands write it."""
    return html.unescape(text).replace("\u00a0", " ")


def said_on(page):
    """Return the sentences of a page."""
    return [plain(text) for text in re.findall(r'<p class="claim[^>]*>(.*?)</p>', page)]


@pytest.mark.slow
def test_a_page_says_what_its_command_says(examples):
    pages = pages_of(examples)
    checked = 0
    for path, page in pages.items():
        if path == "compare/index.html":
            continue
        [line] = re.findall(r"<code[^>]*>evalstore (.*?)</code>", page)
        words = [*shlex.split(html.unescape(line)), "--format", "json"]
        ended = command(examples.path, *words)
        rows = [Comparison(**row) for row in json.loads(ended.out)]
        expected = {sentence(row, n_comparisons=len(rows)) for row in rows}
        assert set(said_on(page)) <= expected
        assert len(said_on(page)) == min(len(rows), 15)
        assert all(said in plain(pages["compare/index.html"]) for said in said_on(page))
        checked += len(rows)
    assert checked > 3


def log(store, suite, answers):
    for model, passed in answers.items():
        with store.record(suite=suite, model=model) as run:
            for n, right in enumerate(passed):
                output = f"{model} says {'right' if right else 'wrong'} {n}"
                run.log(task_id=f"t{n:02}", prompt=f"Question {n}", output=output, passed=right)


@pytest.mark.slow
def test_flips_are_listed_with_both_answers(store):
    log(store, "own", {"first": [True] * 12, "second": [True] * 9 + [False] * 3})
    pages = pages_of(store)
    [page] = [text for path, text in pages.items() if path != "compare/index.html"]
    assert "3 tasks on which they differ" in page
    for n in range(12):
        answers = (f"first says right {n}<", f"second says wrong {n}<", f"Question {n}<")
        assert [text in page for text in answers] == [n >= 9] * 3


@pytest.mark.slow
def test_pairs_and_models_are_bounded_and_what_is_left_out_is_named(store):
    answers = {f"m{n}": [k % (n + 2) != 0 for k in range(12)] for n in range(6)}
    log(store, "own", answers)
    pages = pages_of(store)
    [page] = [text for path, text in pages.items() if path != "compare/index.html"]
    assert len(said_on(page)) == 6
    assert "2 more models not compared here" in page


@pytest.mark.slow
def test_pairs_that_show_nothing_are_folded_in_the_list(store):
    log(store, "own", {"a": [True] * 12, "b": [True] * 12, "c": [False] * 12})
    text = pages_of(store)["compare/index.html"]
    shown, folded = text.split("<details>")
    assert shown.count("points more than") == 2
    assert "1 pair of which the data do not show which is better" in folded
    assert "a and b: the data do not show which is better" in folded


@pytest.mark.slow
def test_pairs_that_show_nothing_are_folded_on_their_page(store):
    log(store, "own", {"a": [True] * 12, "b": [True] * 12, "c": [False] * 12})
    page = pages_of(store)["compare/own_own.html"]
    sections = re.findall(r"<section.*?</section>", page, re.DOTALL)
    assert len(sections) == 3
    for section in sections:
        says_which = "do not show which is better" not in section
        before, *folded = section.split('<details class="unclear">')
        assert len(folded) == (not says_which)
        assert ("<dt>difference</dt>" in before) == says_which


@pytest.mark.slow
def test_pairs_that_show_nothing_are_together_and_not_called_equal(store):
    log(store, "own", {"a": [True] * 12, "b": [True] * 12, "c": [False] * 12})
    shown, folded = pages_of(store)["compare/own_own.html"].split('<details class="pairs">')
    assert (shown.count("<section"), folded.count("<section")) == (2, 1)
    said = (
        "1 pair of which the data do not show which is better; that does not make its models equal"
    )
    assert said in folded


@pytest.mark.slow
def test_pairs_are_unfolded_where_there_is_nothing_else(store):
    log(store, "own", {"a": [True] * 12, "b": [True] * 12})
    assert '<details class="pairs" open>' in pages_of(store)["compare/own_own.html"]


@pytest.mark.slow
def test_headings_have_short_names_that_tell_models_apart(store):
    answers = {"p/one": [True] * 12, "q/two": [False] * 12, "r/s/two": [True, False] * 6}
    log(store, "own", answers)
    page = pages_of(store)["compare/own_own.html"]
    headings = [re.sub("<.*?>", "", text) for text in re.findall(r"<h2.*?</h2>", page)]
    assert sorted(headings) == ["one and q/two", "one and r/s/two", "r/s/two and q/two"]


@pytest.mark.slow
def test_models_with_names_like_other_sides_are_compared(store):
    log(store, "own", {"run:x": [True] * 12, "tag:y=<b>": [False] * 12})
    page = pages_of(store)["compare/own_own.html"]
    assert "run:x passes 100 points more than tag:y=&lt;b&gt;" in page


@pytest.mark.slow
def test_a_single_model_has_no_page(store):
    log(store, "own", {"only": [True, False]})
    with opened_site(store, [compare.PAGE_TYPE], samples="none") as site:
        assert not site.has("compare")


@pytest.mark.slow
def test_models_without_a_shared_task_have_no_page(store):
    log(store, "own", {"a": [True] * 12})
    with store.record(suite="own", model="b") as run:
        run.log(task_id="other", prompt="Question", output="right", passed=True)
    [text] = pages_of(store).values()
    assert "No two models of a leaderboard share a task" in text
