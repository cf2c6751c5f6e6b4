"""Writes a poster run's report folder, and the commit-ready folder of a published run."""

from __future__ import annotations

import re
import shutil
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from exports.posters.report import Report, json_bytes
from warehouse.errors import BadInput
from warehouse.git import git_commit
from warehouse.lake.atomic import write_whole
from warehouse.scoring.posters.meta import published_label

if TYPE_CHECKING:
    from pathlib import Path

PUBLISHED = "benchmark/published"
_REQUIRED = (
    "summary.json",
    "summary.md",
    "comparisons.json",
    "comparisons.md",
    "meta.json",
    "run_metadata.json",
    "scatter.svg",
)
_ALLOWED = {*_REQUIRED, "final_report.md", "notes.md"}
# The order in which the original's run_metadata.json lists them.
_LISTED = (
    "summary.json", "summary.md", "scatter.svg", "comparisons.json", "comparisons.md", "meta.json",
    "final_report.md", "notes.md",
)  # fmt: skip
_IMAGE_STARTS = (b"\xff\xd8\xff", b"\x89PNG", b"GIF8", b"RIFF")
_EMBEDDED_IMAGE = re.compile(rb"data:image/|<image\b", re.IGNORECASE)


def write_report(
    report: Report, folder: Path, *, with_png: bool = False, with_page: bool = False
) -> list[Path]:
    """Write the report folder; on request with the chart as PNG and a page for a browser."""
    files = report.files()
    if with_page:
        from exports.posters.page import report_page

        files["report.html"] = report_page(report)
    if with_png:
        from exports.posters.chart import draw_png

        files["scatter.png"] = draw_png(report.points, report.subtitle)
    for name, data in files.items():
        write_whole(folder / name, data)
    return [folder / name for name in files]


def publish(
    report: Report, root: Path, label: str, *, note: str | None = None, now: datetime | None = None
) -> Path:
    """Write `benchmark/published/<UTC>-<label>-<gold or silver>/`, whole or not at all.

    Raises:
        BadInput: a file is missing, an image would be included, or the folder is there already.
    """
    time = now if now is not None else datetime.now(UTC)
    quality = report.meta["label"] or "no-ground-truth"
    name = f"{time:%Y%m%d-%H%M%S}-{published_label(label)}"
    name = name if name.endswith(f"-{quality}") else f"{name}-{quality}"
    files = report.files()
    if note is not None:
        files["notes.md"] = f"{note.rstrip()}\n".encode()
    files["run_metadata.json"] = json_bytes(_run_metadata(report, root, name, time, files))
    _refuse_what_must_not_be_public(files)
    return _write_folder(root / PUBLISHED / name, files)


def _run_metadata(
    report: Report, root: Path, name: str, time: datetime, files: dict[str, bytes]
) -> dict[str, object]:
    hashes = ("urls_file", "urls_sha256", "manifest_file", "manifest_sha256")
    return {
        "run_id": name,
        "created_at": time.isoformat(timespec="seconds"),
        "git_commit": git_commit(root),
        "temperature": report.meta["temperature"],
        "models": [row["model"] for row in report.summary],
        "report_source": report.run["report_source"],
        "files": [name for name in _LISTED if name in files],
        "seed_values": report.meta["seed_values"],
        "bootstrap": report.meta["bootstrap"],
        **{key: report.meta[key] for key in hashes if key in report.meta},
        "label": report.meta["label"],
        "label_basis": report.meta["label_basis"],
        "source_run": report.run_id,
    }


def _refuse_what_must_not_be_public(files: dict[str, bytes]) -> None:
    missing = [name for name in _REQUIRED if not files.get(name)]
    if missing:
        raise BadInput(f"not published: {', '.join(missing)} is missing")
    for name, data in files.items():
        if name not in _ALLOWED or data.startswith(_IMAGE_STARTS) or _EMBEDDED_IMAGE.search(data):
            raise BadInput(f"not published: {name} is or holds an image, and images stay private")


def _write_folder(folder: Path, files: dict[str, bytes]) -> Path:
    if folder.exists():
        raise BadInput(f"{folder}: is there already")
    beside = folder.with_name(f".{folder.name}.part")
    try:
        # What a killed one left must not be published with it.
        shutil.rmtree(beside, ignore_errors=True)
        for name, data in files.items():
            write_whole(beside / name, data)
        beside.rename(folder)
    except OSError as error:
        raise BadInput(f"{folder}: cannot be written ({error.strerror})") from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return folder
