"""Reads the dataset of a poster workspace: URL list, manifest, ground truth, annotations."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingest.formats.posters.files import PosterArtifacts, folders_in, read_by_poster
from ingest.reading import Reading
from warehouse.core.files import open_regular
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.values import utf8
from warehouse.core.formats.yaml.fields import Violation
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from ingest.formats.posters.files import ReadBytes
    from ingest.formats.posters.layout import Workspace
    from warehouse.core.types import AnnotationRow, Json, JsonObject, TaskRow

SUITE = "posters"
_EXCLUSION_KEYS = ("exclusion", "excluded", "exclusion_reason")
_NOT_ANNOTATORS = {"adjudicated", "gold"}


@dataclass(frozen=True, slots=True)
class GoldClaim:
    """An option of the import: its ground truth was adjudicated by humans elsewhere.

    Attributes:
        annotators: two or more people.
        adjudicated_by: who resolved their disagreements.
    """

    annotators: tuple[str, ...]
    adjudicated_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """What the runs of a workspace need to know about its dataset.

    Attributes:
        name: of the task set.
        version: content hash of the manifest, without what varies between downloads.
        posters: ids in the order of the manifest.
        hashes: SHA-256 of the URL list and the manifest, with their paths.
        seeds: seeds recorded in the metas of the ground truth.
    """

    name: str
    version: str
    posters: list[str]
    hashes: JsonObject
    seeds: set[int]


def read_dataset(workspace: Workspace, read: ReadBytes) -> tuple[Dataset, Reading]:
    """Read manifest, ground truth and annotations."""
    reading = Reading("poster dataset")
    entries = _entries(workspace, read, reading)
    version = content_hash("dataset", [_identity(entry) for entry in entries])
    posters = [str(entry["id"]) for entry in entries]
    ground_truth = read_by_poster(workspace.base / "ground_truth", read, posters)
    dataset = Dataset(
        name=workspace.name,
        version=version,
        posters=posters,
        hashes=_hashes(workspace, read),
        seeds=seeds_of(artifacts.meta for artifacts in ground_truth.values()),
    )
    reading.rows["tasks"] = [
        _task_row(workspace, dataset, entry, seq) for seq, entry in enumerate(entries, 1)
    ]
    people = list(annotator_rows(dataset.name, workspace.base / "annotations", read, posters))
    reading.rows["annotations"] = [
        *(_record_row(dataset, poster, artifacts) for poster, artifacts in ground_truth.items()),
        *people,
    ]
    broken = [f"ground_truth/{poster}.json" for poster, it in ground_truth.items() if it.is_broken]
    broken += [
        f"annotations/{row['annotator']}/{row['task_id']}.json"
        for row in people
        if row["document"] is None
    ]
    for file in broken:
        reading.violations.append(
            Violation(1, utf8(file), "record_json", "not JSON: the poster counts without it")
        )
    return dataset, reading


def annotator_rows(
    task_set: str, folder: Path, read: ReadBytes, posters: Iterable[str]
) -> Iterator[AnnotationRow]:
    """Read human annotations, `<annotator>/<id>.json`; `posters` are the known ids."""
    for person in folders_in(folder):
        if person.name in _NOT_ANNOTATORS:
            continue
        for poster, artifacts in read_by_poster(person, read, posters).items():
            if not artifacts.is_empty:
                yield _annotation(task_set, poster, artifacts, utf8(person.name), kind="human")


def seeds_of(metas: Iterable[object]) -> set[int]:
    """Collect the integer seeds of metas."""
    seeds = (meta.get("seed") for meta in metas if isinstance(meta, dict))
    return {seed for seed in seeds if isinstance(seed, int) and not isinstance(seed, bool)}


def _entries(workspace: Workspace, read: ReadBytes, reading: Reading) -> list[JsonObject]:
    value = _manifest(read(workspace.manifest))
    entries: dict[str, JsonObject] = {}
    for place, entry in enumerate(value if isinstance(value, list) else []):
        poster = entry.get("id") if isinstance(entry, dict) else None
        if not isinstance(entry, dict) or not isinstance(poster, str) or not poster:
            _report(reading, f"[{place}]", "poster_id", "not an entry with an id; skipped")
        elif poster in entries:
            _report(reading, f"[{place}]", "duplicate_poster", f"{poster} is listed twice")
        else:
            entries[poster] = entry
    return list(entries.values())


def _manifest(data: bytes | None) -> Json:
    """Parse the manifest in any of JSON's encodings, like the check for a workspace."""
    try:
        value: Json = json.loads(data or b"null")
    except (ValueError, RecursionError):
        return None
    return value


def _report(reading: Reading, field: str, rule: str, message: str) -> None:
    reading.violations.append(Violation(1, f"manifest.json{field}", rule, message))


def _identity(entry: JsonObject) -> list[object]:
    return [entry["id"], entry.get("url"), entry.get("status"), _exclusion(entry)]


def _exclusion(entry: JsonObject) -> str | None:
    reason = next((entry[key] for key in _EXCLUSION_KEYS if entry.get(key)), None)
    return None if reason is None else reason if isinstance(reason, str) else "excluded"


def _hashes(workspace: Workspace, read: ReadBytes) -> JsonObject:
    hashes: JsonObject = {}
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


def _task_row(workspace: Workspace, dataset: Dataset, entry: JsonObject, seq: int) -> TaskRow:
    url = entry.get("url")
    image = _image_sha256(workspace, entry)
    return {
        "content_id": content_hash("poster", dataset.name, dataset.version, seq, entry, image),
        "suite": SUITE,
        "task_set": dataset.name,
        "task_set_hash": dataset.version,
        "seq": seq,
        "task_id": utf8(str(entry["id"])),
        "task_hash": content_hash("poster", entry["id"], url),
        "image_url": utf8(url) if isinstance(url, str) else None,
        "image_sha256": image,
        "status": "ok" if entry.get("status") == "ok" else "error",
        "exclusion": _exclusion(entry),
        "extra": json_text(entry),
    }


def _image_sha256(workspace: Workspace, entry: JsonObject) -> str | None:
    """Hash an image in the workspace; its bytes are not kept."""
    name = entry.get("image_path")
    if not isinstance(name, str) or "\0" in name:
        return None
    for folder in (workspace.root, workspace.base):
        path = folder / name
        try:
            if path.resolve().is_relative_to(workspace.root.resolve()) and path.is_file():
                with open_regular(path) as file:
                    return hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            return None
    return None


def declare_gold(reading: Reading, claim: GoldClaim) -> None:
    """Mark a dataset's ground truth as adjudicated elsewhere, which the store cannot prove."""
    who: JsonObject = {
        "annotators": list(claim.annotators),
        "adjudicated_by": claim.adjudicated_by,
    }
    reading.rows["annotations"] = [
        {
            **row,
            "content_id": content_hash(row["content_id"], who),
            "kind": "declared",
            "label": "gold",
            "label_basis": "declared",
            "annotator": claim.adjudicated_by,
            "meta": json_text({**json.loads(row["meta"] or "{}"), "declared": who}),
        }
        if row["kind"] == "model"
        else row
        for row in reading.rows["annotations"]
    ]
    reading.is_restated = True


def _record_row(dataset: Dataset, poster: str, artifacts: PosterArtifacts) -> AnnotationRow:
    """Return the row of a ground truth record, which is a model's unless declared otherwise."""
    model = artifacts.meta.get("model")
    annotator = utf8(model) if isinstance(model, str) else None
    return _annotation(dataset.name, poster, artifacts, annotator, kind="model", label="silver")


def _annotation(
    task_set: str,
    poster: str,
    artifacts: PosterArtifacts,
    annotator: str | None,
    *,
    kind: str,
    label: str | None = None,
) -> AnnotationRow:
    return {
        "content_id": content_hash(
            "annotation", task_set, poster, kind, annotator, artifacts.content()
        ),
        "suite": SUITE,
        "task_set": task_set,
        "task_id": utf8(poster),
        "annotator": annotator,
        "kind": kind,
        "label": label,
        "document": artifacts.record.json,
        "cost_usd": artifacts.cost_usd,
        "meta": json_text(artifacts.meta) if artifacts.meta else None,
        "raw_output": artifacts.raw if artifacts.record.json is not None else _any_text(artifacts),
        "extra": json_text({"error": artifacts.error}) if artifacts.error is not None else None,
        "source": utf8(artifacts.record.source) if artifacts.record.source else None,
    }


def _any_text(artifacts: PosterArtifacts) -> str | None:
    text = artifacts.raw if artifacts.raw is not None else artifacts.record.text
    return None if text is None else utf8(text)
