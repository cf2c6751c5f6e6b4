"""The posters of a run: a list of addresses, who of them belongs, and where their pictures are."""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runners.suites.posters.image_cache import (
    NoPictureError,
    Picture,
    PictureCache,
    is_address,
    picture_suffixes,
)
from warehouse.errors import BadInput
from warehouse.formats.json_text import json_text
from warehouse.formats.masking import Mask, secrets_of_url
from warehouse.hashing import content_hash
from warehouse.scoring.posters.meta import dataset_hash, poster_id, read_urls

if TYPE_CHECKING:
    from runners.suites.base import PosterFiles
    from warehouse.store import Store
    from warehouse.types import Row

SUITE = "posters"
_URL_LIST = Path("docs/test_poster_urls.txt")
_MANIFEST = "manifest.json"
_AT_ONCE = 4
_EXCLUSIONS = """
SELECT task_id, exclusion FROM lake.tasks
WHERE suite = 'posters' AND task_set = $dataset
QUALIFY row_number() OVER (PARTITION BY task_id ORDER BY batch DESC, content_id) = 1
"""


@dataclass(frozen=True, slots=True)
class Poster:
    """A poster of the list.

    Attributes:
        id: the Instagram shortcode, else from a hash of the address.
        url: its address, without what is secret in it.
        picture: in the cache; None where it could not be had.
        problem: why not.
        exclusion: why it is not asked and not scored: carousel, not_tour, no_date, or text.
    """

    id: str
    url: str
    picture: Picture | None
    problem: str | None
    exclusion: str | None

    @property
    def status(self) -> str:
        """The status, as a manifest has it; of one that is excluded nobody asks."""
        return "error" if self.picture is None and self.exclusion is None else "ok"


@dataclass(frozen=True, slots=True)
class Dataset:
    """The posters of a run.

    Attributes:
        name: of the task set.
        posters: those that belong, in the order of the list; some are excluded or without picture.
        urls_file: the list's path in the project.
        urls: the list's bytes.
    """

    name: str
    posters: tuple[Poster, ...]
    urls_file: str
    urls: bytes

    @property
    def manifest(self) -> bytes:
        """The list of posters with their status: the same from download to download."""
        entries = [_entry(poster) for poster in self.posters]
        return json.dumps(entries, ensure_ascii=False, indent=2).encode()

    @property
    def hashes(self) -> dict[str, Any]:
        """SHA-256 of URL list and manifest."""
        return {
            "urls_file": self.urls_file,
            "urls_sha256": dataset_hash(self.urls),
            "manifest_file": _MANIFEST,
            "manifest_sha256": dataset_hash(self.manifest),
        }

    def rows(self, asked: set[str]) -> tuple[str, list[Row]]:
        """Give the dataset's version and its rows for table `tasks`.

        Posters that were left aside by choice are not part of it: they count as not there,
        instead of as not answered.
        """
        chosen = [p for p in self.posters if p.id in asked or p.exclusion or p.picture is None]
        digests = [p.picture and p.picture.sha256 for p in chosen]
        identity = [[p.id, p.url, p.status, p.exclusion] for p in chosen]
        version = content_hash("dataset", identity, digests)
        return version, [self._row(version, seq, p) for seq, p in enumerate(chosen, start=1)]

    def _row(self, version: str, seq: int, poster: Poster) -> Row:
        picture = poster.picture
        further = {"downloaded_at": picture.downloaded_at if picture else None}
        return {
            "content_id": content_hash("poster", self.name, version, seq, poster.id),
            "suite": SUITE,
            "task_set": self.name,
            "task_set_hash": version,
            "seq": seq,
            "task_id": poster.id,
            "task_hash": content_hash("poster", poster.id, poster.url),
            "image_url": poster.url,
            "image_sha256": picture.sha256 if picture else None,
            "status": poster.status,
            "exclusion": poster.exclusion,
            "extra": json_text(_entry(poster) | further),
        }

    def manifest_row(self) -> Row:
        """Keep the manifest with the run, as its hash stands in the reports."""
        digest = hashlib.sha256(self.manifest).hexdigest()
        return {
            "content_id": content_hash("artifact", _MANIFEST, "manifest", digest),
            "kind": "manifest",
            "name": _MANIFEST,
            "content": self.manifest,
        }


def read_dataset(files: PosterFiles, store: Store) -> Dataset:
    """Read the lists, and have the pictures in the cache.

    Raises:
        BadInput: a list cannot be used.
        EvalstoreError: the cache cannot be written.
    """
    path = files.urls or _URL_LIST
    if files.urls is None and not path.is_file():
        raise BadInput(f"say which posters: --urls FILE (there is no {path} here)")
    data = _read(path)
    urls = {poster_id(url): url for url in read_urls(data.decode("utf-8", "replace"))}
    known = set(urls)
    if files.include is not None:
        included = _listed(files.include, known)
        urls = {id_: url for id_, url in urls.items() if id_ in included}
    if not urls:
        raise BadInput(f"{path}: there is no address in it")
    for url in urls.values():
        if files.images is None and not is_address(url):
            raise BadInput(
                f"{path}: {_shown(url)!r} is no http address; pictures at hand are given with "
                "--images DIR"
            )
    name = files.dataset or _project(path).resolve().name or SUITE
    exclusions = _known_exclusions(store, name)
    if files.exclude is not None:
        exclusions |= _listed(files.exclude, known)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        found = [
            pool.submit(_poster, id_, url, files.images, exclusions.get(id_))
            for id_, url in urls.items()
        ]
        posters = tuple(poster.result() for poster in found)
    return Dataset(name, posters, _recorded_path(path), data)


def _poster(id_: str, url: str, images: Path | None, exclusion: str | None) -> Poster:
    picture, problem = None, None
    try:
        cache = PictureCache()
        # One that is excluded is not asked: whether its picture is there matters to nobody.
        if exclusion is not None:
            problem = "excluded"
        elif images is None:
            picture = cache.download(url)
        else:
            picture = cache.take(_at_hand(images, id_))
    except NoPictureError as error:
        problem = str(error)
    return Poster(id_, _shown(url), picture, problem, exclusion)


def _shown(url: str) -> str:
    """Give an address without the passwords and keys in it."""
    return Mask(secrets_of_url(url)).text(url)


def _at_hand(images: Path, id_: str) -> Path:
    for suffix in picture_suffixes():
        if (images / f"{id_}.{suffix}").is_file():
            return images / f"{id_}.{suffix}"
    raise NoPictureError(f"there is no {id_}.jpg or the like in {images.name}")


def _entry(poster: Poster) -> dict[str, Any]:
    picture = poster.picture
    suffix = picture.file.rpartition(".")[2] if picture else None
    return {
        "id": poster.id,
        "url": poster.url,
        "image_path": f"images/{poster.id}.{suffix}" if picture else None,
        "image_sha256": picture.sha256 if picture else None,
        "status": poster.status,
        "exclusion": poster.exclusion,
    }


def _listed(path: Path, known: set[str]) -> dict[str, str]:
    """Read a list: on each line an id or address, and the reason for an exclusion."""
    listed = {}
    for line in read_urls(_read(path).decode("utf-8", "replace")):
        name, _, reason = line.partition(" ")
        id_ = name if name in known else poster_id(name)
        if id_ not in known:
            raise BadInput(f"{path}: {name!r} is not on the list of posters")
        listed[id_] = reason.strip() or "excluded"
    return listed


def _known_exclusions(store: Store, dataset: str) -> dict[str, str]:
    """What was excluded before stays so: a list of today must not bring it back unseen."""
    if not store.path.is_dir():
        return {}
    rows = store.sql(_EXCLUSIONS, {"dataset": dataset}).fetchall()
    return {id_: reason for id_, reason in rows if reason is not None}


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror})") from error


def _project(path: Path) -> Path:
    """The folder of the project that a list belongs to, whose name is the dataset's."""
    folder = path.parent
    return folder.parent if folder.name in {"docs", "benchmark"} else folder


def _recorded_path(path: Path) -> str:
    """A path as reports record it: inside the project, never of this machine."""
    try:
        return path.resolve().relative_to(_project(path).resolve()).as_posix()
    except ValueError:
        return path.name
