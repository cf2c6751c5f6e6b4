"""Tables of the docs: printed by each simulation, written into the pages after their markers.

The marker of a table names the simulation and the number of the table in its output:
`<!-- bench.simulations.pairs 2 -->`.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from warehouse.engine.statistics.arrays import Floats

Row: TypeAlias = tuple[str, ...]

# A line above dashes begins another table.
_TABLE = re.compile(r"^\|.*\n\| ---.*\n(?:\|(?!.*\n\| ---).*\n)*", re.MULTILINE)
_MARKED = re.compile(r"^(<!-- bench\.simulations\.(\w+) (\d+) -->\n\n)((?:\|.*\n)+)", re.MULTILINE)


def print_table(columns: Sequence[str], rows: Iterable[Row]) -> None:
    """Print a Markdown table, each row as soon as it is known."""
    for cells in (columns, ["---"] * len(columns)):
        sys.stdout.write(f"| {' | '.join(cells)} |\n")
    for row in rows:
        sys.stdout.write(f"| {' | '.join(row)} |\n")
        sys.stdout.flush()
    sys.stdout.write("\n")


def summary(coverage: Floats, width: Floats) -> tuple[float, float, float]:
    """Return the mean and the least coverage, and the mean width."""
    return float(coverage.mean()), float(coverage.min()), float(width.mean())


def printed_tables(output: str) -> list[str]:
    """Return the tables of what a simulation printed."""
    return _TABLE.findall(output)


def marked_tables(page: str) -> dict[tuple[str, int], str]:
    """Return the tables of a page: the key is the simulation and the number of its table."""
    return {(name, int(number)): table for _, name, number, table in _MARKED.findall(page)}


def with_tables(page: str, tables: Mapping[str, Sequence[str]]) -> str:
    """Return a page with its tables replaced by those that simulations printed."""

    def replaced(match: re.Match[str]) -> str:
        marker, name, number, table = match.groups()
        return marker + (tables[name][int(number) - 1] if name in tables else table)

    return _MARKED.sub(replaced, page)
