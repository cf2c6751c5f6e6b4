"""Texts of poster records: how two of them are compared, and how a model's answer is read."""

import re
from functools import lru_cache

from cydifflib import SequenceMatcher

from warehouse.scoring.columns import parse_json

_RATIOS_KEPT = 1 << 16
_LITERAL_BACKSLASH_S = re.compile(r"\\s+")


def normalise(value: object) -> str:
    r"""Bring a JSON value into the form in which texts are compared.

    Null is blank, other values are taken in Python's spelling. White space inside is kept as it
    is; a backslash followed by letters ``s`` becomes a space, because the benchmark's expression
    for white space has one backslash too many, and scores must agree with published ones.
    """
    if value is None:
        return ""
    text = (value if isinstance(value, str) else str(value)).strip().lower()
    return _LITERAL_BACKSLASH_S.sub(" ", text) if "\\" in text else text


def normalise_handle(value: object) -> str:
    """Normalise an Instagram handle: as any text, less one leading ``@``.

    What is left is normalised again, as the benchmark does: blanks after the ``@`` do not count.
    """
    return normalise(normalise(value).removeprefix("@"))


def exact_score(gold: str, prediction: str) -> float:
    """Compare two normalised texts: 1.0 if equal (two blanks are), else 0.0."""
    return 1.0 if gold == prediction else 0.0


def string_score(gold: str, prediction: str) -> float:
    """Compare two normalised texts by likeness, 0.0 to 1.0; not symmetric.

    Two blanks score 1.0, one blank 0.0, the rest the Ratcliff-Obershelp ratio of the standard
    library's ``difflib``, with its heuristic for texts of 200 characters and more.
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
    """Read the JSON value in a model's answer, or None where there is none.

    A code fence around the answer is taken off; where the rest is not JSON, what stands between
    the first opening and the last closing bracket is tried.
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
    if not text.startswith("```"):
        return text
    # Python's lines, as the benchmark takes them: a carriage return ends one, U+2028 in a text too.
    lines = text.splitlines()[1:]
    if lines and lines[-1].startswith("```"):
        lines.pop()
    return "\n".join(lines).strip()


def _bracketed(text: str) -> str:
    starts = [at for at in (text.find("{"), text.find("[")) if at >= 0]
    end = max(text.rfind("}"), text.rfind("]"))
    return text[min(starts) : end + 1] if starts else ""
