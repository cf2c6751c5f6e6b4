"""Answers and verdicts of palindrome tasks, by the rule of the original program.

The rule is `SPECS/palindrome.md`'s "whether answer matches reference" as the program that wrote
the logs applied it, so that verdicts of old and new runs can be compared.
"""

import re
import string

_TAGS = re.compile(r"<PALINDROMI>(.*?)</PALINDROMI>", re.IGNORECASE | re.DOTALL)
_PUNCTUATION = str.maketrans("", "", string.punctuation)

_LONGEST_ANSWER = 1000
_KEPT_AT_EACH_END = 200


def extract_answer(response: str) -> str:
    """Take the answer out of a model's response.

    The first complete pair of `<PALINDROMI>` tags counts, in any letter case; without one the
    whole response is the answer. Outer white space is removed.
    """
    tagged = _TAGS.search(response)
    return (tagged[1] if tagged else response).strip()


def logged_answer(answer: str, reference: str) -> str:
    """Bring an answer into the form in which the original program logged and compared it.

    Lower case, and with the middle cut out where it is longer than 1,000 characters and five
    times the reference. Lengths are in code points.
    """
    text = answer.strip().lower()
    if len(text) <= max(_LONGEST_ANSWER, 5 * len(reference.strip().lower())):
        return text
    cut = len(text) - 2 * _KEPT_AT_EACH_END
    return f"{text[:_KEPT_AT_EACH_END]}...[{cut} chars truncated]...{text[-_KEPT_AT_EACH_END:]}"


def is_correct(answer: str, reference: str) -> bool:
    """Tell whether an answer matches the reference.

    ASCII punctuation, letter case and outer white space do not count; inner white space and
    every other character do. Nothing checks that the answer is a palindrome.
    """
    return _bare(logged_answer(answer, reference)) == _bare(reference.strip().lower())


def _bare(text: str) -> str:
    return text.translate(_PUNCTUATION).lower().strip()


def extract_answers(responses: list[str | None]) -> list[str | None]:
    """Apply `extract_answer` to a column; NULL gives NULL."""
    return [None if response is None else extract_answer(response) for response in responses]


def are_correct(answers: list[str | None], references: list[str | None]) -> list[bool | None]:
    """Apply `is_correct` to two columns; NULL on either side gives NULL."""
    return [
        None if answer is None or reference is None else is_correct(answer, reference)
        for answer, reference in zip(answers, references, strict=True)
    ]
