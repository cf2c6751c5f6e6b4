"""Ratings that people give one by one, such as in a browser: each is on disk before it counts.

A journal, begun with the first rating, takes those of all raters. It becomes a batch at the end,
or with the next command if the process was killed. A rating has an id of its sender, who may send
it again: it is stored once.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from warehouse.app.labelling.labels import GivenLabel, RaterLabels
from warehouse.app.labelling.samples import DrawnAnswer, LabelSample, checked_name
from warehouse.core.errors import BadInput, EvalstoreError
from warehouse.core.hashing import content_hash
from warehouse.core.rating_scales import RATINGS_SUITE, parse_scale
from warehouse.lake.batch import Generation
from warehouse.lake.journal.journal import Entry, Journal
from warehouse.lake.journal.run_lock import release_shared, shared_run_lock

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import BinaryIO

    from warehouse.app.labelling.samples import Source
    from warehouse.core.types import JsonText, RatingRow, RunRow
    from warehouse.engine.base_store import BaseStore

# The run of ratings of answers that were not drawn, but chosen by who rated them.
CHOSEN = "chosen answers"
_TICK = timedelta(microseconds=1)
_STORED = f"SELECT content_id FROM lake.ratings WHERE suite = '{RATINGS_SUITE}'"  # noqa: S608


class SentRating(NamedTuple):
    """A rating as it was sent.

    Attributes:
        rating_id: id that its sender made.
        answer_id: id of the answer in its sample.
        rater: name of the rater.
        label: a label of the sample's scale; empty to withdraw the one before.
        note: a remark.
        extra: what else was said, as JSON.
    """

    rating_id: str
    answer_id: str
    rater: str
    label: str
    note: str | None = None
    extra: JsonText | None = None


class RatingJournal:
    """Takes ratings of any thread, one at a time.

    Args:
        store: the store.
        source: what answers queries on it, now.
    """

    def __init__(self, store: BaseStore, source: Source) -> None:
        self._store = store
        self._stored: set[str] = {content_id for (content_id,) in source.sql(_STORED).fetchall()}
        self._sent: dict[str, str] = {}
        self._given: dict[str, list[tuple[SentRating, GivenLabel]]] = {}
        self._locks: dict[str, BinaryIO] = {}
        self._journal: Journal | None = None
        self._last = datetime.fromtimestamp(0, UTC).replace(tzinfo=None)
        self._lock = Lock()

    def add(self, sample: LabelSample, sent: SentRating) -> bool:
        """Store a rating; it is durable when this returns. Return whether it is new.

        Raises:
            BadInput: the rater's name is none, or another rating has this id.
            StoreBusy: the sample is being forgotten.
            EvalstoreError: it could not be written.
        """
        labels = RaterLabels(sample, checked_name("rater", sent.rater), {}, set())
        with self._lock:
            # The newest counts: no two ratings have the same time.
            now = max(datetime.now(UTC).replace(tzinfo=None), self._last + _TICK)
            given = GivenLabel(sent.label, sent.note, now, sent.extra)
            row = labels.row(sent.answer_id, given, sent.rating_id)
            content_id = row["content_id"]
            if self._sent.get(sent.rating_id, content_id) != content_id:
                raise BadInput("another rating was sent with this id")
            if content_id in self._stored:
                return False
            self._write(row)
            self._last = now
            self._stored.add(content_id)
            self._sent[sent.rating_id] = content_id
            self._given.setdefault(sample.run_id, []).append((sent, given))
            return True

    def overlay(self, sample: LabelSample, by_rater: dict[str, RaterLabels]) -> None:
        """Add the ratings that are not in the warehouse yet to those that are."""
        with self._lock:
            given = list(self._given.get(sample.run_id, []))
        for sent, label in given:
            rater = sent.rater.strip()
            own = by_rater.setdefault(rater, RaterLabels(sample, rater, {}, set()))
            own.note(sent.answer_id, label)

    def close(self) -> None:
        """Turn the journal into a batch, if anything was rated."""
        with self._lock:
            if self._journal is not None:
                with self._journal:
                    self._journal = None
                self._store.recover_journals()
            while self._locks:
                release_shared(self._locks.popitem()[1])

    def _write(self, row: RatingRow) -> None:
        run_id = row["run_id"]
        entries = [Entry("ratings", {**row, "generation": "root"})]
        if run_id not in self._locks:
            # Until the end: ratings of a sample that is forgotten would belong to nothing.
            self._locks[run_id] = shared_run_lock(self._store.path, RATINGS_SUITE, run_id)
            entries = [*_header(run_id), *entries]
        try:
            if self._journal is None:
                self._journal = Journal(self._store.path, Generation(RATINGS_SUITE, run_id))
            self._journal.append_together(entries)
        except OSError as error:
            raise EvalstoreError(
                f"{error.strerror or error}; this rating was not stored, those before are safe"
            ) from error


def _header(run_id: str) -> Sequence[Entry]:
    """Return the header of the run of chosen answers, the same each time; samples have theirs."""
    if run_id != CHOSEN:
        return []
    header: RunRow = {
        "suite": RATINGS_SUITE,
        "run_id": CHOSEN,
        "generation": "root",
        "content_id": content_hash("chosen answers", RATINGS_SUITE),
        "origin": "recorded",
    }
    return [Entry("runs", header)]


def chosen_answer(answer: tuple[str, str, str], criterion: str, scale: str) -> LabelSample:
    """Return what is like a sample of one answer that somebody chose; its id is `chosen`.

    Args:
        answer: suite, run and id of the result.
        criterion: what is judged.
        scale: the scale, as it is written.

    Raises:
        BadInput: the criterion is no name, or the scale cannot be used.
    """
    return LabelSample(
        CHOSEN,
        {
            "targets": (),
            "sample": 1,
            "seed": 0,
            "stratified": False,
            "criterion": checked_name("criterion", criterion),
            "scale": parse_scale(scale).text,
        },
        1,
        {"chosen": DrawnAnswer(*answer, None, 1)},
    )
