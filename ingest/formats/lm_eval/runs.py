"""Reads the runs of lm-evaluation-harness: results files, samples files, or both."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

from ingest.formats.common.records import UnreadableRecordError, parsed
from ingest.formats.lm_eval.figures import Figures
from ingest.formats.lm_eval.header import header_of, model_of, run_date_of
from ingest.formats.lm_eval.layout import SUITE, Folders, is_samples, part_of, time_of
from ingest.formats.lm_eval.sample_rows import TABLES
from ingest.formats.lm_eval.samples import blocks
from ingest.reading import Candidate, Reading, Reject, Stream
from warehouse.core.formats.values import utf8
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ingest.formats.lm_eval.layout import RunFiles
    from ingest.reading import ImportContext, SourceFile
    from warehouse.core.types import JsonObject, RunRow

FORMAT = "lm-evaluation-harness run"
_ID_LENGTH = 8


def read_run(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read the run of a file: its results and samples, in any of which it may be named first."""
    run = context.shared(Folders).take(path)
    if run is None:
        return
    if time_of(path) is None and not is_samples(Candidate(path)):
        yield from _read_untimed(path, context)
        return
    reading = Reading(FORMAT, run=(SUITE, run.run_id))
    for each in run.results:
        file = context.read(each)
        if file is not None:
            reading.files.append(file)
            _add_results(file, run.run_id, reading)
    reading.stream = _stream(run, context)
    yield reading


def _read_untimed(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read a results file whose name has no time: no samples can be its own.

    Other files have the same name, so that the run is also named by its content.
    """
    file = context.read(path)
    if file is None or context.skips(file):
        return
    document = _document(file)
    reading = Reading(FORMAT, files=[file])
    if isinstance(document, Reject):
        reading.rejects.append(document)
    else:
        run_id = f"{utf8(path.stem)}-{content_hash(document)[:_ID_LENGTH]}"
        reading.run = (SUITE, run_id)
        _add_results(file, run_id, reading)
        header = cast("RunRow", reading.rows["runs"][0])
        reading.rows["runs"] = [{**header, "content_id": content_hash("run", _plain(header))}]
    yield reading


def _plain(header: RunRow) -> dict[str, str | None]:
    return {name: None if value is None else str(value) for name, value in header.items()}


def _stream(run: RunFiles, context: ImportContext) -> Stream:
    paths = tuple(run.samples.values())
    time = time_of(paths[0]) if paths else None
    header: RunRow = {"run_date": run_date_of(time)}
    if len(paths) == 1:
        header["source_name"] = utf8(paths[0].name)
    return Stream(
        paths=paths,
        tables=TABLES,
        blocks=partial(blocks, run, mask=context.options.redact),
        header=header,
        is_run=True,
        parts=frozenset(map(part_of, run.samples)),
    )


def _add_results(file: SourceFile, run_id: str, reading: Reading) -> None:
    """Add header and figures of a results file to the reading of its run."""
    document = _document(file)
    if isinstance(document, Reject):
        reading.rejects.append(document)
        return
    key = {"suite": SUITE, "run_id": run_id, "file_sha256": file.sha256}
    header = header_of(document, run_id, time_of(file.path), file)
    reading.rows["runs"] = [*reading.rows.get("runs", ()), {**header, "file_sha256": file.sha256}]
    known = {row["content_id"] for row in reading.rows.get("reported_metrics", ())}
    figures = Figures(document, model_of(document)).rows()
    reading.rows["reported_metrics"] = [
        *reading.rows.get("reported_metrics", ()),
        # The same results may lie in the folder under two names.
        *({**row, **key} for row in figures if row["content_id"] not in known),
    ]


def _document(file: SourceFile) -> JsonObject | Reject:
    try:
        document, _ = parsed(file.data.removeprefix(b"\xef\xbb\xbf"))
    except UnreadableRecordError as error:
        return Reject(str(error), raw=file.data)
    if not isinstance(document, dict) or not isinstance(document.get("results"), dict | list):
        return Reject("no results of tasks in it", raw=file.data)
    return document
