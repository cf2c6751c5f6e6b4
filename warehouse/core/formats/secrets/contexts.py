"""Finds secrets by their context, or by a format without a fixed prefix."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.core.formats.secrets.patterns import late_pattern
from warehouse.core.formats.secrets.secret import (
    START,
    START_OF_BASE64,
    Secret,
    is_placeholder,
    is_random_key,
    is_random_password,
    is_user_and_password,
    is_words,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_FILE = Path(__file__).with_name("contexts.toml")
_QUOTES = r"""[\\"'`]{0,6}"""
_TO = rf"""{_QUOTES}\s{{0,3}}(?:=>|=|:)\s{{0,3}}{_QUOTES}"""
# Parts of expressions, by the names that `contexts.toml` has for them.
_PARTS = {
    "START": START,
    "START_OF_BASE64": START_OF_BASE64,
    "QUOTES": _QUOTES,
    "TO": _TO,
    "TO_OR_COMMA": rf"""(?:{_TO}|[\\"']{{1,4}},\s{{0,3}}[\\"']{{1,4}})""",
    # What the keys of Azure's services contain before their last characters.
    "AZURE": r"(?:Az(?:Fu|Se|Ca|Eh)|ACDb|APIM|AIoT|AZDO|\+(?:ASt|ASb|AEh|ARm|ACR|ABa|AMC))",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A context in which secrets occur.

    Attributes:
        kind: kind of the secret.
        part, gate, pattern, check, shape: see `contexts.toml`.
    """

    kind: str
    part: bytes
    gate: str
    pattern: re.Pattern[bytes]
    check: Callable[[bytes], bool]
    shape: re.Pattern[bytes] | None = None

    def find(self, data: bytes, start: int, end: int) -> Iterator[Secret]:
        """Yield the secrets between two positions of some bytes."""
        if self.shape is not None and not self.shape.search(data, start, end):
            return
        for match in self.pattern.finditer(data, start, end):
            if self.check(match[1]):
                yield Secret(*match.span(1), self.kind)


def _is_credential(text: bytes) -> bool:
    return is_user_and_password(text) or is_random_key(text) or is_random_password(text)


def _is_not_words(text: bytes) -> bool:
    return not is_words(text) and not is_placeholder(text)


def _is_typed_password(text: bytes) -> bool:
    # `-print` and the ports of `-p3306:3306` are no passwords.
    return not is_placeholder(text) and not re.fullmatch(rb"[a-z]+\W*|[\d.:]+\W*|\$.*", text)


_CHECKS: dict[str, Callable[[bytes], bool]] = {
    "any": bool,
    "credential": _is_credential,
    "not a placeholder": lambda text: not is_placeholder(text),
    "not words": _is_not_words,
    "random key": is_random_key,
    "random password": is_random_password,
    "typed password": _is_typed_password,
    "user and password": is_user_and_password,
}


@cache
def contexts() -> tuple[Context, ...]:
    """Return the contexts, which `contexts.toml` defines."""
    rules = tomllib.loads(_FILE.read_text("utf-8"))["contexts"]
    return tuple(
        Context(
            kind=rule["kind"],
            part=rule["part"].encode(),
            gate=_filled(rule["gate"]),
            pattern=late_pattern(_filled(rule["pattern"]).encode()),
            check=_CHECKS[rule["check"]],
            shape=late_pattern(_filled(rule["shape"]).encode()) if "shape" in rule else None,
        )
        for rule in rules
    )


def _filled(pattern: str) -> str:
    """Return an expression with what its placeholders, such as `<START>`, stand for."""
    for name, part in _PARTS.items():
        pattern = pattern.replace(f"<{name}>", part)
    return pattern
