"""The gate itself: reads what the rules need, and decides each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.decisions.gate.calls import read_totals
from warehouse.decisions.gate.decision import Decision, Outcome, Verdict
from warehouse.decisions.gate.drops import Tested, decide_drops, missed_limit, tested_drop
from warehouse.decisions.gate.floors import decide_cost, decide_latency, decide_tasks, decide_value
from warehouse.decisions.gate.words import series_name
from warehouse.decisions.paired import pair, pairs_of_sides, panels
from warehouse.decisions.rescored import find_rescorer
from warehouse.decisions.series import VERDICT, read_series
from warehouse.decisions.sides import ResolvedSide, parse_side, resolve_sides
from warehouse.decisions.task_columns import task_values
from warehouse.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import duckdb

    from warehouse.decisions.gate.rules import Rule, Rules
    from warehouse.decisions.paired import Panel
    from warehouse.decisions.rescored import Rescorer
    from warehouse.decisions.series import Series

_BASELINE, _CANDIDATE = 0, 1


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
        _check_max_missed(rules)
        [self._candidate] = resolve_sides(connection, [rules.candidate], suite=rules.suite)
        self._baseline, self._no_baseline = self._resolved_baseline()
        self._panels: dict[str, list[Panel]] = {}
        self._notes: list[str] = []
        self._clusters: dict[tuple[str, str], dict[str, str]] = {}
        self._rescorer = self._found_rescorer()

    def verdict(self) -> Verdict:
        """Decide the rules; those of a drop together."""
        found = [each for rule in self._rules.rules for each in self._of_rule(rule)]
        tested = [each for each in found if isinstance(each, Tested)]
        decided = iter(decide_drops(tested, self._rules))
        decisions = [next(decided) if isinstance(each, Tested) else each for each in found]
        notes = tuple(dict.fromkeys(self._notes))
        return Verdict(rules=self._rules, decisions=tuple(decisions), notes=notes)

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

    def _resolved_baseline(self) -> tuple[ResolvedSide | None, str]:
        """Return the baseline; None, with the reason, if the store does not have it."""
        text = self._rules.baseline
        if text is None:
            for rule in self._rules.rules:
                if rule.kind == "max_drop":
                    raise BadInput(f"{rule.text}: needs a baseline; name one with `baseline`")
            return None, ""
        parse_side(text)  # a side that cannot be read is a mistake, not a missing baseline
        try:
            [side] = resolve_sides(self._connection, [text], suite=self._rules.suite)
        except BadInput as error:
            return None, f"there is no baseline: {error}"
        if set(side.calls) == set(self._candidate.calls):
            raise BadInput(
                f"candidate {self._rules.candidate!r} and baseline {text!r} are the same calls; "
                "name a run (run:RUN_ID), a tag (tag:NAME=VALUE) or a day (MODEL@DATE)"
            )
        return side, ""

    def _of_rule(self, rule: Rule) -> Iterator[Decision | Tested]:
        found = list(self._decisions(rule))
        yield from found or [self._nothing(rule)]

    def _decisions(self, rule: Rule) -> Iterator[Decision | Tested]:
        if rule.kind == "max_drop":
            yield from self._drops(rule)
        elif rule.kind == "min_value":
            for panel, row in self._of_candidate(rule):
                yield decide_value(rule, self._rules, panel, row=row, labels=self._labels(panel))
        elif rule.kind == "must_pass":
            yield decide_tasks(rule, list(self._of_candidate(rule)))
        else:
            decide = decide_cost if rule.kind == "max_cost_per_passed_usd" else decide_latency
            for totals in read_totals(
                self._connection,
                self._candidate,
                suite=rule.suite or self._rules.suite,
                task_set=rule.task_set or self._rules.task_set,
            ):
                yield decide(rule, self._rules, totals)

    def _drops(self, rule: Rule) -> Iterator[Decision | Tested]:
        if self._baseline is None:
            yield Decision(rule=rule, outcome=Outcome.INCONCLUSIVE, reason=self._no_baseline)
            return
        for panel in self._read(rule):
            sides = {series.key.side for series in panel.series}
            if _BASELINE not in sides:
                self._notes.append(
                    f"{panel.suite}/{panel.task_set}: the baseline was not asked its tasks, so "
                    "that no drop could be looked for"
                )
                continue
            pairs = pairs_of_sides(panel)
            if not pairs:
                yield self._not_asked(rule, panel)
            self._note_unpaired(panel, pairs)
            for a, b in pairs:
                yield tested_drop(rule, self._rules, pair(panel, a, b), self._labels(panel))

    def _labels(self, panel: Panel) -> dict[str, str] | None:
        """Return the cluster of each task of a panel by its ID; None if tasks are independent."""
        column = self._rules.cluster
        if column is None:
            return None
        if not self._clusters:
            self._clusters = task_values(self._connection, column)
        found = self._clusters.get((panel.suite, panel.task_set), {})
        if not found:
            place = f"{panel.suite}/{panel.task_set}"
            self._notes.append(f"{place}: no task has a value {column!r}: each is its own cluster")
        return found

    def _note_unpaired(self, panel: Panel, pairs: list[tuple[int, int]]) -> None:
        """Note what was called with settings that the other side does not have."""
        paired = {row for pair_of in pairs for row in pair_of}
        for row, series in enumerate(panel.series if pairs else ()):
            if row not in paired:
                side = "baseline" if series.key.side == _BASELINE else "candidate"
                self._notes.append(
                    f"{panel.suite}/{panel.task_set}: {series_name(series.key)} of the {side} was "
                    "not compared: the other side has no such settings"
                )

    def _not_asked(self, rule: Rule, panel: Panel) -> Decision:
        return Decision(
            rule=rule,
            outcome=Outcome.INCONCLUSIVE,
            reason="the candidate was not asked any of the baseline's tasks",
            suite=panel.suite,
            task_set=panel.task_set,
        )

    def _of_candidate(self, rule: Rule) -> Iterator[tuple[Panel, int]]:
        """Yield the candidate's series of a rule's metric, each with its panel."""
        for panel in self._read(rule):
            for row, series in enumerate(panel.series):
                if series.key.side == _CANDIDATE:
                    yield panel, row

    def _read(self, rule: Rule) -> list[Panel]:
        """Return the panels of a rule's metric, in its suite and task set."""
        metric = VERDICT if rule.kind == "must_pass" else rule.metric
        if metric not in self._panels:
            # The positions of the sides are those of the series.
            sides = [self._baseline or _nothing_of(self._rules), self._candidate]
            series = read_series(
                self._connection,
                sides,
                metric=metric,
                task_set=self._rules.task_set,
                rescorer=self._rescorer,
            )
            self._panels[metric] = panels(series, missing=self._rules.missing)
            self._note_newer_runs(series)
        return [
            panel
            for panel in self._panels[metric]
            if rule.suite in {None, panel.suite} and rule.task_set in {None, panel.task_set}
        ]

    def _note_newer_runs(self, found: Iterable[Series]) -> None:
        """Note newer runs that do not count: the gate would otherwise seem to be about them."""
        for series in found:
            if series.newer:
                side = "baseline" if series.key.side == _BASELINE else "candidate"
                self._notes.append(
                    f"{series.key.suite}/{series.key.task_set}: the newer run "
                    f"{series.newer[-1].run_id} of the {side} asked fewer tasks or got no answer, "
                    f"and does not count; {series.runs[0]} does"
                )

    def _nothing(self, rule: Rule) -> Decision:
        places = [rule.suite or self._rules.suite, rule.task_set or self._rules.task_set]
        place = "/".join(filter(None, places))
        where = f" of {place}" if place else ""
        what = rule.metric if rule.kind in {"max_drop", "min_value"} else "its calls"
        return Decision(
            rule=rule,
            outcome=Outcome.INCONCLUSIVE,
            reason=f"the store has no value of {what} for these sides{where}",
        )


def _check_max_missed(rules: Rules) -> None:
    for rule in rules.rules:
        max_missed = missed_limit(rule, rules) if rule.kind == "max_drop" else None
        if max_missed is None:
            continue
        if rules.proves:
            raise BadInput(f"{rule.text}: max_missed does not go with prove, which misses no drop")
        if max_missed <= rule.limit:
            raise BadInput(
                f"{rule.text}: max_missed ({max_missed:g}) must be larger than max_drop: smaller "
                "drops are allowed"
            )


def _nothing_of(rules: Rules) -> ResolvedSide:
    return ResolvedSide(text=rules.baseline or "", calls=())
