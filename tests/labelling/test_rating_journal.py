"""Ratings that come one by one: each is stored once, and the newest of a rater counts."""

from threading import Thread

import pytest
from label_cases import sample_of

from warehouse.app.labelling.labels import GivenLabel, RaterLabels, read_all_labels
from warehouse.app.labelling.queues import Agreement, agreements, all_labels, assigned
from warehouse.app.labelling.rating_journal import (
    CHOSEN,
    RatingJournal,
    SentRating,
    chosen_answer,
)
from warehouse.core.errors import BadInput, StoreBusy
from warehouse.core.rating_scales import RATINGS_SUITE
from warehouse.lake.journal.run_lock import run_lock

RATINGS = """
SELECT rater, value, reason, is_current FROM ratings WHERE suite = 'ratings'
ORDER BY rater, rated_at
"""


@pytest.fixture
def sample(answers):
    return sample_of(answers, "arena")


def killed(journal):
    """End a journal as the operating system does when a process is killed."""
    journal._journal.leave()
    for lock in journal._locks.values():
        lock.close()


def sent(number, answer_id, rater="Ann", label="pass", **more):
    return SentRating(f"id {number}", answer_id, rater, label, **more)


@pytest.mark.slow
def test_a_repeated_rating_is_one_row_also_after_a_kill(answers, sample):
    first, second = list(sample.answers)[:2]
    journal = RatingJournal(answers, answers)
    assert journal.add(sample, sent(1, first))
    assert not journal.add(sample, sent(1, first))
    assert journal.add(sample, sent(2, second, label="fail", note="why"))
    assert answers.sql(RATINGS).fetchall() == []  # its lock is held
    killed(journal)
    after = RatingJournal(answers, answers)
    assert not after.add(sample, sent(1, first))
    assert after.add(sample, sent(3, first, rater="Ben"))
    after.close()
    assert answers.sql(RATINGS).fetchall() == [
        ("Ann", 1.0, None, True),
        ("Ann", 0.0, "why", True),
        ("Ben", 1.0, None, True),
    ]
    assert answers.sql("FROM quarantine").fetchall() == []


@pytest.mark.slow
def test_a_rating_that_is_sent_to_two_servers_is_one_row(answers, sample):
    journals = [RatingJournal(answers, answers) for _ in range(2)]
    for journal in journals:
        assert journal.add(sample, sent(1, next(iter(sample.answers))))
    for journal in journals:
        journal.close()
    assert len(answers.sql(RATINGS).fetchall()) == 1


@pytest.mark.slow
def test_the_newest_of_a_rater_counts_and_a_withdrawn_one_hides_those_before(answers, sample):
    answer_id = next(iter(sample.answers))
    journal = RatingJournal(answers, answers)
    for number, label in enumerate(["pass", "fail", ""]):
        journal.add(sample, sent(number, answer_id, label=label))
        newest = all_labels(answers, sample, journal)["Ann"].newest
        assert {each.label for each in newest.values()} == ({label} if label else set())
    journal.add(sample, sent(3, answer_id, rater=" Ben ", label="fail"))
    before = all_labels(answers, sample, journal)
    journal.close()
    assert answers.sql(RATINGS).fetchall() == [
        ("Ann", 1.0, None, False),
        ("Ann", 0.0, None, False),
        ("Ann", None, None, True),
        ("Ben", 0.0, None, True),
    ]
    after = read_all_labels(answers, sample)
    assert {name: each.newest for name, each in after.items()} == {
        name: each.newest for name, each in before.items()
    }


@pytest.mark.slow
def test_an_id_stands_for_one_rating(answers, sample):
    first, second = list(sample.answers)[:2]
    journal = RatingJournal(answers, answers)
    journal.add(sample, sent(1, first))
    with pytest.raises(BadInput, match="another rating was sent with this id"):
        journal.add(sample, sent(1, second))
    with pytest.raises(BadInput, match="--rater: write one line"):
        journal.add(sample, sent(2, first, rater=" "))
    journal.close()


@pytest.mark.slow
def test_ratings_of_many_threads_are_all_there(answers, sample):
    journal = RatingJournal(answers, answers)

    def rate(rater):
        for number, answer_id in enumerate(sample.answers):
            journal.add(sample, SentRating(f"{rater} {number}", answer_id, rater, "pass"))

    threads = [Thread(target=rate, args=(f"r{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    journal.close()
    counted = answers.sql("SELECT count(*), count(DISTINCT rated_at) FROM lake.ratings")
    assert counted.fetchall() == [(48, 48)]


@pytest.mark.slow
def test_chosen_answers_are_of_one_run_and_have_no_probability(answers):
    answer = ("arena", "night-ant-9000", "ant-9000/1")
    for rater in ("Ann", "Ben"):
        journal = RatingJournal(answers, answers)
        chosen = chosen_answer(answer, "style", "1..5")
        journal.add(chosen, SentRating(rater, "chosen", rater, "4", extra='{"a": 1}'))
        journal.close()
    rows = answers.sql("""
        SELECT run_id, rater, value, scale_high, sampling_probability, extra, result_id
        FROM ratings ORDER BY rater
    """).fetchall()
    assert rows == [
        (CHOSEN, rater, 4.0, 5.0, None, '{"a": 1}', "ant-9000/1") for rater in ("Ann", "Ben")
    ]
    assert answers.sql("SELECT count(*) FROM runs WHERE run_id = 'chosen answers'").fetchall() == [
        (1,)
    ]


@pytest.mark.slow
def test_a_sample_that_is_being_forgotten_takes_no_rating(answers, sample):
    journal = RatingJournal(answers, answers)
    with run_lock(answers.path, RATINGS_SUITE, sample.run_id), pytest.raises(StoreBusy):
        journal.add(sample, sent(1, next(iter(sample.answers))))
    assert journal.add(sample, sent(1, next(iter(sample.answers))))
    journal.close()


@pytest.mark.parametrize(("raters", "per_answer"), [(1, 1), (3, 1), (3, 2), (4, 3), (2, 2)])
def test_answers_are_shared_evenly(answers, raters, per_answer):
    names = tuple(f"r{n}" for n in range(raters))
    sample = sample_of(answers, "arena", raters=names, per_answer=per_answer)
    shares = [assigned(sample, name) for name in names]
    given = [answer_id for share in shares for answer_id in share]
    assert len(given) == len(sample.answers) * per_answer
    assert all(given.count(answer_id) == per_answer for answer_id in sample.answers)
    assert max(map(len, shares)) - min(map(len, shares)) <= 1
    with pytest.raises(BadInput, match="'Zoe' is none of them"):
        assigned(sample, "Zoe")


@pytest.mark.slow
def test_agreement_is_of_answers_that_one_has_labelled(answers, sample):
    journal = RatingJournal(answers, answers)
    labels = {"Ann": "ppppffffpp", "Ben": "ppfpffffppp", "Cyd": "pppppppppppp"}
    for rater, given in labels.items():
        for n, (answer_id, label) in enumerate(zip(sample.answers, given, strict=False)):
            said = {"p": "pass", "f": "fail"}[label]
            journal.add(sample, SentRating(f"{rater} {n}", answer_id, rater, said))
    by_rater = all_labels(answers, sample, journal)
    journal.close()
    tasks = {answer_id: str(n) for n, answer_id in enumerate(sample.answers)}
    found = list(agreements(sample, by_rater, tasks, "Ann"))
    assert [each[:3] for each in found] == [
        (("Ann", "Ben"), 10, 9),
        (("Ann", "Cyd"), 10, 6),
        (("Ben", "Cyd"), 10, 5),
    ]
    # By hand: 0.9 observed, 0.6 × 0.5 + 0.4 × 0.5 = 0.5 expected.
    assert found[0].kappa == pytest.approx(0.8)
    low, high = found[0].interval
    assert low < 0.8 < high
    assert list(agreements(sample, by_rater, tasks, "Dan")) == []
    # Few tasks: the numbers would tell what the other said of an answer.
    few = dict.fromkeys(sample.answers, "one task")
    assert next(agreements(sample, by_rater, few, "Ann")) == Agreement(("Ann", "Ben"), 10)


def test_what_two_raters_have_labelled_is_looked_up_once(sample):
    looks = []

    class Labels(dict):
        def keys(self):
            looks.append(len(self))
            return super().keys()

    by_rater = {name: RaterLabels(sample, name, Labels(), set()) for name in ("Ann", "Ben")}
    for rater in by_rater.values():
        rater.newest.update({each: GivenLabel("pass", None, None, None) for each in sample.answers})
    looks.clear()
    [found] = agreements(sample, by_rater, {}, "Ann")
    assert found.n_answers == len(sample.answers) > 10
    assert len(looks) == 3  # not for each answer
