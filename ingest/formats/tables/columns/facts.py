"""What the columns of a table hold: everything that a guess about them is based on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingest.formats.tables import values
from ingest.formats.tables.batches import UnusableTableError
from ingest.formats.tables.columns.roles import BY_NAME, plain_name, unit_of_latency
from warehouse.core.formats.secrets import redact

if TYPE_CHECKING:
    import polars as pl

    from ingest.formats.tables.batches import TableFile
    from ingest.reading import Reject

_SAMPLES = 3
_ROWS_SAMPLED = 1000


@dataclass(slots=True)
class ColumnFacts:
    """What a column holds, missing values left out.

    Attributes:
        name: name of the column.
        n: number of values.
        is_number: all are numbers or percentages.
        is_integer: all are integers.
        is_boolean: all are booleans, words for them, or 0 and 1.
        is_duration: all are durations, by their own unit or that of the column's name.
        is_with_commas: all are numbers or durations if commas are decimal ones.
        has_commas: some commas can be nothing else.
        is_time: all are times or dates; only looked at where the name suggests it.
        is_list: all are JSON lists; only looked at where the name suggests it.
        low: the smallest number.
        samples: the first three different values, as text.
        no_numbers: the first three that are no numbers, if any.
    """

    name: str
    n: int = 0
    is_number: bool = True
    is_integer: bool = True
    is_boolean: bool = True
    is_duration: bool = True
    is_with_commas: bool = True
    has_commas: bool = False
    is_time: bool = True
    is_list: bool = True
    low: float | None = None
    samples: list[str] = field(default_factory=list)
    no_numbers: list[str] = field(default_factory=list)

    def add(self, series: pl.Series, *, decimal_comma: bool) -> None:
        """Add values of the column."""
        series = series.drop_nulls()
        self._add_samples(series)
        unit = unit_of_latency(self.name)
        read = values.decimal_points(series) if decimal_comma else series
        self.is_duration = self.is_duration and not values.duration(read, unit)[1].any()
        numbers, bad = values.number(read) if self.is_number else (series, series.is_null())
        if self.is_number and bad.any():
            self.is_number = False
            self.no_numbers = _first_shown(values.as_text(series.filter(bad)).to_list())
        if self.is_with_commas and not self.is_number:
            pointed = values.decimal_points(series)
            bad = values.number(pointed)[1] & values.duration(pointed, unit)[1]
            self.is_with_commas = not bad.any()
            self.has_commas = self.has_commas or values.has_decimal_comma(series)
        self.n += numbers.count() if self.is_number else len(series)
        if self.is_number:
            low = numbers.min()
            if isinstance(low, float):
                self.low = low if self.low is None else min(low, self.low)
            self.is_integer = self.is_integer and bool((numbers == numbers.floor()).all())
        self.is_integer = self.is_integer and self.is_number
        self.is_boolean = self.is_boolean and not values.boolean(series)[1].any()
        name = plain_name(self.name)
        self.is_time = (
            self.is_time and name in BY_NAME["time"].names and not values.moment(series)[1].any()
        )
        self.is_list = (
            self.is_list
            and name in BY_NAME["choices"].names
            and not values.json_list(series)[1].any()
        )

    @property
    def needs_commas(self) -> bool:
        """Whether it holds numbers or durations that can only be read with decimal commas."""
        return self.n > 0 and self.has_commas and self.is_with_commas and not self.is_number

    def _add_samples(self, series: pl.Series) -> None:
        if len(self.samples) == _SAMPLES:
            return
        texts = values.as_text(series.head(_ROWS_SAMPLED)).unique(maintain_order=True)
        first = [*self.samples, *texts.filter(~values.is_missing(texts)).to_list()]
        # They are shown on the screen.
        self.samples = _first_shown(first)


def _first_shown(texts: list[str]) -> list[str]:
    """Return the first different texts, as the screen may show them."""
    return [redact(text.encode()).decode() for text in list(dict.fromkeys(texts))[:_SAMPLES]]


def facts_of(file: TableFile, *, decimal_comma: bool = False) -> tuple[list[ColumnFacts], int]:
    """Return the facts of each column, and the number of rows that could be read.

    Args:
        file: the table.
        decimal_comma: whether `0,5` is a half.

    Raises:
        OSError: the file cannot be read.
        UnusableTableError: it is not a table, or no row can be read.
    """
    facts: dict[str, ColumnFacts] = {}
    n_rows = 0
    rejects: list[Reject] = []
    for batch in file.batches(None):
        n_rows += len(batch.lines)
        rejects += batch.rejects[:1]
        for series in batch.values:
            facts.setdefault(series.name, ColumnFacts(series.name)).add(
                series, decimal_comma=decimal_comma
            )
    if n_rows == 0:
        raise UnusableTableError(
            f"no row can be read; line {rejects[0].line}: {rejects[0].reason}"
            if rejects
            else "the table has no rows"
        )
    return list(facts.values()), n_rows
