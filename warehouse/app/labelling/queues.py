"""Queues: samples of answers that several raters share, and how far they agree."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from warehouse.app.labelling.labels import read_all_labels
from warehouse.app.labelling.samples import checked_name
from warehouse.core.errors import BadInput
from warehouse.core.hashing import content_hash
from warehouse.engine.statistics.agreement import cohen_kappa
from warehouse.engine.statistics.agreement_intervals import kappa_interval
from warehouse.engine.statistics.arrays import MIN_CLUSTERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from warehouse.app.labelling.labels import RaterLabels
    from warehouse.app.labelling.rating_journal import RatingJournal
    from warehouse.app.labelling.samples import LabelSample, SampleRequest, Source
    from warehouse.engine.statistics.proportions import Interval

_TASKS = """
SELECT suite, run_id, result_id, coalesce(concat_ws('/', suite, task_set, task_id), result_id)
FROM results
SEMI JOIN (
    SELECT unnest($suites) AS suite, unnest($run_ids) AS run_id, unnest($results) AS result_id
) AS drawn USING (suite, run_id, result_id)
"""


class Agreement(NamedTuple):
    """How far two raters agree on what both have labelled.

    Attributes:
        raters: their names.
        n_answers: answers that both have labelled.
        n_equal: those of them with the same label; None while there are so few that the number
            would tell one rater the label of the other.
        kappa: Cohen's kappa; None while there are few, and where it is not defined.
        interval: its 95 % interval; answers to the same task depend on each other.
    """

    raters: tuple[str, str]
    n_answers: int
    n_equal: int | None = None
    kappa: float | None = None
    interval: Interval | None = None


def is_assigned(sample: LabelSample, answer_id: str, rater: str) -> bool:
    """Return whether a rater of a queue is asked about an answer of it.

    Each answer is put to as many raters as the queue says, each next one to the next of them; all
    answers are put to anybody where it names no raters.

    Raises:
        BadInput: the queue names raters, and this is none of them.
    """
    rater = checked_name("rater", rater)
    raters = sample.request.get("raters", ())
    if not raters:
        return True
    if rater not in raters:
        raise BadInput(f"this queue is for {', '.join(raters)}: {rater!r} is none of them")
    place, n_each = raters.index(rater), sample.request.get("per_answer", len(raters))
    return (place - (sample.answers[answer_id].place - 1) * n_each) % len(raters) < n_each


def assigned(sample: LabelSample, rater: str) -> list[str]:
    """Return the ids of the answers that a rater of a queue is asked about, in its order.

    Raises:
        BadInput: as `is_assigned`.
    """
    return [answer_id for answer_id in sample.answers if is_assigned(sample, answer_id, rater)]


def rubric_version(request: SampleRequest) -> str:
    """Return the version of a rubric: a hash of the criterion, its meaning and its scale."""
    texts = (request["criterion"], request.get("rubric", ""), request["scale"])
    return content_hash("rubric", *texts)[:12]


def all_labels(
    source: Source, sample: LabelSample, journal: RatingJournal | None
) -> dict[str, RaterLabels]:
    """Return the labels of each rater of a sample, also those that are only in a journal."""
    by_rater = read_all_labels(source, sample)
    if journal is not None:
        journal.overlay(sample, by_rater)
    return by_rater


def agreements(
    sample: LabelSample, by_rater: Mapping[str, RaterLabels], tasks: Mapping[str, str], rater: str
) -> Iterator[Agreement]:
    """Yield how far raters agree on the answers that one of them has labelled.

    Args:
        sample: the sample.
        by_rater: the labels of each rater.
        tasks: the task of each answer of the sample.
        rater: to whom it is said: only answers that this rater has labelled count.
    """
    own = by_rater[rater].newest.keys() if rater in by_rater else set()
    for pair in combinations(sorted(by_rater, key=lambda name: (name != rater, name)), 2):
        one, other = (by_rater[name].newest for name in pair)
        by_all = own & one.keys() & other.keys()
        common = [each for each in sample.answers if each in by_all]
        if not common:
            continue
        units = np.unique([tasks.get(each, each) for each in common], return_inverse=True)[1]
        if int(units.max()) + 1 < MIN_CLUSTERS:
            yield Agreement(pair, len(common))
            continue
        places = {label: place for place, label in enumerate(sample.scale.values)}
        labels = np.array([[places[side[each].label] for side in (one, other)] for each in common])
        tables = np.zeros((int(units.max()) + 1, len(places), len(places)))
        np.add.at(tables, (units, labels[:, 0], labels[:, 1]), 1)
        n_equal = int((labels[:, 0] == labels[:, 1]).sum())
        kappa = cohen_kappa(tables.sum(axis=0))
        yield Agreement(pair, len(common), n_equal, kappa, kappa_interval(tables))


def answer_tasks(source: Source, sample: LabelSample) -> dict[str, str]:
    """Return the task of each answer of a sample that is in the store, by the answer's id."""
    suites, run_ids, results, *_ = map(list, zip(*sample.answers.values(), strict=True))
    bound = {"suites": suites, "run_ids": run_ids, "results": results}
    found = {row[:3]: row[3] for row in source.sql(_TASKS, bound).fetchall()}
    drawn = sample.answers.items()
    return {each: found[answer[:3]] for each, answer in drawn if answer[:3] in found}
