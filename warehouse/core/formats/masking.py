"""Masks secrets of our own runs, from the environment, URLs and headers."""

from __future__ import annotations

import base64
import json
import os
import re
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, unquote_plus, urlsplit

from warehouse.core.formats.secrets import find_secrets, mask
from warehouse.core.formats.secrets.search import SEARCHED_WHOLE
from warehouse.core.formats.secrets.secret import GENERIC, is_random_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

# The last words of names of secrets, joined to others (PGPASSWORD, accessToken) or not.
_ENDINGS = (
    r"api_?key|access_?key|secret_?key|private_?key|token|secrets?|password|passwd|passphrase|"
    r"passcode|credentials?|creds|cookies?|(?:ssh|pg|db|my|smtp|ftp)pass"
)
# Short words stand alone: `key` is not the end of `monkey`, nor `pass` that of `compass`.
_WORDS = r"key|pass|auth(?:orization)?|bearer|jwt|pat|dsn|(?<=[A-Za-z0-9][_-])pwd"
_SECRET_NAME = re.compile(rf"(?:{_ENDINGS}|(?:^|[_.-])(?:{_WORDS}))\d*(?:[_.-]|$)", re.IGNORECASE)
# Names of settings and places: AUTH_TYPE, SSH_AUTH_SOCK, AWS_SHARED_CREDENTIALS_FILE.
_DESCRIPTION = re.compile(
    r"[_-](?:file|path|dir|sock(?:et)?|host|port|type|name|mode|method|provider|domain|expiry|"
    r"expires(?:_?in|_?at)?|ttl|timeout|lifetime|length|enabled|algorithm|samesite|secure)$",
    re.IGNORECASE,
)
# XDG_SESSION_TYPE=wayland is not a secret, but a session's random id may be one.
_SESSION_NAME = re.compile(r"(?:^|[_-])(?:session(?:_?id)?|sid)(?:[_-]|$)", re.IGNORECASE)
_SIGNATURE_NAME = re.compile(r"(?:^|[_-])sig(?:nature)?$", re.IGNORECASE)
_SHORTEST = 6  # characters: a shorter value would be masked inside ordinary words
MASK = "(redacted)"
_BETWEEN = "\n\0\n"  # ends any secret


class Mask:
    """Replaces known secrets, and anything that looks like a key, by a mask."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms = {form for secret in secrets for form in _forms(secret) if len(form) >= _SHORTEST}
        # The longest first: a secret may be a part of another one.
        longest_first = sorted(forms, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, longest_first))) if forms else None

    def text(self, text: str) -> str:
        """Mask a text, which must be valid UTF-8."""
        return self.bytes(text.encode()).decode()

    def texts(self, texts: Sequence[str]) -> list[str]:
        """Mask several texts, in the time of one if they hold no secrets."""
        joined = _BETWEEN.join(texts).encode()
        # A longer text is searched line by line, which may find less than searching each text.
        if len(joined) <= SEARCHED_WHOLE and self._is_clean(joined):
            return list(texts)
        return [self.text(text) for text in texts]

    def _is_clean(self, data: bytes) -> bool:
        is_known = self._known is not None and self._known.search(data.decode())
        return not is_known and not find_secrets(data)

    def bytes(self, data: bytes) -> bytes:
        """Mask bytes."""
        if self._known is not None:
            text = data.decode("utf-8", "surrogateescape")
            data = self._known.sub(MASK, text).encode("utf-8", "surrogateescape")
        # A password made up by a model is part of its answer and is scored with it.
        return mask(data, [secret for secret in find_secrets(data) if secret.kind != GENERIC])


class NoMask(Mask):
    """Leaves everything as it is: for values that were masked before."""

    def bytes(self, data: bytes) -> bytes:
        """Return the bytes."""
        return data

    def text(self, text: str) -> str:
        """Return the text."""
        return text

    def texts(self, texts: Sequence[str]) -> list[str]:
        """Return the texts."""
        return list(texts)


def is_secret_name(name: str) -> bool:
    """Return whether a variable, header or parameter of this name contains a secret."""
    return _SECRET_NAME.search(name) is not None and _DESCRIPTION.search(name) is None


def secrets_of_environment(environment: Mapping[str, str] = os.environ) -> Iterator[str]:
    """Yield the secrets in variables, by their names and by what their values look like.

    A variable whose name is that of a secret is one as a whole. In others, passwords in URLs and
    assignments (`host=db password=…`) are.
    """
    for name, value in environment.items():
        if is_secret_name(name) or _is_session(name, value):
            yield value
        if "://" in value:
            yield from secrets_of_url(value)
        data = value.encode("utf-8", "surrogateescape")
        for secret in find_secrets(data):
            yield data[secret.start : secret.end].decode("utf-8", "surrogateescape")


def _is_session(name: str, value: str) -> bool:
    """Return whether a variable is a session's id and not one of a desktop's settings."""
    data = value.encode("utf-8", "surrogateescape")
    return _SESSION_NAME.search(name) is not None and "/" not in value and is_random_key(data)


def secrets_of_url(url: str) -> Iterator[str]:
    """Yield the password in a URL, also with its user, and parameters with names of secrets.

    A user without a password, as in `https://TOKEN@host`, is a token if it looks like one.
    """
    try:
        parts = urlsplit(url)
        password, user = parts.password, parts.username
    except ValueError:
        return
    if password:
        yield password
        yield f"{user}:{password}"
    elif user and is_random_key(user.encode("utf-8", "surrogateescape")):
        yield user
    for pair in parts.query.split("&"):
        name, _, value = pair.partition("=")
        if is_secret_name(unquote(name)) or _SIGNATURE_NAME.search(unquote(name)):
            yield value
            yield unquote_plus(value)


def _forms(secret: str) -> Iterator[str]:
    secret = secret.strip()
    yield secret
    # JSON replies, and JSON inside JSON columns, escape quotes and other characters.
    for is_ascii in (True, False):
        inside = json.dumps(secret, ensure_ascii=is_ascii)[1:-1]
        yield inside
        yield json.dumps(inside)[1:-1]
    yield quote(secret, safe="")
    yield base64.b64encode(secret.encode("utf-8", "replace")).decode()
    if " " in secret:  # "Bearer abc"
        yield secret.rpartition(" ")[2]
