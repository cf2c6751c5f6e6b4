"""Gold data: people's records, the adjudication of where they differ, and its promotion to gold.

Gold needs two different people's records of a poster and an adjudication that settles exactly
these. A model's record never counts as a person's.
"""

from __future__ import annotations

import copy
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ingest.formats.posters.dataset import SUITE, annotator_rows
from warehouse.errors import BadInput
from warehouse.formats.json_text import json_text
from warehouse.hashing import content_hash
from warehouse.schemas import ANNOTATIONS
from warehouse.scoring.posters.annotation_pairs import align, differences, events_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from warehouse.store import Store
    from warehouse.types import Row

_FIELD = re.compile(r"events\[(\d+)\](?:\.(\w+))?")
_DATASETS = "SELECT DISTINCT task_set FROM tasks WHERE suite = 'posters' ORDER BY task_set"
_POSTERS = """
SELECT DISTINCT task_id FROM tasks
WHERE suite = 'posters' AND task_set = $dataset ORDER BY task_id
"""
_RECORDS = """
SELECT annotation_id, task_id, annotator, kind, label, coalesce(source, document) AS document,
    adjudicates
FROM annotations
WHERE suite = 'posters' AND task_set = $dataset AND kind IN ('human', 'adjudicated')
    AND is_current AND document IS NOT NULL
ORDER BY task_id, annotator, annotation_id
"""


@dataclass(frozen=True, slots=True)
class Record:
    """A person's record of a poster.

    Attributes:
        id: content id of the annotation.
        annotator: who wrote it.
        document: what it says.
    """

    id: str
    annotator: str
    document: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Adjudication:
    """A settled record of a poster.

    Attributes:
        row: as the lake has it.
        adjudicates: ids of the records that it settles.
        is_gold: whether it is promoted.
    """

    row: Row
    adjudicates: frozenset[str]
    is_gold: bool


class AdjudicationSession:
    """The records of one dataset, as they are now.

    Attributes:
        dataset: its name.
        records: people's newest records, by poster.
        adjudications: by poster, all of them.
    """

    def __init__(self, store: Store, dataset: str | None) -> None:
        self._store = store
        self.dataset = dataset if dataset is not None else _only_dataset(store)
        self.records: dict[str, list[Record]] = {}
        self.adjudications: dict[str, list[Adjudication]] = {}
        rows = store.sql(_RECORDS, {"dataset": self.dataset}).fetchall()
        for annotation_id, poster, annotator, kind, label, text, adjudicates in rows:
            document = json.loads(text)
            if kind == "human" and isinstance(document, dict):
                record = Record(annotation_id, annotator, document)
                self.records.setdefault(poster, []).append(record)
            elif kind == "adjudicated":
                columns = {"task_id": poster, "annotator": annotator, "document": text}
                found = Adjudication(columns, frozenset(adjudicates or ()), label == "gold")
                self.adjudications.setdefault(poster, []).append(found)

    def pair(self, poster: str) -> tuple[Record, Record]:
        """Give the records of the two people who annotated a poster.

        Raises:
            BadInput: there are not two of different people.
        """
        people = {record.annotator.casefold(): record for record in self.records.get(poster, ())}
        if len(people) != 2:  # noqa: PLR2004 - two annotators, as the protocol has it
            names = ", ".join(record.annotator for record in people.values()) or "nobody"
            raise BadInput(
                f"{poster}: gold needs the records of two different people; it has {names}"
            )
        first, second = people.values()
        return first, second

    def agreed(self) -> list[str]:
        """List the posters whose two records do not differ, and that nobody has settled."""
        return [
            poster
            for poster in self.records
            if len(self.records[poster]) == 2  # noqa: PLR2004
            and not differences(*(record.document for record in self.pair(poster)))
            and not self._is_settled(poster)
        ]

    def adjudicate(self, documents: Mapping[str, Row], by: str, at: datetime) -> None:
        """Record adjudications, by poster.

        Raises:
            BadInput: a poster lacks two people's records.
        """
        rows = []
        for poster, document in documents.items():
            pair = self.pair(poster)
            ids = sorted(record.id for record in pair)
            text = json_text(document)
            rows.append(
                {
                    "content_id": content_hash("adjudicated", self.dataset, poster, by, ids, text),
                    "task_id": poster,
                    "annotator": by,
                    "document": text,
                    "adjudicates": ids,
                    "annotated_at": at,
                }
            )
        self._write(rows)

    def promote(self, at: datetime) -> tuple[list[str], list[str]]:
        """Promote to gold what is adjudicated; give the posters promoted, and what stood against.

        An adjudication of records that have changed since then settles nothing.
        """
        rows, problems = [], []
        for poster, found in sorted(self.adjudications.items()):
            if any(each.is_gold and self._settles(poster, each) for each in found):
                continue
            current = next((each for each in found if self._settles(poster, each)), None)
            if current is None:
                problems.append(f"{poster}: the records have changed since it was adjudicated")
                continue
            ids = sorted(current.adjudicates)
            rows.append(
                {
                    **current.row,
                    "content_id": content_hash("gold", self.dataset, ids, current.row),
                    "label": "gold",
                    "label_basis": "proven",
                    "adjudicates": ids,
                    "annotated_at": at,
                }
            )
        self._write(rows)
        return [row["task_id"] for row in rows], problems

    def _settles(self, poster: str, found: Adjudication) -> bool:
        ids = {record.id for record in self.records.get(poster, ())}
        return bool(ids) and found.adjudicates == ids

    def _is_settled(self, poster: str) -> bool:
        return any(self._settles(poster, each) for each in self.adjudications.get(poster, ()))

    def _write(self, rows: Iterable[Row]) -> None:
        common = {"suite": SUITE, "task_set": self.dataset, "kind": "adjudicated"}
        _write(self._store, [{**row, **common} for row in rows])


def import_records(store: Store, folder: Path, dataset: str) -> dict[str, int]:
    """Import people's records, `<annotator>/<id>.json`; give how many of each annotator."""
    known = [poster for (poster,) in store.sql(_POSTERS, {"dataset": dataset}).fetchall()]
    rows = list(annotator_rows(dataset, folder, lambda path: path.read_bytes(), known))
    usable = [row for row in rows if row["document"] is not None]
    _write(store, usable)
    names = sorted({row["annotator"] for row in rows})
    return {name: sum(row["annotator"] == name for row in usable) for name in names}


def merged(a: Row, b: Row, choices: Sequence[object]) -> dict[str, object]:
    """Settle two records: for each of their `differences` a choice, in the same order.

    A choice is `Choice.A`, `Choice.B`, or the value itself. Of an event that only one has, the
    choice of the one keeps it, and the choice of the other drops it.
    """
    settled = copy.deepcopy(dict(a))
    events, theirs = events_of(settled), events_of(b)
    partners = {x: theirs[y] for x, y in align(a, b) if x is not None and y is not None}
    dropped: list[Row] = []
    added: list[Row] = []
    for row, choice in zip(differences(a, b), choices, strict=True):
        found = _FIELD.fullmatch(row["field"])
        if found is None:
            settled[row["field"]] = _chosen(choice, a.get(row["field"]), b.get(row["field"]))
        elif found[2] is not None:
            place, name = int(found[1]), found[2]
            event = events[place]
            event[name] = _chosen(choice, event.get(name), partners[place].get(name))
        elif row["value_b"] is None and choice is TAKE_B:
            dropped.append(events[int(found[1])])
        elif row["value_a"] is None and choice is TAKE_B:
            added.append(copy.deepcopy(theirs[int(found[1])]))
    kept = [event for event in events if not any(event is gone for gone in dropped)]
    return {**settled, "events": [*kept, *added]}


class _Take:
    """A choice of one side."""


TAKE_A, TAKE_B = _Take(), _Take()


def read_settled(path: Path) -> dict[str, object]:
    """Read an adjudicated record from a file.

    Raises:
        BadInput: it is no JSON object with a list of events.
    """
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(f"{path}: not readable as JSON ({error})") from error
    if not isinstance(document, dict) or not isinstance(document.get("events"), list):
        raise BadInput(f"{path}: is no record with a list of events")
    return document


def _chosen(choice: object, a: object, b: object) -> object:
    return a if choice is TAKE_A else b if choice is TAKE_B else choice


def _only_dataset(store: Store) -> str:
    names = [name for (name,) in store.sql(_DATASETS).fetchall()]
    if len(names) != 1:
        known = ", ".join(names) or "none"
        raise BadInput(f"say which dataset with --dataset; the store has: {known}")
    return str(names[0])


def _write(store: Store, rows: list[Row]) -> None:
    if not rows:
        return
    with store.lake.write("annotate") as writer:
        writer.add(ANNOTATIONS, rows)
        writer.commit()
