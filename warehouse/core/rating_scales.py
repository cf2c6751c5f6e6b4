"""The scale of a rating, and the suite of ratings that belong to no run of a tool."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warehouse.core.errors import BadInput

if TYPE_CHECKING:
    from warehouse.core.types import RatingRow

# The runs of this suite hold ratings of the results of other runs.
RATINGS_SUITE = "ratings"

_VERDICT = "pass/fail"
_NUMBERS = re.compile(r"(-?\d{1,3})\.\.(-?\d{1,3})")
_MOST_LABELS = 20
_LONGEST_LABEL = 50  # characters


@dataclass(frozen=True, slots=True)
class RatingScale:
    """What a rater may say of an answer.

    Attributes:
        text: the scale as it is written: `pass/fail`, `1..5`, or labels such as `bad,fair,good`.
        values: each label, the worst first, and its number; None where labels have no numbers.
    """

    text: str
    values: dict[str, float | None]

    def label(self, text: str) -> str | None:
        """Return the label that a text stands for: in any case, a number as `4` or `4.0`."""
        named = {label.casefold(): label for label in self.values}
        wanted = text.strip().casefold()
        is_number = None not in self.values.values()
        return named.get(re.sub(r"[.,]0+$", "", wanted) if is_number else wanted)

    def keys(self) -> dict[str, str]:
        """Return the label of each key: its first letter or digit, else its place from 1 to 9."""
        if self.text == _VERDICT:
            return {"p": "pass", "f": "fail"}
        if None not in self.values.values():
            return {label: label for label in self.values if re.fullmatch(r"\d", label)}
        return dict(zip("123456789", self.values, strict=False))

    def columns(self, label: str) -> RatingRow:
        """Return the columns of a rating with a label of this scale.

        Pass and fail are 1 and 0, as verdicts are, so that people and judges can be compared.
        """
        numbers = [number for number in self.values.values() if number is not None]
        if not numbers:
            return {"label": label, "scale_labels": list(self.values)}
        return {
            "value": self.values[label],
            "scale_low": min(numbers),
            "scale_high": max(numbers),
        }

    def label_of(self, value: float | None, label: str | None) -> str | None:
        """Return the label of a rating; None if it is not of this scale."""
        if label is not None:
            return label if label in self.values and self.values[label] is None else None
        return next((name for name, number in self.values.items() if number == value), None)


def parse_scale(text: str) -> RatingScale:
    """Return the scale that `pass/fail`, `1..5` or `bad,fair,good` stands for.

    Raises:
        BadInput: the text has another form, or the scale too few labels, or too many.
    """
    text = text.strip()
    if text == _VERDICT:
        return RatingScale(text, {"fail": 0.0, "pass": 1.0})
    if ends := _NUMBERS.fullmatch(text):
        low, high = map(int, ends.groups())
        values: dict[str, float | None] = {str(n): float(n) for n in range(low, high + 1)}
        text = f"{low}..{high}"
    else:
        labels = [label.strip() for label in text.split(",")]
        _check_labels(text, labels)
        values, text = dict.fromkeys(labels), ",".join(labels)
    if not 1 < len(values) <= _MOST_LABELS:
        raise BadInput(f"scale {text!r}: a scale has 2 to {_MOST_LABELS} labels, the lowest first")
    return RatingScale(text, values)


def _check_labels(text: str, labels: list[str]) -> None:
    if len({label.casefold() for label in labels}) < len(labels):
        raise BadInput(f"scale {text!r}: a label is given twice")
    for label in labels:
        if not label or not label.isprintable() or len(label) > _LONGEST_LABEL:
            raise BadInput(
                f"scale {text!r}: write pass/fail, numbers as 1..5, or labels as bad,fair,good, "
                f"each of at most {_LONGEST_LABEL} characters"
            )
