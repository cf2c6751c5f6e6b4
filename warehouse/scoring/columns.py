"""Columns in, a column out: what every batch form of a function needs."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

Key = TypeVar("Key")
Result = TypeVar("Result")
_LONGEST_REASON = 200


class Distinct(dict[str | None, Result], Generic[Result]):
    """Answers of a function, computed once for each distinct text that is looked up."""

    def __init__(self, function: Callable[[str | None], Result]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, text: str | None) -> Result:
        """Compute the answer for a text seen for the first time."""
        answer = self[text] = self._function(text)
        return answer


def map_distinct(function: Callable[..., Result], *columns: Sequence[object]) -> list[Result]:
    """Apply a function to each row, once per distinct row. Values must be hashable.

    Raises:
        ValueError: the columns differ in length.
    """
    answers: dict[tuple[object, ...], Result] = {}
    result = []
    for row in zip(*columns, strict=True):
        if row not in answers:
            answers[row] = function(*row)
        result.append(answers[row])
    return result


def map_by_key(
    function: Callable[[Key, list[str]], Iterable[Result]],
    keys: Sequence[Key],
    texts: Sequence[str | None],
) -> list[Result | None]:
    """Apply a function to the distinct texts of each key at once; a text of None gives None.

    Raises:
        ValueError: the columns differ in length.
    """
    groups: defaultdict[Key, dict[str, None]] = defaultdict(dict)
    for key, text in zip(keys, texts, strict=True):
        if text is not None:
            groups[key][text] = None
    answers = {
        key: dict(zip(group, function(key, list(group)), strict=True))
        for key, group in groups.items()
    }
    return [
        None if text is None else answers[key][text] for key, text in zip(keys, texts, strict=True)
    ]


def parse_json(text: str) -> object:
    """Parse JSON as Python does (NaN, big integers and repeated keys included).

    Raises:
        ValueError: not JSON, or nested too deeply.
    """
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def write_json(value: object) -> str:
    """Write JSON that any reader takes; text with half of a surrogate pair is escaped.

    Raises:
        ValueError: the value holds NaN or infinity.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False)
    return text


def reason_of(error: Exception) -> str:
    """Word an error as the reason of a row."""
    return f"{type(error).__name__}: {error}"[:_LONGEST_REASON]
