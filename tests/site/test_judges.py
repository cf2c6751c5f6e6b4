"""The page of judges: what `evalstore judges` says, pictures, ranks, and nothing that runs."""

import html
import re

import pytest
from browser import needs_browser
from rendering import HOSTILE, UNSEEN
from support import add_rows, command, new_store

from exports.site.addresses import JUDGES, judges_files, suite_page
from exports.site.pages import judges, overview, suite
from exports.site.report import write_site
from exports.site.site import opened_site

N_TASKS = 30
ATTACK = f'{HOSTILE}"><img src=x onerror="window.hit = 1">'


def key(suite_name):
    return {"suite": suite_name, "run_id": "r", "generation": "root"}


def rating(suite_name, rater, kind, task, value):
    return {
        **key(suite_name),
        "content_id": f"{suite_name}/{rater}/{task}",
        "seq": 1,
        "task_set": "core",
        "task_id": f"t{task}",
        "model": "ant",
        "criterion": "overall",
        "status": "ok",
        "rater": rater,
        "rater_kind": kind,
        "value": float(value),
        "scale_low": 0.0,
        "scale_high": 1.0,
    }


def vote(suite_name, rater, task, outcome):
    row = rating(suite_name, rater, "judge", task, 0)
    gone = ("model", "value", "scale_low", "scale_high")
    names = {"model_a": f"ant {suite_name}", "model_b": "bee", "outcome": outcome}
    return {**{k: v for k, v in row.items() if k not in gone}, **names}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Return a store in which two judges are as people are, and one has nobody to agree with."""
    store = new_store(tmp_path_factory.mktemp("judges") / "store")
    truth = [task % 3 > 0 for task in range(N_TASKS)]
    ratings = [
        rating("equal", rater, kind, task, value)
        for rater, kind in (("ann", "human"), ("j1", "judge"), ("j2", "judge"))
        for task, value in enumerate(truth)
    ]
    ratings += [rating(ATTACK, ATTACK, "judge", task, value) for task, value in enumerate(truth)]
    votes = [vote(ATTACK, ATTACK, task, "ab"[task % 2]) for task in range(N_TASKS)]
    runs = [{**key(name), "content_id": name} for name in ("equal", ATTACK)]
    add_rows(store.lake, runs=runs, ratings=ratings, preferences=votes)
    store.sync()
    return store


@pytest.fixture(scope="module")
def folder(store, tmp_path_factory):
    """Return the folder of the store's site."""
    folder = tmp_path_factory.mktemp("site")
    write_site(store, folder)
    return folder


def text_of(page):
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())


def test_the_page_says_what_the_command_says(store, folder):
    page = (folder / JUDGES).read_text("utf-8")
    lines = command(store.path, "judges").out.splitlines()
    said = [line for line in lines if line.startswith("It judged ")]
    assert len(said) == 4
    assert all(line in text_of(page) for line in said)
    sentences = re.findall(r"<(?:p|li)\b.*?</(?:p|li)>", page)
    assert any("\u00a0%" in each for each in sentences)
    assert not [each for each in sentences if " %" in each]  # none begins a line
    assert "uncalibrated 2 of 4" in text_of(page)
    assert page.count('<small class="warn">uncalibrated</small>') == 2
    assert "100.0 % [88.6, 100.0]" in page
    assert not any("_" in each for each in re.findall(r"<th[^>]*>([^<]*)</th>", page))


def test_two_judges_with_people_have_a_picture_and_one_alone_has_none(folder):
    assert all((folder / path).is_file() for path in judges_files("equal"))
    assert len(list((folder / "judges").iterdir())) == 2
    page = (folder / JUDGES).read_text("utf-8")
    assert re.search(r'alt="equal · overall · quadratic kappa, people: j1 1 \(95 %', page)


def test_votes_have_ranks_that_name_the_rule_of_ties(folder):
    text = text_of((folder / JUDGES).read_text("utf-8"))
    assert "overall; a tie is half a win each; intervals by tasks" in text
    assert "1 [1, 2]" in text


@pytest.mark.slow
def test_models_that_no_votes_connect_have_no_ranks(tmp_path):
    store = new_store(tmp_path / "store")
    votes = [vote("s", "j", task, "a") for task in range(N_TASKS)]
    add_rows(store.lake, runs=[{**key("s"), "content_id": "s"}], preferences=votes)
    store.sync()
    with opened_site(store, [judges.PAGE_TYPE], samples="none") as site:
        [page] = site.pages(judges.PAGE_TYPE)
    text = text_of(page.data.decode())
    assert "Ranks by votes of j, overall; a tie is half a win each: " in text
    assert "log score" not in text


@pytest.mark.slow
def test_what_only_people_said_has_no_judges(tmp_path):
    store = new_store(tmp_path / "store")
    rows = [rating("s", "ann", "human", task, 1) for task in range(3)]
    add_rows(store.lake, runs=[{**key("s"), "content_id": "s"}], ratings=rows)
    store.sync()
    with opened_site(store, [judges.PAGE_TYPE], samples="none") as site:
        [page] = site.pages(judges.PAGE_TYPE)
    text = text_of(page.data.decode())
    assert "No judge has rated any of these answers." in text
    assert "0 of judges, 3 of people, 0 of gold" in text


def test_the_front_page_and_those_of_suites_lead_to_it(folder):
    assert f'href="{JUDGES}">What judges' in (folder / "index.html").read_text("utf-8")
    for name in ("equal", ATTACK):
        page = (folder / suite_page(name)).read_text("utf-8")
        [fragment] = re.findall(rf'href="\.\./{JUDGES}#([^"]+)"', page)
        assert f'id="{fragment}"' in (folder / JUDGES).read_text("utf-8")


@pytest.mark.slow
def test_without_ratings_there_is_no_page_and_no_link(tmp_path):
    store = new_store(tmp_path / "store")
    with store.record(suite="own", model="m") as run:
        run.log(task_id="t", output="x", passed=True)
    types = [overview.PAGE_TYPE, suite.PAGE_TYPE, judges.PAGE_TYPE]
    with opened_site(store, types, samples="none") as site:
        assert not site.has("judges")
        pages = [page for each in site.types for page in site.pages(each)]
    assert not any(JUDGES.encode() in page.data for page in pages)


def test_a_hostile_name_is_shown_as_text(folder):
    page = (folder / JUDGES).read_text("utf-8")
    assert "<img src=x" not in page
    assert not UNSEEN.search(page)
    assert "onerror=&quot;window.hit = 1&quot;" in page


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_the_page_can_be_read(visit, folder, width, scheme):
    window = visit(folder, width=width, scheme=scheme)
    page = window.open(JUDGES)
    window.unfold()
    assert page.evaluate("window.hit") is None
    assert window.overflow() == 0
    assert window.severe() == []
