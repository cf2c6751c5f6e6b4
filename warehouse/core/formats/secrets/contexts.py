"""Finds secrets by their context, or by a format without a fixed prefix."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warehouse.core.formats.secrets.patterns import late_pattern
from warehouse.core.formats.secrets.secret import (
    GENERIC,
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

_QUOTES = r"""[\\"'`]{0,6}"""
_TO = rf"""{_QUOTES}\s{{0,3}}(?:=>|=|:)\s{{0,3}}{_QUOTES}"""
_TO_OR_COMMA = rf"""(?:{_TO}|[\\"']{{1,4}},\s{{0,3}}[\\"']{{1,4}})"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A context in which secrets occur.

    Attributes:
        kind: kind of the secret.
        part: lower-case text that every match contains, in any case.
        shape: a fast expression that matches wherever `pattern` can; None where `part` is rare.
        gate: an RE2 expression that matches wherever `pattern` can.
        pattern: an expression whose only group is the secret.
        check: whether the text of the group is a secret.
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


def _context(
    *,
    kind: str,
    part: bytes,
    pattern: str,
    check: Callable[[bytes], bool],
    gate: str,
    shape: bytes | None = None,
) -> Context:
    return Context(
        kind=kind,
        part=part,
        gate=gate,
        pattern=late_pattern(pattern.encode()),
        check=check,
        shape=late_pattern(shape) if shape else None,
    )


def _is_credential(text: bytes) -> bool:
    return is_user_and_password(text) or is_random_key(text) or is_random_password(text)


def _is_not_words(text: bytes) -> bool:
    return not is_words(text) and not is_placeholder(text)


def _is_typed_password(text: bytes) -> bool:
    # `-print` and the ports of `-p3306:3306` are no passwords.
    return not is_placeholder(text) and not re.fullmatch(rb"[a-z]+\W*|[\d.:]+\W*|\$.*", text)


def _is_not_placeholder(text: bytes) -> bool:
    return not is_placeholder(text)


def _accept_any(_: bytes) -> bool:
    return True


# What the keys of Azure's services contain before their last characters.
_AZURE = r"(?:Az(?:Fu|Se|Ca|Eh)|ACDb|APIM|AIoT|AZDO|\+(?:ASt|ASb|AEh|ARm|ACR|ABa|AMC))"


# In a gate, `\s` does not match the vertical tab.
CONTEXTS = (
    _context(
        kind="JWT",
        part=b".eyj",
        pattern=r"(eyJ[\w-]{10,}\.eyJ[\w-]{10,}(?:\.[\w-]*){0,3})",
        check=_accept_any,
        gate=r"\.eyJ",
    ),
    _context(
        kind="bearer token",
        part=b"bearer",
        pattern=r"(?i:bearer)(?:\s|%20|\+)+([A-Za-z0-9._~+/=-]{20,})",
        check=_is_not_words,
        gate=r"(?i:bearer)[\s\v%+]",
    ),
    _context(
        kind="Authorization header",
        part=b"authorization",
        pattern=rf"(?i:authorization){_TO_OR_COMMA}(?:[A-Za-z][\w-]{{1,20}}\s+)?([A-Za-z0-9._~+/=:-]{{8,}})",
        check=_is_credential,
        gate=r"(?i:authorization)\W",
    ),
    _context(
        kind="Authorization header",
        part=b"basic",
        pattern=rf"{START}(?i:basic)\s+([A-Za-z0-9+/]{{12,}}={{0,2}})",
        check=is_user_and_password,
        gate=r"(?i:basic)[\s\v]+[A-Za-z0-9+/]{12}",
    ),
    _context(
        kind="cookie",
        part=b"cookie",
        pattern=rf"(?i:cookie){_TO}([\w.%-]+=[^\s;\"'\\]{{16,}}(?:;\s*[\w.%-]+=[^\s;\"'\\]*)*)",
        check=_is_not_words,
        gate=r"(?i:cookie)\W",
    ),
    _context(
        kind="URL password",
        part=b"@",
        pattern=rf"""{START}[A-Za-z][A-Za-z0-9+.-]{{1,30}}:(?:\\*/){{2}}[^\s/:@"'<>`\\]*:([^\s/"'<>`\\]{{3,200}})@[\w\[]""",
        check=_is_not_placeholder,
        gate=r"""/[^\s/:@"'<>`\\]*:[^\s/"'<>`\\]+@""",
    ),
    _context(
        kind="AWS secret key",
        part=b"key",
        pattern=rf"(?i:aws|secret[_-]?access)(?i:[\w .-]{{0,20}}key){_TO}"
        r"((?:[A-Za-z0-9+]|\\*/){40})(?![A-Za-z0-9+/=])",
        check=_is_not_words,
        gate=r"(?i:aws|secret[_-]?access)(?i:[\w .-]{0,20}key)",
    ),
    _context(
        kind="Telegram token",
        part=b":aa",
        pattern=rf"(?:{START}|(?<=bot))([0-9]{{8,10}}:AA[\w-]{{33}})",
        check=_accept_any,
        gate=r"[0-9]{8,10}:AA[\w-]{33}",
    ),
    _context(
        kind="Mailchimp key",
        part=b"-us",
        pattern=rf"{START}([0-9a-f]{{32}}-us[0-9]{{1,2}})(?!\w)",
        check=_accept_any,
        gate=r"[0-9a-f]{8}-us[0-9]",
    ),
    _context(
        kind="Azure secret",
        part=b"q~",
        pattern=rf"{START}([\w.~-]{{3}}[0-9]Q~[\w.~-]{{31,34}})",
        check=_accept_any,
        gate=r"[0-9]Q~[\w.~-]{31}",
    ),
    _context(
        kind="Terraform token",
        part=b".atlasv1.",
        pattern=rf"{START}([A-Za-z0-9]{{14}}\.atlasv1\.[\w=-]{{30,}})",
        check=_accept_any,
        gate=r"\.atlasv1\.",
    ),
    _context(
        kind="Discord token",
        part=b".",
        pattern=rf"{START}([MNO][\w-]{{22,27}}\.[\w-]{{6}}\.[\w-]{{27,45}})(?!\w)",
        check=is_random_key,
        gate=r"[\w-]\.[\w-]{6}\.[\w-]{27}",
        shape=rb"\.[\w-]{6}\.[\w-]{27}",
    ),
    _context(
        kind="Salesforce token",
        part=b"00d",
        pattern=rf"{START}(00D[A-Za-z0-9]{{12,15}}!\\?[A-Za-z0-9._-]{{40,}})",
        check=_accept_any,
        gate=r"00D[A-Za-z0-9]{12,15}!",
    ),
    _context(
        kind="MaxMind key",
        part=b"_mmk",
        pattern=rf"{START}([A-Za-z0-9]{{6}}_[A-Za-z0-9]{{29}}_mmk)",
        check=_accept_any,
        gate=r"_mmk",
    ),
    _context(
        kind="JWK",
        part=b"kty",
        pattern=rf"{_QUOTES}\bd{_TO}([\w-]{{40,}})(?=\\*[\"'])",
        check=_is_not_words,
        gate=r"(?i:kty)",
    ),
    _context(
        kind="command line password",
        part=b"curl",
        pattern=rf"""{START}curl\b[^\r\n]{{0,400}}?\s(?:-u|--user)[ =]?"""
        r"""\\*["']?[^\s:"'\\]+:([^\s"'\\]{3,})""",
        check=_is_not_placeholder,
        gate=r"[\s\v](?:-u|--user)[ =]?\S+:",
    ),
    _context(
        kind="command line password",
        part=b"curl",
        # A key without a user, or a cookie.
        pattern=rf"""{START}curl\b[^\r\n]{{0,400}}?\s(?:(?:-u|--user)[ =]?\\*["']?"""
        r"""|(?:-b|--cookie)[ =]?\\*["']?[\w.-]+=)([^\s:;"'\\]{20,})""",
        check=is_random_key,
        gate=r"[\s\v](?:-u|--user|-b|--cookie)[ =]?\S{20}",
    ),
    _context(
        kind="command line password",
        part=b"-",
        pattern=rf"""{START}(?:(?:docker|podman|az|oc)\s+login|redis-cli|mongo\w*|sqlcmd|ldap\w+|unzip|zip|7z"""
        rf"""|mariadb\w*|https?)\s(?:[^\r\n]{{0,200}}?\s)??-[apPw]\s?\\*["']?(?:[\w.-]+:)?([^\s"'\\`]{{6,}})""",
        check=is_random_password,
        gate=r"[\s\v]-[apPw][\s\v]?\S",
        shape=rb"\s-[apPw]",
    ),
    _context(
        kind="Weights & Biases key",
        part=b"wandb login",
        pattern=r"wandb login\s(?:[^\r\n]{0,60}?\s)??([0-9a-f]{40})(?!\w)",
        check=_accept_any,
        gate="wandb login",
    ),
    _context(
        kind="command line password",
        part=b"sshpass",
        pattern=rf"""{START}sshpass\s+-p\s*\\*["']?([^\s"'\\]{{4,}})""",
        check=_is_not_placeholder,
        gate=r"sshpass[\s\v]",
    ),
    _context(
        kind="command line password",
        part=b"mysql",
        pattern=rf"""{START}(?i:mysql)\w*[\s"',\\](?:[^\r\n]{{0,400}}?[\s"'])??-p\\*["']?([^\s"'\\`<(\[{{]{{4,}})""",
        check=_is_typed_password,
        gate=r"""[\s\v"']-p\\*["']?[^\s\v"'\\]""",
    ),
    _context(
        kind="Sentry DSN",
        part=b"@",
        pattern=r"(?i:https?):(?:\\*/){2}([0-9a-f]{32}(?::[0-9a-f]{32})?)@[\w\[]",
        check=_accept_any,
        gate=r"/[0-9a-f]{32}[:@]",
        shape=rb"/[0-9a-f]{32}[:@]",
    ),
    _context(
        kind="Mailgun key",
        part=b"-",
        pattern=rf"{START}([0-9a-f]{{32}}-[0-9a-f]{{8}}-[0-9a-f]{{8}})(?![\w-])",
        check=_accept_any,
        gate=r"[0-9a-f]-[0-9a-f]{8}-[0-9a-f]{8}",
        shape=rb"[0-9a-f]{32}-[0-9a-f]{8}-",
    ),
    _context(
        kind="Vault token",
        part=b"s.",
        # Names in code have few capitals and digits.
        pattern=rf"{START}(s\.(?=(?:[a-z]*[A-Z0-9]){{7}})(?=(?:[A-Z0-9]*[a-z]){{3}})"
        r"[A-Za-z0-9]{24}(?:\.[A-Za-z0-9]{5})?)(?![\w(])",
        check=_accept_any,
        gate=r"s\.[A-Za-z0-9]{24}",
        shape=rb"s\.[A-Za-z0-9]{24}",
    ),
    _context(
        kind="New Relic key",
        part=b"nral",
        pattern=rf"{START}([0-9a-z]{{20,36}}NRAL)(?!\w)",
        check=_accept_any,
        gate=r"[0-9a-z]NRAL",
    ),
    _context(
        kind="netrc password",
        part=b"machine",
        pattern=rf"{START}machine\s+\S+\s+(?:login\s+\S+\s+)?password\s+([^\s\"'\\]{{4,}})",
        check=_is_not_placeholder,
        gate=r"machine[\s\v]+\S+[\s\v]+(?:login|password)[\s\v]",
    ),
    _context(
        kind="netrc password",
        part=b"default",
        pattern=rf"{START}default\s+login\s+\S+\s+password\s+([^\s\"'\\]{{4,}})",
        check=is_random_password,
        gate=r"default[\s\v]+login[\s\v]",
    ),
    _context(
        kind="URL token",
        part=b"@",
        pattern=rf"{START}https?:(?:\\*/){{2}}([\w.~%-]{{20,200}})@[\w\[]",
        check=is_random_key,
        gate=r"https?:\\*/\\*/[\w.~%-]{20,}@",
    ),
    _context(
        kind=GENERIC,
        part=b"auth",
        pattern=r"""(?i:auth)\w{0,20}(?:\s?=\s?)?\(\s?\\*["'][^"'\\\s]+\\*["'],\s?\\*["']([^"'\\\s]{6,})""",
        check=is_random_password,
        gate=r"""(?i:auth)\w*[\s\v]?=?[\s\v]?\([\s\v]?\\*["']""",
    ),
    _context(
        kind=GENERIC,
        part=b"password",
        pattern=r"""(?i:password)(?:\s{1,3}|\s?\(\s?)\\*["']([^"'\\\s]{6,})\\*["']""",
        check=is_random_password,
        gate=r"""(?i:password)(?:[\s\v]|\()[\s\v(]*\\*["']""",
    ),
    _context(
        kind=GENERIC,
        part=b"identified",
        pattern=r"""(?i:identified\s+(?:with\s+\S+\s+)?by\s+)\\*["']([^"'\\\s]{6,})\\*["']""",
        check=is_random_password,
        gate=r"(?i:identified)[\s\v]+(?i:by|with)[\s\v]",
    ),
    _context(
        kind="AWS secret key",
        part=b"ia",
        # The pair, as in code and in a table.
        pattern=rf"{START}A[KS]IA[A-Z0-9]{{16}}[\\\"',;\s]{{1,9}}([A-Za-z0-9+/]{{40}})(?![A-Za-z0-9+/=])",
        check=_is_not_words,
        gate=r"A[KS]IA[A-Z0-9]{16}[\s\v\\\"',;]+[A-Za-z0-9+/]{40}",
        shape=rb"A[KS]IA[A-Z0-9]{16}",
    ),
    _context(
        kind="Azure key",
        part=b"jqqj99",
        pattern=rf"{START_OF_BASE64}([A-Za-z0-9]{{30,80}}JQQJ99[A-Za-z0-9]{{8,30}}={{0,2}})(?![\w+/=])",
        check=_accept_any,
        gate="JQQJ99",
    ),
    _context(
        kind="Azure key",
        part=b"a",
        pattern=rf"{START_OF_BASE64}([A-Za-z0-9+/_-]{{30,80}}{_AZURE}[A-Za-z0-9+/_-]{{4,8}}={{0,2}})(?![\w+/=])",
        check=is_random_key,
        gate=rf"{_AZURE}[\w+/-]{{4,8}}(?:[^\w+/-]|$)",
        shape=rf"{_AZURE}[\w+/-]{{4,8}}(?![\w+/-])".encode(),
    ),
    _context(
        kind="Firebase key",
        part=b":apa91b",
        pattern=rf"{START}([\w-]{{11}}:APA91b[\w-]{{60,}})",
        check=_accept_any,
        gate=r":APA91b",
    ),
    _context(
        kind="Zhipu key",
        part=b".",
        pattern=rf"{START}([0-9a-f]{{32}}\.(?=[A-Za-z]*[0-9])[A-Za-z0-9]{{16}})(?!\w|\.\w)",
        check=_accept_any,
        gate=r"[0-9a-f]{8}\.[A-Za-z0-9]{16}(?:\W|$)",
        shape=rb"[0-9a-f]{32}\.[A-Za-z0-9]{16}",
    ),
)
