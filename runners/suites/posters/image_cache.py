"""The cache of pictures: downloaded once, never stored, exported or committed.

`<cache>/<SHA-256 of the picture>.<suffix>`, and for each address a note of the picture that it
gave, `<SHA-256 of the address>.json`. It lies in the user's cache folder, outside of any store and
workspace; `EVALSTORE_CACHE` names another place.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import get_ident
from urllib.parse import urlsplit

import httpx

from runners.providers.base import Image
from warehouse.errors import EvalstoreError
from warehouse.formats.images import IMAGE_FORMATS, image_format
from warehouse.scoring.posters.meta import instagram_shortcode

_SECONDS = 20.0  # for a whole picture
_MOST_BYTES = 20 * 2**20
_FOUND = 200
_MIME_TYPES = {kind.suffix: kind.mime for kind in IMAGE_FORMATS if kind.for_models}
_VAGUE = ("", "application/octet-stream", "binary/octet-stream")


class NoPictureError(Exception):
    """There is no picture to be had; the message says why, without the address."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture in the cache.

    Attributes:
        file: its name there.
        sha256: of its bytes.
        downloaded_at: UTC, ISO 8601; None for one that was at hand.
    """

    file: str
    sha256: str
    downloaded_at: str | None = None


class PictureCache:
    """Pictures by address, each downloaded when it is first asked for."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or _usual_folder()

    def image(self, file: str) -> Image:
        """Give a picture as a call takes it; a name that leads out of the cache does not."""
        name = Path(file).name
        return Image(self.folder / name, _MIME_TYPES[name.rpartition(".")[2]])

    def download(self, url: str) -> Picture:
        """Give the picture at an address, from the cache where it is there.

        Raises:
            NoPictureError: it cannot be had.
            EvalstoreError: the cache cannot be written.
        """
        note = self.folder / f"{hashlib.sha256(url.encode()).hexdigest()}.json"
        try:
            known = Picture(**json.loads(note.read_bytes()))
            if self.image(known.file).path.is_file():
                return known
        except (OSError, ValueError, TypeError, LookupError):
            pass
        data = _download(_address(url))
        now = datetime.now(UTC).isoformat(timespec="seconds")
        picture = self._keep(data, now)
        self._write(note.name, json.dumps(asdict(picture)).encode())
        return picture

    def take(self, path: Path) -> Picture:
        """Put a picture that is at hand into the cache, from which a resumed run reads it.

        Raises:
            NoPictureError: the file is none, or too big.
            EvalstoreError: the cache cannot be written.
        """
        try:
            if path.stat().st_size > _MOST_BYTES:
                raise NoPictureError(_too_big())
            return self._keep(path.read_bytes(), None)
        except OSError as error:
            raise NoPictureError(f"cannot be read ({error.strerror})") from error

    def _keep(self, data: bytes, downloaded_at: str | None) -> Picture:
        suffix = _suffix(data)
        sha256 = hashlib.sha256(data).hexdigest()
        picture = Picture(f"{sha256}.{suffix}", sha256, downloaded_at)
        if not (self.folder / picture.file).is_file():
            self._write(picture.file, data)
        return picture

    def _write(self, name: str, data: bytes) -> None:
        """Write a file whole or not at all; whoever finds the cache in a checkout ignores it."""
        # Several threads may have the same picture from different addresses.
        beside = self.folder / f".{name}.{os.getpid()}.{get_ident()}.part"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / ".gitignore").write_text("*\n")
            beside.write_bytes(data)
            beside.replace(self.folder / name)
        except OSError as error:
            with suppress(OSError):
                beside.unlink()
            raise EvalstoreError(
                f"{self.folder}: {error.strerror}; the cache of pictures cannot be written"
            ) from error


def is_address(url: str) -> bool:
    """Tell whether something can be downloaded: neither a path nor `file://`."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname)


def picture_suffixes() -> tuple[str, ...]:
    """Give the suffixes of pictures' files."""
    return (*_MIME_TYPES, "jpeg")


def _usual_folder() -> Path:
    named = os.environ.get("EVALSTORE_CACHE")
    if named:
        return Path(named)
    try:
        caches = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    except RuntimeError as error:
        problem = "there is no home folder for the cache of pictures: name one in EVALSTORE_CACHE"
        raise EvalstoreError(problem) from error
    return caches / "evalstore/pictures"


def _address(url: str) -> str:
    """Instagram shows a post's page without its picture; the picture has an address of its own."""
    code = instagram_shortcode(url)
    return f"https://www.instagram.com/p/{code}/media/?size=l" if code else url


def _download(url: str) -> bytes:
    deadline = time.monotonic() + _SECONDS
    try:
        with (
            httpx.Client(follow_redirects=True, max_redirects=5, timeout=_SECONDS / 2) as client,
            client.stream("GET", url) as response,
        ):
            return _body(response, deadline)
    except httpx.TimeoutException as error:
        raise NoPictureError("timed out") from error
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        # Its message may hold the address, and that a key.
        raise NoPictureError(f"cannot be reached ({type(error).__name__})") from error


def _body(response: httpx.Response, deadline: float) -> bytes:
    if response.status_code != _FOUND:
        raise NoPictureError(f"HTTP {response.status_code}")
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not kind.startswith("image/") and kind not in _VAGUE:
        raise NoPictureError(f"no picture but {kind}")
    data = bytearray()
    for chunk in response.iter_bytes():
        data += chunk
        if len(data) > _MOST_BYTES:
            raise NoPictureError(_too_big())
        # Checked here too: a slow drip would pass the time limit of each single read.
        if time.monotonic() > deadline:
            raise NoPictureError("timed out")
    return bytes(data)


def _suffix(data: bytes) -> str:
    kind = image_format(data)
    if kind is None or not kind.for_models:
        raise NoPictureError("no picture of a kind that models read (JPEG, PNG, GIF, WebP)")
    return kind.suffix


def _too_big() -> str:
    return f"is larger than {_MOST_BYTES >> 20} MiB"
