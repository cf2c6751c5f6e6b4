"""The validators of plain text: its value, and its words, sentences and bullets."""

import re
from collections.abc import Mapping
from itertools import islice
from typing import Any

from warehouse.engine.scoring.openclaw.verdicts import (
    InvalidValidatorError,
    JsonValue,
    Verdict,
    failed,
    passed,
)

# The original strips only these.
WHITESPACE = " \t\r\n"
_SENTENCE_END = re.compile(r"\.\s")
_LINES_KEPT = 20


def check_exact(text: str, validator: Mapping[str, object]) -> Verdict:
    """Check that the stripped text equals `value`, which only a string can."""
    answer = text.strip(WHITESPACE)
    want = validator.get("value", "")
    if answer == want:
        return passed(answer)
    return failed(f"exact_mismatch want={want!r}", answer)


def check_one_of(text: str, validator: Mapping[str, object]) -> Verdict:
    """Check that the stripped text is one of `values`, or a part of it if `values` is a string.

    Raises:
        InvalidValidatorError: `values` is not a collection.
    """
    answer = text.strip(WHITESPACE)
    values = validator.get("values", [])
    if not isinstance(values, str | list | dict):
        raise InvalidValidatorError("values: not a list")
    if answer in values:
        return passed(answer)
    return failed(f"not_one_of {values}", answer)


def check_max_words(text: str, validator: Mapping[str, object]) -> Verdict:
    """Check that the text has at most `value` words (default 0), separated by any whitespace.

    Raises:
        InvalidValidatorError: `value` is not a number.
    """
    answer = text.strip(WHITESPACE)
    got, limit = len(answer.split()), limit_of(validator, 0)
    parsed: JsonValue = {"words": got, "text": answer}
    if got <= limit:
        return passed(parsed)
    return failed(f"too_many_words got={got} limit={limit}", parsed)


def check_max_sentences(text: str, validator: Mapping[str, object]) -> Verdict:
    """Check that the text has at most `value` sentences (default 1); see `count_sentences`.

    Raises:
        InvalidValidatorError: `value` is not a number.
    """
    answer = text.strip(WHITESPACE)
    got, limit = count_sentences(answer), limit_of(validator, 1)
    parsed: JsonValue = {"sentences": got, "text": answer}
    if got <= limit:
        return passed(parsed)
    return failed(f"too_many_sentences got={got} limit={limit}", parsed)


def check_exact_bullets(text: str, validator: Mapping[str, object]) -> Verdict:
    """Check that exactly `value` lines (default 0) begin with `-`, after any whitespace.

    Raises:
        InvalidValidatorError: `value` is not a number.
    """
    lines = text.strip(WHITESPACE).splitlines()
    got = sum(line.lstrip().startswith("-") for line in lines) if "-" in text else 0
    want = limit_of(validator, 0)
    filled = (line.rstrip() for line in lines if line.strip())
    parsed: JsonValue = {"bullets": got, "lines": [*islice(filled, _LINES_KEPT)]}
    return passed(parsed) if got == want else failed(f"bullet_count got={got} want={want}", parsed)


def count_sentences(text: str) -> int:
    """Count sentences: each ends at `.`, `!` or `?` before whitespace, the last one at the end."""
    text = text.strip()
    # Searching for one literal is several times faster than for a set.
    ends = _SENTENCE_END.findall(text.replace("!", ".").replace("?", "."))
    return len(ends) + 1 if text else 0


def limit_of(validator: Mapping[str, object], default: int) -> int:
    """Return `value` as `int()` reads it: " 3 ", 2.9 and true are numbers.

    Raises:
        InvalidValidatorError: it is not a number.
    """
    value: Any = validator.get("value", default)
    try:
        limit = int(value)
        # A number with too many digits could not be shown in a violation.
        str(limit)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidValidatorError(f"value: {error}") from error
    return limit
