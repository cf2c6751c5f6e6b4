"""Elements of a JSON list in a file of any size, one after the other."""

from __future__ import annotations

import codecs
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from warehouse.core.files import open_regular
from warehouse.core.formats.secrets import find_secrets, lines_of, mask
from warehouse.core.formats.values import MAX_DEPTH, TOO_DEEP, is_nested_deeply

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SPACE = " \t\r\n"
_BOM = "\ufeff"
_BLOCK_BYTES = 2**20
# So much is searched for secrets at once: each search takes a while to begin.
_SEARCHED_CHARACTERS = 2**20
_LONGEST_ELEMENT = 64 * 2**20
# An error so near to the end of what was read may only mean that more follows.
_NEAR_END = 16
_TEXT_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|["\[\]{}]', re.DOTALL)
_STEPS = {"[": 1, "{": 1, "]": -1, "}": -1}


class DeepElement:
    """Stands for an element that is nested too deeply."""


class BrokenElementsError(Exception):
    """The rest of the file is not JSON, or has no such list; the message says why."""


@dataclass(slots=True)
class Elements:
    """A list in a JSON file: the file's top value, or that of a key of the object at the top.

    Memory holds some megabytes of the file, on however many lines they are, or its largest value.

    Attributes:
        path: the file.
        key: the key; None for a list at the top.
        is_masked: whether possible secrets are masked.
        secrets: line and kind of each possible secret in what was read since it was last taken.
    """

    path: Path
    key: str | None = None
    is_masked: bool = False
    secrets: list[tuple[int, str]] = field(default_factory=list)
    _raw: str = ""
    _line: int = 1

    def read(self) -> Iterator[object]:
        """Yield the elements; the values of other keys are passed over.

        An element that is nested too deeply is a `DeepElement`.

        Raises:
            BrokenElementsError: the rest cannot be read.
            OSError: the file cannot be read.
        """
        text = _Text(_texts(self.path))
        waiting: list[tuple[object, str]] = []
        broken: BrokenElementsError | None = None
        self._line = 1
        try:
            for value in self._elements(text):
                waiting.append((value, text.raw()))
                if text.n_passed() >= _SEARCHED_CHARACTERS:
                    yield from self._searched(waiting, text.take_passed())
                    waiting = []
        except BrokenElementsError as error:
            broken = error
        yield from self._searched(waiting, text.take_passed() + text.rest())
        if broken is not None:
            raise broken

    def raw(self) -> str:
        """Return the text of the element that `read` has just yielded."""
        return self._raw

    def take_secrets(self) -> list[tuple[int, str]]:
        """Return the secrets found since the last call."""
        found, self.secrets = self.secrets, []
        return found

    def _elements(self, text: _Text) -> Iterator[object]:
        if self.key is None:
            if text.next() != "[":
                raise BrokenElementsError("no JSON list")
            yield from text.elements()
        else:
            yield from self._of_key(text)
        if text.next(skip=False):
            raise BrokenElementsError("not JSON: text after the end")

    def _of_key(self, text: _Text) -> Iterator[object]:
        if text.next() != "{":
            raise BrokenElementsError("no JSON object")
        found = False
        while text.next(skip=False) not in ("}", ""):
            name = text.value()
            if not isinstance(name, str) or text.next() != ":":
                raise BrokenElementsError("not JSON: a key is expected")
            if name == self.key and text.next(skip=False) == "[":
                found = True
                text.next()
                yield from text.elements()
            else:
                text.value()
            if text.next(skip=False) == ",":
                text.next()
        if text.next() != "}":
            raise BrokenElementsError("not JSON: it ends too early")
        if not found:
            raise BrokenElementsError(f"no list `{self.key}`")

    def _searched(self, waiting: list[tuple[object, str]], passed: str) -> Iterator[object]:
        """Yield elements after a search of the text that they are from, and what is around them."""
        data = passed.encode()
        secrets = find_secrets(data)
        self.secrets += lines_of(data, secrets, self._line)
        self._line += data.count(b"\n")
        for value, raw in waiting:
            self._raw = raw
            yield self._masked(value) if secrets and self.is_masked else value

    def _masked(self, value: object) -> object:
        """Return an element without the secrets in its text."""
        data = self._raw.encode()
        masked = mask(data, find_secrets(data))
        if masked == data:
            return value
        self._raw = masked.decode()
        if isinstance(value, DeepElement):
            return value
        try:
            return json.loads(self._raw)
        except ValueError as error:
            raise BrokenElementsError(f"not JSON without its secrets: {error}") from error


def _texts(path: Path) -> Iterator[str]:
    """Yield the text of a file without its byte order mark.

    Raises:
        BrokenElementsError: it is not UTF-8.
        OSError: the file cannot be read.
    """
    decode = codecs.getincrementaldecoder("utf-8")().decode
    is_start = True
    with open_regular(path) as file:
        while block := file.read(_BLOCK_BYTES):
            try:
                text = decode(block)
            except UnicodeDecodeError as error:
                raise BrokenElementsError(f"not UTF-8 ({error.reason})") from error
            text, is_start = text.removeprefix(_BOM) if is_start else text, is_start and not text
            if text:
                yield text


class _Text:
    """JSON text of which more is read when it is needed."""

    def __init__(self, texts: Iterator[str]) -> None:
        self._texts = texts
        self._text = ""
        self._at = 0
        self._begin = 0
        self._taken = 0
        self._passed: list[str] = []
        self._n_passed = 0
        self._decode = json.JSONDecoder().raw_decode

    def next(self, *, skip: bool = True) -> str:
        """Return the next character that is not a space, "" at the end; `skip` goes beyond it."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _SPACE:
                self._at += 1
            if self._at < len(self._text):
                found = self._text[self._at]
                self._at += skip
                return found
            if not self._more():
                return ""

    def elements(self) -> Iterator[object]:
        """Yield the elements of a list after its bracket."""
        if self.next(skip=False) == "]":
            self.next()
            return
        while True:
            value = self.value()
            yield DeepElement() if self._is_deep(value) else value
            after = self.next()
            if after == "]":
                return
            if after != ",":
                raise BrokenElementsError(
                    "not JSON: it ends too early" if not after else "not JSON: a comma is expected"
                )

    def value(self) -> object:
        """Return the next value."""
        self.next(skip=False)
        while True:
            try:
                found, end = self._decode(self._text, self._at)
            except RecursionError as error:
                found, end = DeepElement(), self._end_of_brackets()
                if not end:
                    if self._more(len(self._text) - self._at):
                        continue
                    raise BrokenElementsError(TOO_DEEP) from error
            except json.JSONDecodeError as error:
                is_cut = error.msg.startswith("Unterminated") or (
                    error.pos > len(self._text) - _NEAR_END
                )
                # Twice as much each time: a long value is not begun again for every block.
                n_characters = len(self._text) - self._at
                if not is_cut or not self._more(n_characters):
                    raise BrokenElementsError(f"not JSON: {error.msg}") from error
                continue
            except ValueError as error:
                raise BrokenElementsError(f"not JSON: {error}") from error
            if self._may_go_on(end) and self._more():
                continue
            self._begin, self._at = self._at, end
            return found

    def _is_deep(self, value: object) -> bool:
        n_brackets = sum(self._text.count(each, self._begin, self._at) for each in "[{")
        return n_brackets > MAX_DEPTH and is_nested_deeply(value)

    def _end_of_brackets(self) -> int:
        """Return where the list or object that begins here ends; 0 if more must be read."""
        depth = 0
        for found in _TEXT_OR_BRACKET.finditer(self._text, self._at):
            if found[0] == '"':
                break
            depth += _STEPS.get(found[0], 0)
            if not depth:
                return found.end()
        return 0

    def _may_go_on(self, end: int) -> bool:
        """Return whether a value that ends here may be a number of which more follows."""
        after = self._text[end : end + len("e+") + 1]
        is_end = len(after) <= len("e+") and not after.strip(".eE+-")
        return is_end and self._text[end - 1].isdigit()

    def raw(self) -> str:
        """Return the text of the last value, until anything more is read."""
        return self._text[self._begin : self._at]

    def n_passed(self) -> int:
        """Return how many characters were passed since `take_passed` was last called."""
        return self._n_passed + self._at - self._taken

    def take_passed(self) -> str:
        """Return the text that was passed since the last call."""
        passed = "".join([*self._passed, self._text[self._taken : self._at]])
        self._passed, self._n_passed, self._taken = [], 0, self._at
        return passed

    def rest(self) -> str:
        """Return what was read and not passed."""
        return self._text[self._at :]

    def _more(self, n_characters: int = 1) -> bool:
        """Read at least some characters, as far as the file has them; False for none."""
        if len(self._text) - self._at > _LONGEST_ELEMENT:
            raise BrokenElementsError(f"a value of more than {_LONGEST_ELEMENT:,} characters")
        texts, n_read = [], 0
        while n_read < n_characters and (text := next(self._texts, "")):
            texts.append(text)
            n_read += len(text)
        if not texts:
            return False
        self._passed.append(self._text[self._taken : self._at])
        self._n_passed += len(self._passed[-1])
        self._text = "".join([self._text[self._at :], *texts])
        self._at = self._taken = 0
        return True
