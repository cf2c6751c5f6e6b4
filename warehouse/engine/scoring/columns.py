"""Helpers for batch functions: columns in, one column out."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

Key = TypeVar("Key")
Result = TypeVar("Result")
_LONGEST_REASON = 200


class Distinct(dict[str | None, Result], Generic[Result]):
    """The results of a function, computed once per distinct text."""

    def __init__(self, function: Callable[[str | None], Result]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, text: str | None) -> Result:
        """Compute the result for a text that is looked up for the first time."""
        result = self[text] = self._function(text)
        return result


def map_distinct(function: Callable[..., Result], *columns: Sequence[object]) -> list[Result]:
    """Apply a function to each row, once per distinct row. Values must be hashable.

    Raises:
        ValueError: the columns differ in length.
    """
    known: dict[tuple[object, ...], Result] = {}
    results = []
    for row in zip(*columns, strict=True):
        if row not in known:
            known[row] = function(*row)
        results.append(known[row])
    return results


def map_by_key(
    function: Callable[[Key, list[str]], Iterable[Result]],
    keys: Sequence[Key],
    texts: Sequence[str | None],
) -> list[Result | None]:
    """Apply a function to all distinct texts of a key at once; None gives None.

    Raises:
        ValueError: the columns differ in length.
    """
    groups: defaultdict[Key, dict[str, None]] = defaultdict(dict)
    for key, text in zip(keys, texts, strict=True):
        if text is not None:
            groups[key][text] = None
    results = {
        key: dict(zip(group, function(key, list(group)), strict=True))
        for key, group in groups.items()
    }
    return [
        None if text is None else results[key][text] for key, text in zip(keys, texts, strict=True)
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
    """Return JSON that any reader accepts; lone surrogates are escaped.

    Raises:
        ValueError: the value contains NaN or infinity.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False)
    return text


def reason_of(error: Exception) -> str:
    """Return an error as the `reason` of a row."""
    return f"{type(error).__name__}: {error}"[:_LONGEST_REASON]
