import os
import re
import select
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import ROOT

from warehouse.scoring.regex import process as regex_process
from warehouse.scoring.regex import regexes
from warehouse.scoring.regex.cost import pattern_cost
from warehouse.scoring.regex.regexes import ABANDONED, TIMEOUT, Match, fullmatch, fullmatch_many

HOSTILE = "(a+)+b"
ENDLESS = "a" * 60
QUICK = 0.1
YES, NO = Match(matched=True), Match(matched=False)


@pytest.fixture(autouse=True)
def _end_worker():
    yield
    regexes.close()


def worker_pid():
    return regex_process._current._process.pid


@pytest.mark.parametrize(
    "pattern",
    ["[0-9]+", "(?s).+", r"\d{4}-\d{2}-\d{2}", r"(high|low)\.?", "(?i)ok", r"yes\.?", ".*?", ""],
)
def test_plain_patterns_are_bounded(pattern):
    assert pattern_cost(pattern).steps(1000) <= regexes._STEPS_HERE


@pytest.mark.parametrize(
    "pattern",
    [
        HOSTILE,
        "(a|a)*b",
        "(a*)*",
        "(a?){30}",
        r"(.)\1",
        "(?=a)a",
        "a**",
        "a{2,1}",
        "(",
        "a)",
        "[",
        "[[a]",
    ],
)
def test_other_patterns_are_not(pattern):
    assert pattern_cost(pattern) is None


@pytest.mark.parametrize("pattern", ["a?" * 30 + "a" * 30, ".*.*.*.*x", "(a|a)(a|a)" * 20])
def test_the_bound_counts_ways(pattern):
    assert pattern_cost(pattern).steps(200) > regexes._STEPS_HERE


@given(
    st.lists(st.sampled_from([*"ab.|()?*+^$-[]{}0,", r"\d", r"\w", "[a-c]", "(?:", "{2}", "{1,3}"]))
    .map("".join)
    .filter(lambda pattern: pattern_cost(pattern) is not None),
    st.text(st.sampled_from("ab0-\n"), max_size=12),
)
def test_a_bounded_pattern_is_one_that_python_reads_alike(pattern, text):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fullmatch(pattern, text) == (YES if re.fullmatch(pattern, text) else NO)


@given(
    st.text(st.sampled_from("ab(|)*+?[]^-1"), max_size=8),
    st.text(st.sampled_from("ab"), max_size=6),
)
def test_any_pattern_gives_what_python_gives(pattern, text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = YES if re.fullmatch(pattern, text) else NO
        except re.error as error:
            expected = Match(None, f"invalid: {error}")
    assert fullmatch(pattern, text) == expected


def test_a_timeout_is_a_value_and_the_others_are_answered():
    matches = fullmatch_many(HOSTILE, ["aab", ENDLESS, "b", "ab"], seconds=QUICK)
    assert matches == [YES, Match(None, TIMEOUT), NO, YES]


def test_a_pattern_is_given_up_after_five_timeouts():
    matches = fullmatch_many(HOSTILE, [ENDLESS] * 8, seconds=QUICK)
    assert [match.reason for match in matches] == [TIMEOUT] * 5 + [ABANDONED] * 3


def test_an_invalid_pattern_is_named_for_each_of_many_texts():
    matches = fullmatch_many("(", ["a"] * 7000)
    assert set(matches) == {
        Match(None, "invalid: missing ), unterminated subpattern at position 0")
    }


def test_the_worker_is_kept_over_a_batch_and_replaced_after_a_loss():
    fullmatch(HOSTILE, "ab")
    first = worker_pid()
    fullmatch(HOSTILE, "aab")
    assert worker_pid() == first
    os.kill(first, signal.SIGKILL)
    assert fullmatch(HOSTILE, "ab").reason.startswith("regex_failed: ")
    assert fullmatch(HOSTILE, "ab") == YES
    assert worker_pid() != first


def test_the_worker_has_three_files_and_its_own_session(tmp_path):
    with (tmp_path / "open").open("w") as held:
        os.set_inheritable(held.fileno(), True)  # noqa: FBT003 - it takes no keyword
        fullmatch(HOSTILE, "ab")
        links = [str(link.readlink()) for link in Path(f"/proc/{worker_pid()}/fd").iterdir()]
    assert str(tmp_path / "open") not in links
    assert os.getsid(worker_pid()) == worker_pid()


def test_texts_that_utf8_cannot_hold():
    assert fullmatch("(?:\ud800)+?", "\ud800") == YES


def test_threads_share_the_worker():
    results = {}

    def ask(name):
        results[name] = fullmatch_many("(?:a|b)*c", ["abc", "ab"] * 50)

    threads = [threading.Thread(target=ask, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(result == [YES, NO] * 50 for result in results.values())


def test_from_a_function_of_a_query():
    with duckdb.connect() as connection:
        connection.create_function(
            "matches",
            lambda text: fullmatch(HOSTILE, text, seconds=QUICK).reason or "",
            ["VARCHAR"],
            "VARCHAR",
        )
        query = "select matches(x) from (values ('ab'), (repeat('a', 60))) as t(x)"
        assert sorted(connection.sql(query).fetchall()) == [("",), (TIMEOUT,)]
        connection.remove_function("matches")


def test_the_worker_ends_with_its_parent():
    # The parent is killed while its worker is inside an endless match.
    script = (
        "import threading, sys\n"
        "from warehouse.scoring.regex import process, regexes\n"
        "regexes.fullmatch('(a+)+b', 'ab')\n"
        "print(process._current._process.pid, flush=True)\n"
        "regexes.fullmatch('(a+)+b', 'a' * 60, seconds=0.3)\n"
        "sys.stdin.read()\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
    )
    worker = os.pidfd_open(int(parent.stdout.readline()))
    parent.kill()
    parent.communicate()
    # The file of a process becomes readable when it ends.
    poll = select.poll()
    poll.register(worker, select.POLLIN)
    assert poll.poll(10_000)
    os.close(worker)


def test_a_fork_leaves_the_parents_worker_alone():
    fullmatch(HOSTILE, "ab")
    pid = worker_pid()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        os._exit(0 if fullmatch(HOSTILE, "ab") == YES and worker_pid() != pid else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert fullmatch(HOSTILE, "ab") == YES
    assert worker_pid() == pid
