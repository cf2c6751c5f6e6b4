"""Reads published poster reports, of every version of their schema, and experiment ledgers.

Each figure of a report becomes a row. The report's texts are kept unchanged as rows with model
`""`, so that ledgers can be exported from them, and so are the hashes of its files, whose bytes the
import keeps, so that the folder can be written again.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ingest.formats.posters.files import files_in, number, read_document, text_of
from ingest.reading import Reading, Reject
from warehouse.core.formats.images import is_image
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.values import utf8
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from ingest.formats.posters.files import Document, ReadBytes
    from warehouse.core.types import JsonObject, PublishedRow

_SUITE = "posters"
_RUN_OF_SOURCE = re.compile(r"(?:^|/)runs/([^/]+)/report/?$")
_CREATED = re.compile(r"(\d{8}-\d{6})-")
_TEXTS = (
    "summary.json",
    "comparisons.json",
    "meta.json",
    "run_metadata.json",
    "final_report.md",
    "notes.md",
)
_KEPT = {".json", ".md", ".svg", ".txt", ".csv"}
_INTERVALS = {"app_quality_ci95": "app_quality_score", "app_core_ci95": "app_core_score"}
_BOUNDS = ("_ci95_low", "_ci95_high")
_HEADER_COLUMNS = {
    "run_id", "label", "created_at", "git_commit", "temperature", "model", "urls_sha256",
    "manifest_sha256", "bootstrap_seed", "prompt_hashes", "ground_truth",
}  # fmt: skip


def read_published(folder: Path, read: ReadBytes) -> Reading:
    """Read a published folder."""
    reading = Reading("published poster report")
    files = {path.name: read(path) for path in files_in(folder) if path.suffix in _KEPT}
    texts = {name: data for name, data in files.items() if name in _TEXTS}
    documents = {name: read_document(data) for name, data in texts.items()}
    metadata = _as_dict(documents, "run_metadata.json")
    summary = documents["summary.json"].value if "summary.json" in documents else None
    rows = [row for row in summary if isinstance(row, dict)] if isinstance(summary, list) else []
    if not isinstance(summary, list):
        reading.rejects.append(Reject("summary.json is not a list of models"))
    report = _report(folder.name, metadata, _as_dict(documents, "meta.json"), rows)
    pairs = documents["comparisons.json"].value if "comparisons.json" in documents else None
    reading.rows["published"] = [
        *_text_rows(report, texts),
        *_file_rows(report, files),
        *_model_rows(report, rows),
        *_comparison_rows(report, pairs),
    ]
    return reading


def read_ledger(data: bytes | None) -> Reading:
    """Read an experiment ledger, a CSV file: a line for each model of each published report."""
    reading = Reading("poster ledger")
    csv.field_size_limit(2**27)
    lines = csv.DictReader(io.StringIO(text_of(data) or "", newline=""))
    rows: list[PublishedRow] = []
    try:
        for seq, line in enumerate(lines, 1):
            rows += _ledger_rows(seq, line)
    except csv.Error as error:
        reading.rejects.append(Reject(f"not a ledger from this line on: {error}", lines.line_num))
    reading.rows["published"] = rows
    return reading


def _report(
    folder: str, metadata: JsonObject, meta: JsonObject, rows: list[JsonObject]
) -> PublishedRow:
    """Return the columns that all rows of a report share."""
    source = _RUN_OF_SOURCE.search(str(metadata.get("report_source")))
    labels = [x.get("label") for x in (metadata, meta, *rows)]
    return {
        "report": utf8(str(metadata.get("run_id") or folder)),
        "suite": _SUITE,
        "run_id": utf8(str(metadata.get("source_run") or (source[1] if source else ""))) or None,
        "form": _form(rows),
        "published_at": _time(metadata.get("created_at"), folder),
        "label": _label(labels),
    }


def _label(stated: Iterable[object]) -> str | None:
    known = ("gold", "silver", "mixed")
    return next((x for x in stated if isinstance(x, str) and x in known), None)


def _form(rows: list[JsonObject]) -> str:
    """Return the version of the schema, recognised by its keys."""
    keys = {key for row in rows for key in row}
    if "label" in keys:
        return "labelled"
    return "core" if "app_core_score" in keys else "quality"


def _text_rows(report: PublishedRow, texts: dict[str, bytes | None]) -> Iterator[PublishedRow]:
    for name, data in texts.items():
        if (text := text_of(data)) is not None:
            yield _row(report, 0, "", name, text=utf8(text))


def _file_rows(report: PublishedRow, files: dict[str, bytes | None]) -> Iterator[PublishedRow]:
    digests = {
        utf8(name): hashlib.sha256(data).hexdigest()
        for name, data in files.items()
        if data is not None and not is_image(data)
    }
    for name, digest in digests.items():
        row = _row(report, 0, "", f"file {name}", text=digest)
        # A file that a later version of the folder repeats is a row of that version too.
        yield {**row, "content_id": content_hash(row["content_id"], digests)}


def _model_rows(report: PublishedRow, rows: Iterable[JsonObject]) -> Iterator[PublishedRow]:
    for seq, row in enumerate(rows, 1):
        model = utf8(str(row.get("model", "")))
        bounds = {_INTERVALS[key]: _interval(row.get(key)) for key in _INTERVALS}
        for key, value in row.items():
            if key == "model" or (key in _INTERVALS and _interval(value) is not None):
                continue
            low, high = bounds.get(key) or (None, None)
            yield _row(report, seq, model, utf8(key), value=value, low=low, high=high)


def _comparison_rows(report: PublishedRow, pairs: object) -> Iterator[PublishedRow]:
    known = [pair for pair in pairs if isinstance(pair, dict)] if isinstance(pairs, list) else []
    for seq, pair in enumerate(known, 1):
        low, high = _interval(pair.get("ci95")) or (None, None)
        row = _row(
            report,
            seq,
            utf8(str(pair.get("model_a", ""))),
            f"difference from {utf8(str(pair.get('model_b', '')))}",
            value=pair.get("diff_mean"),
            low=low,
            high=high,
        )
        yield {**row, "text": json_text(pair)}


def _ledger_rows(
    seq: int, line: dict[str | None, str | list[str] | None]
) -> Iterator[PublishedRow]:
    name, model = utf8(str(line.get("run_id") or "")), utf8(str(line.get("model") or ""))
    report: PublishedRow = {
        "report": name,
        "suite": _SUITE,
        "form": "ledger",
        "published_at": _time(line.get("created_at"), name),
        "label": _label([line.get("ground_truth")]),
    }
    yield _row(report, seq, model, "ledger line", text=json_text(line))
    for key, text in line.items():
        if not isinstance(key, str) or key in _HEADER_COLUMNS or "_ci95" in key:
            continue
        low, high = (_float(line.get(f"{key.removesuffix('_score')}{end}")) for end in _BOUNDS)
        yield _row(report, seq, model, utf8(key), value=_float(text), low=low, high=high)


def _row(
    report: PublishedRow,
    seq: int,
    model: str,
    metric: str,
    *,
    value: object = None,
    low: float | None = None,
    high: float | None = None,
    text: str | None = None,
) -> PublishedRow:
    figure = number(value)
    if text is None and figure is None and value is not None:
        text = utf8(value) if isinstance(value, str) else json_text(value)
    parts = (report["report"], report["form"], seq, model, metric, figure, low, high, text)
    return {
        **report,
        "content_id": content_hash("published", *parts),
        "seq": seq,
        "model": model,
        "metric": metric,
        "value": figure,
        "low": low,
        "high": high,
        "text": text,
    }


def _as_dict(documents: dict[str, Document], name: str) -> JsonObject:
    value = documents[name].value if name in documents else None
    return value if isinstance(value, dict) else {}


def _interval(value: object) -> tuple[float | None, float | None] | None:
    """Return the bounds of an interval; None for anything else."""
    if not isinstance(value, list) or len(value) != len(_BOUNDS):
        return None
    return number(value[0]), number(value[1])


def _time(text: object, folder: str) -> datetime | None:
    """Return when a report was published: as recorded, or else from the name of its folder."""
    name = _CREATED.match(folder)
    for value, form in ((text, None), (name[1] if name else None, "%Y%m%d-%H%M%S")):
        if not isinstance(value, str):
            continue
        try:
            time = (
                datetime.strptime(value, form).replace(tzinfo=UTC)
                if form
                else datetime.fromisoformat(value)
            )
        except ValueError:
            continue
        return (time.astimezone(UTC) if time.tzinfo else time).replace(tzinfo=None)
    return None


def _float(text: object) -> float | None:
    try:
        return number(float(text)) if isinstance(text, str) and text else None
    except ValueError:
        return None
