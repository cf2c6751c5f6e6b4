"""The report of a check, as text for a terminal and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from warehouse.app.output.terminal import Layout, quiet_pipe
from warehouse.app.output.writers import write_rows
from warehouse.core.text.formatting import as_json, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from warehouse.analysis.checking.check import CheckedRelation, ExpectationResult

# Version of the JSON: incremented when a key is removed or changes its meaning; keys may be added.
FORMAT = 1
_SAMPLES = Layout(options="the page has all")
_WORDS = {"critical": "FAILED", "warning": "warning", "info": "info"}


def write_text(checked: Sequence[CheckedRelation], out: BinaryIO) -> None:
    """Write what was checked, and what failed with sample rows."""
    with quiet_pipe(out):
        _write_text(checked, out)


def _write_text(checked: Sequence[CheckedRelation], out: BinaryIO) -> None:
    columns = ("checked", "rows", "expectations", "result")
    rows = [(c.relation.name, c.n_rows, len(c.results), _result(c)) for c in checked]
    write_rows(columns, rows, "table", out, note=_ignore)
    for each, result in problems(checked):
        heading = f"{_WORDS[result.expectation.severity]}  {each.relation.name}: {describe(result)}"
        out.write(f"\n{visible(heading)}\n".encode())
        if each.relation.about:
            out.write(f"{visible(each.relation.about)}\n".encode())
        if result.sample:
            names = list(result.sample[0])
            values = [list(row.values()) for row in result.sample]
            write_rows(names, values, "table", out, note=_writer(out), layout=_SAMPLES)
    out.write(f"\n{summary(checked)}\n".encode())


def write_json(checked: Sequence[CheckedRelation], out: BinaryIO) -> None:
    """Write everything as one JSON object, identical for identical rows."""
    failed, warned = counts(checked)
    document = {
        "format": FORMAT,
        "passed": failed == 0,
        "n_expectations": sum(len(each.results) for each in checked),
        "n_failed": failed,
        "n_warnings": warned,
        "batches": [_document(each) for each in checked],
    }
    with quiet_pipe(out):
        out.write(f"{as_json(document)}\n".encode())


def counts(checked: Sequence[CheckedRelation]) -> tuple[int, int]:
    """Return the number of critical failures, and of the other expectations not met."""
    found = [result for _, result in problems(checked)]
    failed = sum(result.is_failure for result in found)
    return failed, len(found) - failed


def problems(checked: Sequence[CheckedRelation]) -> list[tuple[CheckedRelation, ExpectationResult]]:
    """Return the expectations that are not met, critical ones first."""
    found = [(each, o) for each in checked for o in each.results if not o.passed]
    return sorted(found, key=lambda problem: not problem[1].is_failure)


def describe(result: ExpectationResult) -> str:
    """Return in one line what is not met, and to what extent."""
    if result.error:
        return f"{result.expectation.text}: cannot be evaluated: {result.error}"
    if result.n_offending is not None:
        rows = f"{result.n_offending:,} row{'s' * (result.n_offending != 1)}"
        if result.expectation.expects_no_rows:
            return f"{rows}, none expected"
        return f"{result.expectation.text}: {rows}"
    found = f": it is {result.observed}" if result.observed else ""
    return f"{result.expectation.text}{found}"


def summary(checked: Sequence[CheckedRelation]) -> str:
    """Return the numbers of met and unmet expectations in one line."""
    failed, warned = counts(checked)
    total = sum(len(each.results) for each in checked)
    parts = [f"{total - failed - warned:,} of {total:,} expectations met"]
    if failed:
        parts.append(f"{failed:,} failed")
    if warned:
        parts.append(f"{warned:,} warning{'s' * (warned > 1)}")
    return ", ".join(parts)


def _document(each: CheckedRelation) -> dict[str, object]:
    return {
        "name": each.relation.name,
        "about": each.relation.about,
        "n_rows": each.n_rows,
        "expectations": [
            {
                "type": result.expectation.type,
                "kwargs": result.expectation.kwargs,
                "severity": result.expectation.severity,
                "description": result.expectation.text,
                "passed": result.passed,
                "n_offending": result.n_offending,
                "observed": result.observed or None,
                "error": result.error or None,
                "sample": list(result.sample),
            }
            for result in each.results
        ],
    }


def _result(each: CheckedRelation) -> str:
    failed, warned = counts([each])
    parts = [f"{failed} FAILED"] * (failed > 0) + [f"{warned} warned"] * (warned > 0)
    return ", ".join(parts) or "ok"


def _writer(out: BinaryIO) -> Callable[[str], None]:
    """Return a function that writes a line about the table before it."""

    def write(text: str) -> None:
        out.write(f"{text}\n".encode())

    return write


def _ignore(_: str) -> None:
    """Ignore notes that samples were cropped: the page and the JSON have them complete."""
