"""Reads poster workspaces: a reading for the dataset, and one for each run.

What is missing, cut or no text is kept as what it is: a broken prediction is a result too.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from ingest.formats.posters.dataset import SUITE, read_dataset, seeds_of
from ingest.formats.posters.files import (
    artifact_rows,
    files_in,
    folders_in,
    is_file,
    number,
    read_document,
    read_quartets,
    split_name,
    whole,
    with_dots,
)
from ingest.formats.posters.layout import find_workspace
from ingest.formats.posters.published import read_ledger, read_published
from ingest.formats.posters.results import judgement_row, result_rows
from ingest.reading import Reading
from warehouse.formats.images import is_image
from warehouse.formats.json_text import json_text
from warehouse.formats.values import utf8
from warehouse.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from ingest.formats.posters.dataset import Dataset
    from ingest.formats.posters.files import PosterArtifacts, ReadBytes
    from ingest.formats.posters.layout import RunFolder, Workspace
    from ingest.reading import SourceFile
    from warehouse.types import JsonObject, Row

    ReadFile = Callable[[Path], SourceFile | None]

_RUN_DATE = re.compile(r"(\d{4})(\d{2})(\d{2})-\d{6}")
_REPORT_TEXTS = {
    "final_report.md": "report",
    "final_report.meta.json": "report",
    "notes.md": "notes",
}


def is_workspace(folder: Path) -> bool:
    """Tell whether a folder is a poster workspace, or the `benchmark/` of one."""
    return find_workspace(folder) is not None


def read_workspace(path: Path, read: ReadFile) -> Iterator[Reading]:
    """Read a workspace: its dataset, its runs, what it has published, its ledgers."""
    workspace = find_workspace(path)
    if workspace is None:
        return
    seen = Seen(read)
    dataset, reading = read_dataset(workspace, seen)
    yield seen.into(reading)
    for run in workspace.runs:
        yield seen.into(read_run(workspace, dataset, run, seen))
    for folder in workspace.published:
        yield seen.into(read_published(folder, seen))
    for ledger in workspace.ledgers:
        yield seen.into(read_ledger(ledger, seen))


def read_published_folder(path: Path, read: ReadFile) -> Iterator[Reading]:
    """Read a published folder that stands alone."""
    seen = Seen(read)
    yield seen.into(read_published(path, seen))


def read_ledger_file(path: Path, read: ReadFile) -> Iterator[Reading]:
    """Read a ledger that stands alone."""
    seen = Seen(read)
    yield seen.into(read_ledger(path, seen))


class Seen:
    """Reads files, and notes them for the reading that they are part of; images are not noted."""

    def __init__(self, read: ReadFile) -> None:
        self._read = read
        self._files: list[SourceFile] = []

    def __call__(self, path: Path) -> bytes | None:
        """Give the bytes of a file; None where it is not there or cannot be read."""
        if not is_file(path):
            return None
        file = self._read(path)
        if file is None:
            return None
        if not is_image(file.data):
            self._files.append(file)
        return file.data

    def into(self, reading: Reading) -> Reading:
        """Hand over the files that were read since the last reading."""
        reading.files, self._files = self._files, []
        return reading


def read_run(workspace: Workspace, dataset: Dataset, run: RunFolder, read: ReadBytes) -> Reading:
    """Read a run: predictions, judgements, and every text beside them."""
    run_id = utf8(run.run_id)
    reading = Reading("poster run", run=(SUITE, run_id))
    models = folders_in(run.folder / "predictions")
    predictions = {m.name: read_quartets(m, read, dataset.posters) for m in models}
    judgements = {
        m.name: read_quartets(m, read, dataset.posters)
        for m in folders_in(run.folder / "judgements")
    }
    results = [
        row
        for model, quartets in predictions.items()
        for row in result_rows(dataset, model, quartets)
    ]
    results = [{**row, "run_id": run_id, "seq": seq} for seq, row in enumerate(results, 1)]
    artifacts = _artifacts(workspace, dataset, run, predictions, read)
    quartets = (
        q for of_model in (*predictions.values(), *judgements.values()) for q in of_model.values()
    )
    seeds = (
        dataset.seeds | seeds_of(q.meta for q in quartets) | seeds_of(_metas_of_steps(artifacts))
    )
    reading.rows["results"] = results
    reading.rows["judgements"] = [
        judgement_row(run_id, model, poster, quartet)
        for model, quartets in judgements.items()
        for poster, quartet in quartets.items()
        if not quartet.is_empty
    ]
    reading.rows["artifacts"] = artifacts
    config: JsonObject = {
        "models": [utf8(model) for model in predictions],
        "seed_values": sorted(seeds),
    }
    reading.rows["runs"] = [
        {
            **_run_row(workspace, dataset, run, config, read),
            "seed": whole(next(iter(seeds))) if len(seeds) == 1 else None,
            "source_rows": len(results),
        }
    ]
    return reading


def _run_row(
    workspace: Workspace, dataset: Dataset, run: RunFolder, config: JsonObject, read: ReadBytes
) -> Row:
    report = run.folder / "report"
    meta = read_document(read(report / "meta.json")).value
    recorded = meta if isinstance(meta, dict) else {}
    summary = read_document(read(report / "summary.json"))
    config = {
        **config,
        "generated_at": recorded.get("generated_at"),
        "report_source": workspace.relative(report),
    }
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


def _artifacts(
    workspace: Workspace,
    dataset: Dataset,
    run: RunFolder,
    predictions: dict[str, dict[str, PosterArtifacts]],
    read: ReadBytes,
) -> list[Row]:
    """Keep what other steps wrote: OCR, repair, refine, location fill, notes, reports, prompts."""
    root = workspace.root
    rows = []
    for model, quartets in predictions.items():
        for poster, quartet in quartets.items():
            known = {"model": utf8(model), "task_id": utf8(poster)}
            for path in quartet.further:
                step = path.name.removeprefix(f"{poster}.").partition(".")[0]
                rows += artifact_rows([path], root, read, kind=utf8(step), **known)
            if quartet.record.data is not None:
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
    return [_of_run(row, run.run_id) for row in rows]


def _of_run(artifact: Row, run_id: str) -> Row:
    digest = hashlib.sha256(artifact["content"]).hexdigest()
    return {
        **artifact,
        "suite": SUITE,
        "run_id": utf8(run_id),
        "content_id": content_hash("artifact", artifact["name"], artifact["kind"], digest),
    }


def _metas_of_steps(artifacts: Iterable[Row]) -> Iterator[object]:
    """Read what the calls of further steps recorded, repair and the like."""
    for row in artifacts:
        if "model" in row and row["name"].endswith(".meta.json"):
            yield read_document(row["content"]).value


def _all_files(folder: Path) -> list[Path]:
    """List the files of a folder and of the folders in it (OCR is kept with or without models)."""
    return [*files_in(folder), *(path for f in folders_in(folder) for path in files_in(f))]
