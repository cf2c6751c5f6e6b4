"""Labels that a person gave to the answers of a sample, and their rows in the lake."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from warehouse.core.errors import BadInput
from warehouse.core.hashing import content_hash
from warehouse.core.rating_scales import RATINGS_SUITE
from warehouse.core.schemas import RATINGS
from warehouse.lake.batch import Generation
from warehouse.lake.locks import shared_lake_lock

if TYPE_CHECKING:
    from warehouse.app.labelling.samples import LabelSample
    from warehouse.core.types import RatingRow
    from warehouse.engine.base_store import BaseStore

_LONGEST_NAME = 100  # characters
# The newest last.
_LABELS = f"""
SELECT rated_suite, rated_run_id, result_id, value, label, reason, rated_at, content_id
FROM lake.ratings
WHERE suite = '{RATINGS_SUITE}' AND run_id = $run_id AND rater = $rater
ORDER BY rated_at, batch, content_id
"""  # noqa: S608 - a constant


class GivenLabel(NamedTuple):
    """A label, a remark on it, and when it was given, UTC."""

    label: str
    note: str | None
    rated_at: datetime


@dataclass(frozen=True, slots=True)
class RaterLabels:
    """The labels of one rater for one sample.

    Attributes:
        sample: the sample.
        rater: name of the rater.
        newest: the newest label of each answer that has one, by the answer's id.
        stored: ids of all ratings in the store.
    """

    sample: LabelSample
    rater: str
    newest: dict[str, GivenLabel]
    stored: set[str]

    def row(self, answer_id: str, given: GivenLabel, *, origin: str) -> RatingRow:
        """Return the row of a label.

        Args:
            answer_id: id of the answer in the sample.
            given: the label, one of the sample's scale.
            origin: what makes this label another one than an equal label: its time, or its file.
        """
        sample, answer = self.sample, self.sample.answers[answer_id]
        said = (self.rater, given.label, given.note)
        return {
            "suite": RATINGS_SUITE,
            "run_id": sample.run_id,
            "content_id": content_hash("label", sample.run_id, answer_id, said, origin),
            "seq": answer.place,
            "result_id": answer.result_id,
            "rated_suite": answer.suite,
            "rated_run_id": answer.run_id,
            "criterion": sample.criterion,
            "rater": self.rater,
            "rater_kind": "human",
            "status": "ok",
            **sample.scale.columns(given.label),
            "sampling_probability": answer.probability,
            "reason": given.note,
            "rated_at": given.rated_at,
        }

    def save(self, store: BaseStore, answer_id: str, label: str) -> None:
        """Store a label that was given now; it is durable when this returns.

        Raises:
            EvalstoreError: it could not be written.
        """
        given = GivenLabel(label, None, datetime.now(UTC).replace(tzinfo=None))
        row = self.row(answer_id, given, origin=given.rated_at.isoformat())
        with shared_lake_lock(store.path), store.lake.write("label") as writer:
            writer.add(RATINGS, [{**row, "generation": "root"}])
            writer.commit(generations=[Generation(RATINGS_SUITE, self.sample.run_id)])
        self.newest[answer_id] = given


def read_labels(store: BaseStore, sample: LabelSample, rater: str) -> RaterLabels:
    """Return the labels that a store has of a rater for a sample.

    Raises:
        BadInput: it is no name of a person.
    """
    rater = checked_rater(rater)
    ids = {answer[:3]: answer_id for answer_id, answer in sample.answers.items()}
    found = RaterLabels(sample, rater, {}, set())
    rows = store.sql(_LABELS, {"run_id": sample.run_id, "rater": rater}).fetchall()
    for suite, run_id, result_id, value, label, reason, rated_at, content_id in rows:
        found.stored.add(content_id)
        answer_id = ids.get((suite, run_id, result_id))
        name = sample.scale.label_of(value, label)
        if answer_id is not None and name is not None:
            found.newest[answer_id] = GivenLabel(name, reason, rated_at)
    return found


def checked_rater(rater: str) -> str:
    """Return the name of a rater without spaces around it.

    Raises:
        BadInput: it is empty, too long, or not one line.
    """
    rater = rater.strip()
    if not rater or not rater.isprintable() or len(rater) > _LONGEST_NAME:
        raise BadInput(f"--rater: a name is one line of 1 to {_LONGEST_NAME} characters")
    return rater
