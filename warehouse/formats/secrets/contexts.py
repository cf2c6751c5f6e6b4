"""Finds secrets by what stands around them, or by a shape without a beginning of its own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warehouse.formats.secrets.secret import (
    START,
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
        part: in lower case, is part of every match in any case.
        gate: matches wherever `pattern` may; an expression for RE2.
        pattern: has a group, the secret.
        check: says whether the secret is one.
    """

    kind: str
    part: bytes
    gate: str
    pattern: re.Pattern[bytes]
    check: Callable[[bytes], bool]

    def find(self, data: bytes, start: int, end: int) -> Iterator[Secret]:
        """Give the secrets in a part of some bytes."""
        for match in self.pattern.finditer(data, start, end):
            if self.check(match[1]):
                yield Secret(*match.span(1), self.kind)


def _context(
    kind: str, part: bytes, pattern: str, check: Callable[[bytes], bool], gate: str
) -> Context:
    return Context(kind, part, gate, re.compile(pattern.encode()), check)


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
        b".eyj",
        r"(eyJ[\w-]{10,}\.eyJ[\w-]{10,}(?:\.[\w-]*){0,3})",
        _is_anything,
        r"\.eyJ",
    ),
    _context(
        "bearer token",
        b"bearer",
        r"(?i:bearer)(?:\s|%20|\+)+([A-Za-z0-9._~+/=-]{20,})",
        _is_no_words,
        r"(?i:bearer)[\s%+]",
    ),
    _context(
        "Authorization header",
        b"authorization",
        rf"(?i:authorization){_TO}(?:[A-Za-z][\w-]{{1,20}}\s+)?([A-Za-z0-9._~+/=:-]{{8,}})",
        _is_credential,
        r"(?i:authorization)\W",
    ),
    _context(
        "Authorization header",
        b"basic",
        rf"{START}(?i:basic)\s+([A-Za-z0-9+/]{{12,}}={{0,2}})",
        is_user_and_password,
        r"(?i:basic)\s+[A-Za-z0-9+/]{12}",
    ),
    _context(
        "cookie",
        b"cookie",
        rf"(?i:cookie){_TO}([\w.%-]+=[^\s;\"'\\]{{16,}}(?:;\s*[\w.%-]+=[^\s;\"'\\]*)*)",
        _is_no_words,
        r"(?i:cookie)\W",
    ),
    _context(
        "URL password",
        b"@",
        rf"""{START}[A-Za-z][A-Za-z0-9+.-]{{1,30}}:(?:\\*/){{2}}[^\s/:@"'<>`\\]*:([^\s/"'<>`\\]{{3,200}})@[\w\[]""",
        _is_no_placeholder,
        r"""/[^\s/:@"'<>`\\]*:[^\s/"'<>`\\@]+@""",
    ),
    _context(
        "AWS secret key",
        b"key",
        rf"(?i:aws|secret[_-]?access)(?i:[\w .-]{{0,20}}key){_TO}((?:[A-Za-z0-9+]|\\*/){{40}})"
        r"(?![A-Za-z0-9+/=])",
        _is_no_words,
        r"(?i:aws|secret[_-]?access)(?i:[\w .-]{0,20}key)",
    ),
    _context(
        "Telegram token",
        b":aa",
        rf"(?:{START}|(?<=bot))([0-9]{{8,10}}:AA[\w-]{{33}})",
        _is_anything,
        r"[0-9]{8,10}:AA[\w-]{33}",
    ),
    _context(
        "Mailchimp key",
        b"-us",
        rf"{START}([0-9a-f]{{32}}-us[0-9]{{1,2}})(?!\w)",
        _is_anything,
        r"[0-9a-f]{8}-us[0-9]",
    ),
    _context(
        "Azure secret",
        b"q~",
        rf"{START}([\w.~-]{{3}}[0-9]Q~[\w.~-]{{31,34}})",
        _is_anything,
        r"[0-9]Q~[\w.~-]{31}",
    ),
    _context(
        "Terraform token",
        b".atlasv1.",
        rf"{START}([A-Za-z0-9]{{14}}\.atlasv1\.[\w=-]{{30,}})",
        _is_anything,
        r"\.atlasv1\.",
    ),
    _context(
        "Discord token",
        b".",
        rf"{START}([MNO][\w-]{{22,27}}\.[\w-]{{6}}\.[\w-]{{27,45}})(?!\w)",
        is_random_key,
        r"\w\.[\w-]{6}\.[\w-]{27}",
    ),
    _context(
        "Salesforce token",
        b"00d",
        rf"{START}(00D[A-Za-z0-9]{{12,15}}!\\?[A-Za-z0-9._-]{{40,}})",
        _is_anything,
        r"00D[A-Za-z0-9]{12,15}!",
    ),
    _context(
        "MaxMind key",
        b"_mmk",
        rf"{START}([A-Za-z0-9]{{6}}_[A-Za-z0-9]{{29}}_mmk)",
        _is_anything,
        r"_mmk",
    ),
    _context(
        "JWK",
        b"kty",
        rf"{_QUOTES}\bd{_TO}([\w-]{{40,}})(?=\\*[\"'])",
        _is_no_words,
        r"kty\W",
    ),
    _context(
        "command line password",
        b"curl",
        rf"""{START}curl\b[^\r\n]{{0,400}}?\s(?:-u|--user)[ =]"""
        r"""\\*["']?[^\s:"'\\]+:([^\s"'\\]{3,})""",
        _is_no_placeholder,
        r"\s(?:-u|--user)[ =]\S+:",
    ),
    _context(
        "command line password",
        b"sshpass",
        rf"""{START}sshpass\s+-p\s*\\*["']?([^\s"'\\]{{4,}})""",
        _is_no_placeholder,
        r"sshpass\s",
    ),
    _context(
        "netrc password",
        b"machine",
        rf"{START}machine\s+\S+\s+login\s+\S+\s+password\s+([^\s\"'\\]{{4,}})",
        _is_no_placeholder,
        r"machine\s+\S+\s+login\s",
    ),
)
