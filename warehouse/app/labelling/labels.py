"""Labels that a person gave to the answers of a sample, and their rows in the lake."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from warehouse.app.labelling.samples import checked_name
from warehouse.core.hashing import content_hash
from warehouse.core.rating_scales import RATINGS_SUITE
from warehouse.core.schemas import RATINGS
from warehouse.lake.batch import Generation
from warehouse.lake.locks import shared_lake_lock

if TYPE_CHECKING:
    from warehouse.app.labelling.samples import LabelSample, Source
    from warehouse.core.types import JsonText, RatingRow
    from warehouse.engine.base_store import BaseStore

# The newest last.
_LABELS = f"""
SELECT rater, rated_suite, rated_run_id, result_id, value, label, reason, rated_at, extra,
    content_id
FROM lake.ratings
WHERE suite = '{RATINGS_SUITE}' AND run_id = $run_id AND rater IS NOT NULL
    AND ($rater IS NULL OR rater = $rater)
ORDER BY rated_at, batch, content_id
"""  # noqa: S608 - a constant


class GivenLabel(NamedTuple):
    """A label, a remark on it, when it was given, UTC, and what else was said, as JSON.

    The label is empty if it was withdrawn, or if there is only a remark.
    """

    label: str
    note: str | None
    rated_at: datetime
    extra: JsonText | None = None


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

    def row(self, answer_id: str, given: GivenLabel, origin: str) -> RatingRow:
        """Return the row of a label.

        Args:
            answer_id: id of the answer in the sample.
            given: the label, one of the sample's scale, or empty.
            origin: what makes it another label than an equal one: its time, or its file.
        """
        run_id, answer = self.sample.run_id, self.sample.answers[answer_id]
        columns: RatingRow = {"status": "not_applicable"}
        if given.label:
            columns = {"status": "ok", **self.sample.scale.columns(given.label)}
        said = (self.rater, *given[:2], *([given.extra] if given.extra is not None else []))
        return {
            "suite": RATINGS_SUITE,
            "run_id": run_id,
            "content_id": content_hash("label", run_id, answer_id, said, origin),
            "seq": answer.place,
            "result_id": answer.result_id,
            "rated_suite": answer.suite,
            "rated_run_id": answer.run_id,
            "criterion": self.sample.request["criterion"],
            "rater": self.rater,
            "rater_kind": "human",
            **columns,
            "sampling_probability": answer.probability,
            "reason": given.note,
            "rated_at": given.rated_at,
            "extra": given.extra,
        }

    def note(self, answer_id: str, given: GivenLabel) -> None:
        """Note a newer label than that of before; an empty one withdraws it."""
        if given.label:
            self.newest[answer_id] = given
        else:
            self.newest.pop(answer_id, None)

    def save(self, store: BaseStore, answer_id: str, label: str) -> None:
        """Store a label that was given now; it is durable when this returns.

        Raises:
            EvalstoreError: it could not be written.
        """
        given = GivenLabel(label, None, datetime.now(UTC).replace(tzinfo=None))
        row = self.row(answer_id, given, given.rated_at.isoformat())
        with shared_lake_lock(store.path), store.lake.write("label") as writer:
            writer.add(RATINGS, [{**row, "generation": "root"}])
            writer.commit(generations=[Generation(RATINGS_SUITE, self.sample.run_id)])
        self.note(answer_id, given)


def read_labels(source: Source, sample: LabelSample, rater: str) -> RaterLabels:
    """Return the labels that a store has of a rater for a sample.

    Raises:
        BadInput: it is no name of a person.
    """
    rater = checked_name("rater", rater)
    by_rater = read_all_labels(source, sample, rater)
    return by_rater.get(rater, RaterLabels(sample, rater, {}, set()))


def read_all_labels(
    source: Source, sample: LabelSample, rater: str | None = None
) -> dict[str, RaterLabels]:
    """Return the labels that a store has for a sample by rater, or those of one of them."""
    by_rater: dict[str, RaterLabels] = {}
    ids = {answer[:3]: answer_id for answer_id, answer in sample.answers.items()}
    rows = source.sql(_LABELS, {"run_id": sample.run_id, "rater": rater}).fetchall()
    for name, *answer, value, word, note, rated_at, extra, content_id in rows:
        is_withdrawn = value is None and word is None
        label = "" if is_withdrawn else sample.scale.label_of(value, word)
        found = by_rater.setdefault(name, RaterLabels(sample, name, {}, set()))
        given = GivenLabel(label, note, rated_at, extra)
        found.note(ids[answer[0], answer[1], answer[2]], given)
        found.stored.add(content_id)
    return by_rater
