"""The end of a run: a table of its models, and a sentence of what became of each one's calls."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from runners.engine.breaker import CIRCUIT_OPEN
from runners.plan import cells_of
from runners.providers.base import EMPTY, EXCEPTION, REPLY_TOO_LARGE, UNPARSED_REPLY

if TYPE_CHECKING:
    from runners.run import Run
    from warehouse.app.store import Store

_MODELS = """
SELECT model, settings, count(*), count(DISTINCT task_id), count(*) FILTER (success),
    count(passed), count(*) FILTER (passed)
FROM verdicts
WHERE suite = $suite AND run_id = $run_id
GROUP BY provider, model, settings
ORDER BY model, settings, provider
"""
# Of an answer that is not judged `violation` says why; what a failed call returned is its message,
# unless it is an answer that cannot be used.
_PROBLEMS = """
SELECT model, settings, success, failure_type,
    coalesce(
        CASE WHEN success THEN violation WHEN availability_status <> 'ok' THEN raw_output END, ''
    ) AS message,
    count(*) AS n_results
FROM results
WHERE suite = $suite AND run_id = $run_id
    AND (NOT success OR (violation IS NOT NULL AND coalesce(is_correct, objective_pass) IS NULL))
GROUP BY ALL
ORDER BY n_results DESC, model, settings, failure_type, message
"""
_LONGEST_REASON = 200
_EMPTY = "empty answer", "empty answers"
_FAILED = "call failed", "calls failed"
_NOT_MADE = "call not made after them", "calls not made after them"
_UNJUDGED = "judgement failed", "judgements failed"
_KINDS = (_EMPTY, _FAILED, _NOT_MADE, _UNJUDGED)


class _Model(NamedTuple):
    """What became of a model's calls in a run."""

    name: str
    settings: str
    n_results: int
    n_tasks: int
    n_answered: int
    n_judged: int
    n_passed: int


class _Problem(NamedTuple):
    """Results of a model that have no answer, or no judgement, for the same reason."""

    model: str
    settings: str
    is_answered: bool
    failure_type: str | None
    message: str
    n_results: int

    @property
    def reason(self) -> str:
        """The reason in one line."""
        if self.failure_type == REPLY_TOO_LARGE:
            return REPLY_TOO_LARGE
        line = _plain(self.message).removeprefix("judge: ")
        kind = self.failure_type or ""
        if line and kind not in {"", EXCEPTION}:
            line = f"{kind}: {line}"
        line = line.removeprefix(f"{EXCEPTION}: ") or kind
        return line if len(line) <= _LONGEST_REASON else f"{line[:_LONGEST_REASON]}…"


class Summary(NamedTuple):
    """How a run ended.

    Attributes:
        sentences: one for each model.
        n_left: the calls of its plan that are still to be made, those of other shards included.
        problem: why it counts as failed, and what to do with the options that follow; None if it
            does not. It failed if no call was answered, or if no answer was judged and some were to
            be.
        options: of `evalstore run --resume`.
    """

    sentences: list[str]
    n_left: int
    problem: str | None = None
    options: str = ""


def summarise(store: Store, run: Run) -> Summary:
    """Return how a run ended."""
    which = {"suite": run.plan.suite, "run_id": run.run_id}
    models = [_Model(*row) for row in store.sql(_MODELS, which).fetchall()]
    problems = [_Problem(*row) for row in store.sql(_PROBLEMS, which).fetchall()]
    sentences = []
    for model in models:
        own = [p for p in problems if (p.model, p.settings) == (model.name, model.settings)]
        name = f"{model.name} ({model.settings})" if model.settings else model.name
        sentences.append(f"{name}: {_sentence(model, own, is_scored=run.adaptive is None)}")
    sentences += run.adaptive.sentences() if run.adaptive is not None else ()
    n_cells = len(list(cells_of(run.plan)))
    ended = Summary(sentences, max(n_cells - sum(model.n_results for model in models), 0))
    if models and not any(model.n_answered for model in models):
        are_empty = {problem.failure_type == EMPTY for problem in problems}
        what = "every answer was empty" if are_empty == {True} else "no call was answered"
        if {problem.failure_type for problem in problems} == {UNPARSED_REPLY}:
            what = "no reply could be read"
        options = {True: " --retry-empty", False: " --retry-failed"}
        return ended._replace(
            problem=f"{what}; make the calls again",
            options="".join(options[is_empty] for is_empty in sorted(are_empty)),
        )
    if any(p.is_answered for p in problems) and not any(model.n_judged for model in models):
        # What a function failed to judge is no failed call: it is judged again from the store.
        how = "judge the answers with `evalstore rescore`, or make calls whose judge failed again"
        return ended._replace(problem=f"no answer was judged; {how}", options=" --retry-failed")
    return ended


def _sentence(model: _Model, problems: list[_Problem], *, is_scored: bool) -> str:
    n_good, good = model.n_answered, "answered"
    if is_scored and model.n_judged:
        n_good, good = model.n_passed, "passed"
    elif is_scored and any(problem.is_answered for problem in problems):
        n_good, good = 0, "judged"
    times = f" attempts at {model.n_tasks} tasks" if model.n_results > model.n_tasks else ""
    of_kind: dict[tuple[str, str], list[_Problem]] = {}
    for problem in problems:
        of_kind.setdefault(_kind(problem), []).append(problem)
    parts = [_part(*kind, of_kind[kind]) for kind in _KINDS if kind in of_kind]
    return "; ".join([f"{n_good} of {model.n_results}{times} {good}", *parts])


def _plain(message: str) -> str:
    """Return a message in one line; of a server's JSON, only the error that it states."""
    head, brace, rest = message.partition("{")
    with suppress(ValueError, RecursionError):
        value = json.loads(brace + rest)
        for key in ("error", "message", "detail"):
            value = value.get(key, value) if isinstance(value, dict) else value
        message = head + value if isinstance(value, str) else message
    return " ".join(message.partition("Traceback (most recent call last)")[0].split())


def _kind(problem: _Problem) -> tuple[str, str]:
    if problem.is_answered:
        return _UNJUDGED
    return {EMPTY: _EMPTY, CIRCUIT_OPEN: _NOT_MADE}.get(problem.failure_type or "", _FAILED)


def _part(one: str, several: str, problems: list[_Problem]) -> str:
    """Return how many results have a kind of problem, and the most frequent reason."""
    n_results = sum(problem.n_results for problem in problems)
    text = f"{n_results} {one if n_results == 1 else several}"
    if (one, several) not in {_FAILED, _UNJUDGED}:
        return text
    reasons = list(dict.fromkeys(problem.reason for problem in problems))
    others = len(reasons) - 1
    more = f" (and {others} other reason{'s' * (others > 1)})" if others else ""
    return f"{text}: {reasons[0]}{more}"
