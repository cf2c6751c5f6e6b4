"""The posters of a run: a list of image URLs, filters, and the cached images."""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from runners.suites.posters.image_cache import (
    CachedImage,
    ImageCache,
    ImageUnavailableError,
    image_suffixes,
    is_web_address,
)
from warehouse.core.errors import BadInput
from warehouse.core.files import read_input
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.masking import Mask, secrets_of_url
from warehouse.core.hashing import content_hash
from warehouse.engine.scoring.posters.meta import dataset_hash, poster_id, read_urls

if TYPE_CHECKING:
    from collections.abc import Collection

    from runners.suites.options import SuiteOptions
    from warehouse.app.store import Store
    from warehouse.core.types import ArtifactRow, TaskRow

SUITE = "posters"
_URL_LIST = Path("docs/test_poster_urls.txt")
_MANIFEST = "manifest.json"
_MAX_DOWNLOADS = 4  # at once
_EXCLUSIONS = """
SELECT task_id, exclusion FROM lake.tasks
WHERE suite = 'posters' AND task_set = $dataset
QUALIFY row_number() OVER (PARTITION BY task_id ORDER BY batch DESC, content_id) = 1
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Poster:
    """A poster of the list.

    Attributes:
        id: Instagram shortcode, or an ID from a hash of the URL.
        url: URL of the image, without secrets.
        image: image in the cache; None if it is unavailable.
        problem: why the image is unavailable.
        exclusion: why it is neither sent nor scored: carousel, not_tour, no_date, or other text.
    """

    id: str
    url: str
    image: CachedImage | None
    problem: str | None
    exclusion: str | None

    @property
    def status(self) -> str:
        """The status for the manifest: `error` if the image of a poster in use is unavailable."""
        return "error" if self.image is None and self.exclusion is None else "ok"


@dataclass(frozen=True, slots=True)
class Dataset:
    """The posters of a run.

    Attributes:
        name: name of the task set.
        posters: selected posters in the order of the list, with those excluded or without image.
        urls_file: path of the list in the project.
        urls: bytes of the list.
    """

    name: str
    posters: tuple[Poster, ...]
    urls_file: str
    urls: bytes

    @property
    def manifest(self) -> bytes:
        """The posters with their status as JSON, identical from download to download."""
        entries = [_entry(poster) for poster in self.posters]
        return json.dumps(entries, ensure_ascii=False, indent=2).encode()

    @property
    def hashes(self) -> dict[str, object]:
        """Names and SHA-256 of the URL list and the manifest."""
        return {
            "urls_file": self.urls_file,
            "urls_sha256": dataset_hash(self.urls),
            "manifest_file": _MANIFEST,
            "manifest_sha256": dataset_hash(self.manifest),
        }

    def rows(self, selected: set[str]) -> tuple[str, list[TaskRow]]:
        """Return the version of the dataset and its rows of table `tasks`.

        Posters that the user deselected are not part of it: they count as absent, not as
        missing predictions.

        Args:
            selected: IDs of the posters to run.
        """
        chosen = [p for p in self.posters if p.id in selected or p.exclusion or p.image is None]
        digests = [p.image and p.image.sha256 for p in chosen]
        identity = [[p.id, p.url, p.status, p.exclusion] for p in chosen]
        version = content_hash("dataset", identity, digests)
        return version, [self._row(version, seq, p) for seq, p in enumerate(chosen, start=1)]

    def _row(self, version: str, seq: int, poster: Poster) -> TaskRow:
        image = poster.image
        downloaded = {"downloaded_at": image.downloaded_at if image else None}
        identity = self.name, version, seq, poster.id
        return {
            "content_id": content_hash("poster", *identity),
            "suite": SUITE,
            "task_set": self.name,
            "task_set_hash": version,
            "seq": seq,
            "task_id": poster.id,
            "task_hash": content_hash("poster", poster.id, poster.url),
            "image_url": poster.url,
            "image_sha256": image.sha256 if image else None,
            "status": poster.status,
            "exclusion": poster.exclusion,
            "extra": json_text(_entry(poster) | downloaded),
        }

    def manifest_row(self) -> ArtifactRow:
        """Return the row that stores the manifest, whose hash is in the reports."""
        digest = hashlib.sha256(self.manifest).hexdigest()
        return {
            "content_id": content_hash("artifact", _MANIFEST, "manifest", digest),
            "kind": "manifest",
            "name": _MANIFEST,
            "content": self.manifest,
        }


def read_dataset(options: SuiteOptions, store: Store) -> Dataset:
    """Read the lists and put the images into the cache.

    Raises:
        BadInput: a list cannot be used.
        EvalstoreError: the cache cannot be written.
    """
    path = options.urls or _URL_LIST
    if options.urls is None and not path.is_file():
        raise BadInput(f"name the list of posters: --urls FILE ({path} does not exist)")
    data = read_input(path)
    urls = {poster_id(url): url for url in read_urls(data.decode("utf-8", "replace"))}
    known = set(urls)
    if options.include is not None:
        included = _listed(options.include, known)
        urls = {id_: url for id_, url in urls.items() if id_ in included}
    _check_urls(urls.values(), path, are_local=options.images is not None)
    name = options.dataset or _project(path).resolve().name or SUITE
    exclusions = _known_exclusions(store, name)
    if options.exclude is not None:
        exclusions |= _listed(options.exclude, known)

    def poster(item: tuple[str, str]) -> Poster:
        id_, url = item
        return _poster(id_, url, options, exclusions.get(id_))

    with ThreadPoolExecutor(_MAX_DOWNLOADS) as pool:
        posters = tuple(pool.map(poster, urls.items()))
    return Dataset(name, posters, _recorded_path(path), data)


def _check_urls(urls: Collection[str], path: Path, *, are_local: bool) -> None:
    if not urls:
        raise BadInput(f"{path}: contains no URLs")
    for url in urls:
        if not are_local and not is_web_address(url):
            raise BadInput(
                f"{path}: {_shown(url)!r} is not an http address; use --images DIR for local images"
            )


def _poster(id_: str, url: str, options: SuiteOptions, exclusion: str | None) -> Poster:
    image, problem = None, None
    try:
        cache = ImageCache(allow_private=options.allow_private_urls)
        # An excluded poster is never sent, so its image is not needed.
        if exclusion is not None:
            problem = "excluded"
        elif options.images is None:
            image = cache.download(url)
        else:
            image = cache.add(_local_image(options.images, id_))
    except ImageUnavailableError as error:
        problem = str(error)
    return Poster(id=id_, url=_shown(url), image=image, problem=problem, exclusion=exclusion)


def _shown(url: str) -> str:
    """Return a URL without passwords and keys."""
    return Mask(secrets_of_url(url)).text(url)


def _local_image(images: Path, id_: str) -> Path:
    for suffix in image_suffixes():
        if (images / f"{id_}.{suffix}").is_file():
            return images / f"{id_}.{suffix}"
    raise ImageUnavailableError(f"{images.name} has no image {id_}.jpg, .png, .gif or .webp")


def _entry(poster: Poster) -> dict[str, object]:
    image = poster.image
    suffix = image.file.rpartition(".")[2] if image else None
    return {
        "id": poster.id,
        "url": poster.url,
        "image_path": f"images/{poster.id}.{suffix}" if image else None,
        "image_sha256": image.sha256 if image else None,
        "status": poster.status,
        "exclusion": poster.exclusion,
    }


def _listed(path: Path, known: set[str]) -> dict[str, str]:
    """Read a list: each line has an ID or URL, and a reason for an exclusion."""
    listed = {}
    for line in read_urls(read_input(path).decode("utf-8", "replace")):
        name, _, reason = line.partition(" ")
        id_ = name if name in known else poster_id(name)
        if id_ not in known:
            raise BadInput(f"{path}: {name!r} is not in the list of posters")
        listed[id_] = reason.strip() or "excluded"
    return listed


def _known_exclusions(store: Store, dataset: str) -> dict[str, str]:
    """Return earlier exclusions, which stay in force unless the user changes them."""
    if not store.path.is_dir():
        return {}
    rows = store.sql(_EXCLUSIONS, {"dataset": dataset}).fetchall()
    return {id_: reason for id_, reason in rows if reason is not None}


def _project(path: Path) -> Path:
    """Return the project folder that a list belongs to; its name is the default dataset name."""
    folder = path.parent
    return folder.parent if folder.name in {"docs", "benchmark"} else folder


def _recorded_path(path: Path) -> str:
    """Return the path that reports record: relative to the project, never absolute."""
    try:
        return path.resolve().relative_to(_project(path).resolve()).as_posix()
    except ValueError:
        return path.name
