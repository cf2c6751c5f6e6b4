"""Find: the samples that an address asks for are those that Python finds by the same conditions."""

import asyncio
import csv as csv_module
import html
import io
import json
import re
import tempfile
from contextlib import contextmanager, suppress
from datetime import date, datetime
from urllib.parse import parse_qsl, urlencode

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient
from support import add_rows, command, new_store

from exports.site.samples.query import number_samples
from exports.view.guard import Access
from exports.view.server import server_parts, view_app
from exports.view.store_pages import StorePages
from warehouse.analysis.sample_columns import sample_columns
from warehouse.analysis.sample_query import literal
from warehouse.analysis.search import Search, search

TOKEN = "a token of this test"
METRIC = 'it\'s {0} "a"/b, %'
N_RESULTS = 250
_TYPES = {
    str: "VARCHAR",
    int: "BIGINT",
    float: "DOUBLE",
    bool: "BOOLEAN",
    date: "DATE",
    datetime: "TIMESTAMP",
}


def _results():
    for n in range(N_RESULTS):
        yield {
            "suite": f"s{n % 2}",
            "run_id": f"run-{n % 5}",
            "generation": "root",
            "content_id": f"id {n}",
            "seq": n,
            "model": ["a", "b'c", "<i>d</i>"][n % 3],
            "provider": "litellm",
            "task_id": f"task {n % 7}",
            "prompt": f"question {n}?",
            "raw_output": f"answer {n % 11}" if n % 13 else None,
            "is_correct": None if n % 10 == 0 else n % 4 != 0,
            "cost_usd": None if n % 6 == 0 else (n * 37 % 101) / 1000,
            "input_tokens": n * 7 % 50,
            "started_at": datetime.fromisoformat(f"2026-01-{1 + n % 20:02}T{n % 24:02}:00"),
            "extra": json.dumps({"meta/data": {"n": n % 9}, "word": f"w{n % 4}"}),
        }


def _scores():
    for n in range(0, N_RESULTS, 2):
        yield {
            "suite": f"s{n % 2}",
            "run_id": f"run-{n % 5}",
            "generation": "root",
            "content_id": f"score {n}",
            "result_id": f"id {n}",
            "metric": METRIC,
            "value": n % 8 / 8,
        }


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    store = new_store(tmp_path_factory.mktemp("samples") / "store")
    keys = sorted({(f"s{n % 2}", f"run-{n % 5}") for n in range(N_RESULTS)})
    runs = [
        {"suite": suite, "run_id": run, "generation": "root", "content_id": f"{suite} {run}"}
        for suite, run in keys
    ]
    add_rows(store.lake, runs=runs, results=list(_results()), result_scores=list(_scores()))
    store.sync()
    command(store.path, "tag", "run-1", "release=it's 1", "--suite", "s1")
    store.sync()
    return store


@contextmanager
def served(store):
    pages = StorePages(store.path, name="store", server=server_parts)
    access = Access(token=TOKEN, hosts=frozenset(), cookie="evalstore")
    client = TestClient(view_app(pages, access), follow_redirects=False)
    client.get("/", params={"token": TOKEN})
    yield client
    pages.close()


@pytest.fixture(scope="module")
def client(store):
    with served(store) as client:
        yield client


@pytest.fixture(scope="module")
def get(client):
    return lambda path, parameters=(): client.get(f"{path}?{urlencode(list(parameters))}")


def where(column, operator, value=""):
    return [("column", column), ("op", operator), ("value", value)]


def ids(get, parameters):
    """Return the ids of the samples of all pages, in order, by the links of their rows."""
    found, page = [], 1
    while True:
        answer = get("/view/samples", [*parameters, ("page", page)])
        assert answer.status_code == 200, answer.text
        links = re.findall(r'href="sample\?([^"]*)"', answer.text)
        keys = [dict(parse_qsl(html.unescape(link))) for link in links]
        found += [int(key["result_id"].split()[1]) for key in keys]
        if ">next</a>" not in answer.text:
            n_found = re.search(r"<p>([\d,]+) of 250 samples", answer.text)[1]
            assert int(n_found.replace(",", "")) == len(found)
            return found
        page += 1


def downloaded(get, parameters):
    text = get("/view/samples.csv", parameters).text
    return [int(row["result_id"].split()[1]) for row in csv_module.DictReader(io.StringIO(text))]


# By parameters of the address: whether a result of `_results` is meant.
CASES = {
    "number >": (where("cost_usd", "gt", "0.05"), lambda r: (r["cost_usd"] or 0) > 0.05),
    "number ≤": (where("input_tokens", "le", "20"), lambda r: r["input_tokens"] <= 20),
    "number =": (where("input_tokens", "eq", "14"), lambda r: r["input_tokens"] == 14),
    "unknown is not unequal": (
        where("cost_usd", "ne", "0.037"),
        lambda r: r["cost_usd"] not in (None, 0.037),
    ),
    "is unknown": (where("cost_usd", "unknown"), lambda r: r["cost_usd"] is None),
    "is known": (where("raw_output", "known"), lambda r: r["raw_output"] is not None),
    # These samples have the whole text only.
    "the answer": (where("answer", "eq", "answer 3"), lambda r: r["raw_output"] == "answer 3"),
    "text =": (where("model", "eq", "b'c"), lambda r: r["model"] == "b'c"),
    "text contains": (
        where("raw_output", "contains", "r 1"),
        lambda r: "r 1" in (r["raw_output"] or ""),
    ),
    "boolean": (where("passed", "eq", "no"), lambda r: r["is_correct"] is False),
    "unjudged": (where("passed", "unknown"), lambda r: r["is_correct"] is None),
    "date": (where("run_date", "lt", "2026-01-05"), lambda r: r["started_at"].day < 5),
    "time": (
        where("started_at", "ge", "2026-01-10T12:00+02:00"),
        lambda r: r["started_at"] >= datetime.fromisoformat("2026-01-10T10:00"),
    ),
    "metadata as numbers": (
        where("extra/meta~1data/n", "ge", "5"),
        lambda r: json.loads(r["extra"])["meta/data"]["n"] >= 5,
    ),
    "metadata": (where("extra/word", "eq", "w2"), lambda r: json.loads(r["extra"])["word"] == "w2"),
    "tag": (
        where("tag/release", "contains", "'s"),
        lambda r: (r["suite"], r["run_id"]) == ("s1", "run-1"),
    ),
    "runs": ([("run", "run-1"), ("run", "run-3")], lambda r: r["run_id"] in {"run-1", "run-3"}),
    "text of a prompt": ([("q", "question 11")], lambda r: "question 11" in r["prompt"]),
    "all of several": (
        [*where("model", "eq", "a"), *where("passed", "eq", "yes"), ("q", "answer 3")],
        lambda r: r["model"] == "a" and r["is_correct"] and r["raw_output"] == "answer 3",
    ),
    "nothing": (where("model", "eq", "x"), lambda _: False),
}


@pytest.mark.parametrize("name", CASES)
def test_filters_find_what_python_finds(get, name):
    parameters, is_meant = CASES[name]
    expected = {r["seq"] for r in _results() if is_meant(r)}
    found = ids(get, parameters)
    assert len(found) == len(set(found))
    assert set(found) == expected
    assert downloaded(get, parameters) == found


def test_a_score_of_any_name_is_a_column(store, get):
    with store.reading() as connection:
        [key] = [key for key in sample_columns(connection) if key.startswith("score/")]
    found = ids(get, where(key, "ge", "0.5"))
    assert sorted(found) == [n for n in range(0, N_RESULTS, 2) if n % 8 >= 4]
    ordered = ids(get, [("sort", f"-{key}"), ("show", key)])
    values = [n % 8 / 8 if n % 2 == 0 else -1 for n in ordered]
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize("way", [1, -1])
def test_sorted_by_a_column_unknown_values_come_last(get, way):
    costs = {r["seq"]: r["cost_usd"] for r in _results()}
    found = [costs[n] for n in ids(get, [("sort", "cost_usd" if way == 1 else "-cost_usd")])]
    known = [cost for cost in found if cost is not None]
    assert known == sorted(known, key=lambda cost: way * cost)
    assert found[: len(known)] == known
    assert len(found) == N_RESULTS


@pytest.mark.parametrize("name", CASES)
def test_the_shown_query_gives_the_csv(store, get, name):
    parameters = [*CASES[name][0], ("show", "task_id"), ("show", "extra/word"), ("sort", "model")]
    page = get("/view/samples", parameters).text
    sql = html.unescape(re.search(r"<pre\b[^>]*>(.*?)</pre>", page, re.DOTALL)[1])
    by_command = command(store.path, "sql", sql, "--format", "csv")
    assert by_command.code == 0, by_command.err
    assert by_command.out == get("/view/samples.csv", parameters).text


@pytest.mark.slow
def test_the_csv_of_every_column_is_that_of_the_command(store, get, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with store.reading() as connection:
        keys = list(sample_columns(connection))
    for start in range(0, len(keys), 40):
        parameters = [("show", key) for key in keys[start : start + 40]]
        page = get("/view/samples", parameters).text
        sql = html.unescape(re.search(r"<pre\b[^>]*>(.*?)</pre>", page, re.DOTALL)[1])
        by_command = command(store.path, "sql", sql, "--format", "csv").out
        assert by_command == get("/view/samples.csv", parameters).text
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("version", ["2.3", "2.4"])
def test_a_client_that_leaves_at_once_leaves_no_file(store, browse, tmp_path, monkeypatch, version):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    made, make = [], tempfile.mkstemp
    monkeypatch.setattr("tempfile.mkstemp", lambda **about: made.append(make(**about)) or made[-1])
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/view/samples.csv",
        "query_string": b"",
        "headers": [(b"cookie", b"c=t"), (b"host", b"127.0.0.1:8000")],
        "asgi": {"spec_version": version},
    }

    async def receive():
        return {"type": "http.disconnect"}

    async def send(_):
        raise OSError("the client has left")

    with suppress(Exception):
        asyncio.run(browse(store).app(scope, receive, send))
    assert made
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("parameters", "options"),
    [
        ([("q", "ANSWER 3"), ("nocase", "1")], {"is_fixed": True, "ignores_case": True}),
        ([("q", "answer [37]$"), ("regex", "1")], {}),
        ([("q", "r [37]$")], {"is_fixed": True}),
    ],
)
def test_texts_are_those_that_grep_finds(store, get, parameters, options):
    wanted = Search(pattern=parameters[0][1], **options)
    with store.reading() as connection:
        rows = connection.execute(wanted.query(), wanted.parameters()).fetchall()
        _, n_rows = search(connection, wanted, 1000)
    assert n_rows == len(rows)
    assert {int(row[11].split()[1]) for row in rows} == set(ids(get, parameters))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (where("nope", "eq", "1"), "samples have no column 'nope'"),
        (where("costs_usd", "eq", "1"), "did you mean 'cost_usd'"),
        (where("cost_usd", "like", "1"), "unknown operator 'like'"),
        (where("cost_usd", "gt", "much"), "cost, US$: 'much' is not a number"),
        (where("cost_usd", "gt", "nan"), "'nan' is not a number"),
        (where("cost_usd", "gt", "1" * 400), "is not a number"),
        (where("passed", "gt", "yes"), "passed is yes or no: compare it by = or ≠"),
        (where("passed", "eq", "maybe"), "'maybe' is not yes or no"),
        (where("run_date", "eq", "2026-13-01"), "is not a date"),
        (where("model", "eq", "a\0"), "has control characters"),
        (where("model", "eq", "a" * 1001), "more than 1,000 characters"),
        ([("column", "model")], "a filter needs all of"),
        ([("sort", "-nope")], "samples have no column 'nope'"),
        ([("show", "model; DROP")], "samples have no column"),
        ([("page", "0")], "no number of a page"),
        ([("page", "9")], "there is no page 9: the last one is 3"),
        ([("q", "("), ("regex", "1")], "'(' is not a regular expression: missing )"),
        ([("limit", "9")], "unknown parameter 'limit'"),
        ([("q", "a"), ("q", "b")], "'q' is given twice"),
        ([("run", "x")] * 101, "at most 100 of the parameter 'run'"),
        (where("model", "eq", "a") * 21, "at most 20 of the parameter 'column'"),
    ],
)
def test_what_cannot_be_asked_is_said(get, parameters, message):
    answer = get("/view/samples", parameters)
    assert (answer.status_code, message in answer.text) == (400, True), answer.text
    assert answer.headers["content-type"].startswith("text/plain")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/view/samples?column=nope&op=eq&value=%3Ci%3E", "samples have no column &#x27;nope"),
        ("/view/sample?run_id=nope", "a sample is named by"),
        ("/view/grid?suite=nope&task_set=%3Ci%3E", "no model was asked this task set"),
        ("/view/rate?suite=%3Ci%3E", "the address lacks one of"),
        ("/view/review/queue?queue=%3Ci%3E", "queue"),
        ("/view/posters", "the store has no posters"),
        ("/suites/%3Ci%3E.html", "a run that is gone"),
        ("/view/reviews", "a run that is gone"),
    ],
)
def test_a_browser_gets_a_page_of_what_is_wrong(client, path, message):
    answer = client.get(path, headers={"accept": "text/html,*/*"})
    status = 404 if "gone" in message else 400
    assert (answer.status_code, message in answer.text) == (status, True), answer.text
    assert answer.headers["content-type"].startswith("text/html")
    assert (">Find</a>" in answer.text, "<i>" in answer.text) == (True, False)


def test_texts_of_models_are_inert(get):
    page = get("/view/samples", [("show", "model"), *where("model", "contains", "<i>")]).text
    assert "<i>" not in page
    assert "&lt;i&gt;d&lt;/i&gt;" in page


def test_unknown_is_shown_and_unjudged_samples_are_counted(get):
    page = get("/view/samples", [("show", "passed"), *where("passed", "unknown")]).text
    assert "25 of 250 samples; 25 are without a verdict." in page
    assert page.count('<span class="pale">unknown</span>') == 25


def test_a_call_without_an_answer_is_not_unknown(tmp_path):
    store = new_store(tmp_path / "store")
    with store.record(suite="s", model="m") as run:
        run.log(task_id="down", prompt="?", failure="timeout")
        run.log(task_id="silent", prompt="?", output="!")
    store.sync()
    with served(store) as client:
        page = client.get("/view/samples?show=answer&show=passed&show=cost_usd").text
    said = re.findall('<span class="pale">([^<]*)</span>(?=</td>|$)', page)
    assert sorted(said) == ["no answer", "no answer: timeout", "unknown", "unknown", "unknown"]


@given(
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
    | st.integers(-(2**63) + 1, 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.booleans()
    | st.dates()
    | st.datetimes()
)
def test_a_literal_is_its_value(value):
    [[found]] = duckdb.sql(f"SELECT CAST({literal(value)} AS {_TYPES[type(value)]})").fetchall()
    assert found == value


def test_what_takes_too_long_says_how_to_narrow_it(get, monkeypatch):
    def endless(connection, *_, **__):
        connection.execute("SELECT count(*) FROM range(1000000000000) WHERE hash(range) = 1")

    monkeypatch.setattr("exports.view.samples.sample_page", endless)
    monkeypatch.setattr("exports.view.samples._SECONDS", 0.5)
    answer = get("/view/samples")
    assert answer.status_code == 400
    assert "choose a run, or filter by suite" in answer.text
    monkeypatch.undo()
    assert get("/view/samples").status_code == 200


def test_a_sample_opens_in_the_sample_browser(store, get):
    with store.reading() as connection:
        runs = connection.execute("SELECT suite, run_id FROM runs").fetchall()
        number_samples(connection, runs, only_failed=False)
        numbers = connection.execute(
            "SELECT suite, run_id, result_id, number FROM sample_numbers"
        ).fetchall()
    assert len(numbers) == N_RESULTS
    for suite, run_id, result_id, number in numbers[::10]:
        key = {"suite": suite, "run_id": run_id, "result_id": result_id}
        answer = get("/view/sample", key.items())
        assert answer.headers["location"] == f"/samples/{suite}_{run_id}/index.html#sample={number}"
    assert get("/view/sample", {**key, "run_id": "nope"}.items()).status_code == 400
    assert get("/view/sample", [("run_id", "nope")]).status_code == 400
