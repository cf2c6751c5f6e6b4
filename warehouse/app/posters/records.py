"""An annotator's record of a poster, written in a form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.app.posters.adjudication import write_annotations
from warehouse.core.formats.json_text import json_text
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from datetime import datetime

    from warehouse.app.store import Store
    from warehouse.core.types import AnnotationRow, JsonObject


def add_record(
    store: Store, dataset: str, poster: str, *, annotator: str, record: JsonObject, at: datetime
) -> None:
    """Add a person's record of a poster; it is their newest one.

    Args:
        store: the store.
        dataset: the dataset of the poster.
        poster: its id.
        annotator: who wrote the record.
        record: the record, which follows the schema.
        at: when, UTC.
    """
    row: AnnotationRow = {
        "content_id": content_hash(
            "annotation", dataset, poster, "human", annotator, record, str(at)
        ),
        "suite": "posters",
        "task_set": dataset,
        "task_id": poster,
        "annotator": annotator,
        "kind": "human",
        "document": json_text(record),
        "annotated_at": at,
    }
    write_annotations(store, [row])
