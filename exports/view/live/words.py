"""What pages say of a run in progress: texts and marks, ready to be shown."""

from __future__ import annotations

from datetime import UTC, datetime
from shlex import quote
from typing import TYPE_CHECKING

from ulid import ULID

from exports.site.addresses import run_page
from exports.site.figures import cost, count, duration, figure, interval, marks
from warehouse.core.rating_scales import RATINGS_SUITE
from warehouse.core.text.figures import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warehouse.analysis.live.run import LiveRun
    from warehouse.core.types import JsonObject, Row
    from warehouse.lake.staging import StagedBatch

_MOST_MODELS, _MOST_FAILURES = 20, 6
_TEXT = 300  # characters of an answer
_SECOND_MS = 1_000
# A run is said to stall after a silence of so many of its longest pauses, and not before.
_PAUSES, _SLOWEST, _LEAST_SECONDS = 5, 2, 15
_FIRST_SECONDS = 120  # before the first result there is no pace to compare with
_FAILED_AT_ONCE, _FAILED_IN_A_ROW = 3, 20
_NO_SCORE = "no score"
_BUSY = {"import": "An import", "compact": "A merge of batches", "rescore": "A re-score"}
_STATES = {
    "running": "running",
    "interrupted": "interrupted",
    "ended": "ended",
    "complete": "ended",
    "partial": "ended early",
}


def run_words(run: LiveRun) -> JsonObject:
    """Return what a page shows of a run."""
    row = run.figures()
    is_running = row["state"] == "running"
    warning = _warning(row) if is_running else ""
    generation = run.generation
    return {
        "suite": generation.suite,
        "run_id": generation.run_id,
        "is_judging": generation.suite == RATINGS_SUITE,
        "page": "" if is_running else run_page(*generation.run),
        "state": "amber" if warning else row["state"],
        "label": _label(row),
        "says": warning or _end_words(run, row),
        "note": run.problem and f"Earlier results are not counted: {run.problem}",
        "done": row.get("n_done", 0),
        "planned": row["n_planned"],
        "facts": [list(fact) for fact in _facts(row)],
        "models": [
            _model_words(each, is_adaptive=row["is_adaptive"])
            for each in row["models"][:_MOST_MODELS]
        ],
        "n_more_models": max(len(row["models"]) - _MOST_MODELS, 0),
        "failures": [
            [count(each["n"]), _failure_reason(each), each["example"] or ""]
            for each in row["failures"][:_MOST_FAILURES]
        ],
        "n_more_failures": max(len(row["failures"]) - _MOST_FAILURES, 0),
        "latest": [_result_words(each) for each in run.latest],
    }


def batch_words(batch: StagedBatch) -> str:
    """Return a sentence about a batch that is being written."""
    what = _BUSY.get(batch.command, f"`{batch.command}`" if batch.command else "Another command")
    since = _clock(ULID.from_str(batch.name).datetime)
    return f"{what} has been writing since {since}: {batch.n_bytes / 1e6:,.1f} MB so far."


def _label(row: Row) -> str:
    """Return the state in words; an adaptive run ends before all calls are made."""
    is_adaptive_end = row["is_adaptive"] and row["state"] == "partial"
    return _STATES["complete" if is_adaptive_end else row["state"]]


def _facts(row: Row) -> Iterator[tuple[str, str]]:
    n_done, n_planned = row.get("n_done", 0), row["n_planned"]
    is_running = row["state"] == "running"
    of = "of at most" if row["is_adaptive"] else "of"
    yield "done", count(n_done) if n_planned is None else f"{count(n_done)} {of} {count(n_planned)}"
    yield "without an answer", count(n_done - row.get("n_answered", 0))
    if row["is_adaptive"]:
        yield "passed", f"{_NO_SCORE}: the tasks are chosen by the answers"
    elif len(row["models"]) == 1:
        yield "passed so far" if is_running else "passed", _passed(row["models"][0])
    if is_running:
        yield "calls per second", _pace(row["per_second"])
        yield "time left at this pace", _time_left(row)
    yield (
        "cost so far" if is_running else "cost",
        cost(row.get("cost_usd"), row.get("n_cost_known"), n_done),
    )
    yield "resumed" if row.get("n_earlier") else "started", _clock(row["started_at"])
    if row.get("n_earlier"):
        yield "done before", count(row["n_earlier"])
    if row["n_processes"] > 1:
        yield "processes", count(row["n_processes"])
    if row["n_bad_lines"]:
        yield "damaged lines", count(row["n_bad_lines"])


def _pace(per_second: float | None) -> str:
    if per_second is None:
        return "unknown"
    return f"{per_second:.1f}" if per_second >= 0.1 else f"{per_second:.1g}"  # noqa: PLR2004


def _time_left(row: Row) -> str:
    n_left = (row["n_planned"] or 0) - row.get("n_done", 0)
    if n_left <= 0 or not row["per_second"]:
        return "unknown"
    left = duration(n_left / row["per_second"] * _SECOND_MS)
    return f"at most {left}" if row["is_adaptive"] else left


def _passed(model: Row) -> str:
    if model["pass_rate"] is None:
        return "unknown: no verdict yet"
    ends = interval(model["pass_rate_low"], model["pass_rate_high"], is_rate=True)
    return f"{figure(model['pass_rate'], is_rate=True)} {ends or '(no interval)'}"


def _model_words(row: Row, *, is_adaptive: bool) -> JsonObject:
    ends = {"low": row["pass_rate_low"], "high": row["pass_rate_high"]}
    [mark] = marks([{"value": row["pass_rate"], **ends}], is_rate=True)
    return {
        "model": row["model"] or "unknown",
        "settings": row["settings"] or "",
        "done": count(row["n_results"]),
        "unanswered": count(row["n_results"] - row["n_answered"]),
        "passed": _NO_SCORE if is_adaptive else figure(row["pass_rate"], is_rate=True),
        "interval": interval(*ends.values(), is_rate=True),
        "tasks": count(row["n_rated"]) if row["pass_rate"] is not None else "",
        "unjudged": count(row["n_unjudged"]) if row["n_judged"] and row["n_unjudged"] else "",
        "mark": None if mark is None else list(mark),
    }


def _result_words(row: Row) -> JsonObject:
    is_answered = row.get("availability_status") == "ok" and row.get("success") is True
    passed = row.get("is_correct")
    passed = row.get("objective_pass") if passed is None else passed
    verdict = "answered" if passed is None else "passed" if passed else "not passed"
    text = row.get("raw_output") or ""
    return {
        "task": (row.get("task_name") or row.get("task_id") or "unknown")[:_TEXT],
        "model": row.get("model") or "unknown",
        "outcome": verdict if is_answered else _failure_reason({**row, "status": None}),
        "is_bad": not is_answered or passed is False,
        "took": duration(row.get("e2e_ms")),
        "text": text if len(text) <= _TEXT else f"{text[:_TEXT]}…",
    }


def _failure_reason(row: Row) -> str:
    if row.get("failure_type") == "empty_response":
        return "empty answer"
    if row.get("failure_type") == "circuit_open":
        return "not called, after failures in a row"
    kinds = (row.get("status"), row.get("failure_type"))
    return ": ".join(dict.fromkeys(filter(None, kinds))) or "no answer"


def _warning(row: Row) -> str:
    """Return why somebody should look after a run; empty if there is no reason."""
    n_done, n_answered = row.get("n_done", 0), row.get("n_answered", 0)
    n_in_a_row = row.get("n_failed_last", 0)
    if n_done >= _FAILED_AT_ONCE and not n_answered:
        reason = _failure_reason(row["failures"][0])
        return f"All {count(n_done)} calls so far have no answer: {reason}."
    if n_in_a_row >= _FAILED_IN_A_ROW:
        return f"The last {count(n_in_a_row)} calls have no answer."
    idle = round(row["idle_seconds"] or 0)
    pause = row.get("longest_pause_seconds")
    silence = f"No new result for {duration(idle * _SECOND_MS)}"
    if pause is None and idle > _FIRST_SECONDS:
        return f"{silence}: nothing to compare it with yet."
    slowest = row.get("slowest_seconds") or 0
    if pause is not None and idle > max(_LEAST_SECONDS, _PAUSES * pause, _SLOWEST * slowest):
        return f"{silence}; the longest pause before was {duration(pause * _SECOND_MS)}."
    return ""


def _end_words(run: LiveRun, row: Row) -> str:
    """Return how a run ended; empty while it goes on."""
    n_done, n_planned = row.get("n_done", 0), row["n_planned"]
    command = "judge" if run.generation.suite == RATINGS_SUITE else "run"
    rest = "goes on unless the full scores are known" if run.is_adaptive else "makes the rest"
    resume = f"`evalstore {command} --resume {quote(run.generation.run_id)}` {rest}."
    kept = {
        "interrupted": f"Its process died; the next command keeps its {counted(n_done, 'result')}.",
        "ended": f"The next command adds its {counted(n_done, 'result')} to the store.",
        "complete": "All calls are made." if n_planned is not None else "It is in the store.",
        "partial": f"The store has its {counted(n_done, 'result')}.",
    }.get(row["state"], "")
    is_partial = row["state"] in {"interrupted", "partial"}
    return f"{kept} {resume}" if is_partial and n_planned is not None else kept


def _clock(moment: datetime) -> str:
    local = moment.astimezone() if moment.tzinfo else moment.replace(tzinfo=UTC).astimezone()
    return f"{local:%H:%M:%S}" if local.date() == datetime.now().date() else f"{local:%m-%d %H:%M}"  # noqa: DTZ005
