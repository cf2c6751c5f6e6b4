"""Finds values that are given to a name that says secret: `PASSWORD=…`, `"api_key": "…"`.

The name is no proof, so that the value has to be random enough and no placeholder, and what is
found is a class of its own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from warehouse.formats.secrets.secret import GENERIC, Secret, is_random_key, is_random_password

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAMES = r"token|secret|credentials?|creds|bearer|signature|jwt|session_?id|cookie"
_PASSWORDS = r"passw(?:or)?d|passphrase|passcode|pwd"
# A word may follow a name: SECRET_KEY_BASE, PASSWORD_PROD, TOKEN_2. No hash, no count.
_SUFFIX = r"(?:[_-]?(?:base|prod|dev|staging|live|test|main|primary|secondary|old|new|value|\d))?"
_OPERATOR = r"""\\{0,3}(?:''|["'`]?)\s{0,3}(?:=>|:=|={1,2}|:|\sis:?\s)\s{0,3}"""
ASSIGNMENT_GATE = (
    rf"(?i:(?:key|pass|auth|code|sig|sid|{_NAMES}|{_PASSWORDS}){_SUFFIX}"
    r"""\\*["'`]*\s*(?:=|:|\sis[\s:])[=>\s\\"'`]*[^\s"'`,;]{6})"""
)
_NAME = re.compile(
    rf"(?:(?P<password>{_PASSWORDS})|(?P<key>key)|(?P<pass>pass)|(?P<auth>auth)|(?P<code>code|sig|sid)"
    rf"|{_NAMES}){_SUFFIX}{_OPERATOR}".encode(),
    re.IGNORECASE,
)
# Words that are common by themselves say secret only behind another one.
_BEFORE = {
    "key": re.compile(
        rb"(?:[a-z0-9]_|[?&;]|(?:api|access|secret|private|priv|auth|encryption|encrypt|signing|"
        rb"account|admin|master|service|subscription|app|application|consumer|license|session|"
        rb"webhook|shared|jwt|hmac|client|storage|deploy|project)[_. -]?)\Z",
        re.IGNORECASE,
    ),
    "pass": re.compile(
        rb"(?:(?:db|pg|my|sql|ssh|smtp|ftp|mail|user|admin|root|redis|ldap|wifi|vnc)_?|[\"' &;])\Z",
        re.IGNORECASE,
    ),
    "auth": re.compile(rb"[?&;_\"']\Z"),
    "code": re.compile(rb"[?&;]\Z"),
}
_LONGEST_WORD_BEFORE = 16
# A backslash before anything but a quote or a letter of an escape belongs to the value.
_ESCAPE = rb"""|\\+[^\\"'`nrtbfu\s]|\\+u[0-9a-f]{4}"""
_VALUES = re.compile(
    rb"""
    \\{0,3}" (?P<double> (?: [^"\\\s]"""
    + _ESCAPE
    + rb""" )+ ) (?= \\{0,3}" )
    | \\{0,3}'{1,2} (?P<single> (?: [^'"\\\s]"""
    + _ESCAPE
    + rb""" )+ ) (?= \\{0,3}' )
    | \\{0,3}[`"']? (?P<bare> (?: [^\s"'`\\,;<>(){}\[\]&|]"""
    + _ESCAPE
    + rb""" )+ )
    """,
    re.VERBOSE | re.IGNORECASE,
)


def assigned_secrets(data: bytes, start: int, end: int) -> Iterator[Secret]:
    """Give the values in a part of some bytes that are given to names that say secret."""
    at = start
    while name := _NAME.search(data, at, end):
        at = name.end()
        value = _VALUES.match(data, at, end) if _says_secret(data, name) else None
        if value is None or value.lastgroup is None:
            continue
        first, last = value.span(value.lastgroup)
        text = data[first:last]
        if value.lastgroup == "bare":
            # No call or index in code, and not the full stop of a sentence.
            if data[last : last + 1] in {b"(", b"["}:
                continue
            text = text.rstrip(b".:?")
        is_random = is_random_password if name["password"] or name["pass"] else is_random_key
        if is_random(text):
            at = first + len(text)
            yield Secret(first, at, GENERIC)


def _says_secret(data: bytes, name: re.Match[bytes]) -> bool:
    """Return whether a name says secret with what stands before it."""
    before = _BEFORE.get(name.lastgroup or "")
    start = name.start()
    return before is None or bool(before.search(data[max(0, start - _LONGEST_WORD_BEFORE) : start]))
