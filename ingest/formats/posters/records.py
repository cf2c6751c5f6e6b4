"""Records of posters in files: those of annotators, and adjudicated ones."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ingest.formats.posters.dataset import annotator_rows
from warehouse.app.posters.adjudication import poster_datasets, write_annotations
from warehouse.core.errors import BadInput
from warehouse.core.files import problem, read_regular
from warehouse.core.suggestions import did_you_mean

if TYPE_CHECKING:
    from pathlib import Path

    from warehouse.app.store import Store
    from warehouse.core.types import JsonObject

_POSTERS = """
SELECT DISTINCT task_id FROM tasks
WHERE suite = 'posters' AND task_set = $dataset ORDER BY task_id
"""


def import_records(store: Store, folder: Path, dataset: str) -> dict[str, int]:
    """Import human records, `<annotator>/<id>.json`; return the number from each annotator.

    Raises:
        BadInput: the dataset has no posters, or not all of those that there are records of.
    """
    known = [poster for (poster,) in store.sql(_POSTERS, {"dataset": dataset}).fetchall()]
    if not known:
        hint = did_you_mean(dataset, poster_datasets(store), "`evalstore import` reads posters")
        raise BadInput(f"the store has no posters of a dataset {dataset!r}; {hint}")
    rows = list(annotator_rows(dataset, folder, _read, known))
    posters = set(known)
    for row in rows:
        if row["task_id"] not in posters:
            where = folder / str(row["annotator"])
            hint = did_you_mean(row["task_id"], known, "files are <annotator>/<poster id>.json")
            raise BadInput(
                f"{where}: the dataset {dataset!r} has no poster {row['task_id']!r}; {hint}"
            )
    usable = [row for row in rows if row["document"] is not None]
    write_annotations(store, usable)
    counts = dict.fromkeys(sorted(str(row["annotator"]) for row in rows), 0)
    for row in usable:
        counts[str(row["annotator"])] += 1
    return counts


def _read(path: Path) -> bytes:
    try:
        return read_regular(path)
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror})") from error


def read_adjudicated(path: Path) -> JsonObject:
    """Read an adjudicated record from a file.

    Raises:
        BadInput: it is not a JSON object with a list of events.
    """
    try:
        document = json.loads(read_regular(path))
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(f"{path}: not readable as JSON ({problem(error)})") from error
    if not isinstance(document, dict) or not isinstance(document.get("events"), list):
        raise BadInput(f"{path}: not a record with a list of events")
    return document
