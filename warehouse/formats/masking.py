"""Masks the keys of our own runs: what an environment, a URL or a header says in secret."""

from __future__ import annotations

import base64
import json
import os
import re
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, unquote_plus, urlsplit

from warehouse.formats.secrets import find_secrets, mask
from warehouse.formats.secrets.secret import GENERIC

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_SECRET_NAME = re.compile(
    r"(^|[_-])(api_?key|key|token|secret|password|passwd|credentials?|auth(orization)?)([_-]|$)",
    re.IGNORECASE,
)
_SHORTEST = 6  # characters: a shorter value would be masked inside ordinary words
MASK = "(redacted)"


class Mask:
    """Puts a mask in the place of known secrets, and of whatever has the shape of a key."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms = {form for secret in secrets for form in _forms(secret) if len(form) >= _SHORTEST}
        # The longest first: a secret may be a part of another one.
        longest_first = sorted(forms, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, longest_first))) if forms else None

    def text(self, text: str) -> str:
        """Mask a text, which has to be valid UTF-8."""
        return self.bytes(text.encode()).decode()

    def bytes(self, data: bytes) -> bytes:
        """Mask bytes."""
        if self._known is not None:
            text = data.decode("utf-8", "surrogateescape")
            data = self._known.sub(MASK, text).encode("utf-8", "surrogateescape")
        # A password that a model made up is part of its answer, and is judged with it.
        return mask(data, [secret for secret in find_secrets(data) if secret.kind != GENERIC])


def is_secret_name(name: str) -> bool:
    """Tell whether a variable, header or parameter of this name holds a secret."""
    return _SECRET_NAME.search(name) is not None


def secrets_of_environment(environment: Mapping[str, str] = os.environ) -> Iterator[str]:
    """Give the values of variables whose names say that they are secret, and those in URLs."""
    for name, value in environment.items():
        if is_secret_name(name):
            yield value
        elif "://" in value:
            yield from secrets_of_url(value)


def secrets_of_url(url: str) -> Iterator[str]:
    """Give the password in a URL, with its user, and the parameters that are named like keys."""
    try:
        parts = urlsplit(url)
        password, user = parts.password, parts.username
    except ValueError:
        return
    if password:
        yield password
        yield f"{user}:{password}"
    for pair in parts.query.split("&"):
        name, _, value = pair.partition("=")
        if is_secret_name(unquote(name)):
            yield value
            yield unquote_plus(value)


def _forms(secret: str) -> Iterator[str]:
    secret = secret.strip()
    yield secret
    # A reply's JSON, and that in a column that is JSON itself, spell quotes and the like out.
    for is_ascii in (True, False):
        inside = json.dumps(secret, ensure_ascii=is_ascii)[1:-1]
        yield inside
        yield json.dumps(inside)[1:-1]
    yield quote(secret, safe="")
    yield base64.b64encode(secret.encode("utf-8", "replace")).decode()
    if " " in secret:  # "Bearer abc"
        yield secret.rpartition(" ")[2]
