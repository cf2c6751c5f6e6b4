"""The outcome of a check, for people in a terminal and for machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from warehouse.output.formatting import as_json, visible
from warehouse.output.terminal import quiet_pipe
from warehouse.output.writers import write_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warehouse.checking.check import Checked, Outcome

# Of the JSON: counted up where a key changes its meaning or goes; new keys may come at any time.
FORMAT = 1
_WORDS = {"critical": "FAILED", "warning": "warning", "info": "info"}


def write_text(checked: Sequence[Checked], out: BinaryIO) -> None:
    """Write what was checked, and each thing that does not hold with some of its rows."""
    with quiet_pipe(out):
        _write_text(checked, out)


def _write_text(checked: Sequence[Checked], out: BinaryIO) -> None:
    columns = ("checked", "rows", "expectations", "result")
    rows = [(c.batch.name, c.n_rows, len(c.outcomes), _result(c)) for c in checked]
    write_rows(columns, rows, "table", out, note=_nothing)
    for each, outcome in problems(checked):
        heading = f"{_WORDS[outcome.expectation.severity]}  {each.batch.name}: {said(outcome)}"
        out.write(f"\n{visible(heading)}\n".encode())
        if each.batch.about:
            out.write(f"{visible(each.batch.about)}\n".encode())
        if outcome.sample:
            names = list(outcome.sample[0])
            values = [list(row.values()) for row in outcome.sample]
            write_rows(names, values, "table", out, note=_nothing)
    out.write(f"\n{summary(checked)}\n".encode())


def write_json(checked: Sequence[Checked], out: BinaryIO) -> None:
    """Write everything as one JSON object, the same for the same rows."""
    failed, warned = counts(checked)
    document = {
        "format": FORMAT,
        "passed": failed == 0,
        "n_expectations": sum(len(each.outcomes) for each in checked),
        "n_failed": failed,
        "n_warnings": warned,
        "batches": [_document(each) for each in checked],
    }
    with quiet_pipe(out):
        out.write(f"{as_json(document)}\n".encode())


def counts(checked: Sequence[Checked]) -> tuple[int, int]:
    """Count what fails the check, and what does not hold otherwise."""
    found = [outcome for _, outcome in problems(checked)]
    failed = sum(outcome.is_failure for outcome in found)
    return failed, len(found) - failed


def problems(checked: Sequence[Checked]) -> list[tuple[Checked, Outcome]]:
    """Give what does not hold, what is critical first."""
    found = [(each, o) for each in checked for o in each.outcomes if not o.passed]
    return sorted(found, key=lambda problem: not problem[1].is_failure)


def said(outcome: Outcome) -> str:
    """Say in a line what does not hold, and how far."""
    if outcome.error:
        return f"{outcome.expectation.text}: cannot be told: {outcome.error}"
    if outcome.n_offending is not None:
        rows = f"{outcome.n_offending:,} row{'s' * (outcome.n_offending != 1)}"
        is_known = outcome.expectation.is_of_no_rows
        return f"{rows}, none expected" if is_known else f"{outcome.expectation.text}: {rows}"
    found = f": it is {outcome.observed}" if outcome.observed else ""
    return f"{outcome.expectation.text}{found}"


def summary(checked: Sequence[Checked]) -> str:
    """Say in a line how it went."""
    failed, warned = counts(checked)
    total = sum(len(each.outcomes) for each in checked)
    parts = [f"{total - failed - warned:,} of {total:,} expectations hold"]
    if failed:
        parts.append(f"{failed:,} failed")
    if warned:
        parts.append(f"{warned:,} warning{'s' * (warned > 1)}")
    return ", ".join(parts)


def _document(each: Checked) -> dict[str, object]:
    return {
        "name": each.batch.name,
        "about": each.batch.about,
        "n_rows": each.n_rows,
        "expectations": [
            {
                "type": outcome.expectation.type,
                "kwargs": outcome.expectation.kwargs,
                "severity": outcome.expectation.severity,
                "description": outcome.expectation.text,
                "passed": outcome.passed,
                "n_offending": outcome.n_offending,
                "observed": outcome.observed or None,
                "error": outcome.error or None,
                "sample": list(outcome.sample),
            }
            for outcome in each.outcomes
        ],
    }


def _result(each: Checked) -> str:
    failed, warned = counts([each])
    parts = [f"{failed} FAILED"] * (failed > 0) + [f"{warned} warned"] * (warned > 0)
    return ", ".join(parts) or "ok"


def _nothing(_: str) -> None:
    """Crop samples silently: the page and the JSON have them whole."""
