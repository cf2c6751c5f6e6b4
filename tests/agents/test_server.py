"""The server for agents, asked by the client of the package `mcp`."""

import asyncio
import json
import sys
import time
from functools import partial

import pytest
from support import ROOT, command, environment

from warehouse.app.agents import tools
from warehouse.app.agents.session import open_session
from warehouse.app.agents.tools import TOOLS
from warehouse.app.agents.worker import Limits, Worker, answer_call


def talk(store, *calls):
    """Return the offered tools and the results of calls, by a client in this process."""
    from mcp import Client

    from warehouse.app.agents.server import agent_server

    answer = partial(answer_call, open_session(store.path, max_seconds=300))
    return asyncio.run(conversation(Client(agent_server(answer)), calls))


async def conversation(client, calls):
    async with client as session:
        offered = (await session.list_tools()).tools
        return offered, [await session.call_tool(name, arguments) for name, arguments in calls]


def text_of(result):
    [content] = result.content
    return content.text


@pytest.mark.slow
def test_a_client_finds_the_tools_and_calls_them(store):
    query = ("run_query", {"sql": "SELECT 1 AS a"})
    offered, [answer, failure] = talk(store, query, ("run_query", {"sql": "SELECT nope"}))
    assert [tool.name for tool in offered] == [tool.name for tool in TOOLS]
    assert all(tool.annotations.read_only_hint for tool in offered)
    assert offered[2].input_schema["required"] == ["sql"]
    assert json.loads(text_of(answer))["rows"] == [[1]]
    assert (answer.is_error, failure.is_error) == (False, True)
    assert 'column "nope"' in text_of(failure)


@pytest.mark.slow
def test_a_message_has_a_bounded_length_and_no_control_characters(store):
    sql = "SELECT (chr(27) || repeat('x', 5000))::INTEGER FROM range(1)"
    _, [failure] = talk(store, ("run_query", {"sql": sql}))
    assert failure.is_error
    assert "\x1b" not in text_of(failure)
    assert len(text_of(failure)) < 2_100


def test_an_unexpected_error_ends_in_a_report_and_the_server_goes_on(store, monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)

    def crash(_session):
        raise RuntimeError("sudden")

    broken = tools.Tool(crash, "Break.")
    monkeypatch.setattr(tools, "TOOLS", (*TOOLS, broken))
    _, [failure, answer] = talk(store, ("crash", {}), ("run_query", {"sql": "SELECT 1"}))
    assert failure.is_error
    assert "RuntimeError: sudden" in text_of(failure)
    [report] = tmp_path.glob("evalstore-crash-*.txt")
    assert str(report) in text_of(failure)
    assert not answer.is_error


# The one block of rows in it takes minutes, in which DuckDB cannot be interrupted.
_ONE_BLOCK = "SELECT levenshtein(repeat('ab', 300000), repeat('c' || range, 300000)) FROM range(9)"
# DuckDB counts the memory of the first only.
_LARGE = (
    "SELECT length(string_agg(repeat('x', 1000000), '')) FROM range(2000)",
    "SELECT max(length(repeat('x' || range, 1000000))) FROM range(2000)",
)


@pytest.mark.slow
def test_a_query_that_cannot_be_interrupted_is_ended_and_the_next_is_answered(store):
    worker = Worker(store.path, Limits(max_seconds=1, max_memory_mb=2_000))
    try:
        assert not worker.answer("run_query", {"sql": "SELECT 1"}).is_error  # it has started
        begun = time.monotonic()
        stopped = worker.answer("run_query", {"sql": _ONE_BLOCK})
        assert time.monotonic() - begun < 10
        assert stopped.is_error
        assert "stopped after 1 second" in stopped.text
        assert json.loads(worker.answer("run_query", {"sql": "SELECT 2"}).text)["rows"] == [[2]]
    finally:
        worker.close()


@pytest.mark.slow
@pytest.mark.parametrize("sql", _LARGE)
def test_a_query_has_a_limit_of_memory(store, sql):
    worker = Worker(store.path, Limits(max_seconds=60, max_memory_mb=200))
    try:
        answer = worker.answer("run_query", {"sql": sql})
        assert answer.is_error
        assert "Out of Memory Error" in answer.text
        assert "select fewer rows" in answer.text
    finally:
        worker.close()


@pytest.mark.slow
@pytest.mark.parametrize("sql", _LARGE)
def test_a_query_of_the_command_line_has_a_limit_of_memory(store, sql):
    store.sync()
    ended = command(store.path, "sql", "--max-memory-mb", "200", sql)
    assert (ended.code, ended.out) == (2, "")
    assert "Out of Memory Error" in ended.err
    assert "raise --max-memory-mb (now 200)" in ended.err


@pytest.mark.slow
def test_a_client_starts_the_command_and_talks_over_its_streams(examples):
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    arguments = ["-m", "evalstore", "--store", str(examples.path), "mcp"]
    server = StdioServerParameters(
        command=sys.executable, args=arguments, env=environment(), cwd=str(ROOT)
    )
    best = ("run_query", {"sql": "FROM leaderboard SELECT model, pass_rate", "max_rows": 1})
    sample = ("show_sample", {"model": "example/aurora-2"})
    offered, answers = asyncio.run(
        conversation(Client(stdio_client(server)), [best, sample, ("describe_view", {})])
    )
    assert len(offered) == len(TOOLS)
    assert [answer.is_error for answer in answers] == [False, False, True]
    expected = examples.sql("FROM leaderboard SELECT model, pass_rate LIMIT 1").fetchall()
    assert json.loads(text_of(answers[0]))["rows"] == [list(row) for row in expected]
    assert json.loads(text_of(answers[1]))["matches"]


def test_without_a_store_the_command_says_so(tmp_path):
    ended = command(tmp_path / "nowhere", "mcp")
    assert (ended.code, ended.out) == (2, "")
    assert "no store here" in ended.err
