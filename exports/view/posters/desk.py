"""What an adjudicator sees and decides: the posters of a dataset, and the choices for one."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from warehouse.app.posters.adjudication import AdjudicationSession, Choice, edited, merged
from warehouse.app.posters.records import add_record
from warehouse.core.errors import BadInput
from warehouse.engine.scoring.posters.annotation_pairs import differences
from warehouse.engine.scoring.posters.records.schema_problems import schema_problems

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from warehouse.app.posters.adjudication import Record
    from warehouse.app.store import Store
    from warehouse.core.types import Json, JsonObject, Row

_ANNOTATORS = 2  # of a poster, in the protocol of the benchmark
_MAX_LISTED = 1_000
_POSTERS = """
SELECT DISTINCT task_id FROM tasks
WHERE suite = 'posters' AND task_set = $dataset ORDER BY task_id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedPoster:
    """A poster of a dataset.

    Attributes:
        poster: its id.
        annotators: who has a record of it.
        state: what is to be done, or what became of it.
        can_be_settled: whether it has the records of two annotators, and is not gold.
    """

    poster: str
    annotators: Sequence[str]
    state: str
    can_be_settled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedDataset:
    """The posters of a dataset, those to settle first.

    Attributes:
        dataset: its name.
        posters: the posters.
        n_gold: number of them that are gold.
        n_to_settle: number of them that wait for an adjudicator.
    """

    dataset: str
    posters: Sequence[ListedPoster]
    n_gold: int
    n_to_settle: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PosterToSettle:
    """A poster with the records of its two annotators.

    Attributes:
        dataset: its dataset.
        poster: its id.
        records: the two records.
        differences: the fields in which they differ, with both values.
        state: what became of it so far.
        next_poster: the next poster that waits; None after the last one.
    """

    dataset: str
    poster: str
    records: tuple[Record, Record]
    differences: Sequence[Row]
    state: str
    next_poster: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """What an adjudicator decided.

    Attributes:
        dataset: the dataset.
        poster: id of the poster.
        records: ids of the records that the page showed.
        choices: for each difference `a`, `b`, or `{"text": …}` with the right text.
        edits: right values of other fields, by field.
    """

    dataset: str
    poster: str
    records: frozenset[str]
    choices: Sequence[object]
    edits: Mapping[str, Json]


def posters_of(store: Store, dataset: str | None) -> ListedDataset:
    """Return the posters of a dataset.

    Raises:
        BadInput: none is named, as the store has none.
    """
    session = AdjudicationSession(store, dataset)
    ids = [poster for (poster,) in store.sql(_POSTERS, {"dataset": session.dataset}).fetchall()]
    listed = [_listed_poster(session, poster) for poster in sorted({*ids, *session.records})]
    waiting = [each for each in listed if each.can_be_settled]
    return ListedDataset(
        dataset=session.dataset,
        posters=sorted(listed, key=lambda each: not each.can_be_settled)[:_MAX_LISTED],
        n_gold=sum(each.state == "gold" for each in listed),
        n_to_settle=len(waiting),
    )


def poster_to_settle(store: Store, dataset: str | None, poster: str) -> PosterToSettle:
    """Return a poster with the records of its annotators.

    Raises:
        BadInput: it does not have the records of two annotators.
    """
    session = AdjudicationSession(store, dataset)
    a, b = session.pair(poster)
    later = [
        each
        for each in sorted(session.records)
        if each != poster and _listed_poster(session, each).can_be_settled
    ]
    return PosterToSettle(
        dataset=session.dataset,
        poster=poster,
        records=(a, b),
        differences=[_readable(row) for row in differences(a.document, b.document)],
        state=_poster_state(session, poster),
        next_poster=next((each for each in later if each > poster), next(iter(later), None)),
    )


def merged_record(store: Store, settlement: Settlement) -> dict[str, object]:
    """Return the record that choices lead to, and where it breaks the schema.

    Raises:
        BadInput: the choices do not fit the records.
    """
    _, document = _decided_record(store, settlement)
    problems = [f"{field} {reason}" for field, reason in schema_problems(document)]
    return {"record": document, "problems": problems}


def settle(store: Store, settlement: Settlement, by: str) -> list[str]:
    """Write an adjudication and make it gold; return why it cannot be, if so.

    Nothing is written then.

    Raises:
        BadInput: the choices do not fit the records.
    """
    session, document = _decided_record(store, settlement)
    if broken := schema_problems(document):
        return [f"{field} {reason}" for field, reason in broken]
    session.adjudicate({settlement.poster: document}, by, _now())
    after = AdjudicationSession(store, settlement.dataset)
    _, problems = after.promote(_now(), {settlement.poster})
    return problems.get(settlement.poster, [])


def give_back(store: Store, settlement: Settlement, by: str, reason: str) -> None:
    """Give a poster back to its annotators.

    Raises:
        BadInput: the records have changed.
    """
    session = AdjudicationSession(store, settlement.dataset)
    _check_records(session, settlement)
    session.give_back(settlement.poster, by, reason, _now())


def add_human_record(
    store: Store, dataset: str, poster: str, *, annotator: str, record: JsonObject
) -> list[str]:
    """Add an annotator's record; return where it breaks the schema, if it does.

    Nothing is written then.

    Raises:
        BadInput: the dataset has no such poster.
    """
    known = [each for (each,) in store.sql(_POSTERS, {"dataset": dataset}).fetchall()]
    if poster not in known:
        raise BadInput(f"no poster {poster!r} in the dataset {dataset!r}")
    problems = [f"{field} {reason}" for field, reason in schema_problems(record)]
    if not problems:
        add_record(store, dataset, poster, annotator=annotator, record=record, at=_now())
    return problems


def _listed_poster(session: AdjudicationSession, poster: str) -> ListedPoster:
    state = _poster_state(session, poster)
    names = [record.annotator for record in session.records.get(poster, ())]
    can_be_settled = len({name.casefold() for name in names}) == _ANNOTATORS
    return ListedPoster(
        poster=poster,
        annotators=names,
        state=state,
        can_be_settled=can_be_settled and state != "gold" and session.given_back(poster) is None,
    )


def _poster_state(session: AdjudicationSession, poster: str) -> str:
    """Return in words what is to be done with a poster, or what became of it."""
    if (settled := session.adjudication(poster)) is not None:
        return "gold" if settled.is_gold else "adjudicated, not promoted"
    if (returned := session.given_back(poster)) is not None:
        return f"given back by {returned.by}: {returned.reason}"
    names = {record.annotator.casefold() for record in session.records.get(poster, ())}
    if len(names) != _ANNOTATORS:
        return f"{len(names)} of {_ANNOTATORS} records"
    a, b = session.pair(poster)
    n = len(differences(a.document, b.document))
    return f"{n} difference{'s' * (n != 1)}" if n else "both agree"


def _readable(row: Row) -> Row:
    """Return a difference whose whole events are texts for people."""
    if not row["field"].endswith("]"):
        return row
    values = {name: row[name] for name in ("value_a", "value_b") if row[name] is not None}
    texts = {
        name: " · ".join(f"{key}: {value}" for key, value in json.loads(text).items() if value)
        for name, text in values.items()
    }
    return {**row, **texts}


def _decided_record(store: Store, settlement: Settlement) -> tuple[AdjudicationSession, JsonObject]:
    session = AdjudicationSession(store, settlement.dataset)
    _check_records(session, settlement)
    a, b = session.pair(settlement.poster)
    fields = [row["field"] for row in differences(a.document, b.document)]
    if len(settlement.choices) != len(fields):
        raise BadInput(f"choices: {len(fields)} differences, {len(settlement.choices)} choices")
    choices = [
        _parsed_choice(field, each) for field, each in zip(fields, settlement.choices, strict=True)
    ]
    document = merged(a.document, b.document, choices)
    return session, edited(document, settlement.edits)


def _parsed_choice(field: str, value: object) -> Choice | str | None:
    if isinstance(value, str) and value in {"a", "b"}:
        return Choice(value)
    is_event = field.endswith("]")
    text = value.get("text") if isinstance(value, dict) and value.keys() == {"text"} else value
    if value is text or is_event or not isinstance(text, str | None):
        raise BadInput(f"{field}: choose a or b" + ("" if is_event else ", or give the right text"))
    return (text or "").strip() or None


def _check_records(session: AdjudicationSession, settlement: Settlement) -> None:
    if {record.id for record in session.pair(settlement.poster)} != settlement.records:
        raise BadInput(
            f"{settlement.poster}: an annotator has changed a record since this page was loaded; "
            "load it again"
        )


def _now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)
