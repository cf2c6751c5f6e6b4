"""Elements of a JSON list in a file of any size, one after the other."""

from __future__ import annotations

import codecs
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ingest.formats.common.lines import line_blocks
from warehouse.formats.secrets import find_secrets, lines_of, mask

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SPACE = " \t\r\n"
_LONGEST_ELEMENT = 64 * 2**20
# An error so near to the end of what was read may only mean that more follows.
_NEAR_END = 16


class BrokenElementsError(Exception):
    """The rest of the file is no JSON, or has no such list; the message says why."""


@dataclass(slots=True)
class Elements:
    """A list in a JSON file: the file's top value, or that of a key of the object at the top.

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
    _text: _Text | None = None

    def read(self) -> Iterator[Any]:
        """Yield the elements; the values of other keys are passed over.

        Raises:
            BrokenElementsError: the rest cannot be read.
            OSError: the file cannot be read.
        """
        text = self._text = _Text(self._texts())
        if self.key is None:
            if text.next() != "[":
                raise BrokenElementsError("no JSON list")
            yield from text.elements()
        else:
            yield from self._of_key(text)
        if text.next(skip=False):
            raise BrokenElementsError("not JSON: text after the end")

    def raw(self) -> str:
        """Return the text of the element that `read` has just yielded."""
        return self._text.raw() if self._text is not None else ""

    def take_secrets(self) -> list[tuple[int, str]]:
        """Return the secrets found since the last call."""
        found, self.secrets = self.secrets, []
        return found

    def _of_key(self, text: _Text) -> Iterator[Any]:
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

    def _texts(self) -> Iterator[str]:
        decode = codecs.getincrementaldecoder("utf-8")().decode
        for block in line_blocks(self.path):
            if block.reject is not None:
                raise BrokenElementsError(block.reject.reason)
            data = block.data
            secrets = find_secrets(data)
            self.secrets += lines_of(data, secrets, block.first_line)
            try:
                yield decode(mask(data, secrets) if self.is_masked else data)
            except UnicodeDecodeError as error:
                raise BrokenElementsError(f"not UTF-8 ({error.reason})") from error


class _Text:
    """JSON text of which more is read when it is needed."""

    def __init__(self, texts: Iterator[str]) -> None:
        self._texts = texts
        self._text = ""
        self._at = 0
        self._begin = 0
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

    def elements(self) -> Iterator[Any]:
        """Yield the elements of a list after its bracket."""
        if self.next(skip=False) == "]":
            self.next()
            return
        while True:
            yield self.value()
            after = self.next()
            if after == "]":
                return
            if after != ",":
                raise BrokenElementsError(
                    "not JSON: it ends too early" if not after else "not JSON: a comma is expected"
                )

    def value(self) -> Any:  # noqa: ANN401 - any JSON value
        """Return the next value."""
        self.next(skip=False)
        while True:
            try:
                found, end = self._decode(self._text, self._at)
            except RecursionError as error:
                raise BrokenElementsError("nested too deeply") from error
            except json.JSONDecodeError as error:
                is_cut = error.msg.startswith("Unterminated") or (
                    error.pos > len(self._text) - _NEAR_END
                )
                if not is_cut or not self._more():
                    raise BrokenElementsError(f"not JSON: {error.msg}") from error
                continue
            except ValueError as error:
                raise BrokenElementsError(f"not JSON: {error}") from error
            # A number may go on.
            if end == len(self._text) and self._text[end - 1].isdigit() and self._more():
                continue
            self._begin, self._at = self._at, end
            return found

    def raw(self) -> str:
        """Return the text of the last value, until anything more is read."""
        return self._text[self._begin : self._at]

    def _more(self) -> bool:
        if len(self._text) - self._at > _LONGEST_ELEMENT:
            raise BrokenElementsError(f"a value of more than {_LONGEST_ELEMENT:,} characters")
        text = next(self._texts, None)
        if text is None:
            return False
        self._text, self._at = self._text[self._at :] + text, 0
        return True
