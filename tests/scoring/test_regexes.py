import os
import re
import select
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import ROOT

from warehouse.engine.scoring.regex import matching, worker
from warehouse.engine.scoring.regex.bounds import MAX_STEPS, longest_bounded_text
from warehouse.engine.scoring.regex.matching import TIMEOUT, Match, fullmatch, fullmatch_many

HOSTILE = "(a+)+b"
ENDLESS = "a" * 60
QUICK = 0.1
YES, NO = Match(matched=True), Match(matched=False)


@pytest.fixture
def requests(monkeypatch):
    """Count the texts of each request to a worker."""
    found = []

    def run(pattern, texts, seconds, run=matching._run_worker):
        found.append(len(texts))
        return run(pattern, texts, seconds)

    monkeypatch.setattr(matching, "_run_worker", run)
    return found


@pytest.mark.parametrize(
    "pattern",
    [
        "[0-9]+",
        "(?s).+",
        r"\d{4}-\d{2}-\d{2}",
        r"(high|low)\.?",
        "(?i)ok",
        r"yes\.?",
        ".*?",
        "",
        r"(\d{3})?x",
    ],
)
def test_plain_patterns_are_bounded(pattern, requests):
    assert longest_bounded_text(pattern) >= 1000
    fullmatch(pattern, "x" * 1000)
    assert requests == []


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
        "[",
        "[[a]",
        "(a)?*",
        "a" * 201,
    ],
)
def test_other_patterns_are_not(pattern):
    assert longest_bounded_text(pattern) == -1


# Ways × length of one way: 2^30 × 61; (n+1)^4 × 6; 2^40 × 41; (999 + 1)^3 × 2998.
@pytest.mark.parametrize(
    "pattern",
    [
        "a?" * 30 + "a" * 30,
        ".*.*.*.*x",
        "(a|a)(a|a)" * 20,
        ".{0,999}.{0,999}.{0,999}x",
        "(a)?" * 30,
    ],
)
def test_the_bound_counts_ways(pattern):
    assert longest_bounded_text(pattern) < 50


def test_the_bound_by_hand():
    # One `*`: n + 1 ways to read it, each at most 1 (start) + 1 (`.`) + 1 (`x`) long.
    longest = longest_bounded_text(".*x")
    assert (longest + 1) * 3 <= MAX_STEPS < (longest + 2) * 3
    # Three: (n + 1)^3 ways of length 5. 58^3 x 5 = 975,560; 59^3 x 5 = 1,026,895.
    assert longest_bounded_text(".*.*.*x") == 57


def test_the_slowest_bounded_match_is_fast():
    pattern = ".*.*.*x"
    text = "a" * longest_bounded_text(pattern)
    start = time.process_time()
    assert re.fullmatch(pattern, text) is None
    assert time.process_time() - start < 5


@given(
    st.lists(
        st.sampled_from([*"ab.|()?*+^$-[]{}0,", r"\d", r"\w", "[a-c]", "(?:", ")?", "{2}", "{1,3}"])
    )
    .map("".join)
    .filter(lambda pattern: longest_bounded_text(pattern) >= 12),
    st.text(st.sampled_from("ab0-\n"), max_size=12),
)
def test_a_bounded_pattern_matches_like_python(pattern, text):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            expected = YES if re.fullmatch(pattern, text) else NO
        except re.error as error:
            expected = Match(None, f"invalid: {error}")
        assert fullmatch(pattern, text) == expected


# A process for most examples: some 20 ms each.
@settings(max_examples=30, deadline=None)
@given(
    st.text(st.sampled_from("ab(|)*+?[]^-1"), max_size=8),
    st.text(st.sampled_from("ab"), max_size=6),
)
def test_any_pattern_matches_like_python(pattern, text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = YES if re.fullmatch(pattern, text) else NO
        except re.error as error:
            expected = Match(None, f"invalid: {error}")
    assert fullmatch(pattern, text) == expected


# The package `regex` gives the opposite result for each of these.
@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        (r"(?:\w)+", "กำลัง", NO),
        (r"(?:\w)+", "²", YES),
        (r"(?:\s)+", "\x1c", YES),
        ("(?:a{e})+", "b", NO),
        ("(?:[[:alpha:]])+", "b", NO),
        ("(?i)(?:ı)+", "i", YES),
        (r"(?:\B)+", "", NO),
    ],
)
def test_patterns_have_the_meaning_of_re(pattern, text, expected):
    assert fullmatch(pattern, text) == expected


def test_a_pattern_that_always_times_out_ends(monkeypatch):
    monkeypatch.setattr("warehouse.engine.scoring.regex.matching._MAX_LOSSES", 3)
    slow = "a" * 40 + "!"
    matches = fullmatch_many("(?=(a+)+b)a*", ["ab", *[slow] * 1000], seconds=QUICK)
    assert matches == [NO, *[Match(None, TIMEOUT)] * 1000]


def test_a_timeout_is_a_value_and_other_texts_are_matched():
    matches = fullmatch_many(HOSTILE, ["aab", ENDLESS, "b", "ab"], seconds=QUICK)
    assert matches == [YES, Match(None, TIMEOUT), NO, YES]


@pytest.mark.slow
def test_a_match_does_not_depend_on_the_other_texts():
    """Whether the texts come at once, as in a rebuild, or one by one, as in increments."""
    texts = [ENDLESS + str(n) for n in range(7)] + ["ab", "b", "aaab"]
    one_by_one = [fullmatch(HOSTILE, text, seconds=QUICK) for text in texts]
    assert fullmatch_many(HOSTILE, texts, seconds=QUICK) == one_by_one
    assert one_by_one == [Match(None, TIMEOUT)] * 7 + [YES, NO, YES]


@pytest.mark.parametrize("pattern", ["(", "(?:a)**"])
def test_an_invalid_pattern_is_named_for_each_of_many_texts(pattern):
    with pytest.raises(re.error) as error:
        re.compile(pattern)
    matches = fullmatch_many(pattern, ["a"] * 7000)
    assert matches == [Match(None, f"invalid: {error.value}")] * 7000


def test_a_pattern_that_takes_too_long_to_compile():
    assert fullmatch("(?:" + "[a-z]{999}" * 20_000 + ")+", "a", seconds=QUICK).reason == TIMEOUT


def test_only_texts_over_the_bound_need_a_worker(requests):
    pattern = ".*.*.*x"
    texts = ["x", "y" * 500 + "x", "y", "x" * 300 + "y"]
    assert fullmatch_many(pattern, texts) == [YES, YES, NO, NO]
    assert requests == [2]


def test_one_worker_matches_a_batch(requests):
    assert fullmatch_many(HOSTILE, ["ab", "b"] * 1000) == [YES, NO] * 1000
    assert requests == [2000]


def test_a_worker_that_dies_is_reported(monkeypatch, tmp_path):
    program = tmp_path / "worker.py"
    program.write_text("import os\nos.write(1, b'.1')\nos.kill(os.getpid(), 9)\n")
    monkeypatch.setattr(matching, "_WORKER", program)
    killed = Match(None, "regex_failed: the worker ended with status -9")
    assert fullmatch_many(HOSTILE, ["a", "b", "c"]) == [YES, killed, YES]


def test_a_worker_that_runs_out_of_memory_is_reported(monkeypatch, tmp_path):
    program = tmp_path / "worker.py"
    source = Path(worker.__file__).read_text("utf-8")
    program.write_text(source.replace("MEMORY_BYTES = 2 << 30", "MEMORY_BYTES = 64 << 20"))
    monkeypatch.setattr(matching, "_WORKER", program)
    assert fullmatch("(?:(a)|b)*c", "ab" * 2_000_000).reason == "regex_failed: MemoryError"


def test_the_worker_has_three_files_and_its_own_session(monkeypatch, tmp_path):
    program = tmp_path / "worker.py"
    program.write_text(
        "import os, sys\n"
        "os.write(2, f'{os.getsid(0) == os.getpid()} {sorted(os.listdir(\"/proc/self/fd\"))}'"
        ".encode())\n"
        "sys.exit(1)\n"
    )
    monkeypatch.setattr(matching, "_WORKER", program)
    with (tmp_path / "open").open("w") as held:
        os.set_inheritable(held.fileno(), True)  # noqa: FBT003 - it has no keyword arguments
        reason = fullmatch(HOSTILE, "ab").reason
    # The fourth one belongs to the listing itself.
    assert reason == "regex_failed: True ['0', '1', '2', '3']"


def test_texts_with_lone_surrogates():
    assert fullmatch("(?:\ud800)+?", "\ud800") == YES


def test_threads_do_not_disturb_each_other():
    results = {}

    def ask(name):
        results[name] = fullmatch_many("(?:a|b)*c", ["abc", "ab"] * 50)

    threads = [threading.Thread(target=ask, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(result == [YES, NO] * 50 for result in results.values())


def test_matching_inside_a_query():
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
    # The parent is killed before its worker has the request, or while that is inside an endless
    # match: it then ends when the text has taken its time, at the latest.
    script = (
        "from warehouse.engine.scoring.regex import matching\n"
        f"matching.fullmatch_many({HOSTILE!r}, ['ab', {ENDLESS!r}], seconds=2)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT)
    children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children")
    deadline = time.monotonic() + 300
    while not (found := children.read_text().split()) and time.monotonic() < deadline:
        time.sleep(0.01)
    child = os.pidfd_open(int(found[0]))
    parent.kill()
    parent.wait()
    # A process's file descriptor becomes readable when it ends.
    poll = select.poll()
    poll.register(child, select.POLLIN)
    assert poll.poll(300_000)
    os.close(child)
