"""Reads the tables that HELM makes of a suite's runs: cells as published figures of models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.formats.common.fields import finite_number, list_of, object_of, text_of
from ingest.formats.common.records import UnreadableRecordError, parsed
from ingest.formats.helm.layout import SUITE
from ingest.reading import Reading, Reject
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.values import utf8
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ingest.reading import ImportContext, SourceFile
    from warehouse.core.types import JsonObject, PublishedRow

FORM = "helm table"


def read_table(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read a table; a list of tables repeats those in files of their own, and is declined."""
    file = context.read(path)
    if file is None or context.skips(file):
        return
    if file.data.lstrip()[:1] == b"[":
        context.decline(path, "tables of HELM that are also in files of their own")
        return
    reading = Reading("HELM table", files=[file])
    try:
        document, _ = parsed(file.data)
    except UnreadableRecordError as error:
        reading.rejects.append(Reject(str(error), raw=file.data))
    else:
        reading.rows["published"] = list(_rows(object_of(document), _report_of(path), file))
    yield reading


def _report_of(path: Path) -> str:
    """Return the name of a table: its suite, where the folders name one, and its file."""
    groups = path.parent.parent
    is_suite = path.parent.name == "json" and groups.name == "groups"
    return utf8(f"{groups.parent.name}/{path.stem}" if is_suite else path.stem)


def _rows(table: JsonObject, report: str, file: SourceFile) -> Iterator[PublishedRow]:
    header = [object_of(column) for column in list_of(table.get("header"))]
    for seq, cells in enumerate(list_of(table.get("rows")), 1):
        row = [object_of(cell) for cell in list_of(cells)]
        if not row:
            continue
        model = text_of(row[0].get("value")) or ""
        for at, cell in enumerate(row[1:], 1):
            value = cell.get("value")
            if value is None:
                continue
            name = text_of(header[at].get("value")) if at < len(header) else None
            number = finite_number(value)
            made: PublishedRow = {
                "report": report,
                "suite": SUITE,
                "form": FORM,
                "seq": seq,
                "model": model,
                "metric": name or f"column {at}",
                "value": number,
                "text": None if number is not None else text_of(value) or json_text(value),
            }
            content_id = content_hash("cell", at, made)
            yield {**made, "content_id": content_id, "file_sha256": file.sha256}
