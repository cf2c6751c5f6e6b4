"""Figures that a small JSON file reports of a run whose records are in other files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.formats.common.records import UnreadableRecordError, parsed
from ingest.reading import Reading, Reject
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ingest.reading import SourceFile
    from warehouse.core.types import JsonObject, ReportedMetricRow, RunRow
    from warehouse.lake.batch import RunKey


def figures_reading(
    name: str,
    file: SourceFile,
    run: RunKey,
    figures: Callable[[JsonObject], Iterable[ReportedMetricRow]],
    task_set: str,
) -> Reading:
    """Return the reading of a file of figures: a JSON object.

    Args:
        name: name of the format, human-readable.
        file: the file.
        run: suite and id of the run that the figures are about.
        figures: makes them; what they all have in common is added.
        task_set: the task set.
    """
    try:
        document, _exact = parsed(file.data.removeprefix(b"\xef\xbb\xbf"))
        problem = "" if isinstance(document, dict) else "not a JSON object"
    except UnreadableRecordError as error:
        document, problem = None, str(error)
    if not isinstance(document, dict):
        return Reading(name, rejects=[Reject(problem, raw=file.data)])
    suite, run_id = run
    header: RunRow = {
        "suite": suite,
        "run_id": run_id,
        "origin": "import",
        "task_set": task_set,
        "source_name": file.name,
        "file_sha256": file.sha256,
    }
    header["content_id"] = content_hash("run", suite, run_id, "figures")
    rows: list[ReportedMetricRow] = [
        {
            **row,
            "suite": suite,
            "run_id": run_id,
            "content_id": content_hash("figure", *map(str, row.values())),
            "seq": seq,
            "task_set": task_set,
            "file_sha256": file.sha256,
        }
        for seq, row in enumerate(figures(document), 1)
    ]
    return Reading(name, rows={"runs": [header], "reported_metrics": rows}, run=run)
