"""What the server knows of queues and ratings while it runs: samples, and one journal."""

from __future__ import annotations

import time
from contextlib import suppress
from threading import Lock, Timer
from typing import TYPE_CHECKING

from warehouse.app.labelling.queues import (
    Agreement,
    agreements,
    all_labels,
    answer_tasks,
    is_assigned,
)
from warehouse.app.labelling.rating_journal import CHOSEN, RatingJournal, chosen_answer
from warehouse.app.labelling.samples import (
    DrawnAnswer,
    LabelSample,
    SampleRequest,
    read_samples,
    take_sample,
)
from warehouse.app.labelling.sheets import AnswerText, sample_texts
from warehouse.app.opening import open_store
from warehouse.core.errors import BadInput, EvalstoreError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import duckdb

    from exports.view.store_pages import StorePages
    from warehouse.app.labelling.labels import RaterLabels
    from warehouse.app.labelling.rating_journal import SentRating

_MAX_SECONDS = 5.0
_MAX_START_SECONDS = 60.0
_IDLE_SECONDS = 60.0  # without a rating, after which those given become a batch
_KNOWN_RESULTS = 100_000  # of which it is remembered that they exist


class OpenWarehouse:
    """Answers queries by a connection that is open."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def sql(
        self, query: str, parameters: Mapping[str, object] | None = None
    ) -> duckdb.DuckDBPyConnection:
        """Run a query."""
        return self._connection.execute(query, parameters or {})


class ReviewSession:
    """The queues of a store, and the ratings that the server takes.

    Args:
        pages: the pages of the store.
    """

    def __init__(self, pages: StorePages) -> None:
        self._pages = pages
        self._lock = Lock()
        self._samples: dict[str, LabelSample] = {}
        self._journal: RatingJournal | None = None
        self._rated_at = 0.0
        self._timer: Timer | None = None
        self._results: set[tuple[str, str, str]] = set()
        pages.at_end.callback(self.close)

    def queues(self) -> list[tuple[LabelSample, dict[str, RaterLabels]]]:
        """Return the queues, the newest first, with the labels of each rater."""
        with self._pages.reading(max_seconds=_MAX_SECONDS) as site:
            source = OpenWarehouse(site.connection)
            self._samples = {sample.run_id: sample for sample in read_samples(source)}
            newest = reversed(self._samples.values())
            return [(each, all_labels(source, each, self._journal)) for each in newest]

    def queue(self, name: str) -> LabelSample:
        """Return a queue by the name of its run.

        Raises:
            BadInput: there is none of this name.
        """
        if name not in self._samples:
            with self._pages.reading(max_seconds=_MAX_SECONDS) as site:
                found = read_samples(OpenWarehouse(site.connection))
                self._samples = {sample.run_id: sample for sample in found}
        if name not in self._samples:
            raise BadInput("there is no such queue; it may have been forgotten")
        return self._samples[name]

    def create(self, request: SampleRequest) -> LabelSample:
        """Return the queue of a request, which is drawn and stored unless the store has it.

        Raises:
            BadInput: as `take_sample`.
        """
        with self._pages.writing() as store:
            sample = take_sample(store, request)
        return self._samples.setdefault(sample.run_id, sample)

    def labels(self, sample: LabelSample) -> dict[str, RaterLabels]:
        """Return the labels of each rater of a queue."""
        with self._pages.reading(max_seconds=_MAX_SECONDS) as site:
            return all_labels(OpenWarehouse(site.connection), sample, self._journal)

    def agreements(self, sample: LabelSample, rater: str) -> list[Agreement]:
        """Return how far raters agree on what one of them has labelled."""
        with self._pages.reading(max_seconds=_MAX_SECONDS) as site:
            source = OpenWarehouse(site.connection)
            by_rater = all_labels(source, sample, self._journal)
            tasks = answer_tasks(source, sample)
        return list(agreements(sample, by_rater, tasks, rater))

    def texts(self, sample: LabelSample, answer_id: str) -> AnswerText:
        """Return the texts of an answer of a sample.

        Raises:
            BadInput: the sample has no such answer, or the store has it no more.
        """
        one = LabelSample(sample.run_id, sample.request, 1, {answer_id: _drawn(sample, answer_id)})
        with self._pages.reading(max_seconds=_MAX_SECONDS) as site:
            source = OpenWarehouse(site.connection)
            try:
                return sample_texts(source, one, has_reference=True)[0]
            except BadInput:
                raise BadInput("this answer is not in the store any more") from None

    def chosen(self, answer: tuple[str, str, str], criterion: str, scale: str) -> LabelSample:
        """Return a result of the store as a sample of one answer.

        Raises:
            BadInput: there is no such result, or what is asked for cannot be used.
        """
        sample = chosen_answer(answer, criterion, scale)
        if answer not in self._results:
            self.texts(sample, next(iter(sample.answers)))
            if len(self._results) < _KNOWN_RESULTS:
                self._results.add(answer)
        return sample

    def rate(self, sample: LabelSample, sent: SentRating) -> bool:
        """Store a rating; it is durable when this returns. Return whether it is new.

        Raises:
            BadInput: the queue has no such answer, does not ask this rater about it, or its scale
                no such label.
            EvalstoreError: it could not be written.
        """
        _drawn(sample, sent.answer_id)
        if sample.run_id != CHOSEN and not is_assigned(sample, sent.answer_id, sent.rater):
            raise BadInput("the queue puts this answer to other raters")
        if sent.label and sent.label not in sample.scale.values:
            raise BadInput(f"the label is not on the scale {sample.scale.text}")
        with self._lock:
            is_new = self._begun_journal().add(sample, sent)
            self._rated_at = time.monotonic()
            if self._timer is None:
                self._start_timer(_IDLE_SECONDS)
            return is_new

    def close(self) -> None:
        """Turn the ratings into a batch."""
        with self._lock:
            self._close_journal()

    def _begun_journal(self) -> RatingJournal:
        if self._journal is None:
            with self._pages.reading(max_seconds=_MAX_START_SECONDS) as site:
                source = OpenWarehouse(site.connection)
                self._journal = RatingJournal(open_store(self._pages.path), source)
        return self._journal

    def _start_timer(self, seconds: float) -> None:
        self._timer = Timer(seconds, self._close_if_idle)
        self._timer.daemon = True
        self._timer.start()

    def _close_if_idle(self) -> None:
        with self._lock, suppress(EvalstoreError):  # then the next command makes the batch
            left = self._rated_at + _IDLE_SECONDS - time.monotonic()
            if left > 0:
                self._start_timer(left)
            else:
                self._close_journal()

    def _close_journal(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._journal is not None:
            # What is read next has the batch, and no journal.
            with self._pages.writing():
                self._journal.close()
                self._journal = None


def _drawn(sample: LabelSample, answer_id: str) -> DrawnAnswer:
    if answer_id not in sample.answers:
        raise BadInput("the queue has no such answer")
    return sample.answers[answer_id]
