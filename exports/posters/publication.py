"""The published folder of a poster run, ready to commit."""

from __future__ import annotations

import re
import shutil
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from click import Option

from exports.base import Exported, Exporter
from exports.posters.report import Report, gather, json_bytes
from warehouse.errors import BadInput
from warehouse.formats.images import is_image
from warehouse.git import git_commit
from warehouse.lake.atomic import write_whole
from warehouse.scoring.posters.meta import published_label

if TYPE_CHECKING:
    from pathlib import Path

    from warehouse.store import Store

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
# In the order in which the original run_metadata.json lists them.
_LISTED = (
    "summary.json", "summary.md", "scatter.svg", "comparisons.json", "comparisons.md", "meta.json",
    "final_report.md", "notes.md",
)  # fmt: skip
_EMBEDDED_IMAGE = re.compile(rb"data:image/|<image\b", re.IGNORECASE)


def publish(
    report: Report, root: Path, label: str, *, note: str | None = None, now: datetime | None = None
) -> Path:
    """Write `benchmark/published/<UTC>-<label>-<gold or silver>/` and return its path.

    The folder is written completely or not at all.

    Args:
        report: report of the run.
        root: project folder.
        label: name of the run, part of the folder's name.
        note: text of notes.md.
        now: time of publication; the current time by default.

    Raises:
        BadInput: a file is missing, an image would be included, or the folder already exists.
    """
    published_at = now if now is not None else datetime.now(UTC)
    quality = report.meta["label"] or "no-ground-truth"
    name = f"{published_at:%Y%m%d-%H%M%S}-{published_label(label)}"
    name = name if name.endswith(f"-{quality}") else f"{name}-{quality}"
    files = report.files()
    if note is not None:
        files["notes.md"] = f"{note.rstrip()}\n".encode()
    metadata = {
        "run_id": name,
        "created_at": published_at.isoformat(timespec="seconds"),
        "git_commit": git_commit(root),
        **_run_metadata(report, files),
    }
    files["run_metadata.json"] = json_bytes(metadata)
    _check_publishable(files)
    return _write_folder(root / PUBLISHED / name, files)


def _run_metadata(report: Report, files: dict[str, bytes]) -> dict[str, object]:
    hashes = ("urls_file", "urls_sha256", "manifest_file", "manifest_sha256")
    return {
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


def _check_publishable(files: dict[str, bytes]) -> None:
    missing = [name for name in _REQUIRED if not files.get(name)]
    if missing:
        raise BadInput(f"not published: {', '.join(missing)} missing")
    for name, data in files.items():
        if name not in _ALLOWED or is_image(data) or _EMBEDDED_IMAGE.search(data):
            raise BadInput(f"not published: {name} is or contains an image; images stay private")


def _write_folder(folder: Path, files: dict[str, bytes]) -> Path:
    if folder.exists():
        raise BadInput(f"{folder}: already exists")
    partial = folder.with_name(f".{folder.name}.part")
    try:
        # A killed process may have left files in it.
        shutil.rmtree(partial, ignore_errors=True)
        for name, data in files.items():
            write_whole(partial / name, data)
        partial.rename(folder)
    except OSError as error:
        raise BadInput(f"{folder}: cannot write ({error.strerror})") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return folder


def _publish(store: Store, folder: Path, *, run: str, label: str, note: str | None) -> Exported:
    return Exported(paths=[publish(gather(store, run), folder, label, note=note)])


PUBLISHER = Exporter(
    export=_publish,
    target_help="Project folder; benchmark/published/ is created in it.",
    default_target=".",
    options=(
        Option(["--run"], required=True, metavar="ID", help="Poster run to publish."),
        Option(["--label"], required=True, help="Name of the run, part of the folder's name."),
        Option(["--note"], help="Text for notes.md."),
    ),
    help="""
    Publish a poster run as benchmark/published/<UTC>-<label>-<gold or silver>/.

    Nothing is published if one of the seven files is missing or an image would be included.

    \b
      evalstore publish posters --run 20260405-090000-first-try --label first-try
    """,
)
