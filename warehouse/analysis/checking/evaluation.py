"""The evaluation of expectations on their frames, with as few calls as possible.

Great Expectations takes some milliseconds for each expectation, however few rows there are. Alike
expectations, which differ only in the columns they name, are therefore evaluated as one, on their
small frames put below each other: whether a row offends does not depend on the rows around it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from warehouse.analysis.checking import gx
from warehouse.analysis.checking.frames import FEW_ROWS, Frame, is_by_row, to_pandas
from warehouse.analysis.checking.gx import GxResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from warehouse.analysis.checking.expectations import Expectation


@dataclass(frozen=True, slots=True)
class Evaluation:
    """An expectation, its object of Great Expectations, and the rows to evaluate it on."""

    expectation: Expectation
    prepared: object
    frame: Frame

    @property
    def is_vacuous(self) -> bool:
        """Whether no row or value could offend."""
        if self.expectation.expects_no_rows:
            return self.frame.n_rows == 0
        return self.frame.weights is not None and not self.frame.weights

    @property
    def few_values(self) -> pa.Table | None:
        """The rows, if they are few and it may be evaluated as one with alike expectations."""
        values = self.frame.values
        is_few = values is not None and values.num_rows <= FEW_ROWS
        return values if is_few and is_by_row(self.expectation) else None

    def result(self) -> GxResult:
        """Evaluate it alone."""
        return gx.evaluate(self.prepared, self.frame.data)


@dataclass(frozen=True, slots=True)
class _Member:
    """An evaluation of a group: its position among all, and its frame with the group's columns."""

    position: int
    evaluation: Evaluation
    values: pa.Table


def evaluate_all(evaluations: Sequence[Evaluation]) -> list[GxResult]:
    """Return the result of each evaluation."""
    results = [GxResult(passed=True)] * len(evaluations)
    groups: dict[str, tuple[object, list[_Member]]] = {}
    for position, evaluation in enumerate(evaluations):
        if evaluation.is_vacuous:
            continue
        values = evaluation.few_values
        if values is None:
            results[position] = evaluation.result()
            continue
        names = {name: f"value_{n}" for n, name in enumerate(evaluation.expectation.columns)}
        general = gx.with_columns(evaluation.prepared, names)
        values = values.rename_columns(list(names.values()))
        _, members = groups.setdefault(f"{general!r} {values.schema}", (general, []))
        members.append(_Member(position, evaluation, values))
    for general, members in groups.values():
        for member, result in zip(members, _group_results(general, members), strict=True):
            results[member.position] = result
    return results


def _group_results(general: object, members: Sequence[_Member]) -> Iterator[GxResult]:
    """Yield the result of each of several alike expectations."""
    import pyarrow as pa

    if len(members) > 1:
        together = gx.evaluate(general, to_pandas(pa.concat_tables(m.values for m in members)))
        if together.passed or together.positions:
            yield from _split(together, [m.values.num_rows for m in members])
            return
    # An error names the columns of the expectation that has it.
    for member in members:
        yield member.evaluation.result()


def _split(together: GxResult, sizes: Sequence[int]) -> Iterator[GxResult]:
    for begin, end in pairwise(accumulate(sizes, initial=0)):
        positions = tuple(at - begin for at in together.positions if begin <= at < end)
        yield GxResult(passed=not positions, positions=positions)
