"""The report of a gate for continuous integration: JUnit XML, Markdown, GitHub annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from warehouse.analysis.decisions.gate.decision import Outcome
from warehouse.analysis.decisions.gate.reports import heading, side_runs, sides, summary
from warehouse.core.text.formatting import markdown, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from warehouse.analysis.decisions.gate.decision import Decision, Verdict

_SUITE = "evalstore gate"
_LEVELS = {"failed": "error", "inconclusive": "error", "warning": "warning"}
# GitHub links names after `@` and numbers after `#` wherever they are.
_MENTIONS = str.maketrans({"@": "@&#8203;", "#": "#&#8203;"})


def junit_report(verdict: Verdict) -> str:
    """Return JUnit XML: a test case for each rule and task set.

    A rule that fails is a failure; one that the data cannot decide is an error, or skipped where
    the rules let it pass.
    """
    decisions = verdict.decisions
    treated = [verdict.treatment(decision) for decision in decisions]
    n_skipped = sum(map(_is_skipped, decisions, treated))
    counts = (
        f'tests="{len(decisions)}" failures="{treated.count("failed")}" '
        f'errors="{treated.count("inconclusive")}" skipped="{n_skipped}"'
    )
    cases = "".join(_case(verdict, decision) for decision in decisions)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f"<testsuites {counts}>\n"
        f'<testsuite name="{_SUITE}" {counts}>\n'
        f"{cases}"
        f"<system-out>{_xml_lines([sides(verdict), *side_runs(verdict), summary(verdict)])}"
        "</system-out>\n"
        "</testsuite>\n</testsuites>\n"
    )


def _is_skipped(decision: Decision, treated: str) -> bool:
    return decision.outcome is Outcome.INCONCLUSIVE and treated in {"passed", "warning"}


def _case(verdict: Verdict, decision: Decision) -> str:
    treated, name = verdict.treatment(decision), _attribute(heading(verdict, decision))
    attributes = f"classname={_attribute(_class_name(decision))} name={name}"
    reason = _attribute(_reason(decision))
    if treated == "failed":
        inside = f"<failure message={reason}/>"
    elif treated == "inconclusive":
        inside = f'<error type="inconclusive" message={reason}/>'
    elif _is_skipped(decision, treated):
        inside = f"<skipped message={reason}/>"
    else:
        inside = f"<system-out>{_xml(_reason(decision))}</system-out>"
    return f"<testcase {attributes}>{inside}</testcase>\n"


def _reason(decision: Decision) -> str:
    return "; ".join(decision.texts)


def _class_name(decision: Decision) -> str:
    return ".".join(filter(None, ["gate", decision.suite, decision.task_set]))


def _attribute(text: str) -> str:
    return quoteattr(visible(text))


def _xml_lines(texts: Iterable[str]) -> str:
    return "\n".join(map(_xml, texts))


def _xml(text: str) -> str:
    # Characters that XML forbids are all among those that `visible` writes as escapes.
    return escape(visible(text))


def markdown_report(verdict: Verdict) -> str:
    """Return Markdown for the summary of a pull request."""
    return "\n".join(_markdown_lines(verdict)) + "\n"


def _markdown_lines(verdict: Verdict) -> Iterator[str]:
    marks = {"passed": "✅", "failed": "❌", "inconclusive": "❔", "warning": "⚠️"}
    yield f"### {marks[verdict.outcome.value]} {_markup(summary(verdict))}"
    yield ""
    yield _markup("; ".join([sides(verdict), *side_runs(verdict)]))
    yield ""
    yield "| | rule | what the data show |"
    yield "| --- | --- | --- |"
    for decision in verdict.decisions:
        treated = verdict.treatment(decision)
        cells = [heading(verdict, decision), _reason(decision)]
        yield f"| {marks[treated]} {treated} | {' | '.join(map(_markup, cells))} |"
    for note in verdict.notes:
        yield ""
        yield _markup(note)


def _markup(text: str) -> str:
    return markdown(text).translate(_MENTIONS)


def github_report(verdict: Verdict) -> str:
    """Return workflow commands of GitHub Actions: an annotation for each rule that is not kept.

    A rule with a judge has one in any case, which says how good the judge is.
    """
    lines = []
    for decision in verdict.decisions:
        level = _LEVELS.get(verdict.treatment(decision), "notice" if decision.judges else None)
        if level is not None:
            title = _property(f"{verdict.treatment(decision)}: {heading(verdict, decision)}")
            lines.append(f"::{level} title={title}::{_message(_reason(decision))}")
    if not lines or verdict.left_out:
        lines.append(f"::notice title={_property(_SUITE)}::{_message(summary(verdict))}")
    return "\n".join(lines) + "\n"


def _message(text: str) -> str:
    """Return a text in which GitHub finds neither the end of a command nor an escape."""
    return visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
