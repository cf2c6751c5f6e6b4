"""The address of a store on an object store, and the folder that caches it."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from urllib.parse import urlsplit

from warehouse.core.errors import BadInput, StoreDamaged, StoreReadOnly
from warehouse.core.files import problem, read_regular
from warehouse.core.hashing import content_hash
from warehouse.lake.atomic import write_durably

_SCHEMES = ("s3", "gs", "az")
_FILE = "remote.json"
_LARGEST = 1 << 16
_NAME = re.compile(r"[^A-Za-z0-9.-]+")


def store_folder(text: str) -> Path:
    """Return the folder of a store: the path itself or, of an address, the folder of its cache.

    It is created in `EVALSTORE_CACHE` or the user's cache folder; others may go for the limit.

    Args:
        text: a path, or an address such as `s3://bucket/prefix`.

    Raises:
        BadInput: the address, or the limit of the caches, cannot be used.
        StoreReadOnly: the cache cannot be created.
    """
    if "://" not in text:
        return Path(text)
    from warehouse.lake.cache_limit import use

    address = _normal(text)
    folder = _caches() / f"{_NAME.sub('-', address)[:60].strip('-')}-{content_hash(address)[:12]}"
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        use(folder)
        folder.mkdir(exist_ok=True)
        if not (folder / _FILE).exists():
            write_durably(folder / _FILE, json.dumps({"url": address}).encode())
    except OSError as error:
        raise StoreReadOnly(
            f"{folder}: the cache of {address} cannot be created ({error.strerror}); "
            "EVALSTORE_CACHE names another folder for caches"
        ) from error
    return folder


def address_of(store_path: Path) -> str | None:
    """Return the address that a folder is the cache of; None for a store of its own.

    Raises:
        StoreDamaged: the file that says so cannot be read.
    """
    path = store_path / _FILE
    try:
        return str(json.loads(read_regular(path, max_bytes=_LARGEST))["url"])
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreDamaged(f"{path}: not the address of a store ({problem(error)})") from error


def _normal(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in _SCHEMES or not parts.netloc:
        raise BadInput(f"{text}: not a folder, nor an address such as s3://bucket/prefix")
    if parts.username is not None or parts.query or parts.fragment:
        raise BadInput(
            "an address is only bucket and prefix; credentials come from the environment "
            "(AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL)"
        )
    return f"{parts.scheme}://{parts.netloc}/{parts.path.strip('/')}".rstrip("/")


def _caches() -> Path:
    if given := os.environ.get("EVALSTORE_CACHE"):
        return Path(given)
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "evalstore" / "stores"
