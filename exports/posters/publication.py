"""The published folder of a poster run, ready to commit."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from click import Option

from exports.base import Exported, Exporter
from exports.posters.published_copy import imported_files
from exports.posters.report import Report, gather, json_bytes
from warehouse.app.console.completion import run_completer
from warehouse.core.errors import BadInput, CheckFailed
from warehouse.core.formats.images import is_image
from warehouse.engine.scoring.posters.meta import published_label
from warehouse.lake.targets import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from warehouse.app.store import Store

PUBLISHED = "benchmark/published"
_PARTIAL = ".{}.part"  # name of a folder that is being written
_LONGEST_NAME = 255  # bytes, in the usual file systems
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
    _check_length(name, label)
    files = report.files()
    if note is not None:
        files["notes.md"] = f"{note.rstrip()}\n".encode()
    metadata = {
        "run_id": name,
        "created_at": published_at.isoformat(timespec="seconds"),
        "git_commit": report.run["git_commit"],
        **_run_metadata(report, files),
    }
    files["run_metadata.json"] = json_bytes(metadata)
    _check_publishable(files)
    with _without_leftovers(root / PUBLISHED):
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
        "gold_posters": report.meta["gold_posters"],
        "silver_posters": report.meta["silver_posters"],
        "source_run": report.run_id,
    }


def _check_publishable(files: dict[str, bytes]) -> None:
    missing = [name for name in _REQUIRED if not files.get(name)]
    if missing:
        raise BadInput(f"not published: {', '.join(missing)} missing")
    for name, data in files.items():
        if name not in _ALLOWED:
            raise BadInput(f"not published: {name} is not a file of a report")
        _check_no_image(name, data)


def _check_no_image(name: str, data: bytes) -> None:
    if is_image(data) or _EMBEDDED_IMAGE.search(data):
        raise BadInput(f"not published: {name} is or contains an image; images stay private")


@contextmanager
def _without_leftovers(published: Path) -> Iterator[None]:
    """Remove what killed processes left in the folder; keep others from removing ours."""
    try:
        published.mkdir(parents=True, exist_ok=True)
        folder = os.open(published, os.O_RDONLY)
    except OSError as error:
        raise BadInput(f"{published}: cannot write ({error.strerror})") from error
    try:
        with suppress(OSError):  # another process publishes, or there are no locks
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for partial in published.glob(".*.part"):
                shutil.rmtree(partial, ignore_errors=True)
        with suppress(OSError):
            fcntl.flock(folder, fcntl.LOCK_SH)
        yield
    finally:
        os.close(folder)


def _write_folder(folder: Path, files: dict[str, bytes]) -> Path:
    partial = folder.with_name(_PARTIAL.format(folder.name))
    try:
        if folder.exists():
            raise BadInput(f"{folder}: already exists")
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


def rewrite(store: Store, report: str, root: Path) -> Path:
    """Write an imported published folder again, byte by byte, and return its path.

    Raises:
        BadInput: the store lacks its files, a file contains an image, or the folder exists.
    """
    files = imported_files(store, report)
    for name, data in files.items():
        _check_no_image(name, data)
    with _without_leftovers(root / PUBLISHED):
        return _write_folder(root / PUBLISHED / report, files)


def _check_length(name: str, label: str) -> None:
    # The name is ASCII, one byte for each character.
    excess = len(_PARTIAL.format(name)) - _LONGEST_NAME
    if excess > 0:
        raise BadInput(
            f"--label: {len(label):,} characters; the folder's name has room for "
            f"{len(published_label(label)) - excess}"
        )


def _check_gold(report: Report) -> None:
    """Check that a report may be published without `--allow-silver`.

    Raises:
        CheckFailed: not all its ground truth is gold.
    """
    meta = report.meta
    if meta["label"] == "gold":
        return
    n_posters = meta["ground_truth_available"]
    basis = f"{meta['gold_posters']} of {n_posters} posters are gold" if n_posters else "none"
    raise CheckFailed(
        f"{report.run_id}: not published, its ground truth is not gold ({basis}). Make it gold "
        "(`evalstore annotate --help`), or publish it labelled as it is with `--allow-silver`"
    )


def _publish(
    store: Store,
    folder: Path,
    *,
    run: str | None,
    label: str | None,
    note: str | None,
    allow_silver: bool,
    report: str | None,
) -> Exported:
    if report is not None:
        if (run, label, note) != (None, None, None):
            raise BadInput("`--report` writes a folder as it was: only --to goes with it")
        return Exported(paths=[rewrite(store, report, folder)])
    if run is None or label is None:
        raise BadInput("name a run with `--run ID --label NAME`, or a report with `--report NAME`")
    gathered = gather(store, run)
    if not allow_silver:
        _check_gold(gathered)
    path = publish(gathered, folder, label, note=note)
    follow_up = f"to add it to the ledger: `evalstore import {path}`"
    return Exported(paths=[path], notes=[follow_up])


PUBLISHER = Exporter(
    export=_publish,
    target_help="Project folder; benchmark/published/ is created in it.",
    default_target=".",
    options=(
        Option(
            ["--run"],
            shell_complete=run_completer("posters"),
            metavar="ID",
            help="Poster run to publish; needs --label.",
        ),
        Option(["--label"], help="Name of the run, part of the folder's name."),
        Option(["--note"], help="Text for notes.md."),
        Option(
            ["--allow-silver"],
            is_flag=True,
            help="Publish even if not all ground truth is gold; the folder is labelled silver.",
        ),
        Option(
            ["--report"],
            metavar="NAME",
            help="Instead of a run: write an imported published folder again, byte by byte.",
        ),
    ),
    help="""
    Publish a poster run as benchmark/published/<UTC>-<label>-<gold or silver>/.

    A run whose ground truth is not all gold needs --allow-silver. Nothing is published if one of
    the seven files is missing or an image would be included.

    \b
      evalstore publish posters --run 20260405-090000-first-try --label first-try --allow-silver
    """,
)
