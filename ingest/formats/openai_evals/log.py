"""The log of an openai/evals run: its first line says what ran, the others are events."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ingest.formats.common.collector import RowCollector
from ingest.formats.common.fields import Fields
from ingest.formats.common.records import json_lines
from ingest.formats.openai_evals.events import EventRows
from ingest.formats.openai_evals.figures import figure_rows, task_set_of
from ingest.reading import Reading, Stream
from warehouse.core.files import open_regular
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ingest.formats.common.records import LineRecord
    from ingest.reading import Block, ImportContext
    from warehouse.core.types import Json, JsonObject, RunRow

SUITE = "openai_evals"
FORMAT = "openai/evals log"

_TABLES = ("results", "events", "result_scores", "reported_metrics", "messages", "tasks")
_LONGEST_FIRST_LINE = 16 * 2**20


def read_log(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read the log of a run."""
    try:
        spec = _spec(path, redact=context.options.redact)
    except OSError:
        context.read(path)  # reports why it cannot be read
        return
    run_id = spec.get("run_id")
    if not isinstance(run_id, str) or not run_id:
        run_id = path.stem
    header = _header(spec, utf8(run_id), path)
    stream = Stream(
        paths=(path,),
        tables=_TABLES,
        blocks=partial(_blocks, path, spec, utf8(run_id), redact=context.options.redact),
    )
    yield Reading(FORMAT, rows={"runs": [header]}, run=(SUITE, utf8(run_id)), stream=stream)


def _spec(path: Path, *, redact: bool) -> JsonObject:
    """Return what the first line says, or nothing if it cannot be read.

    Raises:
        OSError: the file cannot be read.
    """
    with open_regular(path) as file:
        if len(file.readline(_LONGEST_FIRST_LINE)) == _LONGEST_FIRST_LINE:
            return {}
    for block in json_lines(path, redact=redact):
        for record in block.records:
            spec = record.value.get("spec") if isinstance(record.value, dict) else None
            return spec if isinstance(spec, dict) else {}
        break
    return {}


def _header(spec: JsonObject, run_id: str, path: Path) -> RunRow:
    fields = Fields(spec)
    fields.value("run_id")
    config = fields.value("run_config")
    seed = Fields(config).integer("seed")
    functions = spec.get("completion_fns")
    first = functions[0] if isinstance(functions, list) and functions else None
    return {
        "suite": SUITE,
        "run_id": run_id,
        "origin": "import",
        "started_at": fields.moment("created_at"),
        "model": utf8(first) if isinstance(first, str) else None,
        "task_set": task_set_of(spec),
        "seed": seed,
        "config": None if config is None else json_text(config),
        "source_name": utf8(path.name),
        "extra": fields.extra(),
    }


def _blocks(path: Path, spec: JsonObject, run_id: str, *, redact: bool) -> Iterator[Block]:
    rows = RowCollector(path, run_id)
    events = EventRows(spec, task_set_of(spec), rows)
    yield from rows.add_lines(
        json_lines(path, redact=redact), lambda record: _add(record, spec, events, rows)
    )
    yield from rows.rest()


def _add(record: LineRecord, spec: JsonObject, events: EventRows, rows: RowCollector) -> None:
    value = record.value
    if not isinstance(value, dict):
        rows.rejects.append(record.rejected("not a JSON object"))
    elif "spec" in value:
        if value["spec"] != spec:
            rows.rejects.append(record.rejected("the log of another run begins here"))
    elif _is_of_another(value.get("run_id"), rows.run_id):
        known = "belongs to another run than the first line"
        unknown = "which run it belongs to is not known: the first line does not say it"
        rows.rejects.append(record.rejected(known if spec else unknown))
    elif isinstance(value.get("final_report"), dict):
        for row in figure_rows(value["final_report"], spec, record.line, rows):
            rows.add("reported_metrics", row)
        events.keep(record, value, name="final_report")
    elif not isinstance(value.get("type"), str):
        rows.rejects.append(record.rejected("neither an event nor the final report"))
    else:
        events.add(record, value)


def _is_of_another(run_id: Json, expected: str) -> bool:
    return isinstance(run_id, str) and utf8(run_id) != expected
