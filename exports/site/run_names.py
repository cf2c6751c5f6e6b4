"""How lists call a run: by its date, with the time or by its ID where others have the same date."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from warehouse.core.types import Row

    RunNames = Mapping[tuple[str, str], "RunName"]

_FORMATS = ("%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S")


class RunName(NamedTuple):
    """A run in lists: its date, with the time where it has to be, and that or its ID."""

    time: str
    name: str


def run_names(rows: Iterable[Row]) -> RunNames:
    """Return the names of runs, by suite and ID; those of a suite differ.

    Args:
        rows: rows of the view `runs`.
    """
    times = {(row["suite"], row["run_id"]): _times(row) for row in rows}
    shared = Counter((suite, text) for (suite, _), texts in times.items() for text in texts)
    names = {}
    for (suite, run_id), texts in times.items():
        own = next((text for text in texts if shared[suite, text] == 1), None)
        names[suite, run_id] = RunName(own or (texts[-1] if texts else ""), own or run_id)
    return names


def _times(row: Row) -> list[str]:
    """Return the date of a run, and with its time, the shortest text first.

    A date can be that of a log, in its time zone: the time in UTC would be of another day.
    """
    day, start = row["run_date"], row["started_at"]
    if day is None:
        return []
    is_of_day = start is not None and start.date() == day
    return [str(day), *(f"{start:{each}}" for each in _FORMATS if is_of_day)]
