"""Finds values assigned to names of secrets: `PASSWORD=…`, `"api_key": "…"`, `--api-key …`.

The name proves nothing, so the value must be sufficiently random and not a placeholder, and these
secrets have their own kind.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from warehouse.formats.secrets.patterns import late_pattern
from warehouse.formats.secrets.secret import (
    GENERIC,
    START,
    Secret,
    is_random_key,
    is_random_password,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAMES = r"token|secret|credentials?|creds|bearer|signature|jwt|session_?id|cookie"
_PASSWORDS = r"passw(?:or)?d|passphrase|passcode|pwd"
# A name may have one of these suffixes: SECRET_KEY_BASE, PASSWORD_PROD, TOKEN_2.
_SUFFIX = r"(?:[_-]?(?:base|prod|dev|staging|live|test|main|primary|secondary|old|new|value|\d))?"
_OPERATOR = r"""\\{0,3}(?:''|["'`]?)\s{0,3}(?:=>|:=|={1,2}|:|\sis:?\s)\s{0,3}"""
# These assign only after `_COMMAND`: in a tag, an attribute, a pair, a command.
_WEAK_OPERATOR = (
    r"""(?P<weak>>\s{0,3}|\\{0,3}["']\s{1,3}value=|\\{0,3}["'],\s{0,3}(?=\\{0,3}["'])|[ \t]{1,3})"""
)
_COMMAND = late_pattern(
    rf"""(?:(?<![\w-])--?|{START}(?:set\s+-[\w -]*\s|ENV\s+)|<(?:add\s+key=\\{{0,3}}["'])?"""
    rf"""|[(\[]\s?\\{{0,3}}["'])[\w.:-]*\Z""".encode(),
    re.IGNORECASE,
)
_LONGEST_COMMAND = 64
ASSIGNMENT_GATE = (
    rf"(?i:(?:key|pass|auth|code|sig|sid|{_NAMES}|{_PASSWORDS}){_SUFFIX}"
    r"""\\*["'`]*[\s\v]*(?:=|:|[\s\v]is[\s\v:])"""
    # A value without quotes ends at a comma: `"objective_pass": false, …` holds none.
    r"""(?:[=>\s\v\\]*(?:\\.|[^\s\v"'`,;<>(){}\[\]&|]){6}|[=>\s\v\\"'`]*["'`][^\s\v"]{6}))"""
    r"""|(?i:(?:-|set[\s\v]+-[\w\s\v-]*[\s\v]|env[\s\v]+|<(?:add[\s\v]+key=\\*["'])?|[(\[][\s\v]?\\*["'])"""
    rf"""[\w.:-]*(?:key|pass|auth|code|sig|sid|{_NAMES}|{_PASSWORDS}){_SUFFIX}"""
    r"""(?:>|\\*["'][\s\v]+value=|\\*["'],|[ \t])[\s\v\\"'`]*[^\s\v]{4})"""
)
_NAME = late_pattern(
    rf"(?:(?P<password>{_PASSWORDS})|(?P<key>key)|(?P<pass>pass)|(?P<auth>auth)|(?P<code>code|sig|sid)"
    rf"|{_NAMES}){_SUFFIX}(?:{_OPERATOR}|{_WEAK_OPERATOR})".encode(),
    re.IGNORECASE,
)
# What each of the names begins with: found in a fraction of the time of the names.
_BEGINNINGS = late_pattern(
    rb"key|pass|auth|code|sig|sid|token|secret|cred|bearer|jwt|session|cookie|pwd"
)
# These common words name a secret only after another word.
_BEFORE = {
    "key": late_pattern(
        rb"(?:[a-z0-9](?<!cache)(?<!primary)(?<!foreign)(?<!partition)(?<!sort)(?<!public)_|[?&;]|(?:api|access|secret|private|priv|auth|encryption|encrypt|signing|"
        rb"account|admin|master|service|subscription|app|application|consumer|license|session|"
        rb"webhook|shared|jwt|hmac|client|storage|deploy|project)[_. -]?)\Z",
        re.IGNORECASE,
    ),
    "pass": late_pattern(
        rb"(?:(?:db|pg|my|sql|ssh|smtp|ftp|mail|user|admin|root|redis|ldap|wifi|vnc)_?|[\"' &;])\Z",
        re.IGNORECASE,
    ),
    "auth": late_pattern(rb"[?&;_\"']\Z"),
    "code": late_pattern(rb"[?&;]\Z"),
}
_LONGEST_WORD_BEFORE = 16
# A backslash belongs to the value unless a quote or the letter of an escape follows.
_ESCAPE = rb"""|\\+[^\\"'`nrtbfu\s]|\\+u[0-9a-f]{4}"""
_VALUES = late_pattern(
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


def assigned_secrets(data: bytes, lowered: bytes, start: int, end: int) -> Iterator[Secret]:
    """Yield the values assigned to names of secrets between two positions of some bytes.

    Args:
        data: the bytes.
        lowered: those between the positions, in lower case.
        start: the first position.
        end: the position after the last.
    """
    at = start
    while beginning := _BEGINNINGS.search(lowered, at - start):
        at = start + beginning.start() + 1
        name = _NAME.match(data, at - 1, end)
        if name is None:
            continue
        at = name.end()
        value = _VALUES.match(data, at, end) if _names_secret(data, name) else None
        if value is None or value.lastgroup is None:
            continue
        first, last = value.span(value.lastgroup)
        text = data[first:last]
        if value.lastgroup == "bare":
            # Not a call or index in code; the full stop of a sentence is not part of it.
            if data[last : last + 1] in {b"(", b"["}:
                continue
            text = text.rstrip(b".:?")
        is_random = is_random_password if name["password"] or name["pass"] else is_random_key
        if is_random(text):
            at = first + len(text)
            yield Secret(first, at, GENERIC)


def _names_secret(data: bytes, name: re.Match[bytes]) -> bool:
    """Return whether a name, with the text before it, is the name of a secret."""
    start = name.start()
    if name["weak"] and not _COMMAND.search(data[max(0, start - _LONGEST_COMMAND) : start]):
        return False
    before = next((_BEFORE[word] for word in _BEFORE if name[word]), None)
    return before is None or bool(before.search(data[max(0, start - _LONGEST_WORD_BEFORE) : start]))
