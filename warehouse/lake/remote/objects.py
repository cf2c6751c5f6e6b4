"""Objects of an object store: listed, fetched, and put so that nothing is overwritten unseen."""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from html import unescape
from typing import TYPE_CHECKING, Any

from warehouse.core.errors import BadInput, StoreUnreachable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

    from obstore.store import ObjectStore

_RETRIES = 6
_RETRY_SECONDS = 60
_PIECE_BYTES = 8 * 2**20
# An error's text has addresses, keys and durations too: a bare number could be part of those.
_BUSY = ("status code: 503 ", "status code: 429 ", "<Code>SlowDown</Code>")
_CODE, _MESSAGE = (
    re.compile(rf"<{tag}>([^<]+)</{tag}>", re.IGNORECASE) for tag in ("Code", "Message")
)
_BODY = re.compile(r"\n|<[?!a-zA-Z]")
_QUOTED = re.compile(r'"[^"]*"')
_FIRST_NAME = "0"  # names of batches begin with 0 to 7
_LOOPBACK = ("http://127.0.0.1", "http://localhost", "http://[::1]")


class ObjectChanged(Exception):  # noqa: N818 - a condition that callers handle
    """An object is not, or no longer, as the condition of a put says."""


@dataclass(frozen=True, slots=True)
class Listed:
    """An object in a listing: its key, its size in bytes and when it was last written."""

    key: str
    size: int
    modified: datetime


class Objects:
    """The objects below an address; keys are relative to it.

    Args:
        address: such as `s3://bucket/prefix`, for messages.
        store: obstore's store of it.
    """

    def __init__(self, address: str, store: ObjectStore) -> None:
        self.address = address
        self._store = store

    def below(self, prefix: str) -> list[Listed]:
        """Return the objects below a folder, in order of their keys.

        Raises:
            StoreUnreachable: they cannot be listed.
        """
        import obstore

        with self._errors(prefix):
            found = [meta for page in obstore.list(self._store, prefix) for meta in page]
        listed = (Listed(m["path"], m["size"], m["last_modified"]) for m in found)
        return sorted(listed, key=lambda one: one.key)

    def names(self, folder: str) -> set[str]:
        """Return the names of the objects in a folder, and of the folders in it.

        Keys of others may have segments that obstore refuses (`..`, `.`, none), and with them the
        listing that they are in. Those further down are not in the first one; those that come
        before names of ours are not in the second.

        Raises:
            StoreUnreachable: they cannot be listed.
        """
        import obstore
        from obstore.exceptions import InvalidPathError

        with self._errors(folder):
            try:
                found = obstore.list_with_delimiter(self._store, f"{folder}/")
                paths = [*(meta["path"] for meta in found["objects"]), *found["common_prefixes"]]
            except InvalidPathError:
                pages = obstore.list(self._store, f"{folder}/", offset=f"{folder}/{_FIRST_NAME}")
                paths = [meta["path"] for page in pages for meta in page]
        return {path.removeprefix(f"{folder}/").partition("/")[0] for path in paths}

    def modified(self, key: str) -> datetime | None:
        """Return when an object was last written; None if there is none.

        Raises:
            StoreUnreachable: it cannot be read.
        """
        import obstore

        try:
            with self._errors(key):
                return obstore.head(self._store, key)["last_modified"]
        except FileNotFoundError:
            return None

    def get(self, key: str) -> tuple[bytes, str | None]:
        """Return the bytes of an object and its entity tag.

        Raises:
            FileNotFoundError: there is no such object.
            StoreUnreachable: it cannot be read.
        """
        import obstore

        with self._errors(key):
            found = obstore.get(self._store, key)
            return bytes(found.bytes()), found.meta["e_tag"]

    def download(self, key: str, path: Path) -> None:
        """Write an object to a new file, and flush it to disk.

        Raises:
            FileNotFoundError: there is no such object.
            OSError: the file cannot be written.
            StoreUnreachable: the object cannot be read.
        """
        with path.open("xb") as file:
            for piece in self._pieces(key):
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())

    def digest(self, key: str) -> tuple[int, str]:
        """Return the size of an object in bytes and its SHA-256, in hexadecimal; read it for that.

        Raises:
            FileNotFoundError: there is no such object.
            StoreUnreachable: the object cannot be read.
        """
        size, digest = 0, hashlib.sha256()
        for piece in self._pieces(key):
            size += len(piece)
            digest.update(piece)
        return size, digest.hexdigest()

    def put(self, key: str, content: bytes | Path) -> None:
        """Write an object, or overwrite it.

        Raises:
            StoreUnreachable: it cannot be written.
        """
        import obstore

        with self._errors(key):
            obstore.put(self._store, key, content)

    def create(self, key: str, content: bytes) -> None:
        """Write a new object.

        Raises:
            ObjectChanged: there is one.
            StoreUnreachable: it cannot be written.
        """
        self._put_if(key, content, "create")

    def replace(self, key: str, content: bytes, tag: str | None) -> None:
        """Overwrite an object that is still the one with this entity tag; None: there is none.

        Raises:
            ObjectChanged: it is another one.
            StoreUnreachable: it cannot be written.
        """
        self._put_if(key, content, "create" if tag is None else {"e_tag": tag})

    def delete(self, keys: list[str]) -> None:
        """Delete objects; those that are gone already are ignored.

        Raises:
            StoreUnreachable: one cannot be deleted.
        """
        import obstore

        if keys:
            with self._errors(keys[0]):
                obstore.delete(self._store, keys)

    def _pieces(self, key: str) -> Iterator[bytes]:
        import obstore

        with self._errors(key):
            pieces = iter(obstore.get(self._store, key).stream(min_chunk_size=_PIECE_BYTES))
        while True:
            with self._errors(key):
                piece = next(pieces, None)
            if piece is None:
                break
            yield bytes(piece)

    def _put_if(self, key: str, content: bytes, mode: Any) -> None:  # noqa: ANN401 - obstore's own
        import obstore
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        try:
            with self._errors(key):
                obstore.put(self._store, key, content, mode=mode)
        except (AlreadyExistsError, PreconditionError) as error:
            raise ObjectChanged(key) from error

    @contextmanager
    def _errors(self, key: str) -> Iterator[None]:
        from obstore.exceptions import (
            AlreadyExistsError,
            BaseError,
            InvalidPathError,
            PermissionDeniedError,
            PreconditionError,
            UnauthenticatedError,
        )

        try:
            yield
        except (AlreadyExistsError, PreconditionError, FileNotFoundError):
            raise
        except (PermissionDeniedError, UnauthenticatedError) as error:
            raise StoreUnreachable(
                f"{self.address}: access to {key} was denied; check the credentials in the "
                "environment, and what they allow in this bucket"
            ) from error
        except InvalidPathError as error:
            bad = _QUOTED.search(str(error))
            raise StoreUnreachable(
                f"{self.address}: the object {bad[0] if bad else 'below ' + key} has a key that "
                "cannot be listed, and is none of ours: remove it from the bucket"
            ) from error
        except BaseError as error:
            raise StoreUnreachable(f"{self.address}: {_reason(str(error))}") from error


def open_objects(address: str) -> Objects:
    """Open an address; credentials and region come from the environment, as for other clients.

    Raises:
        BadInput: obstore is not installed, or the address or the environment cannot be used.
    """
    try:
        from obstore.exceptions import BaseError
        from obstore.store import from_url
    except ImportError as error:
        raise BadInput(
            f"--store {address}: needs obstore: in a checkout of evalstore, `pip install '.[s3]'`"
        ) from error
    try:
        store: Any = from_url(
            address,
            client_options={"allow_http": True} if _is_plain() else None,
            retry_config={
                "max_retries": _RETRIES,
                "retry_timeout": timedelta(seconds=_RETRY_SECONDS),
            },
        )
    except (BaseError, ValueError) as error:
        raise BadInput(f"--store {address}: {_reason(str(error))}") from error
    return Objects(address, store)


def storage_options(address: str) -> dict[str, str] | None:
    """Return what deltalake needs to know of an address, next to the environment; None of a folder.

    Its commits are conditional puts, as ours are.
    """
    if "://" not in address:
        return None
    options = {"max_retries": str(_RETRIES), "retry_timeout": f"{_RETRY_SECONDS}s"}
    return {
        **options,
        "aws_conditional_put": "etag",
        **({"allow_http": "true"} if _is_plain() else {}),
    }


def _is_plain() -> bool:
    """Return whether plain HTTP is used: only to servers on this machine, unless asked for."""
    return os.environ.get("AWS_ENDPOINT_URL", "").startswith(_LOOPBACK)


def _reason(text: str) -> str:
    """Return what a person needs of an error of obstore."""
    if "NoSuchBucket" in text:
        return "there is no such bucket"
    if any(mark in text for mark in _BUSY):
        return "the object store is too busy (503 Slow Down); run the command again later"
    if "error sending request" in text or "HTTP error" in text:
        return (
            "cannot be reached; check the network and AWS_ENDPOINT_URL, then run the command again"
        )
    code, message = (match[1] if (match := tag.search(text)) else "" for tag in (_CODE, _MESSAGE))
    if code or message:
        said = ": ".join(filter(None, (code, unescape(message).strip())))
        return f"the object store refused the request ({said})"
    # What follows is the body of the response, or the request for whoever debugs obstore.
    return _BODY.split(text, maxsplit=1)[0].strip(" \n:-")
