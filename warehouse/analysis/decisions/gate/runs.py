"""Which runs of each side decide, and which further ones confirm a failure.

Of a model or a tag the run on the board decides, with the last ones before it if the baseline is to
be of several. Further runs count only if they asked as many of the tasks: a repetition of failures
never does. Those of a run are the later runs of the same model, settings and task set; those of a
tag, the runs with the same tag.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from warehouse.analysis.decisions.series import sided_runs
from warehouse.analysis.decisions.sides import with_later_runs
from warehouse.core.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import duckdb

    from warehouse.analysis.decisions.gate.rules import Rules
    from warehouse.analysis.decisions.series import SeriesKey, SidedRun
    from warehouse.analysis.decisions.sides import ResolvedSide

# Positions of the sides.
BASELINE: Final = 0
CANDIDATE: Final = 1
ANCHOR: Final = 2
NAMES: Final = ("baseline", "candidate", "anchor")


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRuns:
    """The runs of one model with one settings, on one task set of a side.

    Attributes:
        deciding: the runs that decide, the first of which names the tasks.
        confirming: further runs, which confirm a failure.
        n_needed: how many more are needed for that.
        newer: later runs that asked fewer tasks or got no answer, and do not count.
    """

    deciding: tuple[SidedRun, ...]
    confirming: tuple[SidedRun, ...]
    n_needed: int
    newer: tuple[SidedRun, ...]


def gate_runs(
    connection: duckdb.DuckDBPyConnection, rules: Rules, sides: Sequence[ResolvedSide]
) -> dict[SeriesKey, GateRuns]:
    """Return the runs of each series of the sides.

    Args:
        connection: an open warehouse.
        rules: the gate.
        sides: baseline, candidate and perhaps the anchor; without calls, if the store has none.

    Raises:
        BadInput: further runs of a side cannot be told apart from others.
    """
    _check_kinds(rules, sides)
    extended = [
        with_later_runs(connection, side, suite=rules.suite)
        if rules.confirm and side.kind == "run"
        else side
        for side in sides
    ]
    candidate = sides[CANDIDATE]
    for place, side in enumerate(sides):
        # A run that is tagged or called a model before it is judged is not compared with itself.
        if place != CANDIDATE and side.kind != "run" and candidate.kind != "model":
            taken = set(extended[CANDIDATE].calls if side.kind == "model" else candidate.calls)
            left = tuple(call for call in side.calls if call not in taken)
            extended[place] = replace(side, calls=left or side.calls)
    calls = [set(side.calls) for side in sides]
    groups: dict[SeriesKey, list[SidedRun]] = {}
    for run in sided_runs(connection, extended, task_set=rules.task_set):
        groups.setdefault(run.key, []).append(run)
    found = {}
    for key, runs in groups.items():
        side = sides[key.side]
        runs.sort(key=lambda run: run.position)
        own = [run for run in runs if (key.suite, run.run_id, key.model) in calls[key.side]]
        if not own:
            continue
        if key.side == CANDIDATE:
            named = [other for other in sides if other is not side and other.kind != "model"]
            others = {call for other in named for call in other.calls}
            found[key] = _candidate_runs(rules, side, own, _apart(runs, own, others))
        else:
            is_alike = any(key[1:] == other[1:] for other in groups if other.side == CANDIDATE)
            after = [] if is_alike else _apart(runs, own, calls[CANDIDATE])
            found[key] = _reference_runs(rules, side, own, after)
    return found


def _check_kinds(rules: Rules, sides: Sequence[ResolvedSide]) -> None:
    if rules.confirm and sides[CANDIDATE].kind == "model":
        raise BadInput(
            f"confirm: {rules.candidate!r} is a model: name the candidate by run:RUN_ID or "
            "tag:NAME=VALUE, so that its further runs are known"
        )
    if rules.baseline_runs > 1 and sides[BASELINE].kind == "run":
        raise BadInput(
            f"baseline_runs: {rules.baseline!r} is one run; name the baseline by tag:NAME=VALUE "
            "or by its model"
        )


def _apart(
    runs: Sequence[SidedRun], own: Sequence[SidedRun], others: Collection[tuple[str, str, str]]
) -> list[SidedRun]:
    """Return the runs that are not a side's own, nor another side's."""
    return [
        run
        for run in runs
        if run not in own and (run.key.suite, run.run_id, run.key.model) not in others
    ]


def _candidate_runs(
    rules: Rules, side: ResolvedSide, own: Sequence[SidedRun], after: Sequence[SidedRun]
) -> GateRuns:
    deciding = _on_board(side, own)
    if rules.confirm and side.kind == "tag":
        full = _as_full(own, deciding)
        if len(full) > rules.confirm + 1:
            raise BadInput(
                f"{side.text}: {len(full)} runs have this tag, more than confirm "
                f"({rules.confirm}) and the first; tag the runs of one version, or name the "
                "first by run:RUN_ID"
            )
        deciding, *confirming = full
    else:
        confirming = _as_full(after, deciding)[: rules.confirm]
    return GateRuns(
        deciding=(deciding,),
        confirming=tuple(confirming),
        n_needed=rules.confirm - len(confirming),
        newer=_newer(own, deciding),
    )


def _reference_runs(
    rules: Rules, side: ResolvedSide, own: Sequence[SidedRun], after: Sequence[SidedRun]
) -> GateRuns:
    """Return the runs of the baseline or the anchor; this may be too old for further runs."""
    first = _on_board(side, own)
    if side.kind == "run":
        others = _as_full(after, first)
    else:
        others = [run for run in reversed(_as_full(own, first)) if run != first]
    is_baseline = first.key.side == BASELINE
    n_deciding = rules.baseline_runs if is_baseline else 1
    runs = (first, *others)[: max(n_deciding, rules.confirm + 1)]
    return GateRuns(
        deciding=runs[:n_deciding],
        confirming=runs[n_deciding:],
        n_needed=max(0, rules.confirm + 1 - len(runs)) if is_baseline else 0,
        newer=_newer(own, first),
    )


def _on_board(side: ResolvedSide, own: Sequence[SidedRun]) -> SidedRun:
    # With its later runs, another one may be on the board; but a run is the only one of its side.
    return own[0] if side.kind == "run" else next(run for run in own if run.is_on_board)


def _as_full(runs: Sequence[SidedRun], first: SidedRun) -> list[SidedRun]:
    """Return the runs that asked as many tasks as another, and got answers if that did."""
    return [
        run
        for run in runs
        if run.n_covered >= first.n_covered and run.is_answered >= first.is_answered
    ]


def _newer(own: Sequence[SidedRun], first: SidedRun) -> tuple[SidedRun, ...]:
    full = _as_full(own, first)
    return tuple(run for run in own if run.position > first.position and run not in full)


def needed_words(side: ResolvedSide, runs: GateRuns) -> str:
    """Return which further runs are to be made: `1 of the candidate (after run x)`."""
    first = runs.deciding[0]
    how = {"run": f"after run {first.run_id}", "tag": f"with {side.text}", "model": "again"}
    words = how[side.kind]
    if side.kind == "run" and first.key.side == BASELINE:
        # Later runs of the candidate's own model would be taken for the candidate's.
        words = f"tag it and run {first.run_id} alike, and name it by tag:NAME=VALUE"
    return f"{runs.n_needed:,} of the {NAMES[first.key.side]} ({words})"
