"""The image cache: images are downloaded once and never stored, exported or committed.

An image is `<cache>/<SHA-256 of the image>.<suffix>`; `<SHA-256 of the URL>.json` records which
image a URL returned. The cache is in the user's cache folder, outside any store and workspace;
`EVALSTORE_CACHE` sets another folder.
"""

from __future__ import annotations

import errno
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
from runners.providers.transport.reply_limit import (
    ENCODINGS,
    ReplyMeter,
    ReplyTooLargeError,
    body_of,
)
from runners.suites.posters.public_transport import PrivateAddressError, PublicTransport
from warehouse.core.errors import EvalstoreError
from warehouse.core.files import read_regular
from warehouse.core.formats.images import IMAGE_FORMATS, image_format
from warehouse.core.paths import picture_cache
from warehouse.engine.scoring.posters.meta import instagram_shortcode

_SECONDS = 20.0  # for a whole image
_MAX_BYTES = 20 * 2**20
_FOUND = 200
_MIME_TYPES = {kind.suffix: kind.mime for kind in IMAGE_FORMATS if kind.for_models}
_UNSPECIFIC = ("", "application/octet-stream", "binary/octet-stream")


class ImageUnavailableError(Exception):
    """An image cannot be obtained; the message says why, without the URL."""


@dataclass(frozen=True, slots=True)
class CachedImage:
    """An image in the cache.

    Attributes:
        file: its file name.
        sha256: SHA-256 of its bytes.
        downloaded_at: UTC, ISO 8601; None for a local image.
    """

    file: str
    sha256: str
    downloaded_at: str | None = None


class ImageCache:
    """Images by URL, each downloaded on first use.

    Args:
        folder: the folder; None for that of the user.
        allow_private: whether to download from addresses of this machine and its networks.
    """

    def __init__(self, folder: Path | None = None, *, allow_private: bool = False) -> None:
        self.folder = folder or _default_folder()
        self._allow_private = allow_private

    def image(self, file: str) -> Image:
        """Return an image for a request. Only the last part of the name counts."""
        name = Path(file).name
        return Image(self.folder / name, _MIME_TYPES[name.rpartition(".")[2]])

    def download(self, url: str) -> CachedImage:
        """Return the image at a URL, downloaded unless it is in the cache.

        Raises:
            ImageUnavailableError: it cannot be downloaded.
            EvalstoreError: the cache cannot be written.
        """
        record = self.folder / f"{hashlib.sha256(url.encode()).hexdigest()}.json"
        try:
            known = CachedImage(**json.loads(read_regular(record)))
            if self.image(known.file).path.is_file():
                return known
        except (OSError, ValueError, TypeError, LookupError, RecursionError):
            pass
        transport = None if self._allow_private else PublicTransport()
        data = _download(_image_url(url), transport)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        image = self._add(data, now)
        self._write(record.name, json.dumps(asdict(image)).encode())
        return image

    def add(self, path: Path) -> CachedImage:
        """Add a local image to the cache, where a resumed run finds it.

        Raises:
            ImageUnavailableError: the file is not an image, or too large.
            EvalstoreError: the cache cannot be written.
        """
        try:
            return self._add(read_regular(path, max_bytes=_MAX_BYTES), None)
        except OSError as error:
            if error.errno == errno.EFBIG:
                raise ImageUnavailableError(_too_large()) from error
            raise ImageUnavailableError(f"cannot be read ({error.strerror})") from error

    def _add(self, data: bytes, downloaded_at: str | None) -> CachedImage:
        suffix = _suffix(data)
        sha256 = hashlib.sha256(data).hexdigest()
        image = CachedImage(f"{sha256}.{suffix}", sha256, downloaded_at)
        if not (self.folder / image.file).is_file():
            self._write(image.file, data)
        return image

    def _write(self, name: str, data: bytes) -> None:
        """Write a file completely or not at all; the cache tells git to ignore it."""
        # Several threads may write the same image, from different URLs.
        partial = self.folder / f".{name}.{os.getpid()}.{get_ident()}.part"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / ".gitignore").write_text("*\n")
            partial.write_bytes(data)
            partial.replace(self.folder / name)
        except OSError as error:
            with suppress(OSError):
                partial.unlink()
            raise EvalstoreError(
                f"{self.folder}: {error.strerror}; cannot write the image cache"
            ) from error


def is_web_address(url: str) -> bool:
    """Return whether a URL can be downloaded: http or https, not a path or `file://`."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname)


def image_suffixes() -> tuple[str, ...]:
    """Return the suffixes of image files."""
    return (*_MIME_TYPES, "jpeg")


def _default_folder() -> Path:
    folder = picture_cache()
    if folder is None:
        raise EvalstoreError("no home folder for the image cache: set EVALSTORE_CACHE to a folder")
    return folder


def _image_url(url: str) -> str:
    """Return the URL of the image itself, which for an Instagram post is not the post's own."""
    code = instagram_shortcode(url)
    return f"https://www.instagram.com/p/{code}/media/?size=l" if code else url


def _download(url: str, transport: httpx.BaseTransport | None) -> bytes:
    deadline = time.monotonic() + _SECONDS
    client = httpx.Client(
        transport=transport, follow_redirects=True, max_redirects=5, timeout=_SECONDS / 2
    )
    try:
        with client, client.stream("GET", url, headers={"Accept-Encoding": ENCODINGS}) as response:
            return _body(response, deadline)
    except PrivateAddressError as error:
        raise ImageUnavailableError(
            f"at {error}, an address of this machine or its network; --allow-private-urls allows it"
        ) from error
    except ReplyTooLargeError as error:
        raise ImageUnavailableError(_too_large()) from error
    except httpx.TimeoutException as error:
        raise ImageUnavailableError("timed out") from error
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        # The message may contain the URL, and that a key.
        raise ImageUnavailableError(f"cannot be reached ({type(error).__name__})") from error


def _body(response: httpx.Response, deadline: float) -> bytes:
    if response.status_code != _FOUND:
        raise ImageUnavailableError(f"HTTP {response.status_code}")
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not kind.startswith("image/") and kind not in _UNSPECIFIC:
        raise ImageUnavailableError(f"not an image but {kind}")
    meter, body = ReplyMeter(_MAX_BYTES), body_of(response)
    data = bytearray()
    for chunk in response.iter_raw():
        for piece in meter.add(chunk, body):
            data += piece
        # A slow drip would pass the time limit of each single read.
        if time.monotonic() > deadline:
            raise ImageUnavailableError("timed out")
    return bytes(data)


def _suffix(data: bytes) -> str:
    kind = image_format(data)
    if kind is None or not kind.for_models:
        raise ImageUnavailableError("not an image that models accept (JPEG, PNG, GIF, WebP)")
    return kind.suffix


def _too_large() -> str:
    return f"is larger than {_MAX_BYTES >> 20} MiB"
