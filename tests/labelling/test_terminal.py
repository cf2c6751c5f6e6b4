"""Labelling in a terminal: keys, what is stored after each of them, and after a kill."""

import contextlib
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time

import pytest
from label_cases import MODELS, PROMPT, result
from support import ROOT, add_rows, command, environment

LABELS = "SELECT seq, value FROM ratings WHERE suite = 'ratings' AND is_current ORDER BY seq"

_LOCAL_MODES = 3  # in the list of `termios.tcgetattr`


@pytest.fixture
def label(answers, monkeypatch):
    """Return a function that labels with these keys, and then quits."""

    def run(keys, *options, targets=("arena",), rater="Anna"):
        left = iter([*keys, "q"])
        monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
        monkeypatch.setattr("click.getchar", lambda: next(left))
        ended = command(answers.path, "label", *targets, "--rater", rater, *options)
        assert ended.code == 0, ended.err
        return ended

    run.store = answers
    return run


@pytest.mark.slow
def test_a_key_is_a_label_and_the_next_call_goes_on(label):
    first = label(["x", "p", "s", "F"], "--sample", "5")
    assert label.store.sql(LABELS).fetchall() == [(1, 1.0), (3, 0.0)]
    assert "2 of 5 labelled; the same command goes on" in first.err
    assert first.out.count("ANSWER") == 4
    second = label(["p", "p", "p"], "--sample", "5")
    assert second.err.rstrip().endswith("5 of 5 labelled")
    assert label.store.sql(LABELS).fetchall() == [(1, 1), (2, 1), (3, 0), (4, 1), (5, 1)]
    assert "0 of 5 labelled" in label([], "--sample", "5", rater="Ben").err


@pytest.mark.slow
def test_digits_are_numbers_of_a_scale(label):
    label(["7", "x", "0"], "--scale", "1..10", "--criterion", "style")
    found = label.store.sql("SELECT seq, value, criterion FROM ratings ORDER BY seq").fetchall()
    assert found == [(1, 7.0, "style"), (2, 10.0, "style")]


@pytest.mark.slow
def test_the_terminal_is_blind_and_not_controlled_by_a_text(label):
    header = {"suite": "arena", "run_id": "hostile", "generation": "root", "content_id": "h"}
    row = result("ant-9000", 1, run_id="hostile", raw_output="\x1b]0;x\x07\x1b[2J\nshown")
    add_rows(label.store.lake, runs=[header], results=[row])
    out = label(["p"], targets=["hostile"]).out
    assert "\x1b" not in out
    assert "\\x1b]0;x\\x07\\x1b[2J\nshown" in out
    assert PROMPT in out
    out = label(["p"] * 12).out
    assert not any(word in out for word in (*MODELS, "night", "Yes, it is."))
    assert "Yes, it is." in label([], "--reference", rater="Ben").out


def test_without_a_terminal_the_file_is_recommended(answers):
    ended = command(answers.path, "label", "arena", "--rater", "Anna", "--reference")
    assert (ended.code, "`evalstore label export` writes a file" in ended.err) == (2, True)


class Screen:
    """A command in a terminal of its own."""

    def __init__(self, store):
        self._end, end = pty.openpty()
        words = ["evalstore.py", "--store", store, "label", "arena", "--rater", "Anna"]
        self.process = subprocess.Popen(
            [sys.executable, *map(str, words)],
            stdin=end, stdout=end, stderr=end, cwd=ROOT, env=environment(), start_new_session=True,
        )  # fmt: skip
        os.close(end)
        self.text = ""

    def wait_for(self, text):
        """Wait until the screen has a text."""
        deadline = time.monotonic() + 120
        while text not in self.text:
            assert time.monotonic() < deadline, self.text
            if select.select([self._end], [], [], 1)[0]:
                with contextlib.suppress(OSError):
                    self.text += os.read(self._end, 65536).decode(errors="replace")

    def press(self, key):
        """Press a key once the command waits for one: what is typed before is ignored."""
        deadline = time.monotonic() + 120
        while termios.tcgetattr(self._end)[_LOCAL_MODES] & termios.ICANON:
            assert time.monotonic() < deadline, self.text
            time.sleep(0.01)
        os.write(self._end, key.encode())


@pytest.mark.slow
def test_a_kill_loses_no_label_that_was_given(answers):
    screen = Screen(answers.path)
    for n_labelled in range(3):
        screen.wait_for(f"{n_labelled} of 12 labelled")
        screen.press("p")
    screen.wait_for("3 of 12 labelled")
    os.kill(screen.process.pid, signal.SIGKILL)
    screen.process.wait()
    assert answers.sql(LABELS).fetchall() == [(1, 1.0), (2, 1.0), (3, 1.0)]
    again = Screen(answers.path)
    again.wait_for("3 of 12 labelled")
    again.press("f")
    again.wait_for("4 of 12 labelled")
    again.press("q")
    again.wait_for("the same command goes on")
    assert again.process.wait() == 0
    assert answers.sql(LABELS).fetchall()[-1] == (4, 0.0)
