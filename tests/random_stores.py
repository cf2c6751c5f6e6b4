"""Small stores with a known truth, and how often what they claim is false.

Each suite is a small store with a known truth: which models are better, and that none changes
over time. Suites are imported as tables, into one store. A claim of `compare`,
`leaderboard_groups`, `drift` or the gate is false if it names a better, worse or changed model that
is not; a suite counts at most once for each of these. A contradiction is a claim that its own
figures do not support, or that another output denies.
"""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from warehouse.analysis.decisions.comparison import ALPHA, Comparison, Contest, compare
from warehouse.analysis.decisions.contests import Choice, find_contests
from warehouse.analysis.decisions.gate.decision import Outcome
from warehouse.analysis.decisions.gate.gate import run_gate
from warehouse.analysis.decisions.gate.rules import Rule, Rules
from warehouse.analysis.decisions.ranks import ranks
from warehouse.analysis.decisions.sentences import sentence
from warehouse.app.agents.session import open_session
from warehouse.app.agents.tools import call_tool
from warehouse.app.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import TypeAlias

    import duckdb

    from warehouse.app.agents.session import AgentSession

    Figures: TypeAlias = tuple[float | None, ...]
    Places: TypeAlias = dict[str, tuple[int, ...]]

_SEED = 23
_COLUMNS = ["run_id", "model", "task_id", "attempt", "passed", "prompt", "started_at", "cluster"]
_MODELS = ("a", "b", "c")
_EQUAL, _DIFFERENT = (0.7, 0.7, 0.7), (0.9, 0.6, 0.3)
_BASELINE, _CANDIDATE = _MODELS[0], _MODELS[-1]
_CLUSTER = 5  # tasks of a passage
_EXACT = 1e-12
_FIGURES = ("p_value", "p_missing", "low", "high")
_PAIRS = """
SELECT suite, model_a, model_b, p_value, p_missing, pass_rate_difference_low,
    pass_rate_difference_high
FROM paired_comparisons
"""
# Of a share of 5 %: 3.3 standard errors, which one of 1,000 cells exceeds.
ERRORS = 3.3
OUTPUTS = ("compare", "ranks", "drift", "gate")


@dataclass(frozen=True)
class Shape:
    """A kind of store.

    Attributes:
        rates: the models' true pass rates.
        tasks: number of tasks.
        attempts: of each model at each task.
        nights: runs of each model.
        repeated: what the last model's newer runs repeat: `failures`, or `some` tasks.
        repeats: number of these runs; each repeats the failures of the one before.
        missing: share of the first model's failures without a verdict.
        is_clustered: whether the tasks of a passage are alike, and so a cluster.
    """

    rates: tuple[float, ...] = _EQUAL
    tasks: int = 30
    attempts: tuple[int, ...] = (1, 1, 1)
    nights: int = 1
    repeated: str = ""
    repeats: int = 1
    missing: float = 0.0
    is_clustered: bool = False


SHAPES = {
    "equal": Shape(),
    "different": Shape(rates=_DIFFERENT),
    "partial": Shape(repeated="some"),
    "failures": Shape(repeated="failures", tasks=60),
    "missing": Shape(missing=0.4),
    "attempts": Shape(attempts=(1, 3, 5)),
    "clusters": Shape(tasks=40, is_clustered=True),
    "five": Shape(tasks=5),
    "nights": Shape(nights=4),
    "nights_failures": Shape(nights=4, tasks=100, repeated="failures", repeats=3),
}


@dataclass
class Tally:
    """What was found: suites of each shape, false claims by shape and output, contradictions."""

    suites: Counter[str] = field(default_factory=Counter)
    false: Counter[tuple[str, str]] = field(default_factory=Counter)
    claims: Counter[str] = field(default_factory=Counter)
    contradictions: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Add what was found in other suites."""
        self.suites += other.suites
        self.false += other.false
        self.claims += other.claims
        self.contradictions += other.contradictions


def most_false(n_suites: int) -> float:
    """Return the largest number of suites with a false claim that simulation error explains."""
    return 0.05 * n_suites + ERRORS * sqrt(0.05 * 0.95 * n_suites)


def rows_of(shape: Shape, random: np.random.Generator, suite: str) -> Iterator[tuple[object, ...]]:
    """Yield the rows of a table: the models' runs."""
    shared = random.random(shape.tasks)
    for model, rate, attempts in zip(_MODELS, shape.rates, shape.attempts, strict=True):
        own = random.random(shape.tasks)
        if shape.is_clustered:
            own = np.repeat(own[::_CLUSTER], _CLUSTER)
        # The mean is the rate: half of the spread is the task's, half the model's own.
        chances = rate + min(rate, 1 - rate) * (shared + own - 1)
        missing = shape.missing if model == _MODELS[0] else 0.0
        passed = np.zeros((shape.tasks, attempts), dtype=bool)
        for night in range(1, shape.nights + 1):
            passed = random.random(passed.shape) < chances[:, None]
            known = passed | (random.random(passed.shape) >= missing)
            run = (f"{model}{night}", model, passed, known, range(shape.tasks))
            yield from _run(*run, night=night, suite=suite, shape=shape)
        if not shape.repeated or model != _MODELS[-1]:
            continue
        again = np.arange(shape.tasks)
        for repeat in range(1, shape.repeats + 1):
            again = again[~passed[again, 0]]
            if shape.repeated == "some":
                again = random.choice(shape.tasks, shape.tasks // 4, replace=False)
            passed = random.random(passed.shape) < chances[:, None]
            known = np.ones_like(passed)
            night = shape.nights + repeat
            run = (f"again{repeat}", model, passed, known, again)
            yield from _run(*run, night=night, suite=suite, shape=shape)


def _run(
    run_id: str,
    model: str,
    passed: np.ndarray,
    known: np.ndarray,
    tasks: Iterable[int],
    *,
    night: int,
    suite: str,
    shape: Shape,
) -> Iterator[tuple[object, ...]]:
    for task in tasks:
        cluster = f"p{task // _CLUSTER}" if shape.is_clustered else ""
        for attempt, verdict in enumerate(passed[task]):
            said = str(bool(verdict)).lower() if known[task, attempt] else ""
            place = (f"t{task:03}", attempt + 1, said, f"Question {task} of {suite}")
            yield (run_id, model, *place, f"2026-01-{night:02}", cluster)


def simulate(folder: Path, n_suites: int, seed: int) -> Tally:
    """Import suites of all shapes in turn into one store, and judge what its outputs claim."""
    names = list(SHAPES)
    random = np.random.default_rng([_SEED, seed])
    files = []
    for number in range(n_suites):
        shape = names[number % len(names)]
        file = folder / f"{shape}-{number:04}.csv"
        with file.open("w", newline="") as opened:
            table = csv.writer(opened)
            table.writerow(_COLUMNS)
            table.writerows(rows_of(SHAPES[shape], random, file.stem))
        files.append(str(file))
    program = [sys.executable, "-m", "evalstore", "--store", str(folder / "store")]
    subprocess.run([*program, "import", *files, "--yes"], check=True, capture_output=True)
    tally = Tally()
    session = open_session(folder / "store", max_seconds=60)
    with Store(folder / "store").reading() as connection:
        _judge(connection, session, tally)
    return tally


def _judge(connection: duckdb.DuckDBPyConnection, session: AgentSession, tally: Tally) -> None:
    rows, told = _compared(connection), _told(session)
    drifts = "SELECT DISTINCT suite FROM drift WHERE is_drift"
    drifting = {suite for (suite,) in connection.execute(drifts).fetchall()}
    stopped = _stopped(connection, rows)
    groups = "SELECT suite, model, n_better, n_worse FROM leaderboard_groups"
    places: defaultdict[str, Places] = defaultdict(dict)
    for suite, model, *counts in connection.execute(groups).fetchall():
        places[suite][model] = tuple(counts)
    pairs: defaultdict[str, dict[tuple[str, str], Figures]] = defaultdict(dict)
    for suite, a, b, *figures in connection.execute(_PAIRS).fetchall():
        pairs[suite][a, b] = tuple(figures)
    for suite, found in rows.items():
        name = suite.partition("-")[0]
        rates = dict(zip(_MODELS, SHAPES[name].rates, strict=True))
        tally.suites[name] += 1
        tally.claims[name] += any(row.conclusion != "unclear" for row in found)
        tally.false[name, "compare"] += any(_is_false(row, rates) for row in found)
        tally.false[name, "drift"] += suite in drifting
        tally.false[name, "ranks"] += _has_false_rank(places[suite], rates)
        is_equal = rates[_CANDIDATE] >= rates[_BASELINE]
        tally.false[name, "gate"] += suite in stopped and is_equal
        wrong = list(contradictions(found))
        wrong += _disagreements(found, told[suite], places[suite], pairs[suite])
        tally.contradictions += [f"{suite}: {each}" for each in wrong]


def _compared(connection: duckdb.DuckDBPyConnection) -> dict[str, list[Comparison]]:
    """Return the comparisons of each suite, adjusted together as in a call of `compare`."""
    contests: defaultdict[str, list[Contest]] = defaultdict(list)
    for contest in find_contests(connection, _MODELS, Choice()):
        contests[contest.paired.panel.suite].append(contest)
    return {suite: compare(found) for suite, found in sorted(contests.items())}


def _told(session: AgentSession) -> dict[str, Figures]:
    """Return what the tool for agents says of the first two models, by suite."""
    said = json.loads(call_tool(session, "compare_models", dict(zip("ab", _MODELS, strict=False))))
    return {row["suite"]: tuple(row[name] for name in _FIGURES) for row in said["comparisons"]}


def _stopped(connection: duckdb.DuckDBPyConnection, suites: Iterable[str]) -> set[str]:
    """Return the suites of which a gate of its own fails the candidate."""
    stopped = set()
    for suite in suites:
        rule = Rule(kind="max_drop", suite=suite)
        rules = Rules(candidate=_CANDIDATE, baseline=_BASELINE, rules=(rule,))
        decisions = run_gate(connection, rules).decisions
        if any(decision.outcome is Outcome.FAILED for decision in decisions):
            stopped.add(suite)
    return stopped


def _is_false(row: Comparison, rates: dict[str, float]) -> bool:
    if row.conclusion == "unclear":
        return False
    better, worse = (row.a, row.b) if row.conclusion == "a" else (row.b, row.a)
    return rates[better] <= rates[worse]


def _has_false_rank(places: Places, rates: dict[str, float]) -> bool:
    return any(
        n_better > sum(rates[other] > rates[model] for other in places)
        or n_worse > sum(rates[other] < rates[model] for other in places)
        for model, (n_better, n_worse) in places.items()
    )


def contradictions(rows: Sequence[Comparison]) -> Iterator[str]:
    """Yield sentences that claim more or less than the conclusion, or than their figures."""
    for row in rows:
        said = sentence(row, n_comparisons=len(rows))
        orders = {"a": (row.a, row.b), "b": (row.b, row.a)}
        claimed = [
            side
            for side, (better, worse) in orders.items()
            if re.search(rf"\b{better} passes .*more than {worse} \(", said)
        ]
        if claimed != [row.conclusion] * (row.conclusion != "unclear"):
            yield f"{row.conclusion}, but {said}"
        low, high, p_adjusted = row.low or 0.0, row.high or 0.0, row.p_adjusted or 1.0
        is_supported = p_adjusted < ALPHA and (low > 0 if row.conclusion == "a" else high < 0)
        if claimed and not is_supported:
            yield f"{low} to {high}, but {said}"


def _disagreements(
    rows: Sequence[Comparison],
    told: Figures,
    places: Places,
    pairs: Mapping[tuple[str, str], Figures],
) -> Iterator[str]:
    """Yield where the views and the tool for agents say other than `compare`."""
    for row in rows:
        ours = tuple(getattr(row, name) for name in _FIGURES)
        others = {"paired_comparisons": pairs[row.a, row.b]}
        if (row.a, row.b) == _MODELS[:2]:
            others["compare_models"] = told
        for name, figures in others.items():
            if not _are_equal(ours, figures):
                yield f"{name} says {figures} of {row.a} and {row.b}, compare {ours}"
    expected = {rank.model: (rank.n_better, rank.n_worse) for rank in ranks(rows)}
    if places.keys() == expected.keys() and places != expected:
        yield f"leaderboard_groups says {places}, compare --ranks {expected}"


def _are_equal(ours: Figures, others: Sequence[float | None]) -> bool:
    return all(
        (a is None) == (b is None) and abs((a or 0.0) - (b or 0.0)) <= _EXACT
        for a, b in zip(ours, others, strict=True)
    )
