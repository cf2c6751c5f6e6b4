"""Reads the dataset of a poster workspace: URL list, manifest, ground truth, annotations."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ingest.formats.posters.files import PosterArtifacts, folders_in, read_quartets
from ingest.reading import Reading
from warehouse.formats.json_text import json_text
from warehouse.formats.values import utf8
from warehouse.formats.yaml.fields import Violation
from warehouse.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from ingest.formats.posters.files import ReadBytes
    from ingest.formats.posters.layout import Workspace
    from warehouse.types import JsonObject, Row

SUITE = "posters"
_EXCLUSION_KEYS = ("exclusion", "excluded", "exclusion_reason")
_NOT_ANNOTATORS = {"adjudicated", "gold"}


@dataclass(frozen=True, slots=True)
class GoldClaim:
    """What an import says of ground truth that was adjudicated elsewhere.

    Attributes:
        annotators: two or more people.
        adjudicated_by: who settled their disagreements.
    """

    annotators: tuple[str, ...]
    adjudicated_by: str


@dataclass(frozen=True, slots=True)
class Dataset:
    """What the runs of a workspace need to know of its dataset.

    Attributes:
        name: of the task set.
        version: content hash of the manifest, without what varies from download to download.
        posters: ids, in the order of the manifest.
        hashes: SHA-256 of URL list and manifest, with their paths.
        seeds: seeds that the ground truth's metas record.
    """

    name: str
    version: str
    posters: list[str]
    hashes: dict[str, Any]
    seeds: set[int]


def read_dataset(workspace: Workspace, read: ReadBytes) -> tuple[Dataset, Reading]:
    """Read manifest, ground truth and annotations."""
    reading = Reading("poster dataset")
    entries = _entries(workspace, read, reading)
    version = content_hash("dataset", [_identity(entry) for entry in entries])
    posters = [entry["id"] for entry in entries]
    ground_truth = read_quartets(workspace.base / "ground_truth", read, posters)
    dataset = Dataset(
        name=workspace.name,
        version=version,
        posters=posters,
        hashes=_hashes(workspace, read),
        seeds=seeds_of(quartet.meta for quartet in ground_truth.values()),
    )
    reading.rows["tasks"] = [
        _task_row(workspace, dataset, entry, seq) for seq, entry in enumerate(entries, 1)
    ]
    reading.rows["annotations"] = [
        _record_row(dataset, poster, quartet) for poster, quartet in ground_truth.items()
    ] + list(annotator_rows(dataset.name, workspace.base / "annotations", read, posters))
    return dataset, reading


def annotator_rows(
    task_set: str, folder: Path, read: ReadBytes, posters: Iterable[str]
) -> Iterator[Row]:
    """Read what people annotated: `<annotator>/<id>.json`; `posters` are the known ids."""
    for person in folders_in(folder):
        if person.name in _NOT_ANNOTATORS:
            continue
        for poster, quartet in read_quartets(person, read, posters).items():
            if not quartet.is_empty:
                yield _annotation(task_set, poster, quartet, utf8(person.name), kind="human")


def seeds_of(metas: Iterable[object]) -> set[int]:
    """Collect the whole-number seeds of metas."""
    seeds = (meta.get("seed") for meta in metas if isinstance(meta, dict))
    return {seed for seed in seeds if isinstance(seed, int) and not isinstance(seed, bool)}


def _entries(workspace: Workspace, read: ReadBytes, reading: Reading) -> list[dict[str, Any]]:
    value = _manifest(read(workspace.manifest))
    entries: dict[str, dict[str, Any]] = {}
    for place, entry in enumerate(value if isinstance(value, list) else []):
        poster = entry.get("id") if isinstance(entry, dict) else None
        if not isinstance(poster, str) or not poster:
            _report(reading, f"[{place}]", "poster_id", "is no entry with an id, and was left out")
        elif poster in entries:
            _report(reading, f"[{place}]", "duplicate_poster", f"{poster} is listed before")
        else:
            entries[poster] = entry
    return list(entries.values())


def _manifest(data: bytes | None) -> object:
    """Read the manifest in any of JSON's encodings, by which the workspace was known as one."""
    try:
        return json.loads(data or b"null")
    except (ValueError, RecursionError):
        return None


def _report(reading: Reading, field: str, rule: str, message: str) -> None:
    reading.violations.append(Violation(1, f"manifest.json{field}", rule, message))


def _identity(entry: dict[str, Any]) -> list[object]:
    return [entry["id"], entry.get("url"), entry.get("status"), _exclusion(entry)]


def _exclusion(entry: dict[str, Any]) -> str | None:
    reason = next((entry[key] for key in _EXCLUSION_KEYS if entry.get(key)), None)
    return None if reason is None else reason if isinstance(reason, str) else "excluded"


def _hashes(workspace: Workspace, read: ReadBytes) -> dict[str, Any]:
    hashes: dict[str, Any] = {}
    for name, path in (("urls", workspace.url_list), ("manifest", workspace.manifest)):
        data = read(path) if path is not None else None
        if path is not None and data is not None:
            hashes[f"{name}_file"] = workspace.relative(path)
            hashes[f"{name}_sha256"] = hashlib.sha256(data).hexdigest()
    hashes["prompts"] = {
        workspace.relative(path): hashlib.sha256(data).hexdigest()
        for path in workspace.prompts
        if (data := read(path)) is not None
    }
    return hashes


def _task_row(workspace: Workspace, dataset: Dataset, entry: dict[str, Any], seq: int) -> Row:
    url = entry.get("url")
    image = _image_sha256(workspace, entry)
    return {
        "content_id": content_hash("poster", dataset.name, dataset.version, seq, entry, image),
        "suite": SUITE,
        "task_set": dataset.name,
        "task_set_hash": dataset.version,
        "seq": seq,
        "task_id": utf8(entry["id"]),
        "task_hash": content_hash("poster", entry["id"], url),
        "image_url": utf8(url) if isinstance(url, str) else None,
        "image_sha256": image,
        "status": "ok" if entry.get("status") == "ok" else "error",
        "exclusion": _exclusion(entry),
        "extra": json_text(entry),
    }


def _image_sha256(workspace: Workspace, entry: dict[str, Any]) -> str | None:
    """Hash an image that lies in the workspace; its bytes are not kept."""
    name = entry.get("image_path")
    if not isinstance(name, str) or "\0" in name:
        return None
    for folder in (workspace.root, workspace.base):
        path = folder / name
        try:
            if path.resolve().is_relative_to(workspace.root.resolve()) and path.is_file():
                with path.open("rb") as file:
                    return hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            return None
    return None


def declare_gold(reading: Reading, claim: GoldClaim) -> None:
    """Declare a dataset's ground truth as settled by people elsewhere, which is not proven here."""
    who: JsonObject = {
        "annotators": claim.annotators,
        "adjudicated_by": claim.adjudicated_by,
    }
    if rows := reading.rows.get("annotations"):
        reading.rows["annotations"] = [
            _declared(row, claim, who) if row["kind"] == "model" else row for row in rows
        ]


def _declared(row: Row, claim: GoldClaim, who: JsonObject) -> Row:
    return {
        **row,
        "content_id": content_hash(row["content_id"], who),
        "kind": "declared",
        "label": "gold",
        "label_basis": "declared",
        "annotator": claim.adjudicated_by,
        "meta": json_text({**json.loads(row["meta"] or "{}"), "declared": who}),
    }


def _record_row(dataset: Dataset, poster: str, quartet: PosterArtifacts) -> Row:
    """Make the row of a ground truth record: a model's, until somebody says otherwise."""
    model = quartet.meta.get("model")
    annotator = utf8(model) if isinstance(model, str) else None
    return _annotation(dataset.name, poster, quartet, annotator, kind="model", label="silver")


def _annotation(
    task_set: str,
    poster: str,
    quartet: PosterArtifacts,
    annotator: str | None,
    *,
    kind: str,
    label: str | None = None,
) -> Row:
    return {
        "content_id": content_hash(
            "annotation", task_set, poster, kind, annotator, quartet.content()
        ),
        "suite": SUITE,
        "task_set": task_set,
        "task_id": utf8(poster),
        "annotator": annotator,
        "kind": kind,
        "label": label,
        "document": quartet.record.json,
        "cost_usd": quartet.cost_usd,
        "meta": json_text(quartet.meta) if quartet.meta else None,
        "raw_output": quartet.raw if quartet.record.json is not None else _whatever(quartet),
        "extra": json_text({"error": quartet.error}) if quartet.error is not None else None,
        "source": utf8(quartet.record.source) if quartet.record.source else None,
    }


def _whatever(quartet: PosterArtifacts) -> str | None:
    text = quartet.raw if quartet.raw is not None else quartet.record.text
    return None if text is None else utf8(text)
