"""The page of a check: what failed, with sample rows, and everything that was checked."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.app.output.check_report import counts, describe, problems
from warehouse.app.output.html import render
from warehouse.core.text.formatting import human

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warehouse.analysis.checking.check import CheckedRelation, ExpectationResult

_TEMPLATE = Path(__file__).with_name("templates") / "check_page.html"
_STYLE = Path(__file__).with_name("templates") / "check_page.css"
_LONG = 40  # characters: a longer value gets a wider column


def page(checked: Sequence[CheckedRelation], when: datetime | None = None) -> str:
    """Return the page.

    Args:
        checked: the relations that were checked.
        when: time of the check, UTC; the current time by default.
    """
    failed, warned = counts(checked)
    found = problems(checked)
    verdict = _verdict(failed, warned)
    return render(
        _TEMPLATE,
        f"evalstore check: {verdict}",
        style=_STYLE.read_text("utf-8"),
        tone="bad" if failed else "good",
        verdict=verdict,
        checked_at=f"{when or datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        figures=_figures(checked, failed, warned),
        failures=[_problem(each, o) for each, o in found if o.is_failure],
        warnings=[_problem(each, o) for each, o in found if not o.is_failure],
        cards=[_card(each) for each in checked],
    )


def _verdict(failed: int, warned: int) -> str:
    if failed == 0:
        return "Nothing failed" if warned else "All expectations are met"
    return "One expectation is not met" if failed == 1 else f"{failed:,} expectations are not met"


def _figures(
    checked: Sequence[CheckedRelation], failed: int, warned: int
) -> list[tuple[str, str, str]]:
    total = sum(len(each.results) for each in checked)
    results = next((each.n_rows for each in checked if each.relation.name == "lake.results"), 0)
    return [
        ("results", f"{results:,}", ""),
        ("expectations", f"{total:,}", ""),
        ("met", f"{total - failed - warned:,}", "good"),
        ("failed", f"{failed:,}", "bad" if failed else ""),
        ("warnings", f"{warned:,}", "warn" if warned else ""),
    ]


def _problem(each: CheckedRelation, result: ExpectationResult) -> dict[str, object]:
    """Return an expectation that is not met, as its card shows it."""
    place = result.expectation.location
    where = f" · {place.file}, line {place.line}" if place.line else ""
    return {
        "relation": each.relation,
        "tone": _tone(result),
        "extent": _extent(result),
        "message": describe(result),
        "source": result.expectation.type + where,
        # Of each cell the column, the text, and its class.
        "sample": [[(name, *_cell(value)) for name, value in row.items()] for row in result.sample],
    }


def _extent(result: ExpectationResult) -> str:
    if result.error:
        return "not evaluated"
    if result.n_offending is None:
        return result.observed or "not met"
    return _rows(result.n_offending)


def _cell(value: object) -> tuple[str, str]:
    """Return a value's text and the class of its cell."""
    if value is None:
        return "", "null"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value), "n"
    text = human(value)
    return text, "long" if len(text) > _LONG else "short"


def _card(each: CheckedRelation) -> dict[str, object]:
    """Return a relation that was checked, with a line per expectation: tone, sign and text."""
    failed, warned = counts([each])
    marks = [f"{failed} failed"] * (failed > 0) + [f"{warned} warned"] * (warned > 0)
    return {
        "relation": each.relation,
        "rows": _rows(each.n_rows),
        "tone": "bad" if failed else "warn" if warned else "good",
        "marks": ", ".join(marks) or "ok",
        "lines": [_line(result) for result in each.results],
    }


def _line(result: ExpectationResult) -> tuple[str, str, str]:
    if result.passed:
        return "good", "✓", result.expectation.text
    return _tone(result), "✗", describe(result)


def _tone(result: ExpectationResult) -> str:
    return "bad" if result.is_failure else "warn"


def _rows(count: int) -> str:
    return f"{count:,} row{'s' * (count != 1)}"
