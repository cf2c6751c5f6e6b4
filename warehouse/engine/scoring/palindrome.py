"""Answers and verdicts of palindrome tasks, by the rule of the original program.

The rule is "whether answer matches reference" of the palindrome specification, as the program that
wrote the logs applied it, so that verdicts of old and new runs can be compared.
"""

import re
import string

_TAGS = re.compile(r"<PALINDROMI>(.*?)</PALINDROMI>", re.IGNORECASE | re.DOTALL)
_PUNCTUATION = str.maketrans("", "", string.punctuation)

_LONGEST_ANSWER = 1000
_KEPT_AT_EACH_END = 200


def extract_answer(response: str) -> str:
    """Return the answer in a model's response.

    The first complete pair of `<PALINDROMI>` tags counts, in any letter case; without one, the
    whole response is the answer. Leading and trailing whitespace is removed.
    """
    tagged = _TAGS.search(response)
    return (tagged[1] if tagged else response).strip()


def logged_answer(answer: str, reference: str) -> str:
    """Return an answer in the form in which the original program logged and compared it.

    That is in lower case, with the middle cut out if the answer is longer than 1,000 characters and
    than five times the reference. Lengths are in code points.
    """
    text = answer.strip().lower()
    if len(text) <= max(_LONGEST_ANSWER, 5 * len(reference.strip().lower())):
        return text
    cut = len(text) - 2 * _KEPT_AT_EACH_END
    return f"{text[:_KEPT_AT_EACH_END]}...[{cut} chars truncated]...{text[-_KEPT_AT_EACH_END:]}"


def is_correct(answer: str, reference: str) -> bool:
    """Return whether an answer matches the reference.

    ASCII punctuation, letter case, and leading and trailing whitespace are ignored; whitespace in
    between and every other character count. The answer need not be a palindrome.
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
