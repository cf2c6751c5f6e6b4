"""Reads a Harbor trial: its result, the trajectories of its agent, the tests of its verifier."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ingest.formats.atif.recognition import is_document
from ingest.formats.atif.trajectories import Trajectories, read_document, trial_files
from ingest.formats.common.collector import RowCollector
from ingest.formats.common.documents import object_in
from ingest.formats.common.fields import inner, list_of, text_of
from ingest.formats.common.records import UnreadableRecordError
from ingest.formats.common.trials import test_row
from ingest.formats.harbor.rows import (
    RESULT,
    SUITE,
    TABLES,
    add_result,
    run_id_of,
    trial_part,
)
from ingest.reading import Candidate, Reading, Reject, Stream
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ingest.reading import Block, ImportContext
    from warehouse.core.types import JsonObject

FORMAT = "Harbor trial"
_TRAJECTORY = "agent/trajectory.json"
_TESTS = "verifier/ctrf.json"


def read_trial(path: Path, context: ImportContext) -> Iterator[Reading]:
    """Read a trial's folder, or its result with what lies next to it."""
    file = context.read(path / RESULT if path.is_dir() else path)
    if file is None:
        return
    reading = Reading(FORMAT, files=[file])
    try:
        trial = object_in(file)
    except UnreadableRecordError as error:
        reading.rejects.append(Reject(f"{file.name}: {error}", raw=file.data))
        yield reading
        return
    folder = file.path.parent
    run_id = run_id_of(trial, folder)
    tests = folder / _TESTS
    checks = context.read(tests) if tests.is_file() else None
    report: JsonObject = {}
    if checks is not None:
        reading.files.append(checks)
        try:
            report = object_in(checks)
        except UnreadableRecordError as error:
            reading.rejects.append(Reject(f"{_TESTS}: {error}", raw=checks.data))
    mains = _trajectories(folder)
    reading.run = (SUITE, run_id)
    reading.stream = Stream(
        paths=(file.path, *(path for main in mains for path in trial_files(folder / main))),
        tables=TABLES,
        blocks=partial(_blocks, file.path, trial, report, mains, is_masked=context.options.redact),
        header={"origin": "import"},
        parts=frozenset({trial_part(trial)}),
        has_traces=True,
    )
    yield reading


def _trajectories(folder: Path) -> list[str]:
    """Return the main trajectories of a trial: one, or one for each step of its task."""
    steps = sorted(each.name for each in (folder / "steps").glob("*"))
    names = [_TRAJECTORY, *(f"steps/{step}/{_TRAJECTORY}" for step in steps)]
    return [name for name in names if is_document(Candidate(folder / name))]


def _blocks(
    path: Path, trial: JsonObject, report: JsonObject, mains: list[str], *, is_masked: bool
) -> Iterator[Block]:
    folder = path.parent
    rows = RowCollector(path, run_id_of(trial, folder), part=trial_part(trial))
    result_id = add_result(trial, folder.parent, rows)
    _add_tests(report, result_id, rows)
    name = text_of(trial.get("trial_name")) or utf8(folder.name)
    trajectories = Trajectories(rows, result_id)
    for main in mains:
        step = main.removesuffix(_TRAJECTORY).removeprefix("steps/").rstrip("/")
        documents = [
            read_document(each, is_masked=is_masked) for each in trial_files(folder / main)
        ]
        place = f"{name}/{main.rpartition('/')[0]}/"
        yield from trajectories.add_documents(documents, place, utf8(step))
    yield from rows.rest()


def _add_tests(report: JsonObject, result_id: str, rows: RowCollector) -> None:
    """Add the verdict of each test of the verifier; the rewards decide, not they."""
    for index, test in enumerate(list_of(inner(report, "results", "tests"))):
        name, status = text_of(inner(test, "name")), text_of(inner(test, "status"))
        if name is not None:
            score = test_row(f"test {name}", status, counts=False)
            score["content_id"] = rows.id_of("test", result_id, index, name, status)
            rows.add("result_scores", {**score, "result_id": result_id})
