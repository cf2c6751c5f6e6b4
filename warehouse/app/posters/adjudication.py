"""Gold data: human records, the adjudication of their differences, and promotion to gold.

Gold needs the records of a poster by two different annotators, and an adjudication of exactly
these two. A model's record never counts as human.
"""

from __future__ import annotations

import copy
import json
import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, cast

from warehouse.core.errors import BadInput
from warehouse.core.formats.json_text import json_text
from warehouse.core.hashing import content_hash
from warehouse.core.schemas import ANNOTATIONS
from warehouse.engine.scoring.posters.annotation_pairs import align, differences, events_of
from warehouse.engine.scoring.posters.records.record import EVENT_FIELDS, TOP_FIELDS
from warehouse.engine.scoring.posters.records.schema_problems import schema_problems

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from datetime import datetime

    from warehouse.app.store import Store
    from warehouse.core.types import AnnotationRow, Json, JsonObject
    from warehouse.engine.scoring.posters.records.schema_problems import SchemaProblem

_SUITE = "posters"
_FIELD = re.compile(r"events\[(\d+)\](?:\.(\w+))?")
_DATASETS = "SELECT DISTINCT task_set FROM tasks WHERE suite = 'posters' ORDER BY task_set"
_RECORDS = """
SELECT annotation_id, task_id, annotator, kind, label, coalesce(source, document) AS document,
    adjudicates
FROM annotations
WHERE suite = 'posters' AND task_set = $dataset AND kind IN ('human', 'adjudicated', 'returned')
    AND is_current AND document IS NOT NULL
ORDER BY task_id, annotator, annotation_id
"""


@dataclass(frozen=True, slots=True)
class Record:
    """An annotator's record of a poster.

    Attributes:
        id: content id of the annotation.
        annotator: who wrote it.
        document: its content.
    """

    id: str
    annotator: str
    document: JsonObject


@dataclass(frozen=True, slots=True)
class Adjudication:
    """An adjudicated record of a poster.

    Attributes:
        row: its row in the lake.
        adjudicates: ids of the records that it resolves.
        is_gold: whether it has been promoted.
    """

    row: AnnotationRow
    adjudicates: frozenset[str]
    is_gold: bool


@dataclass(frozen=True, slots=True)
class Return:
    """A poster that was given back to its annotators.

    Attributes:
        by: who gave it back.
        reason: why.
        records: ids of the records that were not good enough.
    """

    by: str
    reason: str
    records: frozenset[str]


class AdjudicationSession:
    """The current records of one dataset.

    Attributes:
        dataset: its name.
        records: the newest record of each annotator, by poster.
        adjudications: all adjudications by poster.
        returns: all returns to the annotators by poster.
    """

    def __init__(self, store: Store, dataset: str | None) -> None:
        self._store = store
        self.dataset = dataset if dataset is not None else _only_dataset(store)
        self.records: dict[str, list[Record]] = {}
        self.adjudications: dict[str, list[Adjudication]] = {}
        self.returns: dict[str, list[Return]] = {}
        rows = store.sql(_RECORDS, {"dataset": self.dataset}).fetchall()
        for annotation_id, poster, annotator, kind, label, text, adjudicates in rows:
            document = json.loads(text)
            if kind == "human" and isinstance(document, dict):
                record = Record(annotation_id, annotator, document)
                self.records.setdefault(poster, []).append(record)
            elif kind == "returned" and isinstance(document, dict):
                given_back = Return(annotator, document["reason"], frozenset(adjudicates or ()))
                self.returns.setdefault(poster, []).append(given_back)
            elif kind == "adjudicated":
                columns: AnnotationRow = {
                    "task_id": poster,
                    "annotator": annotator,
                    "document": text,
                }
                found = Adjudication(columns, frozenset(adjudicates or ()), label == "gold")
                self.adjudications.setdefault(poster, []).append(found)

    def pair(self, poster: str) -> tuple[Record, Record]:
        """Return the records of the two annotators of a poster.

        Raises:
            BadInput: it does not have exactly two.
        """
        records = {record.annotator.casefold(): record for record in self.records.get(poster, ())}
        if len(records) != 2:  # noqa: PLR2004 - the protocol's number of annotators
            names = ", ".join(record.annotator for record in records.values()) or "none"
            raise BadInput(
                f"{poster}: gold needs the records of two different annotators; found: {names}"
            )
        first, second = records.values()
        return first, second

    def written_by(self, name: str, posters: Iterable[str]) -> list[str]:
        """Return those of some posters of which somebody wrote one of the records."""
        return [
            poster
            for poster in posters
            for record in self.records.get(poster, ())
            if record.annotator.casefold() == name.strip().casefold()
        ]

    def agreed(self) -> list[str]:
        """List the unadjudicated posters whose two records are the same."""
        return [
            poster
            for poster in self.records
            if len(self.records[poster]) == 2  # noqa: PLR2004
            and not differences(*(record.document for record in self.pair(poster)))
            and self.adjudication(poster) is None
        ]

    def adjudication(self, poster: str) -> Adjudication | None:
        """Return the adjudication of a poster's present records, promoted if there is one."""
        current = [
            each for each in self.adjudications.get(poster, ()) if self._is_current(poster, each)
        ]
        return next((each for each in current if each.is_gold), current[0] if current else None)

    def given_back(self, poster: str) -> Return | None:
        """Return why a poster was given back, unless a record has changed since."""
        ids = {record.id for record in self.records.get(poster, ())}
        returns = self.returns.get(poster, ())
        return next((each for each in returns if each.records == ids), None)

    def give_back(self, poster: str, by: str, reason: str, at: datetime) -> None:
        """Write that the annotators of a poster should look at it again.

        Args:
            poster: its id.
            by: who gives it back.
            reason: why.
            at: when, UTC.

        Raises:
            BadInput: the poster does not have the records of two annotators.
        """
        ids = sorted(record.id for record in self.pair(poster))
        row: AnnotationRow = {
            "content_id": content_hash("returned", self.dataset, poster, by, ids, reason),
            "task_id": poster,
            "annotator": by,
            "document": json_text({"reason": reason}),
            "adjudicates": ids,
            "annotated_at": at,
        }
        self._write([row], kind="returned")

    def adjudicate(self, documents: dict[str, JsonObject], by: str, at: datetime) -> None:
        """Write adjudications.

        Args:
            documents: the adjudicated records, by poster.
            by: who adjudicated.
            at: when, UTC.

        Raises:
            BadInput: a poster does not have the records of two annotators.
        """
        rows: list[AnnotationRow] = []
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

    def promote(
        self, at: datetime, posters: Collection[str] | None = None
    ) -> tuple[list[str], dict[str, list[str]]]:
        """Promote adjudicated posters to gold; return those promoted, and why each other was not.

        An adjudication does not count once its records have changed, and one whose record breaks
        the schema is refused.

        Args:
            at: when, UTC.
            posters: only these; by default all.
        """
        rows: list[AnnotationRow] = []
        problems: dict[str, list[str]] = {}
        for poster, found in sorted(self.adjudications.items()):
            if posters is not None and poster not in posters:
                continue
            if any(each.is_gold and self._is_current(poster, each) for each in found):
                continue
            current = next((each for each in found if self._is_current(poster, each)), None)
            if current is None:
                problems[poster] = ["the records have changed since it was adjudicated"]
                continue
            if broken := _schema_problems(current):
                problems[poster] = [f"{field} {reason}" for field, reason in broken]
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

    def _is_current(self, poster: str, found: Adjudication) -> bool:
        ids = {record.id for record in self.records.get(poster, ())}
        return bool(ids) and found.adjudicates == ids

    def _write(self, rows: Iterable[AnnotationRow], kind: str = "adjudicated") -> None:
        shared: AnnotationRow = {"suite": _SUITE, "task_set": self.dataset, "kind": kind}
        write_annotations(self._store, [{**row, **shared} for row in rows])


class Choice(Enum):
    """The record whose value to take."""

    A = "a"
    B = "b"


def merged(a: JsonObject, b: JsonObject, choices: Sequence[Choice | str | None]) -> JsonObject:
    """Merge two records by a choice for each of their `differences`, in the same order.

    A choice is a record, or the value itself. For an event that only one record has, choosing
    that record keeps the event, and choosing the other drops it.
    """
    result = copy.deepcopy(a)
    events = cast("list[JsonObject]", events_of(result))
    events_of_b = cast("list[JsonObject]", events_of(b))
    partners = {x: events_of_b[y] for x, y in align(a, b) if x is not None and y is not None}
    dropped: list[JsonObject] = []
    added: list[Json] = []
    for row, choice in zip(differences(a, b), choices, strict=True):
        found = _FIELD.fullmatch(row["field"])
        if found is None:
            result[row["field"]] = _chosen(choice, a.get(row["field"]), b.get(row["field"]))
        elif found[2] is not None:
            place, name = int(found[1]), found[2]
            event = events[place]
            event[name] = _chosen(choice, event.get(name), partners[place].get(name))
        elif row["value_b"] is None and choice is Choice.B:
            dropped.append(events[int(found[1])])
        elif row["value_a"] is None and choice is Choice.B:
            added.append(copy.deepcopy(events_of_b[int(found[1])]))
    kept: list[Json] = [event for event in events if not any(event is gone for gone in dropped)]
    return {**result, "events": [*kept, *added]}


def edited(document: JsonObject, edits: Mapping[str, Json]) -> JsonObject:
    """Return a record with other values of some fields, which both annotators may have wrong.

    Args:
        document: the record.
        edits: values by field, such as `artist_name` or `events[2].venue`.

    Raises:
        BadInput: the record has no such field.
    """
    result = copy.deepcopy(document)
    events = cast("list[JsonObject]", events_of(result))
    for field, value in edits.items():
        found = _FIELD.fullmatch(field)
        if field in TOP_FIELDS:
            result[field] = value
        elif found and found[2] in EVENT_FIELDS and int(found[1]) < len(events):
            events[int(found[1])][found[2]] = value
        else:
            raise BadInput(f"{field}: no field of this record")
    return result


def _chosen(choice: Choice | str | None, a: Json, b: Json) -> Json:
    if isinstance(choice, Choice):
        return a if choice is Choice.A else b
    return choice


def _schema_problems(found: Adjudication) -> list[SchemaProblem]:
    return schema_problems(json.loads(found.row["document"] or "null"))


def poster_datasets(store: Store) -> list[str]:
    """Return the names of the datasets of posters, sorted."""
    return [name for (name,) in store.sql(_DATASETS).fetchall()]


def _only_dataset(store: Store) -> str:
    names = poster_datasets(store)
    if not names:
        raise BadInput("the store has no posters; `evalstore import` reads a benchmark's folder")
    if len(names) > 1:
        raise BadInput(f"name the dataset with --dataset; the store has: {', '.join(names)}")
    return names[0]


def write_annotations(store: Store, rows: Sequence[AnnotationRow]) -> None:
    """Add annotations to the store, if there are any."""
    if not rows:
        return
    with store.lake.write("annotate") as writer:
        writer.add(ANNOTATIONS, rows)
        writer.commit()
