"""The progress of a run: live bars on a terminal, otherwise a line now and then."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from runners.providers.base import EMPTY, Reply
from warehouse.app.console.cli import note
from warehouse.core.text.formatting import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.progress import Progress as Bars
    from rich.progress import TaskID

    from runners.engine.engine import CallOutcome

_SECONDS_BETWEEN_LINES = 10.0


@dataclass(slots=True)
class _Count:
    total: int
    done: int = 0
    failed: int = 0
    empty: int = 0
    n_of_unknown_cost: int = 0
    cost_usd: float | None = None
    bar: TaskID | None = None


class Progress:
    """Counts outcomes and shows them on standard error. Use it as a context manager.

    Args:
        models: the name of the model of each pending cell.
    """

    def __init__(self, models: Iterable[str]) -> None:
        self._counts: dict[str, _Count] = {}
        for model in models:
            self._counts.setdefault(model, _Count(0)).total += 1
        self._began = self._last_line = time.monotonic()
        self._bars: Bars | None = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            self._bars = _bars()
            for model, count in self._counts.items():
                name = visible(model).replace("[", r"\[")
                count.bar = self._bars.add_task(name, total=count.total, state="")
            self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bars is not None:
            self._bars.stop()
        for model, count in self._counts.items():
            note(self._line(model, count))

    def count(self, model: str, outcome: CallOutcome) -> None:
        """Count the outcome of a cell."""
        count = self._counts[model]
        count.done += 1
        if not isinstance(outcome.result, Reply):
            is_empty = outcome.result.failure_type == EMPTY
            count.empty += is_empty
            count.failed += not is_empty
        if outcome.result.cost_usd is not None:
            count.cost_usd = (count.cost_usd or 0.0) + outcome.result.cost_usd
        elif isinstance(outcome.result, Reply):
            count.n_of_unknown_cost += 1
        now = time.monotonic()
        if self._bars is not None and count.bar is not None:
            self._bars.update(count.bar, completed=count.done, state=self._state(count))
        elif count.done < count.total and now - self._last_line >= _SECONDS_BETWEEN_LINES:
            self._last_line = now
            note(self._line(model, count))

    def _line(self, model: str, count: _Count) -> str:
        return f"{visible(model)}: {count.done} of {count.total} done, {self._state(count)}"

    def _state(self, count: _Count) -> str:
        seconds = max(time.monotonic() - self._began, 1e-9)
        left = (count.total - count.done) * seconds / max(count.done, 1)
        empty = f"{count.empty} empty, " if count.empty else ""
        text = f"{count.failed} failed, {empty}{count.done / seconds:.1f}/s, {_cost(count)}"
        return text + (f", {left:.0f} s left" if 0 < count.done < count.total else "")


def _cost(count: _Count) -> str:
    if count.cost_usd is None:
        return "cost unknown"
    known = f"${count.cost_usd:.4f}"
    n_unknown = count.n_of_unknown_cost
    return known if not n_unknown else f"{known} without {n_unknown} calls of unknown cost"


def _bars() -> Bars:
    from rich import progress
    from rich.console import Console

    return progress.Progress(
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TextColumn("{task.fields[state]}"),
        console=Console(stderr=True),
        transient=True,
    )
