"""Wrong keys: able systems agree on an answer that does not pass."""

import random
from collections import Counter, defaultdict

import numpy as np
import pytest
from support import add_rows, new_store

from warehouse.analysis.items.answers import (
    FailedAnswers,
    load_answers,
    read_answers,
    rival_answers,
)
from warehouse.analysis.items.responses import Responses, load_responses, responses_of_set


def given(matrix, key):
    """Return the responses and failed answers of a matrix of answers, of which `key` passes."""
    system, item = np.nonzero(matrix != key)
    n_items, n_answers = matrix.shape[1], int(matrix.max()) + 1
    cell, answer = system * n_items + item, item * n_answers + matrix[system, item]
    texts = [str(n) for n in range(n_answers)] * n_items
    failed = FailedAnswers(cell, answer, np.ones(len(system)), texts)
    return Responses.from_matrix(matrix == key), failed


@pytest.fixture
def bank():
    """The answers of 30 systems to 40 items, where 0 is right; first the weakest."""
    rng = np.random.default_rng(7)
    ability = np.linspace(-2, 2, 30)[:, np.newaxis]
    is_known = rng.random((30, 40)) < 1 / (1 + np.exp(-1.5 * (ability - rng.normal(size=40))))
    return np.where(is_known, 0, rng.integers(1, 5, (30, 40)))


def test_the_able_agree_on_another_answer(bank):
    bank[:, 0] = np.where(np.arange(30) < 4, np.arange(30) % 3, 3)
    rivals = rival_answers(*given(bank, 0))
    assert rivals.answer[0] == 3
    assert rivals.n_agreeing[0] == 26
    assert rivals.probability[0] > 0.9
    assert rivals.rate_of_agreeing[0] > rivals.rate_of_passing[0]
    assert rivals.is_suspected.nonzero()[0].tolist() == [0]


def test_an_attractive_answer_that_the_strongest_do_not_give_is_wrong(bank):
    bank[:, 0] = np.where(np.arange(30) < 26, 3, 0)
    rivals = rival_answers(*given(bank, 0))
    assert rivals.n_agreeing[0] == 26
    assert rivals.probability[0] < 0.1


def test_with_two_answers_a_smaller_probability_is_enough(bank):
    assert rival_answers(*given(bank, 0)).suspected_from == 0.5
    bank = np.minimum(bank, 1)
    bank[:, 0] = np.where(np.arange(30) % 5 == 0, 0, 1)
    bank[0, np.flatnonzero(bank[0])[0]] = 2  # neither of the two
    rivals = rival_answers(*given(bank, 0))
    assert 0.25 < rivals.probability[0] < 0.5
    assert rivals.is_suspected.nonzero()[0].tolist() == [0]


def test_systems_in_another_order_say_the_same(bank):
    bank[:, 0] = np.where(np.arange(30) < 4, np.arange(30) % 3, 3)
    order = np.random.default_rng(1).permutation(30)
    here, there = (rival_answers(*given(each, 0)) for each in (bank, bank[order]))
    np.testing.assert_allclose(here.probability, there.probability, rtol=1e-9)
    np.testing.assert_array_equal(here.answer, there.answer)


def test_nothing_is_said_without_agreement_or_with_few_systems(bank):
    bank[:, 0] = 0  # all pass
    bank[:, 1], bank[0, 1] = 0, 3  # one fails
    rivals = rival_answers(*given(bank, 0))
    assert np.isnan(rivals.probability[:2]).all()
    assert (rivals.answer[:2] == -1).all()
    few = rival_answers(*given(bank[-7:], 0))
    assert np.isnan(few.probability).all()


@pytest.mark.parametrize("n_items", [1, 2])
def test_banks_of_few_items_have_an_answer(n_items):
    matrix = np.repeat([[0], [1]], [4, 20], axis=0).repeat(n_items, axis=1)
    rivals = rival_answers(*given(matrix, 0))
    assert np.isfinite(rivals.probability).all()


WRONG = 10  # items with a wrong key


def drawn_with_wrong_keys(rng, n_systems, would_pass, attractive):
    """Return a bank of 200 items with four answers each, the first of them with a wrong key."""
    shape = n_systems, 200
    logits = 1.5 * rng.normal(size=(n_systems, 1)) - rng.normal(size=200)
    logits[:, :WRONG] += np.log(would_pass / (1 - would_pass)) - logits[:, :WRONG].mean(axis=0)
    attraction = np.where(rng.random(200) < attractive, rng.uniform(0.4, 0.8, 200), 0)
    wrong = np.where(rng.random(shape) < attraction, 1, rng.integers(1, 4, shape))
    matrix = np.where(rng.random(shape) < 1 / (1 + np.exp(-logits)), 0, wrong)
    key = np.zeros(200, dtype=int)
    key[:WRONG] = rng.integers(1, 4, WRONG)
    return given(matrix, key)


@pytest.mark.parametrize(
    ("would_pass", "n_systems", "attractive", "least"),
    [(0.9, 30, 0.0, 0.8), (0.9, 30, 0.3, 0.8), (0.7, 100, 0.0, 0.9), (0.7, 100, 0.3, 0.9)],
)
def test_wrong_keys_are_found_and_sound_items_are_not_suspected(
    would_pass, n_systems, attractive, least
):
    rng = np.random.default_rng([n_systems, int(10 * attractive)])
    bank = n_systems, would_pass, attractive
    found = np.array(
        [rival_answers(*drawn_with_wrong_keys(rng, *bank)).is_suspected for _ in range(12)]
    )
    assert found[:, :WRONG].mean() >= least
    assert found[:, WRONG:].mean() <= 0.05


def random_calls(choice):
    """Return calls of four systems, some of which are replays, or have no verdict or no answer."""
    said = ["x", " X\n", "y", "Z", "z", None, "long " * 50, *(f"answer {n}" for n in range(9))]
    for n in range(400):
        rank = choice.choice("1234")
        yield {
            "suite": "quiz",
            "run_id": f"r{rank}",
            "generation": "root",
            "content_id": f"c{n}",
            "seq": n,
            "attempt": n,
            "model": f"m{rank}",
            "provider": choice.choice(["p", "p", "p", "replay"]),
            "task_set": choice.choice(["one", "two"]),
            "task_id": choice.choice(["A", "B", "C", None]),
            "task_hash": choice.choice(["old", "new", None]),
            "objective_pass": choice.choice([True, False, False, False, None]),
            "answer": choice.choice([None, *said]),
            "raw_output": choice.choice(said),
        }


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_failed_answers_are_those_of_the_view(tmp_path, seed):
    """A and B are one item of their sets; answers that pass once at an item have not failed."""
    store, calls = new_store(tmp_path / "store"), list(random_calls(random.Random(seed)))
    scores = [
        {name: call[name] for name in ("suite", "run_id", "generation")}
        | {"result_id": call["content_id"], "content_id": f"s{n}", "metric": "m", "answer": "read"}
        for n, call in enumerate(calls[::9])
    ]
    tasks = [
        {"suite": "quiz", "task_set": name, "task_set_hash": name, "task_id": task, "seq": at}
        | {"content_id": task, "task_hash": task, "question": "C?" if task == "C" else "AB?"}
        for name in ("one", "two")
        for at, task in enumerate("ABC")
    ]
    header = {"suite": "quiz", "generation": "root"}
    runs = [{**header, "run_id": f"r{rank}", "content_id": f"r{rank}"} for rank in "1234"]
    add_rows(store.lake, runs=runs, tasks=tasks, results=calls, result_scores=scores)
    with store.reading("item_responses item_answers") as connection:
        load_responses(connection, "quiz")
        load_answers(connection, "quiz")
        for name in ("one", "two"):
            responses = responses_of_set(connection, name)
            failed = read_answers(connection, responses, name)
            query = """
                SELECT item, system, answer, n_passed, n_failed FROM item_answers
                WHERE task_set = ? AND answer IS NOT NULL
            """
            view = connection.execute(query, [name]).fetchall()
            assert any(failed.texts)
            assert not all(failed.texts)
            assert found_in(responses, failed) == expected_of(view, responses)


def found_in(responses, failed):
    return Counter(
        (
            responses.items[responses.item[cell]],
            responses.systems[responses.system[cell]],
            failed.texts[answer],
            round(float(share), 9),
        )
        for cell, answer, share in zip(failed.cell, failed.answer, failed.share, strict=True)
    )


def expected_of(view, responses):
    given = defaultdict(list)
    for item, *row in view:
        given[item, row[1]].append(row)
    attempts = {
        (responses.items[item], responses.systems[system]): n
        for item, system, n in zip(
            responses.item, responses.system, responses.attempts, strict=True
        )
    }
    return Counter(
        (item, system, answer if len(rows) > 1 else None, round(n / attempts[item, system], 9))
        for (item, answer), rows in given.items()
        if not any(n_passed for _, _, n_passed, _ in rows)
        for system, _, _, n in rows
    )
