"""Names, ids and hashes of a poster benchmark."""

import hashlib
import re
from itertools import pairwise
from urllib.parse import urlsplit

_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")
_POST_KINDS = ("p", "reel", "tv")


def safe_name(text: str) -> str:
    """Return a file name: each run of characters outside `A-Za-z0-9_.-` becomes `_`."""
    return _UNSAFE.sub("_", text)


def published_label(label: str) -> str:
    """Return the label of a published folder; `run` if the label is empty."""
    return safe_name(label.strip()) or "run"


def instagram_shortcode(url: str) -> str | None:
    """Return the shortcode of an Instagram post, reel or video; None for other addresses."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return None
    if not host.endswith("instagram.com"):
        return None
    names = [name for name in parts.path.split("/") if name]
    return next((code for kind, code in pairwise(names) if kind in _POST_KINDS), None)


def poster_id(url: str) -> str:
    """Return a poster's id: its Instagram shortcode, or 12 hex digits of the address's SHA-1."""
    digest = hashlib.sha1(url.encode(), usedforsecurity=False).hexdigest()
    return instagram_shortcode(url) or digest[:12]


def read_urls(text: str) -> list[str]:
    """Return the addresses of a list, one per line, without empty lines, `#` comments, repeats."""
    lines = (line.strip() for line in text.splitlines())
    return list(dict.fromkeys(line for line in lines if line and not line.startswith("#")))


def dataset_hash(content: bytes) -> str:
    """Return the SHA-256, in hex, of the bytes of a URL list or manifest."""
    return hashlib.sha256(content).hexdigest()
