"""Two weeks of use of a model server of our own, whose log says what every figure should be.

Two models, three suites; failed calls, attempts, a rehearsal, an interrupted run, partial runs, a
model that gets worse, two model files with one setting, and a log imported twice.
"""

import json
import os
import signal
from collections import Counter
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from types import SimpleNamespace

import pytest
from serving import chat, http, serving
from support import command, log, new_store, task, write_log

import runners.claim
import runners.command
from runners.engine.clock import Clock as EngineClock

PRICES = {"acme/quick": (1e-6, 2e-6), "acme/steady": (3e-6, 5e-6)}
WAITS = {"acme/quick": 0.01, "acme/steady": 0.04}  # seconds
SETTINGS = {"acme/quick": "", "acme/steady": "temperature 1"}

# Task: words of its prompt, a right answer, a wrong one.
TASKS = {
    "palindrome": {
        "enne": ("omen", "<PALINDROMI>enne</PALINDROMI>", "<PALINDROMI>onni</PALINDROMI>"),
        "sammas": ("thrush", "<PALINDROMI>Sammas</PALINDROMI>", "<PALINDROMI>samma</PALINDROMI>"),
        "otto": ("Saat", "<PALINDROMI>saat, Otto, taas</PALINDROMI>", "no idea"),
        "halla": ("frost", "<PALINDROMI>alla halla</PALINDROMI>", "<PALINDROMI>halla</PALINDROMI>"),
    },
    "openclaw": {
        "P0": ("PONG", "PONG", "pong!"),
        "P1": ("twelve", "It moves water.", "water " * 30),
        "T0": ("memory", "<tool>free</tool>", "Use free yourself, perhaps."),
        "T1": ("disk", "I run `df -h`.", "It is half full."),
    },
    "first": {
        "capital": ("France", "Paris", "Lyon"),
        "primes": ("prime", "13", "15"),
        "haiku": ("haiku", "columns, then columns", "word " * 40),
        "json": ("JSON", '{"city": "Turku", "population": 206000}', "{}"),
    },
}
OPENCLAW = [
    ("P0", "Reply with PONG.", {"type": "exact", "value": "PONG"}, []),
    ("P1", "A pump, in twelve words", {"type": "max_words", "value": 12}, []),
    ("T0", "How much memory?", {"type": "tool_invocation", "expected_tools": ["free"]}, ["free"]),
    ("T1", "How full is the disk?", {"type": "tool_invocation", "expected_tools": ["df"]}, ["df"]),
]
PALINDROME = """\
system_prompt: 'A palindrome between <PALINDROMI> and </PALINDROMI>. {prompt}'
tasks:
- {prompt: The omen, reference: enne}
- {prompt: The thrush of a baby, reference: sammas}
- {prompt: 'Saat, O__o, t__s', reference: 'Saat, Otto, taas.'}
- {prompt: Under the frost, reference: Alla halla.}
"""

# Per model and week, what the attempts at each task come to: Right, Wrong or Failed; else Right.
BEHAVIOUR = {
    ("acme/quick", 1): {"sammas": "W", "T1": "W", "primes": "RWR", "json": "RRF", "P1": "F"},
    ("acme/quick", 2): {"enne": "W", "sammas": "W", "otto": "F", "T1": "W", "primes": "W"},
    ("acme/steady", 1): {"otto": "W", "halla": "F", "haiku": "RWW", "P0": "W", "capital": "F"},
    ("acme/steady", 2): {"otto": "W", "T0": "W", "haiku": "WRW", "json": "F"},
}
QUICK, STEADY = ("-m", "acme/quick"), ("-m", "models/steady-1.yaml")
# Label: day of March, suite, models and options.
RUNS = {
    "first monday": (2, "palindrome", *QUICK, *STEADY),
    "monday again": (2, "palindrome", *QUICK),
    "tuesday": (3, "openclaw", *QUICK, *STEADY),
    "wednesday": (4, "first.yaml", *QUICK, *STEADY, "--attempts", 3),
    "thursday": (5, "first.yaml", *QUICK, "--limit", 2),
    "second monday": (9, "palindrome", *QUICK, "-m", "models/steady-2.yaml"),
    "second tuesday": (10, "openclaw", *QUICK, *STEADY),
    "second wednesday": (11, "first.yaml", *QUICK, *STEADY, "--attempts", 3),
    "second thursday": (12, "palindrome", *QUICK, "--limit", 2),
}
INTERRUPTED = "second monday"


class Week:
    """The server's side: what was asked in which run, and what came of it."""

    def __init__(self):
        self.label = self.now = None
        self.calls, self.attempts = [], Counter()
        self.run_ids = {}

    def answer(self, request):
        model, prompt = request["body"]["model"], request["body"]["messages"][-1]["content"]
        suite, name, texts = next(
            (suite, name, texts)
            for suite, tasks in TASKS.items()
            for name, (words, *texts) in tasks.items()
            if words in prompt
        )
        key = self.label, model, name
        behaviour = BEHAVIOUR[model, 1 if self.now.day < 9 else 2].get(name, "R")
        outcome = behaviour[self.attempts[key] % len(behaviour)]
        self.attempts[key] += 1
        text = texts["RW".index(outcome)] if outcome != "F" else None
        self.calls.append(
            SimpleNamespace(
                label=self.label, day=self.now.date(), suite=suite, model=model, task=name,
                passed={"R": True, "W": False, "F": None}[outcome],
                tokens=(len(prompt), len(text)) if text else None, ms=1000 * WAITS[model],
            )
        )  # fmt: skip
        if self.label == INTERRUPTED and len(self.of(self.label)) == 3:
            os.kill(os.getpid(), signal.SIGINT)
        if text is None:
            return [WAITS[model], http(400, {"error": "overlong"})]
        reply = chat(text)
        reply["usage"] = {"prompt_tokens": len(prompt), "completion_tokens": len(text)}
        return [WAITS[model], http(200, reply)]

    def of(self, label, model=None):
        return [c for c in self.calls if c.label == label and model in {None, c.model}]


@contextmanager
def two_weeks(folder):
    """Live the two weeks, and yield the server's log with the store."""
    week = Week()
    week.store = new_store(folder / "store")
    with pytest.MonkeyPatch.context() as patch, serving(week.answer) as server:
        patch.chdir(folder)
        _set_clock(patch, week)
        # The interrupted run gets the answer to its last call, however busy the machine is.
        patch.setattr("runners.engine.engine.GRACE_SECONDS", 300)
        _set_up(folder)
        where = ("--base-url", server.base, "--max-tries", 1, "--concurrency", 1)
        for number, (label, (day, suite, *options)) in enumerate(RUNS.items()):
            week.label, week.now = label, datetime(2026, 3, day, 12, number, tzinfo=UTC)
            _run(week, suite, *options, *where, code=130 * (label == INTERRUPTED))
            if label == INTERRUPTED:
                assert len(week.of(label)) == 3
                week.now += timedelta(hours=1)
                _run(week, "--resume", week.run_ids[label])
        week.label, week.now = "rehearsal", datetime(2026, 3, 13, 12, tzinfo=UTC)
        replay = ("--provider", "replay", "--answers", "answers.jsonl")
        _run(week, "first.yaml", *QUICK, *replay)
        _import_log_twice(week, folder)
        yield week


def _set_clock(patch, week):
    class Clock(datetime):
        @staticmethod
        def now(tz=None):
            return week.now.astimezone(tz) if tz else week.now.astimezone().replace(tzinfo=None)

    def now(_clock):
        week.now += timedelta(milliseconds=10)
        return week.now.replace(tzinfo=None)

    patch.setattr(EngineClock, "now", now)
    for module in (runners.claim, runners.command):
        patch.setattr(module, "datetime", Clock)


def _set_up(folder):
    for name in ("tasks", "models"):
        (folder / name).mkdir()
    (folder / "tasks" / "palindrome.yaml").write_text(PALINDROME)
    keys = ("id", "prompt", "validator", "expected_tool_calls")
    prompts = [dict(zip(keys, row, strict=True)) | {"name": row[0]} for row in OPENCLAW]
    (folder / "tasks" / "openclaw.json").write_text(json.dumps(prompts))
    for name, stem, temperature in (
        ("acme/quick", "quick", None),
        ("acme/steady", "steady-1", 1),
        ("acme/steady", "steady-2", 1.0),
    ):
        price = dict(zip(("input", "output"), PRICES[name], strict=True))
        model = {"name": name, "provider": "ollama_openai", "price": price}
        model |= {"parameters": {"temperature": temperature}} if temperature else {}
        (folder / "models" / f"{stem}.yaml").write_text(json.dumps(model))
    assert command(folder / "store", "init", "own").code == 0
    for name in ("first.yaml", "answers.jsonl"):
        (folder / "own" / name).rename(folder / name)


def _run(week, *arguments, code=0):
    ended = command(week.store.path, "run", *arguments)
    assert ended.code == code, ended.err
    week.run_ids.setdefault(week.label, ended.err.partition("run ")[2].partition(":")[0])


def _import_log_twice(week, folder):
    """Import the log of another program's run."""
    right = {"enne": True, "sammas": True, "otto": False, "halla": True}
    prompts = [line.split("prompt: ")[1].split(", ref")[0] for line in PALINDROME.splitlines()[2:]]
    tasks = [
        task(n, prompt=prompt.strip("'"), answer=name, is_correct=right[name], metadata={},
             timestamp=f"2026-03-06T10:00:0{n}Z", duration_seconds=n + 0.5)
        for n, (name, prompt) in enumerate(zip(right, prompts, strict=True))
    ]  # fmt: skip
    document = log(tasks=tasks, date="2026-03-06", model="models/quick.yaml")
    path = write_log(folder / "logs" / "benchmark_logs" / "2026-03-06-acme-quick.yaml", document)
    for _ in range(2):
        assert command(week.store.path, "import", path, "models", "tasks").code == 0
    week.calls += [
        SimpleNamespace(
            label="friday", day=date(2026, 3, 6), suite="palindrome", model="acme/quick",
            task=name, passed=right[name], tokens=None, ms=1000 * (n + 0.5),
        )
        for n, name in enumerate(right)
    ]  # fmt: skip
    ((week.run_ids["friday"],),) = week.store.sql(
        "SELECT run_id FROM runs WHERE suite = 'palindrome' AND run_date = '2026-03-06'"
    ).fetchall()
