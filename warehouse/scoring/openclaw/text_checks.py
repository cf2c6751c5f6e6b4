"""The validators that look at plain text: its value, its words, sentences and bullets."""

import re
from collections.abc import Mapping
from itertools import islice
from typing import Any

from warehouse.scoring.openclaw.verdicts import (
    InvalidValidatorError,
    JsonValue,
    Verdict,
    failed,
    passed,
)

# The original strips these and no other blanks.
BLANKS = " \t\r\n"
_SENTENCE_END = re.compile(r"\.\s")
_LINES_KEPT = 20


def check_exact(text: str, validator: Mapping[str, Any]) -> Verdict:
    """The stripped text equals `value`; nothing but a string can."""
    answer = text.strip(BLANKS)
    want = validator.get("value", "")
    if answer == want:
        return passed(answer)
    return failed(f"exact_mismatch want={want!r}", answer)


def check_one_of(text: str, validator: Mapping[str, Any]) -> Verdict:
    """The stripped text is among `values`, or a part of them where they are a string.

    Raises:
        InvalidValidatorError: `values` can hold nothing.
    """
    answer = text.strip(BLANKS)
    values = validator.get("values", [])
    if not isinstance(values, str | list | dict):
        raise InvalidValidatorError("values: not a list")
    if answer in values:
        return passed(answer)
    return failed(f"not_one_of {values}", answer)


def check_max_words(text: str, validator: Mapping[str, Any]) -> Verdict:
    """The text has at most `value` words (0 where it is missing), split at any blanks.

    Raises:
        InvalidValidatorError: `value` is no number.
    """
    answer = text.strip(BLANKS)
    got, limit = len(answer.split()), limit_of(validator, 0)
    parsed: JsonValue = {"words": got, "text": answer}
    if got <= limit:
        return passed(parsed)
    return failed(f"too_many_words got={got} limit={limit}", parsed)


def check_max_sentences(text: str, validator: Mapping[str, Any]) -> Verdict:
    """The text has at most `value` sentences (1 where it is missing); see `count_sentences`.

    Raises:
        InvalidValidatorError: `value` is no number.
    """
    answer = text.strip(BLANKS)
    got, limit = count_sentences(answer), limit_of(validator, 1)
    parsed: JsonValue = {"sentences": got, "text": answer}
    if got <= limit:
        return passed(parsed)
    return failed(f"too_many_sentences got={got} limit={limit}", parsed)


def check_exact_bullets(text: str, validator: Mapping[str, Any]) -> Verdict:
    """Exactly `value` lines (0 where it is missing) begin with `-`, after any blanks.

    Raises:
        InvalidValidatorError: `value` is no number.
    """
    lines = text.strip(BLANKS).splitlines()
    got = sum(line.lstrip().startswith("-") for line in lines) if "-" in text else 0
    want = limit_of(validator, 0)
    filled = (line.rstrip() for line in lines if line.strip())
    parsed: JsonValue = {"bullets": got, "lines": [*islice(filled, _LINES_KEPT)]}
    return passed(parsed) if got == want else failed(f"bullet_count got={got} want={want}", parsed)


def count_sentences(text: str) -> int:
    """Sentences: what ends in `.`, `!` or `?` and a blank, and what follows the last of them."""
    text = text.strip()
    # With one literal to look for the search is several times faster.
    ends = _SENTENCE_END.findall(text.replace("!", ".").replace("?", "."))
    return len(ends) + 1 if text else 0


def limit_of(validator: Mapping[str, Any], default: int) -> int:
    """The limit as int() reads it: " 3 ", 2.9 and true are numbers."""
    value = validator.get("value", default)
    try:
        limit = int(value)
        # A number with too many digits could not be named in a violation.
        str(limit)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidValidatorError(f"value: {error}") from error
    return limit
