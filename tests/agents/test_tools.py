"""The tools of agents: views, limited queries, samples; every error says what to do."""

import json
from dataclasses import replace

import pytest
from rendering import HOSTILE, UNSEEN
from support import add_rows, command

from warehouse.app.agents.parameters import arguments_of
from warehouse.app.agents.session import open_session
from warehouse.app.agents.tools import TOOLS, call_tool
from warehouse.core.errors import BadInput
from warehouse.engine.statistics.score_test import equality_p_values
from warehouse.engine.views.sql_files import shown_views


@pytest.fixture
def ask(store):
    """Return a function that calls a tool on the empty store and returns the parsed answer."""
    return asking(store)


def asking(store):
    session = open_session(store.path, max_seconds=300)
    return lambda tool, **arguments: json.loads(call_tool(session, tool, arguments))


def refused(ask, tool, **arguments):
    with pytest.raises(BadInput) as error:
        ask(tool, **arguments)
    return str(error.value)


# --- views


def test_every_view_is_listed_facts_first(ask):
    views = ask("list_views")["views"]
    assert {view["view"] for view in views} == set(shown_views())
    assert views[0]["group"] == "marts/facts"
    assert all(view["purpose"] and view["grain"] for view in views)


def test_a_view_is_described_with_types_and_meanings(ask):
    described = ask("describe_view", view="leaderboard")
    columns = {column["name"]: column for column in described["columns"]}
    assert columns["p50_ms"]["type"] == "DOUBLE"
    assert "milliseconds" in columns["p50_ms"]["meaning"]
    assert set(described["first_columns"]) <= set(columns)
    assert ask("describe_view", view="checks.violations")["columns"]


def test_an_unknown_view_gets_the_similar_ones(ask):
    assert "did you mean 'leaderboard'" in refused(ask, "describe_view", view="leaderbord")


# --- queries


def test_a_query_returns_columns_and_rows(ask):
    answer = ask("run_query", sql="SELECT 1 AS a, 'x' AS b, NULL AS c UNION ALL SELECT 2, $b, NULL "
                 "ORDER BY a; -- done", parameters={"b": "y"})  # fmt: skip
    assert answer == {"columns": ["a", "b", "c"], "rows": [[1, "x", None], [2, "y", None]],
                      "notes": []}  # fmt: skip


def test_values_of_any_type_become_json(ask):
    types = ("DATE '2026-01-02'", "TIMESTAMP '2026-01-02 03:04:05'", "INTERVAL 1 MONTH",
             "[1, 2]", "{'a': 'b'}", "MAP {'k': 1}", "'ab'::BLOB", "1.50::DECIMAL(4, 2)",
             "'NaN'::DOUBLE", "'[1]'::JSON", "'x'::ENUM ('x', 'y')", "1::HUGEINT",
             "TIMESTAMPTZ '2026-01-02 03:04:05+02'")  # fmt: skip
    [row] = ask("run_query", sql=f"SELECT {', '.join(types)}")["rows"]
    assert row == ["2026-01-02", "2026-01-02T03:04:05", "1 month", "[1,2]", '{"a":"b"}', '{"k":1}',
                   "6162", 1.5, None, "[1]", "x", 1, "2026-01-02T01:04:05Z"]  # fmt: skip


@pytest.mark.parametrize("sql", ["DESCRIBE leaderboard", "SUMMARIZE runs", "SHOW TABLES"])
def test_queries_about_the_store_work(ask, sql):
    assert ask("run_query", sql=sql)["columns"]


def test_more_rows_than_asked_for_are_noted(ask):
    answer = ask("run_query", sql="FROM range(5)", max_rows=2)
    assert answer["rows"] == [[0], [1]]
    assert "more rows than the 2 shown" in answer["notes"][0]
    assert not ask("run_query", sql="FROM range(2)", max_rows=2)["notes"]


def test_long_values_are_cut_and_noted(ask):
    sql = "SELECT repeat('ä', 11) AS a, repeat('b', 10) AS b, [repeat('c', 99)] AS c"
    answer = ask("run_query", sql=sql, max_characters=10)
    assert answer["rows"] == [["ä" * 10 + "…", "b" * 10, '["cccccccc…']]
    assert "texts of a, c are cut after 10 characters" in answer["notes"][0]


def test_an_answer_has_a_bounded_size(ask):
    answer = ask(
        "run_query", sql="SELECT repeat('x', 900) FROM range(1000)", max_rows=1000
    )  # 904 characters a row: the limit of 200,000 has room for 221
    assert len(answer["rows"]) == 221
    assert "only the first 221 rows are shown" in answer["notes"][0]


def test_hostile_text_is_escaped(store):
    session = open_session(store.path, max_seconds=300)
    text = call_tool(session, "run_query", {"sql": "SELECT $t AS t", "parameters": {"t": HOSTILE}})
    assert not UNSEEN.search(text)
    assert json.loads(text)["rows"] == [[HOSTILE]]


@pytest.mark.slow
def test_a_query_that_takes_too_long_is_stopped(store):
    session = open_session(store.path, max_seconds=1)
    slow = "SELECT sum(a.range * b.range) FROM range(100000000) AS a, range(100000) AS b"
    with pytest.raises(BadInput, match="stopped after 1 second"):
        call_tool(session, "run_query", {"sql": slow})
    patient = replace(session, max_seconds=300)
    assert json.loads(call_tool(patient, "run_query", {"sql": "SELECT 1"}))["rows"] == [[1]]


@pytest.mark.parametrize(
    "sql",
    [
        "FROM 'x.csv'",
        "FROM read_text('/etc/hostname')",
        "FROM read_parquet('http://127.0.0.1/x')",
        "FROM glob('/*')",
        "ATTACH ':memory:' AS x",
        "COPY (SELECT 1) TO 'x.csv'",
        "INSTALL httpfs",
        "SET enable_external_access = true",
        "CREATE TEMP TABLE x AS SELECT 1",
        "DELETE FROM lake.results",
        "UPDATE EXTENSIONS",
        "SELECT 1; DROP TABLE lake.results",
        "SELECT 1; SELECT 2",
        "EXPLAIN ANALYZE DELETE FROM lake.results",
        "",
        "-- nothing",
    ],
)
def test_a_query_can_only_read_the_store(ask, sql):
    message = refused(ask, "run_query", sql=sql)
    assert "read-only" in message or "file system operations are disabled" in message


def test_an_error_marks_the_place_in_the_query_as_written(ask):
    wrong = "SELECT\n x::INT FROM (SELECT 'a' AS x)"
    assert "LINE 2:  x::INT FROM" in refused(ask, "run_query", sql=wrong)
    assert "LINE 1: SELECT nope" in refused(ask, "run_query", sql="SELECT nope")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "sql: Field required"),
        ({"sql": 1}, "sql: Input should be a valid string"),
        ({"sql": "SELECT '\ud800'"}, "unable to parse raw data as a unicode string"),
        ({"sql": "x" * 1_000_001}, "at most 1000000 characters"),
        ({"sql": "SELECT 1", "max_row": 5}, "did you mean 'max_rows'?"),
        ({"sql": "SELECT 1", "limit": 5}, "the parameters are: sql, parameters, max_rows"),
        (
            {"sql": "SELECT 1", "max_rows": 0},
            "max_rows: Input should be greater than or equal to 1",
        ),
        ({"sql": "SELECT 1", "max_rows": True}, "max_rows: Input should be a valid integer"),
        ({"sql": "SELECT 1", "max_rows": "9"}, "max_rows: Input should be a valid integer"),
        ({"sql": "SELECT 1", "max_rows": 1_001}, "less than or equal to 1000"),
        ({"sql": "SELECT 1", "parameters": [1]}, "parameters: Input should be a valid dictionary"),
        (
            {"sql": "SELECT $a", "parameters": {"a": [1]}},
            "parameters.a.str: Input should be a valid string",
        ),
        ({"sql": "SELECT $a"}, "no value for $a"),
        ({"sql": "SELECT 1", "parameters": {"a": 1}}, "the query has no $a"),
        ({"sql": "SELECT $a", "parameters": {"a": 10**99}}, "too large"),
    ],
)
def test_a_wrong_argument_is_named(ask, arguments, message):
    assert message in refused(ask, "run_query", **arguments)


def test_null_is_the_same_as_an_argument_left_out(ask):
    answer = ask("run_query", sql="SELECT 1 AS a", parameters=None, max_rows=None)
    assert answer == {"columns": ["a"], "rows": [[1]], "notes": []}


def test_an_unknown_tool_gets_the_similar_ones(ask):
    assert "did you mean 'run_query'?" in refused(ask, "run_querry")
    assert "the tools are: list_views" in refused(ask, "x")


# --- samples


@pytest.mark.slow
def test_a_sample_has_all_about_a_result(store):
    key = {"suite": "chat", "run_id": "r", "generation": "root", "content_id": "c"}
    result = {"model": "example/a", "task_id": "t", "seq": 1, "raw_output": "Helsinki"}
    score = {"metric": "style", "value": 0.5, "explanation": "terse", "result_id": "c"}
    message = {"result_id": "c", "role": "user"}
    task = {"suite": "chat", "task_set": "chat", "task_set_hash": "s", "task_id": "t"}
    rows = {
        "runs": [key],
        "results": [{**key, **result, "prompt": "Capital of Finland?", "is_correct": True}],
        "result_scores": [{**key, **score, "content_id": "s"}],
        "messages": [{**key, **message, "content_id": f"m{n}", "seq": n, "text": f"x{n}"}
                     for n in range(1, 61)],
        "tasks": [{**task, "seq": 1, "task_hash": "h", "content_id": "t", "reference": "Helsinki"}],
    }  # fmt: skip
    add_rows(store.lake, **rows)
    sample = asking(store)("show_sample", model="example/a", task_id="t")
    assert sample["result"]["prompt"] == "Capital of Finland?"
    assert sample["result"]["raw_output"] == "Helsinki"
    assert [task["reference"] for task in sample["tasks"]] == ["Helsinki"]
    assert sample["verdict"]["passed"] is True
    assert {s["metric"]: s["value"] for s in sample["scores"]} == {"passed": 1.0, "style": 0.5}
    assert [message["text"] for message in sample["messages"]] == [f"x{n}" for n in range(1, 51)]
    assert "more messages than the 50 shown" in sample["notes"][0]


@pytest.mark.slow
def test_a_sample_cuts_long_texts_at_any_depth(store):
    with store.record(suite="own", model="m") as run:
        run.log(task_id="t", output="x" * 101, scores={"note": "y" * 101})
    sample = asking(store)("show_sample", task_id="t", max_characters=100)
    assert sample["result"]["raw_output"] == "x" * 100 + "…"
    assert [score["text"] for score in sample["scores"]] == ["y" * 100 + "…"]


@pytest.mark.slow
def test_several_results_that_match_are_listed(store):
    with store.record(suite="own", model="m", run_id="r") as run:
        for n in range(25):
            run.log(task_id=f"t{n}", output="x", passed=n > 20)
    found = asking(store)("show_sample", model="m")
    assert len(found["matches"]) == 20
    assert found["notes"][0].startswith("at least 21 results match")
    one = found["matches"][3]
    key = {name: one[name] for name in ("suite", "run_id", "result_id")}
    shown = asking(store)("show_sample", **key)
    assert shown["result"]["task_id"] == one["task_id"]
    assert shown["verdict"]["passed"] is one["passed"]


def test_a_sample_that_there_is_none_of(ask):
    assert "name a result" in refused(ask, "show_sample", max_characters=100)
    assert "no result matches" in refused(ask, "show_sample", result_id="x")


# --- comparisons


@pytest.mark.slow
def test_models_are_compared_in_words_and_figures(store):
    for model in ("good", "bad"):
        with store.record(suite="own", model=model) as run:
            for n in range(12):
                run.log(task_id=f"t{n}", output="x", passed=model == "good" or n < 2)
    answer = asking(store)("compare_models", a="good", b="bad")
    [row] = answer["comparisons"]
    assert row["sentence"].startswith("good passes")
    assert (row["n_tasks"], row["n_only_a"], row["n_only_b"]) == (12, 10, 0)
    assert row["p_value"] == equality_p_values([10], [0], 12)[0]
    assert row["p_mcnemar"] == pytest.approx(2 / 2**10)
    assert (row["conclusion"], row["noninferior"]) == ("a", None)
    assert "only 12 tasks" in answer["notes"][0]


@pytest.mark.slow
def test_slices_are_tested_as_by_the_command(store):
    for model in ("x", "y"):
        with store.record(suite="own", model=model) as run:
            for n in range(40):
                prompt = "long " * 400 if n < 20 else "short"
                passed = (n < 20) == (model == "x")
                run.log(task_id=f"t{n}", prompt=f"{prompt} {n:02}", output="o", passed=passed)
    answer = asking(store)("compare_models", a="x", b="y", by="prompt_length")
    [said] = answer["differences_by"]
    assert said.startswith("The difference of x and y depends on prompt_length (permutation test")
    assert said in " ".join(
        command(store.path, "compare", "x", "y", "--by", "prompt_length").out.split()
    )
    assert len(answer["comparisons"]) == 2
    assert all(row["slice"].startswith("prompt_length") for row in answer["comparisons"])
    assert asking(store)("compare_models", a="x", b="y")["differences_by"] == []
    message = refused(asking(store), "compare_models", a="x", b="y", by="nothing")
    assert "no task has a value 'nothing'" in message


def test_a_model_that_is_not_known_cannot_be_compared(store):
    with store.record(suite="own", model="model-1") as run:
        run.log(task_id="t", output="x", passed=True)
    message = refused(asking(store), "compare_models", a="model-1", b="model-2")
    assert "did you mean 'model-1'?" in message


def test_warnings_about_the_store_are_in_the_next_answer(store):
    session = open_session(store.path, max_seconds=300)
    session.warnings.extend(["w", "w"])
    assert json.loads(call_tool(session, "list_views", {}))["warnings"] == ["w"]
    assert "warnings" not in json.loads(call_tool(session, "list_views", {}))


def test_every_tool_is_described():
    for tool in TOOLS:
        assert tool.description.endswith(".")
        schema = arguments_of(tool.call).model_json_schema()
        assert all(parameter["description"] for parameter in schema["properties"].values())
        assert schema["additionalProperties"] is False
