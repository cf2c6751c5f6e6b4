"""The files of a poster benchmark: a record with its meta, raw text and error, by poster.

Next to `<id>.json` are `<id>.raw.txt`, `<id>.meta.json` and `<id>.error.json`, and the records of
other steps, such as `<id>.repair.raw.txt`. Any of them may be missing, truncated or not text.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, cast

from warehouse.core.formats.images import is_image
from warehouse.core.formats.json_text import is_exact, json_text
from warehouse.core.formats.values import is_integer, utf8

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from warehouse.core.types import ArtifactRow, Json, JsonObject

    # Returns the bytes of a file, or None if it cannot be read.
    ReadBytes = Callable[[Path], bytes | None]

_PARTS = {"json": "record", "raw.txt": "raw", "meta.json": "meta", "error.json": "error"}
_TEXT_SUFFIXES = {".txt", ".json", ".md", ".csv"}


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON file, valid or not.

    Attributes:
        state: missing, not_utf8, cut, null, no_object or object.
        value: its content; None if it cannot be parsed.
        text: its text; None if it is missing or not UTF-8.
        data: the bytes, if they are not UTF-8.
    """

    state: str = "missing"
    value: Json = None
    text: str | None = None
    data: bytes | None = None

    @property
    def json(self) -> str | None:
        """The value as valid JSON; None if there is none."""
        return json_text(self.value) if self.state in {"object", "no_object"} else None

    @property
    def source(self) -> str | None:
        """The text, if `json` does not reproduce it."""
        return None if self.json is None or is_exact(self.value) else self.text


@dataclass(slots=True, kw_only=True)
class PosterArtifacts:
    """The files of one poster in one folder.

    Attributes:
        record: the prediction, ground truth or judgement.
        raw: the model's text, unchanged.
        meta: the record of the call.
        error: the error of the call.
        others: paths of the files of other steps.
    """

    record: Document = field(default_factory=Document)
    raw: str | None = None
    meta: JsonObject = field(default_factory=dict)
    error: Json = None
    others: list[Path] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether there are only files of other steps."""
        return (
            self.record.state == "missing" and not self.meta and not self.error and self.raw is None
        )

    @property
    def is_broken(self) -> bool:
        """Whether there is a record that is not JSON."""
        return self.record.state in {"cut", "not_utf8"}

    @property
    def cost_usd(self) -> float | None:
        """The recorded cost of the call."""
        return number(self.meta.get("estimated_cost_usd"))

    @property
    def extra(self) -> str | None:
        """Meta and error as JSON."""
        parts = {"meta": self.meta or None, "error": self.error}
        known = {name: value for name, value in parts.items() if value is not None}
        return json_text(known) if known else None

    def content(self) -> list[object]:
        """Return everything that a hash of the content must cover."""
        data = self.record.data.hex() if self.record.data is not None else None
        return [self.record.state, self.record.text, data, self.raw, self.meta, self.error]


def read_document(data: bytes | None) -> Document:
    """Parse a JSON file as the benchmark does; never fails."""
    if data is None:
        return Document()
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return Document("not_utf8", data=None if is_image(data) else data)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return Document("cut", text=text)
    if value is None:
        return Document("null", text=text)
    return Document("object" if isinstance(value, dict) else "no_object", value, text)


def read_by_poster(
    folder: Path, read: ReadBytes, posters: Iterable[str]
) -> dict[str, PosterArtifacts]:
    """Read a folder's files of each poster, by the poster's id; `posters` are the known ids."""
    dotted = with_dots(posters)
    by_poster: dict[str, PosterArtifacts] = {}
    for path in files_in(folder):
        poster, rest = split_name(path.name, dotted)
        if not poster or path.suffix not in _TEXT_SUFFIXES:
            continue
        artifacts = by_poster.setdefault(poster, PosterArtifacts())
        part = _PARTS.get(rest)
        if part is None:
            artifacts.others.append(path)
        else:
            _add(artifacts, part, read(path))
    return by_poster


def with_dots(posters: Iterable[str]) -> list[str]:
    """List the ids that contain dots, the longest first, for `split_name`."""
    return sorted((poster for poster in posters if "." in poster), key=len, reverse=True)


def split_name(name: str, dotted: Iterable[str]) -> tuple[str, str]:
    """Split a file's name into the poster's id and the rest; only known ids may contain dots."""
    known = next((poster for poster in dotted if name.startswith(f"{poster}.")), None)
    poster = name.partition(".")[0] if known is None else known
    return poster, name[len(poster) + 1 :]


def _add(artifacts: PosterArtifacts, part: str, data: bytes | None) -> None:
    if part == "record":
        artifacts.record = read_document(data)
    elif part == "raw":
        artifacts.raw = text_of(data)
    elif part == "meta":
        value = read_document(data).value
        artifacts.meta = value if isinstance(value, dict) else {}
    else:
        document = read_document(data)
        artifacts.error = document.value if document.value is not None else document.text


def artifact_rows(
    paths: Iterable[Path], root: Path, read: ReadBytes, **columns: str
) -> list[ArtifactRow]:
    """Return texts unchanged, named by their path below the root; images are skipped."""
    rows: list[ArtifactRow] = []
    for path in paths:
        data = read(path) if path.suffix in _TEXT_SUFFIXES else None
        if data is not None and not is_image(data):
            name = utf8(path.relative_to(root).as_posix())
            rows.append({"name": name, "content": data, **cast("ArtifactRow", columns)})
    return rows


def files_in(folder: Path) -> list[Path]:
    """List the files of a folder, sorted, with pipes and devices; empty without the folder."""
    return [path for path in _entries(folder) if not is_folder(path)]


def folders_in(folder: Path) -> list[Path]:
    """List the folders in a folder, sorted by name as the benchmark sorts them."""
    return [path for path in _entries(folder) if is_folder(path)]


def is_file(path: Path) -> bool:
    """Return whether a path is a file that can be accessed."""
    try:
        return path.is_file()
    except OSError:
        return False


def is_folder(path: Path) -> bool:
    """Return whether a path is a folder that can be accessed."""
    try:
        return path.is_dir()
    except OSError:
        return False


def _entries(folder: Path) -> list[Path]:
    try:
        entries = [
            path
            for path in folder.iterdir()
            if not path.name.startswith(".") and not path.is_symlink()
        ]
    except OSError:
        return []
    return sorted(entries, key=lambda path: utf8(path.name))


def text_of(data: bytes | None) -> str | None:
    """Decode a text, with U+FFFD for bytes that are not UTF-8. None for an image."""
    return None if data is None or is_image(data) else data.decode("utf-8", "replace")


def number(value: object) -> float | None:
    """Return a JSON number as a float, true as 1.0; None for anything else."""
    try:
        figure = float(value) if isinstance(value, int | float) else None
    except OverflowError:
        return None
    return figure if figure is not None and isfinite(figure) else None


def whole(value: object) -> int | None:
    """Return a JSON integer that fits 64 bits; None for anything else."""
    return value if is_integer(value) else None
