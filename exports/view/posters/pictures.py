"""Pictures of posters, from a folder that the user names or from the cache of runs here."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from warehouse.core.files import read_regular
from warehouse.core.formats.images import IMAGE_FORMATS, image_format
from warehouse.core.paths import picture_cache

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_MAX_BYTES = 20 * 2**20
_SUFFIXES = ("jpeg", *dict.fromkeys(kind.suffix for kind in IMAGE_FORMATS if kind.for_models))


def read_picture(
    poster: str, image_sha256: str | None, folder: Path | None
) -> tuple[bytes, str] | None:
    """Return the bytes of a poster's picture and their media type; None if there is none here.

    Args:
        poster: id of the poster.
        image_sha256: SHA-256 of its picture; a file with another one is not its picture.
        folder: folder with files named by poster; None for the cache of runs only.
    """
    for path in _picture_paths(poster, image_sha256, folder):
        try:
            data = read_regular(path, max_bytes=_MAX_BYTES)
        except (OSError, ValueError):
            continue
        kind = image_format(data)
        is_right = image_sha256 is None or sha256(data).hexdigest() == image_sha256
        if kind is not None and kind.for_models and is_right:
            return data, kind.mime
    return None


def _picture_paths(poster: str, image_sha256: str | None, folder: Path | None) -> Iterator[Path]:
    # An id with a separator could lead out of the folder.
    if folder is not None and not {"/", "\\", "\0"} & set(poster):
        yield from (folder / f"{poster}.{suffix}" for suffix in _SUFFIXES)
    cache = picture_cache()
    if image_sha256 is not None and image_sha256.isalnum() and cache is not None:
        yield from (cache / f"{image_sha256}.{suffix}" for suffix in _SUFFIXES)
