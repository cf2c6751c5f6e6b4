"""Reads poster workspaces: a reading for the dataset, and one for each run.

What is missing, cut or no text is kept as what it is: a broken prediction is a result too.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from ingest.poster_dataset import SUITE, read_dataset, seeds_of
from ingest.poster_files import (
    artifact_rows,
    files_in,
    folders_in,
    number,
    read_document,
    read_quartets,
)
from ingest.poster_published import read_ledger, read_published
from ingest.poster_results import judgement_row, result_rows
from ingest.reading import Reading, SourceFile
from warehouse.hashing import content_hash
from warehouse.jsontext import json_text, utf8

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ingest.poster_dataset import Dataset, GoldClaim
    from ingest.poster_files import Quartet, ReadBytes
    from ingest.poster_layout import RunFolder, Workspace
    from warehouse.lake import Row

_RUN_DATE = re.compile(r"(\d{4})(\d{2})(\d{2})-\d{6}")
_REPORT_TEXTS = {
    "final_report.md": "report",
    "final_report.meta.json": "report",
    "notes.md": "notes",
}


def read_workspace(
    workspace: Workspace, read: ReadBytes, gold: GoldClaim | None = None
) -> Iterator[tuple[SourceFile, Reading]]:
    """Read a workspace: its dataset, its runs, what it has published, its ledgers.

    Args:
        workspace: where.
        read: gives the bytes of a file.
        gold: what the import says of the ground truth; without it, it is silver.
    """
    dataset, reading = read_dataset(workspace, read, gold)
    yield _source(workspace.manifest, reading), reading
    for run in workspace.runs:
        reading = read_run(workspace, dataset, run, read)
        yield _source(run.folder, reading), reading
    for folder in workspace.published:
        yield read_published(folder, read)
    for path in workspace.ledgers:
        yield read_ledger(path, read)


def read_run(workspace: Workspace, dataset: Dataset, run: RunFolder, read: ReadBytes) -> Reading:
    """Read a run: predictions, judgements, and every text beside them."""
    run_id = utf8(run.run_id)
    reading = Reading("poster run", run=(SUITE, run_id))
    models = folders_in(run.folder / "predictions")
    predictions = {m.name: read_quartets(m, read) for m in models}
    judgements = {m.name: read_quartets(m, read) for m in folders_in(run.folder / "judgements")}
    results = [
        row
        for model, quartets in predictions.items()
        for row in result_rows(dataset, model, quartets)
    ]
    for seq, row in enumerate(results, 1):
        row |= {"run_id": run_id, "seq": seq}
    seeds = dataset.seeds.union(
        *(seeds_of(q.values()) for q in (*predictions.values(), *judgements.values()))
    )
    reading.rows["results"] = results
    reading.rows["judgements"] = [
        judgement_row(run_id, model, poster, quartet)
        for model, quartets in judgements.items()
        for poster, quartet in quartets.items()
        if not quartet.is_empty
    ]
    reading.rows["artifacts"] = _artifacts(workspace, run, run_id, predictions, read)
    config = {"models": [utf8(model) for model in predictions], "seed_values": sorted(seeds)}
    reading.rows["runs"] = [
        {
            **_run_row(workspace, dataset, run, config, read),
            "seed": next(iter(seeds)) if len(seeds) == 1 else None,
            "source_rows": len(results),
        }
    ]
    return reading


def _source(path: Path, reading: Reading) -> SourceFile:
    """Stand for many files by a hash of all that was read of them."""
    ids = {table: sorted(row["content_id"] for row in rows) for table, rows in reading.rows.items()}
    data = json_text(ids).encode()
    source = SourceFile(path, data, hashlib.sha256(data).hexdigest())
    for rows in reading.rows.values():
        for row in rows:
            row["file_sha256"] = source.sha256
    return source


def _run_row(
    workspace: Workspace, dataset: Dataset, run: RunFolder, config: Row, read: ReadBytes
) -> Row:
    report = run.folder / "report"
    has_report = report.is_dir()
    meta = read_document(read(report / "meta.json") if has_report else None).value
    recorded = meta if isinstance(meta, dict) else {}
    summary = read_document(read(report / "summary.json") if has_report else None)
    config |= {
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
    run: RunFolder,
    run_id: str,
    predictions: dict[str, dict[str, Quartet]],
    read: ReadBytes,
) -> list[Row]:
    """Keep what other steps wrote: OCR, repair, refine, location fill, notes, reports, prompts."""
    root = workspace.root
    rows = []
    for model, quartets in predictions.items():
        for poster, quartet in quartets.items():
            known = {"model": utf8(model), "task_id": utf8(poster)}
            for path in quartet.further:
                step = path.name.split(".")[1]
                rows += artifact_rows([path], root, read, kind=utf8(step), **known)
            if quartet.record.data is not None:
                path = run.folder / "predictions" / model / f"{poster}.json"
                rows += artifact_rows([path], root, read, kind="prediction", **known)
    for path in _all_files(run.folder / "ocr"):
        poster = utf8(path.name.partition(".")[0])
        rows += artifact_rows([path], root, read, kind="ocr", task_id=poster)
    for folder in (run.folder, run.folder / "report"):
        for name, kind in _REPORT_TEXTS.items():
            if (folder / name).is_file():
                rows += artifact_rows([folder / name], root, read, kind=kind)
    rows += artifact_rows(workspace.prompts, root, read, kind="prompt")
    for row in rows:
        row |= {"suite": SUITE, "run_id": run_id}
        digest = hashlib.sha256(row["content"]).hexdigest()
        row["content_id"] = content_hash("artifact", row["name"], row["kind"], digest)
    return rows


def _all_files(folder: Path) -> list[Path]:
    """List the files of a folder and of the folders in it (OCR is kept with or without models)."""
    return [*files_in(folder), *(path for f in folders_in(folder) for path in files_in(f))]
