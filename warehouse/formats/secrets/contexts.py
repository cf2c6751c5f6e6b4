"""Finds secrets by what stands around them: headers, URLs, commands; or by a shape without a start."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warehouse.formats.secrets.secret import (
    Secret,
    is_placeholder,
    is_random_key,
    is_random_password,
    is_user_and_password,
    is_words,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_QUOTES = r"""[\\"'`]{0,6}"""
_TO = rf"""{_QUOTES}\s{{0,3}}(?:=>|=|:)\s{{0,3}}{_QUOTES}"""


@dataclass(frozen=True, slots=True)
class Context:
    """A place where secrets stand.

    Attributes:
        kind: what a secret there is.
        gate: matches wherever `pattern` may; an expression for RE2.
        pattern: has a group, the secret.
        check: says whether the secret is one.
    """

    kind: str
    gate: str
    pattern: re.Pattern[bytes]
    check: Callable[[bytes], bool]

    def find(self, data: bytes, start: int, end: int) -> Iterator[Secret]:
        """Give the secrets in a part of some bytes."""
        for match in self.pattern.finditer(data, start, end):
            if self.check(match[1]):
                yield Secret(*match.span(1), self.kind)


def _context(
    kind: str, pattern: str, check: Callable[[bytes], bool], gate: str
) -> Context:
    return Context(kind, gate, re.compile(pattern.encode()), check)


def _is_credential(text: bytes) -> bool:
    return is_user_and_password(text) or is_random_key(text) or is_random_password(text)


def _is_no_words(text: bytes) -> bool:
    return not is_words(text) and not is_placeholder(text)


def _is_no_placeholder(text: bytes) -> bool:
    return not is_placeholder(text)


def _is_anything(_: bytes) -> bool:
    return True


CONTEXTS = (
    _context(
        "JWT",
        r"(eyJ[\w-]{10,}\.eyJ[\w-]{10,}(?:\.[\w-]*){0,3})",
        _is_anything,
        r"\.eyJ",
    ),
    _context(
        "bearer token",
        r"(?i:bearer)(?:\s|%20|\+)+([A-Za-z0-9._~+/=-]{20,})",
        _is_no_words,
        r"(?i:bearer)[\s%+]",
    ),
    _context(
        "Authorization header",
        rf"(?i:authorization){_TO}(?:[A-Za-z][\w-]{{1,20}}\s+)?([A-Za-z0-9._~+/=:-]{{8,}})",
        _is_credential,
        r"(?i:authorization)\W",
    ),
    _context(
        "Authorization header",
        r"(?i:\bbasic)\s+([A-Za-z0-9+/]{12,}={0,2})",
        is_user_and_password,
        r"(?i:\bbasic)\s+[A-Za-z0-9+/]{12}",
    ),
    _context(
        "cookie",
        rf"(?i:cookie){_TO}([\w.%-]+=[^\s;\"'\\]{{16,}}(?:;\s*[\w.%-]+=[^\s;\"'\\]*)*)",
        _is_no_words,
        r"(?i:cookie)\W",
    ),
    _context(
        "URL password",
        r"""\b[A-Za-z][A-Za-z0-9+.-]{1,30}:(?:\\*/){2}[^\s/:@"'<>`\\]*:([^\s/"'<>`\\]{3,200})@[\w\[]""",
        _is_no_placeholder,
        r"""/[^\s/:@"'<>`\\]*:[^\s/"'<>`\\@]+@""",
    ),
    _context(
        "AWS secret key",
        rf"(?i:aws|secret[_-]?access)(?i:[\w .-]{{0,20}}key){_TO}((?:[A-Za-z0-9+]|\\*/){{40}})"
        r"(?![A-Za-z0-9+/=])",
        _is_no_words,
        r"(?i:aws|secret[_-]?access)(?i:[\w .-]{0,20}key)",
    ),
    _context(
        "Telegram token",
        r"(?<![\w-])(?:bot)?([0-9]{8,10}:AA[\w-]{33})",
        _is_anything,
        r"[0-9]{8,10}:AA[\w-]{33}",
    ),
    _context(
        "Mailchimp key",
        r"(?<![\w-])([0-9a-f]{32}-us[0-9]{1,2})(?!\w)",
        _is_anything,
        r"[0-9a-f]{8}-us[0-9]",
    ),
    _context(
        "Azure secret",
        r"(?<![\w.~-])([\w.~-]{3}[0-9]Q~[\w.~-]{31,34})",
        _is_anything,
        r"[0-9]Q~[\w.~-]{31}",
    ),
    _context(
        "Terraform token",
        r"(?<![A-Za-z0-9])([A-Za-z0-9]{14}\.atlasv1\.[\w=-]{30,})",
        _is_anything,
        r"\.atlasv1\.",
    ),
    _context(
        "Discord token",
        r"(?<![\w.+/-])([MNO][\w-]{22,27}\.[\w-]{6}\.[\w-]{27,45})(?![\w.])",
        is_random_key,
        r"\w\.[\w-]{6}\.[\w-]{27}",
    ),
    _context(
        "Salesforce token",
        r"(?<![\w+/-])(00D[A-Za-z0-9]{12,15}!\\?[A-Za-z0-9._-]{40,})",
        _is_anything,
        r"00D[A-Za-z0-9]{12,15}!",
    ),
    _context(
        "MaxMind key",
        r"(?<![\w-])([A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk)",
        _is_anything,
        r"_mmk",
    ),
    _context(
        "JWK",
        rf"{_QUOTES}\bd{_TO}([\w-]{{40,}})(?=\\*[\"'])",
        _is_no_words,
        r"\bkty\W",
    ),
    _context(
        "command line password",
        r"""\bcurl\b[^\r\n]{0,400}?\s(?:-u|--user)[ =]\\*["']?[^\s:"'\\]+:([^\s"'\\]{3,})""",
        _is_no_placeholder,
        r"\s(?:-u|--user)[ =]\S+:",
    ),
    _context(
        "command line password",
        r"""\bsshpass\s+-p\s*\\*["']?([^\s"'\\]{4,})""",
        _is_no_placeholder,
        r"\bsshpass\s",
    ),
    _context(
        "netrc password",
        r"\bmachine\s+\S+\s+login\s+\S+\s+password\s+([^\s\"'\\]{4,})",
        _is_no_placeholder,
        r"\bmachine\s+\S+\s+login\s",
    ),
)
