"""The scale of a rating, and the suite of ratings that belong to no run of a tool."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warehouse.core.errors import BadInput

if TYPE_CHECKING:
    from warehouse.core.types import RatingRow

# The runs of this suite hold ratings of the results of other runs, and votes on them.
RATINGS_SUITE = "ratings"

_VERDICT = "pass/fail"
_MOST_LABELS = 10  # as many as there are digits


@dataclass(frozen=True, slots=True)
class RatingScale:
    """What a rater may say of an answer.

    Attributes:
        text: the scale as it is written: `pass/fail`, `1..5`, or labels such as `bad,fair,good`.
        values: each label, the worst first, and its number; None where labels have no numbers.
            Pass and fail are 1 and 0, as verdicts are, so that people and judges can be compared.
    """

    text: str
    values: dict[str, float | None]

    def label(self, text: str) -> str | None:
        """Return the label that a text stands for, in any case; None if there is none."""
        named = {label.casefold(): label for label in self.values}
        wanted = text.strip().casefold()
        # Programs write 4 as 4.0 if other cells of the column are empty.
        return named.get(wanted) or named.get(wanted.removesuffix(".0"))

    def keys(self) -> dict[str, str]:
        """Return the label of each key: p and f, the last digit of numbers, the place of words."""
        if self.text == _VERDICT:
            return {"p": "pass", "f": "fail"}
        is_number = None not in self.values.values()
        keys = [label[-1] for label in self.values] if is_number else "1234567890"
        return dict(zip(keys, self.values, strict=False))

    def columns(self, label: str) -> RatingRow:
        """Return the columns of a rating with a label of this scale."""
        numbers = [number for number in self.values.values() if number is not None]
        if not numbers:
            return {"label": label, "scale_labels": list(self.values)}
        low, high = min(numbers), max(numbers)
        return {"value": self.values[label], "scale_low": low, "scale_high": high}

    def label_of(self, value: float | None, label: str | None) -> str:
        """Return the label that `columns` made these of."""
        return label or next(name for name, number in self.values.items() if number == value)


def parse_scale(text: str) -> RatingScale:
    """Return the scale that `pass/fail`, `1..5` or `bad,fair,good` stands for.

    Raises:
        BadInput: the text has another form, or the scale too few labels, or too many.
    """
    labels = [label.strip() for label in text.split(",")]
    values: dict[str, float | None] = dict.fromkeys(labels)
    if text.strip() == _VERDICT:
        values = {"fail": 0.0, "pass": 1.0}
    elif ends := re.fullmatch(r"(\d{1,3})\.\.(\d{1,3})", text.strip()):
        values = {str(n): float(n) for n in range(int(ends[1]), int(ends[2]) + 1)}
    is_unclear = len({label.casefold() for label in labels}) < len(labels)
    is_shown = all(label and label.isprintable() for label in values)
    if is_unclear or not is_shown or not 1 < len(values) <= _MOST_LABELS:
        raise BadInput(
            f"scale {text!r}: write pass/fail, numbers as 1..5, or labels as bad,fair,good: "
            f"2 to {_MOST_LABELS} different ones, the lowest first"
        )
    return RatingScale(",".join(labels), values)
