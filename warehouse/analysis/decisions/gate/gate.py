"""The gate itself: reads what the rules need, and decides each of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from warehouse.analysis.decisions.clusters import set_clusters
from warehouse.analysis.decisions.contests import set_directions, unanswered_calls
from warehouse.analysis.decisions.corrected import raw_metric
from warehouse.analysis.decisions.gate.calls import read_totals
from warehouse.analysis.decisions.gate.corrected import (
    corrected_drop,
    decide_corrected_values,
    has_labels,
)
from warehouse.analysis.decisions.gate.decision import Decision, Outcome, Verdict
from warehouse.analysis.decisions.gate.drops import Tested, decide_drops, tested_drop
from warehouse.analysis.decisions.gate.floors import (
    decide_cost,
    decide_latency,
    decide_tasks,
    decide_values,
)
from warehouse.analysis.decisions.gate.judges import with_judges
from warehouse.analysis.decisions.gate.rules import (
    CONFIRMED,
    DROPS,
    OF_METRIC,
    OF_PASS_HAT,
    check_rules,
)
from warehouse.analysis.decisions.gate.runs import (
    ANCHOR,
    BASELINE,
    CANDIDATE,
    NAMES,
    gate_runs,
    needed_words,
)
from warehouse.analysis.decisions.gate.words import p_words, series_name
from warehouse.analysis.decisions.paired import pair, pairs_between, panels
from warehouse.analysis.decisions.pass_hat import pass_hat_series
from warehouse.analysis.decisions.rescored import find_rescorer
from warehouse.analysis.decisions.series import CALL_METRICS, VERDICT, read_series
from warehouse.analysis.decisions.sides import ResolvedSide, parse_side, resolve_sides
from warehouse.core.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb

    from warehouse.analysis.decisions.contests import CountedTasks
    from warehouse.analysis.decisions.gate.rules import Rule, Rules
    from warehouse.analysis.decisions.gate.runs import GateRuns
    from warehouse.analysis.decisions.paired import Panel
    from warehouse.analysis.decisions.rescored import Rescorer
    from warehouse.analysis.decisions.series import Series, SeriesKey


# Whose ratings calibrate those of judges; see the macro rater_name.
_LABELLERS = {"people", "gold"}
# Rules about a mean over what a candidate was asked.
_OF_ALL_ASKED = {"min_value", "min_pass_hat_k", "max_cost_per_passed_usd"}
_ADAPTIVE = (
    "the candidate's run chose its tasks by the answers, so that a mean over them says nothing of "
    "the candidate; `evalstore subset --estimate` estimates its full score"
)


def run_gate(connection: duckdb.DuckDBPyConnection, rules: Rules) -> Verdict:
    """Decide all rules of a gate.

    Args:
        connection: an open warehouse.
        rules: the rules.

    Raises:
        BadInput: the candidate is unknown, a rule needs a baseline and none is named, or the two
            are the same calls.
    """
    return _Gate(connection, rules).verdict()


class _Gate:
    """One gate: its sides, and the series read so far."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, rules: Rules) -> None:
        self._connection = connection
        self._rules = rules
        check_rules(rules)
        [candidate] = resolve_sides(connection, [rules.candidate], suite=rules.suite)
        # Why a side is missing, by its position.
        self._missing: dict[int, str] = {}
        # The positions of the sides are those of the series.
        self._sides = [
            self._resolved(BASELINE, rules.baseline, candidate),
            candidate,
            self._resolved(ANCHOR, rules.anchor, candidate),
        ]
        self._runs = gate_runs(connection, rules, self._sides)
        self._series: dict[str, list[tuple[Series, bool]]] = {}
        self._panels: dict[tuple[str, int | None, bool], list[Panel]] = {}
        self._notes: list[str] = []
        self._rescorer = self._found_rescorer()

    def verdict(self) -> Verdict:
        """Decide the rules; those of a drop together."""
        decisions = self._decided(list(self._test_rules(is_confirming=False)))
        if self._rules.confirm:
            decisions = self._confirmed(decisions)
        decisions = self._without_adaptive(decisions)
        decisions = with_judges(self._connection, self._rules, decisions)
        if self._rules.of_judge and not any(each.judges for each in decisions):
            demands = " and ".join(self._rules.of_judge)
            self._notes.append(f"{demands}: no rule is on a metric whose judge the store knows")
        self._note_runs()
        self._note_unanswered()
        notes = tuple(dict.fromkeys(self._notes))
        return Verdict(rules=self._rules, decisions=tuple(decisions), notes=notes)

    def _without_adaptive(self, decisions: list[Decision]) -> list[Decision]:
        """Let an adaptive run decide no rule about a mean over what was asked."""
        query = "SELECT suite, run_id FROM scores.run_headers WHERE is_adaptive"
        adaptive = set(self._connection.execute(query).fetchall())
        return [
            Decision(
                rule=each.rule,
                outcome=Outcome.INCONCLUSIVE,
                reason=_ADAPTIVE,
                suite=each.suite,
                task_set=each.task_set,
                candidate=each.candidate,
                candidate_run_ids=each.candidate_run_ids,
            )
            if each.rule.kind in _OF_ALL_ASKED
            and any((each.suite, run_id) in adaptive for run_id in each.candidate_run_ids)
            else each
            for each in decisions
        ]

    def _decided(self, found: list[Decision | Tested]) -> list[Decision]:
        tested = [each for each in found if isinstance(each, Tested)]
        decided = iter(decide_drops(tested, self._rules))
        return [next(decided) if isinstance(each, Tested) else each for each in found]

    def _confirmed(self, decisions: list[Decision]) -> list[Decision]:
        """Decide what fails again by all runs, where there are enough of them."""
        failed = {
            _subject(each)
            for each in decisions
            if each.outcome is Outcome.FAILED and each.rule.kind in CONFIRMED
        }
        if not failed:
            return decisions
        found = [each for each in self._test_rules(is_confirming=True) if _subject(each) in failed]
        again = {_subject(each): each for each in self._decided(found)}
        return [
            self._after(each, again[_subject(each)]) if _subject(each) in again else each
            for each in decisions
        ]

    def _after(self, alone: Decision, pooled: Decision) -> Decision:
        """Return what follows from a failure and from all runs together."""
        if lacking := self._lacking(alone):
            asks = [needed_words(self._sides[side], runs) for side, runs in sorted(lacking.items())]
            needed = {NAMES[side]: runs.n_needed for side, runs in lacking.items()}
            return replace(
                alone,
                outcome=Outcome.INCONCLUSIVE,
                reason=f"{alone.reason}; to confirm it, make more runs: {' and '.join(asks)}",
                more_candidate_runs=needed.get("candidate", 0),
                more_baseline_runs=needed.get("baseline", 0),
            )
        p_value = "" if alone.p_adjusted is None else f" ({p_words(alone.p_adjusted)})"
        verb = "fails, too" if pooled.outcome is Outcome.FAILED else "fails"
        return replace(pooled, reason=f"{pooled.reason}; the first run alone {verb}{p_value}")

    def _lacking(self, decision: Decision) -> dict[int, GateRuns]:
        """Return the runs of the sides of a failure that lack further ones, by side."""
        names = {CANDIDATE: decision.candidate}
        if decision.against == NAMES[BASELINE]:
            names[BASELINE] = decision.baseline
        return {
            key.side: runs
            for key, runs in self._runs.items()
            if runs.n_needed
            and (key.suite, key.task_set) == (decision.suite, decision.task_set)
            and names.get(key.side) == series_name(key)
        }

    def _found_rescorer(self) -> Rescorer | None:
        """Return the scorer whose verdicts count, if any; a note names its version."""
        text = self._rules.scorer
        if text is None:
            return None
        for rule in self._rules.rules:
            if rule.kind == "max_cost_per_passed_usd":
                raise BadInput(f"{rule.text}: does not go with a scorer: costs have no re-score")
        rescorer = find_rescorer(self._connection, text, suite=self._rules.suite)
        self._notes.append(f"passed is the verdict of {rescorer.text}, a re-score")
        return rescorer

    def _resolved(self, place: int, text: str | None, candidate: ResolvedSide) -> ResolvedSide:
        """Return a side to compare with; without calls if the store does not have it."""
        nothing = ResolvedSide(text=text or "", calls=())
        if text is None:
            return nothing
        parse_side(text)  # a side that cannot be read is a mistake, not a missing baseline
        name = NAMES[place]
        try:
            [side] = resolve_sides(self._connection, [text], suite=self._rules.suite)
        except BadInput as error:
            self._missing[place] = f"there is no {name}: {error}"
            return nothing
        if set(side.calls) == set(candidate.calls):
            raise BadInput(
                f"candidate {self._rules.candidate!r} and {name} {text!r} are the same calls; "
                "name a run (run:RUN_ID), a tag (tag:NAME=VALUE) or a day (MODEL@DATE)"
            )
        return side

    def _test_rules(self, *, is_confirming: bool) -> Iterator[Decision | Tested]:
        for rule in self._rules.rules:
            found = list(self._test_rule(rule, is_confirming=is_confirming))
            yield from found or [self._nothing(rule)]

    def _test_rule(self, rule: Rule, *, is_confirming: bool) -> Iterator[Decision | Tested]:
        if rule.kind in DROPS:
            yield from self._drops(rule, BASELINE, is_confirming=is_confirming)
            if self._rules.anchor is not None:
                yield from self._drops(rule, ANCHOR, is_confirming=is_confirming)
        elif rule.is_corrected:
            rows = list(self._candidate_rows(rule))
            yield from decide_corrected_values(self._connection, rule, self._rules, rows)
        elif rule.kind in {"min_value", "min_pass_hat_k"}:
            yield from decide_values(rule, self._rules, list(self._candidate_rows(rule)))
        elif rule.kind == "must_pass":
            yield decide_tasks(rule, list(self._candidate_rows(rule)))
        else:
            decide = decide_cost if rule.kind == "max_cost_per_passed_usd" else decide_latency
            for key, runs in self._runs.items():
                if key.side != CANDIDATE or not self._is_meant(rule, key.suite, key.task_set):
                    continue
                counted = (*runs.deciding, *(runs.confirming if is_confirming else ()))
                for totals in read_totals(self._connection, counted, alpha=self._rules.alpha):
                    decision = decide(rule, self._rules, totals)
                    run_ids = tuple(run.run_id for run in counted)
                    yield replace(decision, candidate_run_ids=run_ids)

    def _drops(self, rule: Rule, side: int, *, is_confirming: bool) -> Iterator[Decision | Tested]:
        against = NAMES[side]
        if side in self._missing:
            reason = self._missing[side]
            yield Decision(rule=rule, outcome=Outcome.INCONCLUSIVE, reason=reason, against=against)
            return
        for panel in self._read(rule, is_confirming=is_confirming):
            sides = {series.key.side for series in panel.series}
            if side == ANCHOR and CANDIDATE not in sides:
                continue  # the comparison with the baseline says so
            if BASELINE not in sides:
                self._notes.append(
                    f"{panel.suite}/{panel.task_set}: the baseline was not asked its tasks, so "
                    "that no drop could be looked for"
                )
                continue
            pairs = pairs_between(panel, side, CANDIDATE)
            if not pairs:
                yield self._not_asked(rule, panel, side)
            self._note_unpaired(panel, pairs, side)
            for a, b in pairs:
                if side == ANCHOR and self._is_baseline(panel, a):
                    continue
                age_days = self._age_days(panel, a, b) if side == ANCHOR else None
                tested = tested_drop(
                    rule, self._rules, pair(panel, a, b), against=against, age_days=age_days
                )
                if rule.is_corrected and isinstance(tested, Tested):
                    tested = corrected_drop(self._connection, tested, self._rules)
                yield tested

    def _is_baseline(self, panel: Panel, row: int) -> bool:
        """Return whether the anchor's runs are those of the baseline: one comparison is enough."""
        anchor = panel.series[row]
        is_same = any(
            one.key.side == BASELINE and one.key[1:] == anchor.key[1:] and one.runs == anchor.runs
            for one in panel.series
        )
        if is_same:
            self._notes.append(
                f"{panel.suite}/{panel.task_set}: the anchor and the baseline are the same runs"
            )
        return is_same

    def _age_days(self, panel: Panel, anchor: int, candidate: int) -> int | None:
        """Return by how many days the anchor is older than the candidate, if both have a date."""
        old, new = (
            self._runs[panel.series[row].key].deciding[0].run_date for row in (anchor, candidate)
        )
        return None if old is None or new is None else (new - old).days

    def _set_clusters(self, read: list[Panel]) -> None:
        column = self._rules.cluster
        set_clusters(self._connection, read, column)
        for panel in read if column is not None else ():
            if panel.clusters is None:
                place = f"{panel.suite}/{panel.task_set}"
                note = f"{place}: no two tasks have the same {column!r}: each is its own cluster"
                self._notes += [note] if note not in self._notes else []

    def _note_unpaired(self, panel: Panel, pairs: list[tuple[int, int]], side: int) -> None:
        """Note what was called with settings that the other side does not have."""
        paired = {row for pair_of in pairs for row in pair_of}
        for row, series in enumerate(panel.series if pairs else ()):
            if row not in paired and series.key.side in {side, CANDIDATE}:
                other = NAMES[side] if series.key.side == CANDIDATE else "candidate"
                whose = "other side" if other != NAMES[ANCHOR] else other
                self._notes.append(
                    f"{panel.suite}/{panel.task_set}: {series_name(series.key)} of the "
                    f"{NAMES[series.key.side]} was not compared: the {whose} has no such settings"
                )

    def _not_asked(self, rule: Rule, panel: Panel, side: int) -> Decision:
        has_side = any(series.key.side == side for series in panel.series)
        reason = f"the candidate was not asked any of the {NAMES[side]}'s tasks"
        return Decision(
            rule=rule,
            outcome=Outcome.INCONCLUSIVE,
            reason=reason if has_side else f"the {NAMES[side]} was not asked any of these tasks",
            suite=panel.suite,
            task_set=panel.task_set,
            against=NAMES[side],
        )

    def _candidate_rows(self, rule: Rule) -> Iterator[tuple[Panel, int]]:
        """Yield the candidate's series of a rule's metric, each with its panel."""
        for panel in self._read(rule, is_confirming=False):
            for row, series in enumerate(panel.series):
                if series.key.side == CANDIDATE:
                    yield panel, row

    def _is_meant(self, rule: Rule, suite: str, task_set: str) -> bool:
        return rule.suite in {None, suite} and rule.task_set in {None, task_set}

    def _read(self, rule: Rule, *, is_confirming: bool) -> list[Panel]:
        """Return the panels of a rule's metric, in its suite and task set."""
        metric = rule.metric if rule.kind in OF_METRIC else VERDICT
        key = (metric, rule.k, is_confirming)
        if key not in self._panels:
            found = [
                series
                for series, is_further in self._read_series(raw_metric(metric))
                if is_confirming or not is_further
            ]
            missing = self._rules.missing
            if rule.k is not None:
                found, missing = pass_hat_series(found, rule.k, missing=missing), "exclude"
            read = self._without_calibrating_labels(panels(found, missing=missing))
            self._set_clusters(read)
            set_directions(self._connection, read)
            if rule.is_corrected:
                read = [panel for panel in read if has_labels(self._connection, panel)]
            self._panels[key] = read
        meant = [
            panel
            for panel in self._panels[key]
            if self._is_meant(rule, panel.suite, panel.task_set)
        ]
        for panel in meant:
            # Costs and times are refused with the rules.
            if panel.less_is_better and metric not in CALL_METRICS:
                raise BadInput(
                    f"{rule.kind}: less of {metric} is better in {panel.suite}/{panel.task_set}, "
                    "as its logs say; limits are of metrics of which more is better"
                )
        return meant

    def _without_calibrating_labels(self, read: list[Panel]) -> list[Panel]:
        """Leave out labels of some of the answers that a judge rated: they show how good it is."""
        kept = []
        for panel in read:
            n_labels = int(panel.n_attempts.sum())
            is_partial = panel.metric.scorer in _LABELLERS and any(
                other.metric.scorer not in _LABELLERS
                and (other.suite, other.task_set) == (panel.suite, panel.task_set)
                and int(other.n_attempts.sum()) > n_labels
                for other in read
            )
            if is_partial:
                self._notes.append(
                    f"{panel.suite}/{panel.task_set}: {panel.metric.scorer} labelled {n_labels:,} "
                    f"answers by {panel.metric.metric}, which show how good its judges are: too "
                    "few to be decided themselves"
                )
            else:
                kept.append(panel)
        return kept

    def _read_series(self, metric: str) -> list[tuple[Series, bool]]:
        """Return the series of each run, and whether it only confirms a failure."""
        if metric not in self._series:
            found = self._series[metric] = []
            listed = [(*runs.deciding, *runs.confirming) for runs in self._runs.values()]
            for depth in range(max(map(len, listed), default=0)):
                runs = [runs[depth] for runs in listed if len(runs) > depth]
                found += [
                    (series, depth >= len(self._runs[series.key].deciding))
                    for series in read_series(
                        self._connection,
                        self._sides,
                        metric=metric,
                        rescorer=self._rescorer,
                        runs=runs,
                    )
                ]
        return self._series[metric]

    def _note_runs(self) -> None:
        """Note newer runs that do not count, and a baseline of fewer runs than asked for."""
        for key, runs in self._runs.items():
            place, name = f"{key.suite}/{key.task_set}", NAMES[key.side]
            first = runs.deciding[0]
            completions = [run.run_id for run in runs.newer if run.is_completion]
            others = [run for run in runs.newer if not run.is_completion]
            if completions:
                self._notes.append(
                    f"{place}: answers of {', '.join(completions)} count where {first.run_id} "
                    f"of the {name} got none"
                )
            if others:
                self._notes.append(
                    f"{place}: the newer run {others[-1].run_id} of the {name} asked fewer "
                    f"tasks or got no answer, and does not count; {first.run_id} does"
                )
            n_runs = self._rules.baseline_runs
            if key.side == BASELINE and len(runs.deciding) < n_runs:
                self._notes.append(
                    f"{place}: the baseline has {len(runs.deciding)} of baseline_runs ({n_runs}) "
                    "that asked as many tasks"
                )

    def _note_unanswered(self) -> None:
        """Note who got no answer to many calls, if verdicts decide."""
        if self._rescorer is not None or VERDICT not in self._series:
            return
        sides: dict[SeriesKey, CountedTasks] = {}
        for series, is_further in self._series[VERDICT]:
            if not is_further:
                runs = {(series.key, run_id): set(series.asked) for run_id in series.runs}
                sides.setdefault(series.key, {}).update(runs)
        self._notes += [
            f"{key.suite}/{key.task_set}: the {NAMES[key.side]} {text}"
            for key, text in unanswered_calls(self._connection, sides).items()
        ]

    def _nothing(self, rule: Rule) -> Decision:
        places = [rule.suite or self._rules.suite, rule.task_set or self._rules.task_set]
        place = "/".join(filter(None, places))
        where = f" of {place}" if place else ""
        is_of_metric = rule.kind in OF_METRIC | OF_PASS_HAT
        what = rule.metric if is_of_metric else "its calls"
        return Decision(
            rule=rule,
            outcome=Outcome.INCONCLUSIVE,
            reason=f"the store has no value of {what} for these sides{where}",
        )


def _subject(each: Decision | Tested) -> tuple[object, ...]:
    """Return what a decision is about: it stays the same with more runs."""
    decision = each.decision if isinstance(each, Tested) else each
    names = (decision.suite, decision.task_set, decision.scorer, decision.filter)
    return (decision.rule, *names, decision.candidate, decision.baseline, decision.against)
