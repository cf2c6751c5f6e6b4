"""Texts of poster records: comparison, and extraction of JSON from a model's answer."""

import re
from functools import lru_cache

from cydifflib import SequenceMatcher

from warehouse.engine.scoring.columns import parse_json

_RATIOS_KEPT = 1 << 16
_LITERAL_BACKSLASH_S = re.compile(r"\\s+")


def normalise(value: object) -> str:
    r"""Return a JSON value in the form in which texts are compared.

    Null becomes the empty text; other values are written as Python writes them. Whitespace inside
    the text is kept. A backslash followed by letters `s` becomes a space: the benchmark's pattern
    for whitespace has one backslash too many, and scores must agree with published ones.
    """
    if value is None:
        return ""
    text = (value if isinstance(value, str) else str(value)).strip().lower()
    return _LITERAL_BACKSLASH_S.sub(" ", text) if "\\" in text else text


def normalise_handle(value: object) -> str:
    """Return a normalised Instagram handle, without one leading `@`.

    The rest is normalised again, as in the benchmark, so whitespace after the `@` does not count.
    """
    return normalise(normalise(value).removeprefix("@"))


def exact_score(gold: str, prediction: str) -> float:
    """Compare two normalised texts: 1.0 if equal (two empty texts are), 0.0 otherwise."""
    return 1.0 if gold == prediction else 0.0


def string_score(gold: str, prediction: str) -> float:
    """Return the similarity of two normalised texts, 0.0 to 1.0; it is not symmetric.

    Two empty texts score 1.0, one empty text 0.0. Other texts score the Ratcliff-Obershelp ratio of
    the standard library's `difflib`, with its heuristic for texts of 200 characters or more.
    """
    if gold == prediction:
        return 1.0
    if not gold or not prediction:
        return 0.0
    return _ratio(gold, prediction)


@lru_cache(maxsize=_RATIOS_KEPT)
def _ratio(gold: str, prediction: str) -> float:
    return float(SequenceMatcher(None, gold, prediction).ratio())


def extract_json(text: str) -> object:
    """Return the JSON value in a model's answer, or None.

    A code fence around the answer is removed. If the rest is not JSON, the text from the first
    opening bracket to the last closing bracket is tried.
    """
    body = _without_fence(text.strip())
    try:
        return parse_json(body)
    except ValueError:
        pass
    try:
        return parse_json(_bracketed(body))
    except ValueError:
        return None


def _without_fence(text: str) -> str:
    if not text.startswith("``"):
        return text
    # Python's lines, as in the benchmark: a carriage return ends a line, and so does U+2028.
    lines = text.splitlines()[1:]
    if lines and lines[-1].startswith("``"):
        lines.pop()
    return "\n".join(lines).strip()


def _bracketed(text: str) -> str:
    starts = [at for at in (text.find("{"), text.find("[")) if at >= 0]
    end = max(text.rfind("}"), text.rfind("]"))
    return text[min(starts) : end + 1] if starts else ""
