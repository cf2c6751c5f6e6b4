"""The report of a gate: text for a terminal, and JSON.

Names of models and tasks come from logs, so that each format escapes them.
"""

from __future__ import annotations

from dataclasses import fields
from textwrap import wrap
from typing import TYPE_CHECKING

from warehouse.analysis.decisions.gate.decision import Decision
from warehouse.analysis.decisions.gate.rules import OF_JUDGE
from warehouse.analysis.decisions.gate.words import runs_words
from warehouse.core.text.formatting import as_json, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warehouse.analysis.decisions.gate.decision import Verdict

# Version of the JSON: incremented when a key is removed or changes its meaning; keys may be added.
FORMAT = 1
_WIDTH = len("inconclusive")
# What the JSON has of the rules, in this order.
_SETTINGS = (
    *("candidate", "baseline", "baseline_runs", "anchor", "max_anchor_days", "confirm", "alpha"),
    *("min_tasks", "min_coverage", "max_missed", "missing", "cluster"),
    *OF_JUDGE,
)


def summary(verdict: Verdict) -> str:
    """Return what follows from all decisions, in a sentence."""
    treated = [verdict.treatment(decision) for decision in verdict.decisions]
    counts = {name: treated.count(name) for name in ("passed", "failed", "inconclusive", "warning")}
    words = {"warning": "not decided (warning)", "inconclusive": "not decided"}
    listed = ", ".join(f"{n:,} {words.get(name, name)}" for name, n in counts.items() if n)
    left_out = f"; {verdict.left_out}" if verdict.left_out else ""
    return f"gate {verdict.outcome.value}: {listed}{left_out}"


def sides(verdict: Verdict) -> str:
    """Return which sides were compared."""
    rules = verdict.rules
    text = rules.candidate + (f" against {rules.baseline}" if rules.baseline else "")
    return text + (f" and the anchor {rules.anchor}" if rules.anchor else "")


def side_runs(verdict: Verdict) -> list[str]:
    """Return the runs that each side stands for, unless it is a run: `tag:a=b is run x`."""
    rules, decisions = verdict.rules, verdict.decisions
    named = [(rules.candidate, [run for each in decisions for run in each.candidate_run_ids])]
    for text, against in ((rules.baseline, "baseline"), (rules.anchor, "anchor")):
        of_side = [each.baseline_run_ids for each in decisions if each.against == against]
        named.append((text or "", [run for runs in of_side for run in runs]))
    return [
        f"{text} is {runs_words(list(dict.fromkeys(runs)))}"
        for text, runs in named
        if runs and set(runs) != {text.removeprefix("run:")}
    ]


def heading(verdict: Verdict, decision: Decision) -> str:
    """Return the rule and where it was applied: `max_drop 0.02 of passed (mine)`.

    Where that is not enough to distinguish it, what was called is named too.
    """
    place = _place(decision)
    text = decision.rule.text + (f" ({place})" if place else "")
    alike = [
        other
        for other in verdict.decisions
        if (other.rule, other.against) == (decision.rule, decision.against)
    ]
    if decision.against != "baseline":
        text += f", against the {decision.against}"
    if decision.candidate is None or [_place(other) for other in alike].count(place) == 1:
        return text
    against = f" against {decision.baseline}" if decision.baseline else ""
    return f"{text}, {decision.candidate}{against}"


def _place(decision: Decision) -> str:
    return ", ".join(filter(None, [decision.place, decision.scorer, decision.filter]))


def text_report(verdict: Verdict, *, width: int | None = None) -> str:
    """Return the report for a log, or for a terminal of some width in characters."""
    return "\n".join(_lines(verdict, width)) + "\n"


def _lines(verdict: Verdict, width: int | None) -> Iterator[str]:
    yield visible(sides(verdict))
    for text in side_runs(verdict):
        yield from _indented(visible(text), width)
    for decision in verdict.decisions:
        treated = verdict.treatment(decision)
        yield visible(f"{treated:{_WIDTH}}  {heading(verdict, decision)}")
        for text in decision.texts:
            yield from _indented(visible(text), width)
    yield visible(summary(verdict))


def _indented(text: str, width: int | None) -> list[str]:
    indent = " " * (_WIDTH + 2)
    if width is None or width <= 2 * len(indent):
        return [indent + text]
    return wrap(text, width, initial_indent=indent, subsequent_indent=indent)


def json_report(verdict: Verdict) -> str:
    """Return everything as one JSON object, identical for identical rows."""
    names = [each.name for each in fields(Decision) if each.name not in {"rule", "outcome"}]
    decisions = [
        {
            "rule": decision.rule.text,
            "kind": decision.rule.kind,
            "metric": decision.rule.metric,
            "k": decision.rule.k,
            "limit": decision.rule.limit,
            "outcome": decision.outcome.value,
            "counts_as": verdict.treatment(decision),
            **{name: getattr(decision, name) for name in names},
        }
        for decision in verdict.decisions
    ]
    document = {
        "format": FORMAT,
        "outcome": verdict.outcome.value,
        "exit_code": verdict.exit_code,
        **{name: getattr(verdict.rules, name) for name in _SETTINGS},
        "prove": verdict.rules.proves,
        "decisions": decisions,
        "notes": list(verdict.notes),
    }
    if verdict.left_out:
        document["left_out"] = verdict.left_out
    return as_json(document) + "\n"
