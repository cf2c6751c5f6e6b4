"""Reads poster workspaces: a reading for the dataset, and one for each run.

A prediction that is missing, truncated or not text is a result as well, and kept as it is.
"""

from __future__ import annotations

import hashlib
import os
import re
from typing import TYPE_CHECKING

from ingest.formats.posters.dataset import (
    SUITE,
    GoldClaim,
    declare_gold,
    read_dataset,
    seeds_of,
)
from ingest.formats.posters.files import (
    artifact_rows,
    files_in,
    folders_in,
    is_file,
    is_folder,
    number,
    read_by_poster,
    read_document,
    split_name,
    whole,
    with_dots,
)
from ingest.formats.posters.layout import find_workspace
from ingest.formats.posters.published import read_ledger, read_published
from ingest.formats.posters.results import judgement_row, result_rows
from ingest.reading import Reading
from warehouse.core.formats.images import is_image
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.values import utf8
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from ingest.formats.posters.dataset import Dataset
    from ingest.formats.posters.files import PosterArtifacts, ReadBytes
    from ingest.formats.posters.layout import RunFolder, Workspace
    from ingest.reading import ImportContext, SourceFile
    from warehouse.core.types import ArtifactRow, JsonObject, RunRow

_RUN_DATE = re.compile(r"(\d{4})(\d{2})(\d{2})-\d{6}")
_SETTINGS = ("bootstrap", "weights")
_REPORT_TEXTS = {
    "final_report.md": "report",
    "final_report.meta.json": "report",
    "notes.md": "notes",
}


def read_workspace(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read a workspace: its dataset, runs, published reports and ledgers."""
    workspace = find_workspace(path)
    if workspace is None:
        return
    files = FileRecorder(context)
    dataset, reading = read_dataset(workspace, files)
    claim = context.options.format_option(GoldClaim)
    if claim is not None:
        declare_gold(reading, claim)
    yield files.with_files(reading)
    for run in workspace.runs:
        yield files.with_files(read_run(workspace, dataset, run, files))
    for folder in workspace.published:
        yield files.with_files(read_published(folder, files))
    for ledger in workspace.ledgers:
        yield files.with_files(read_ledger(files(ledger)))


def read_published_folder(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read a published folder outside a workspace."""
    files = FileRecorder(context)
    yield files.with_files(read_published(path, files))


def read_ledger_file(file: SourceFile, _context: ImportContext) -> Reading:
    """Read a ledger outside a workspace."""
    return read_ledger(file.data)


class FileRecorder:
    """Reads files and records all but images, for the reading that they are part of."""

    def __init__(self, context: ImportContext) -> None:
        self._context = context
        self._files: list[SourceFile] = []

    def __call__(self, path: Path) -> bytes | None:
        """Return the bytes of a file; None if it does not exist or cannot be read."""
        # A pipe or a device is reported by `read`.
        if is_folder(path) or not os.path.lexists(path):
            return None
        file = self._context.read(path)
        if file is None:
            return None
        if not is_image(file.data):
            self._files.append(file)
        return file.data

    def with_files(self, reading: Reading) -> Reading:
        """Return a reading with the files read since the previous one."""
        reading.files, self._files = self._files, []
        return reading


def read_run(workspace: Workspace, dataset: Dataset, run: RunFolder, read: ReadBytes) -> Reading:
    """Read a run: predictions, judgements, and the texts of other steps."""
    run_id = utf8(run.run_id)
    reading = Reading("poster run", run=(SUITE, run_id))
    predictions = _by_model(run.folder / "predictions", dataset, read)
    judgements = _by_model(run.folder / "judgements", dataset, read)
    results = [
        row
        for model, by_poster in predictions.items()
        for row in result_rows(dataset, model, by_poster)
    ]
    for seq, row in enumerate(results, 1):
        row["run_id"], row["seq"] = run_id, seq
    texts = _artifact_rows(workspace, dataset, run, read, predictions=predictions)
    metas = [
        artifacts.meta
        for by_poster in (*predictions.values(), *judgements.values())
        for artifacts in by_poster.values()
    ]
    seeds = dataset.seeds | seeds_of(metas) | seeds_of(_metas_of_steps(texts))
    reading.rows["results"] = results
    reading.rows["judgements"] = [
        judgement_row(run_id, model, poster, artifacts)
        for model, by_poster in judgements.items()
        for poster, artifacts in by_poster.items()
        if not artifacts.is_empty
    ]
    reading.rows["artifacts"] = texts
    config: JsonObject = {
        "models": [utf8(model) for model in predictions],
        "seed_values": sorted(seeds),
    }
    header = _run_row(workspace, dataset, run, read, config=config)
    header["seed"] = whole(next(iter(seeds))) if len(seeds) == 1 else None
    header["source_rows"] = len(results)
    reading.rows["runs"] = [header]
    return reading


def _by_model(
    folder: Path, dataset: Dataset, read: ReadBytes
) -> dict[str, dict[str, PosterArtifacts]]:
    return {
        model.name: read_by_poster(model, read, dataset.posters) for model in folders_in(folder)
    }


def _run_row(
    workspace: Workspace, dataset: Dataset, run: RunFolder, read: ReadBytes, *, config: JsonObject
) -> RunRow:
    report = run.folder / "report"
    meta = read_document(read(report / "meta.json")).value
    recorded = meta if isinstance(meta, dict) else {}
    summary = read_document(read(report / "summary.json"))
    config |= {
        "generated_at": recorded.get("generated_at"),
        "report_source": workspace.relative(report),
    }
    config |= {name: recorded[name] for name in _SETTINGS if isinstance(recorded.get(name), dict)}
    day = _RUN_DATE.match(run.run_id)
    return {
        "suite": SUITE,
        "run_id": utf8(run.run_id),
        "content_id": content_hash(
            "run", run.run_id, dataset.version, dataset.hashes, config, recorded, summary.text
        ),
        "origin": "import",
        "run_date": "-".join(day.groups()) if day else None,
        "temperature": number(recorded.get("temperature")),
        "task_set": utf8(dataset.name),
        "task_set_hash": dataset.version,
        "dataset_hashes": json_text(dataset.hashes),
        "config": json_text(config),
        "recorded_summary": summary.json,
        "source_name": utf8(run.folder.name),
    }


def _artifact_rows(
    workspace: Workspace,
    dataset: Dataset,
    run: RunFolder,
    read: ReadBytes,
    *,
    predictions: dict[str, dict[str, PosterArtifacts]],
) -> list[ArtifactRow]:
    """Return the texts of other steps: OCR, repair, refine, location fill, reports, prompts."""
    root = workspace.root
    rows: list[ArtifactRow] = []
    for model, by_poster in predictions.items():
        for poster, artifacts in by_poster.items():
            known = {"model": utf8(model), "task_id": utf8(poster)}
            for path in artifacts.others:
                step = path.name.removeprefix(f"{poster}.").partition(".")[0]
                rows += artifact_rows([path], root, read, kind=utf8(step), **known)
            if artifacts.record.data is not None:
                path = run.folder / "predictions" / model / f"{poster}.json"
                rows += artifact_rows([path], root, read, kind="prediction", **known)
    dotted = with_dots(dataset.posters)
    for path in _all_files(run.folder / "ocr"):
        poster, _ = split_name(path.name, dotted)
        rows += artifact_rows([path], root, read, kind="ocr", task_id=utf8(poster))
    for folder in (run.folder, run.folder / "report"):
        for name, kind in _REPORT_TEXTS.items():
            if is_file(folder / name):
                rows += artifact_rows([folder / name], root, read, kind=kind)
    rows += artifact_rows(workspace.prompts, root, read, kind="prompt")
    for row in rows:
        row["suite"], row["run_id"] = SUITE, utf8(run.run_id)
        digest = hashlib.sha256(row["content"]).hexdigest()
        row["content_id"] = content_hash("artifact", row["name"], row["kind"], digest)
    return rows


def _metas_of_steps(texts: Iterable[ArtifactRow]) -> Iterator[object]:
    """Yield the metas of calls of other steps, such as repair."""
    for row in texts:
        if "model" in row and row["name"].endswith(".meta.json"):
            yield read_document(row["content"]).value


def _all_files(folder: Path) -> list[Path]:
    """List the files of a folder and of its subfolders (OCR is kept with or without models)."""
    return [*files_in(folder), *(path for f in folders_in(folder) for path in files_in(f))]
