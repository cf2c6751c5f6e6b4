"""Finds values assigned to names of secrets: `PASSWORD=…`, `"api_key": "…"`, `--api-key …`.

The name proves nothing, so the value must be sufficiently random and not a placeholder, and these
secrets have their own kind.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from warehouse.core.formats.secrets.patterns import late_pattern
from warehouse.core.formats.secrets.secret import (
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
_SUFFIX = (
    r"(?:[_-]?(?:base|prod|dev|staging|live|test|main|primary|secondary|old|new|value|data|\d))?"
)
# A quote, also doubled, escaped, or of a page or an address; the marks of bold text.
_QUOTE = r"""(?:\\{0,7}(?:["'`]|u002[27])|\*\*|&quot;|&\#34;|%22)"""
# After it, YAML says where the value is: `>-`, `&anchor`, `!!str`.
_OPERATOR = (
    rf"""{_QUOTE}{{0,4}}\]?\s{{0,3}}(?:(?::\s?(?:str|string)\s?)=|=>|:=|={{1,2}}|:|\sis:?\s|%3[aAdD]"""
    rf"""|\)?\s(?:or|\|\||\?\?)\s(?=\\{{0,7}}["'`]))(?:\*\*)?\s{{0,3}}(?:[>|][+-]?\s{{1,9}}|[&!][\w!]{{1,20}}\s)?"""
)
_BREAK = r"(?:\s|\\+[nrt])"
# These assign only after `_COMMAND`: in a tag, an attribute, a pair, two fields, a command.
_WEAK_OPERATOR = (
    rf"""(?P<weak>\s[\w:.-]{{1,20}}=[^<>\s]{{1,40}}>|\\{{0,3}}["']?>\s{{0,3}}(?:<!\[CDATA\[)?"""
    rf"""|</(?:key|name)>{_BREAK}{{0,20}}<\w{{1,10}}>|\\{{0,3}}["']\s{{1,3}}value="""
    rf"""|{_QUOTE}{{0,4}},?{_BREAK}{{0,20}}{_QUOTE}{{0,4}}value{_QUOTE}{{0,4}}\s?[:=]\s{{0,3}}"""
    rf"""|\\{{0,3}}["'],\s{{0,3}}b?(?=\\{{0,3}}["'])|[ \t]{{1,3}})"""
)
_COMMAND = late_pattern(
    rf"""(?:(?<![\w-])--?|{START}(?:set\s+-[\w -]*\s|(?:ENV|setx|setenv)\s+)"""
    rf"""|<(?:\w+\s+(?:key|name)=\\{{0,3}}["'])?|<(?:key|name)>|(?:name|key){_QUOTE}{{0,4}}\s?[:=]\s{{0,3}}{_QUOTE}{{0,4}}"""
    rf"""|[(\[]\s?b?\\{{0,3}}["'])[\w.:-]*\Z""".encode(),
    re.IGNORECASE,
)
_LONGEST_COMMAND = 64
_GATE_QUOTE = r"""(?:[\\"'`*]|u002[27]|&quot;|&#34;|%22)*"""
_GATE_NAME = rf"(?:key|pass|auth|code|sig|sid|{_NAMES}|{_PASSWORDS}){_SUFFIX}"
ASSIGNMENT_GATE = (
    rf"(?i:{_GATE_NAME}{_GATE_QUOTE}\]?[\s\v]*"
    r"(?:=|:(?:[\s\v]?str(?:ing)?[\s\v]?=)?|[\s\v]is[\s\v:]|%3[ad]|\)?[\s\v](?:or|\|\||\?\?)[\s\v]\\*[\"'`]))"
    r"(?:\*\*)?[=>|+\s\v-]*(?:[&!][\w!]+[\s\v])?"
    # A value without quotes ends at a comma: `"objective_pass": false, …` holds none.
    r"""(?:[=>\s\v\\]*(?:\\.|[^\s\v"'`,;<>(){}\[\]&|]){6}|[=>\s\v\\"'`]*["'`][^\s\v"]{6}"""
    r"|[\s\v]*(?:&quot;|&#34;)[^\s\v]{6})"
    r"|(?i:(?:-|(?:set[\s\v]+-[\w\s\v-]*|env|setx|setenv)[\s\v]+|<(?:key|name)>"
    r"""|<(?:\w+[\s\v]+(?:key|name)=\\*["'])?|[(\[][\s\v]?b?\\*["']"""
    rf"""|(?:name|key){_GATE_QUOTE}[\s\v]?[:=][\s\v]*{_GATE_QUOTE})"""
    rf"""[\w.:-]*{_GATE_NAME}"""
    r"""(?:[\s\v][\w:.-]+=[^<>\s\v]+>|\\*["']?>|</(?:key|name)>(?:[\s\v]|\\+[nrt])*<\w+>"""
    rf"""|\\*["'][\s\v]+value=|{_GATE_QUOTE},?(?:[\s\v]|\\+[nrt])*{_GATE_QUOTE}"""
    rf"""value{_GATE_QUOTE}[\s\v]?[:=]"""
    r"""|\\*["'],|[ \t])[\s\v\\"'`b]*[^\s\v]{4})"""
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
        rb"(?:(?:db|pg|my|sql|ssh|smtp|ftp|mail|user|admin|root|redis|ldap|wifi|vnc)_?"
        rb"|[\"' &;]|--)\Z",
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
    (?:\\{0,7}"){1,4} (?P<double> (?: [^"\\\s]"""
    + _ESCAPE
    + rb""" )+ ) (?= \\{0,7}" )
    | \\{0,3}'{1,2} (?P<single> (?: [^'"\\\s]"""
    + _ESCAPE
    + rb""" )+ ) (?= \\{0,3}' )
    | (?:\\{0,7}(?:[`"']|u002[27])|&quot;|&\#34;|%22|\xe2\x80\x9c)?
      (?P<bare> (?: [^\s"'`\\,;<>(){}\[\]&|]"""
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
