"""The files of BFCL: results, scores, and the tables of its leaderboard."""

from __future__ import annotations

import csv
import io
from functools import partial
from typing import TYPE_CHECKING

from ingest.formats.bfcl.layout import only_model, place_of
from ingest.formats.bfcl.records import add_result, add_score
from ingest.formats.common.collector import RowCollector, part_id
from ingest.formats.common.records import json_lines
from ingest.reading import Reading, Reject, Stream
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from ingest.formats.bfcl.layout import Place
    from ingest.formats.common.records import LineRecord
    from ingest.reading import Block, ImportContext
    from warehouse.core.types import RunRow

    Add = Callable[[LineRecord, Place, RowCollector], None]

SUITE = "bfcl"

_NOT_FIGURES = {"Rank", "Model", "Model Link", "Organization", "License", "Cost", ""}


def read_results(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read the results of a category."""
    yield _reading("BFCL results", path, context, add_result, tables=("results",))


def read_scores(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read the scores of a category."""
    tables = ("events", "reported_metrics", "tasks")
    yield _reading("BFCL scores", path, context, add_score, tables=tables)


def decline_without_ids(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Report that results have no ids."""
    is_empty = not path.stat().st_size
    reason = "the file is empty" if is_empty else "its lines have no ids, so that they fit no task"
    context.decline(path, reason)
    yield from ()


def read_table(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read a table of the leaderboard: figures over several categories, rounded."""
    file = context.read(path)
    if file is None:
        return
    tree = place_of(path).tree
    part = part_id(f"table {file.name}")
    rows = RowCollector(path, tree, part=part)
    try:
        text = file.data.decode("utf-8-sig")
        for seq, record in enumerate(csv.DictReader(io.StringIO(text)), 1):
            _add_figures(record, seq, rows)
    except (UnicodeDecodeError, csv.Error) as error:
        reason = f"cannot be read as a table ({error})"
        yield Reading("BFCL leaderboard", rejects=[Reject(reason, raw=file.data)], files=[file])
        return
    blocks = list(rows.rest())
    stream = Stream(
        paths=(path,),
        tables=("reported_metrics",),
        blocks=lambda: iter(blocks),
        is_run=True,
        parts=frozenset({part}),
    )
    header: RunRow = {"suite": SUITE, "run_id": tree, "origin": "import"}
    yield Reading("BFCL leaderboard", rows={"runs": [header]}, run=(SUITE, tree), stream=stream)


def _add_figures(record: dict[str, str], seq: int, rows: RowCollector) -> None:
    for name, text in record.items():
        if isinstance(name, str) and name not in _NOT_FIGURES and isinstance(text, str):
            model = record.get("Model")
            rows.add(
                "reported_metrics",
                {
                    "content_id": rows.id_of("cell", model, seq, name, text),
                    "seq": seq,
                    "model": utf8(model) if isinstance(model, str) else None,
                    "metric": utf8(name),
                    "text": utf8(text),
                    "reason": _reason(name),
                },
            )


def _reason(name: str) -> str:
    """Return why a cell is not recomputed."""
    if "Cost" in name:
        return "rounded, and computed with prices that are not in the files"
    if name.startswith("Latency"):
        return "rounded, and computed over the calls of all categories"
    return "rounded, and computed from other figures of the leaderboard"


def _reading(
    form: str, path: Path, context: ImportContext, add: Add, *, tables: tuple[str, ...]
) -> Reading:
    place = place_of(path)
    part = part_id(f"{form} {place.model} {place.category}")
    header: RunRow = {
        "suite": SUITE,
        "run_id": place.tree,
        "origin": "import",
        "versions": None if place.version is None else json_text({"bfcl": place.version}),
        "model": only_model(path),
    }
    stream = Stream(
        paths=(path,),
        tables=tables,
        blocks=partial(_blocks, path, place, part, add=add, redact=context.options.redact),
        is_run=True,
        parts=frozenset({part}),
    )
    run = SUITE, place.tree
    where = part_id(f"{place.tree} {part}")
    return Reading(form, rows={"runs": [header]}, run=run, stream=stream, place=where)


def _blocks(path: Path, place: Place, part: str, *, add: Add, redact: bool) -> Iterator[Block]:
    rows = RowCollector(path, place.tree, part=part)
    yield from rows.add_lines(
        json_lines(path, redact=redact), lambda record: add(record, place, rows)
    )
    yield from rows.rest()
