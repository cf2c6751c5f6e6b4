"""The mart `costs`, which reads kept sums, says what its calls say, however the store has grown."""

import random
from collections import defaultdict
from datetime import datetime, timedelta
from math import fsum

import pytest
from support import add_rows, command, new_store

N_TASKS = 30
START = datetime(2025, 1, 1)  # noqa: DTZ001 - naive UTC, like all times
COLUMNS = (
    "run_id, model, n_results, n_cost_known, total_cost_usd, mean_cost_usd, cost_per_passed_usd, "
    "cost_per_passed_usd_low, cost_per_passed_usd_high, input_tokens, output_tokens"
)


def calls(run_id, choice, earlier):
    """Return the calls of a run: some of them of an earlier run, cached, replaced, or repeated."""
    repeats = choice.choice([1, 1, 3])
    rows = []
    for model in ("a", "b"):
        for number in range(N_TASKS):
            for attempt in range(1, choice.randint(1, repeats) + 1):
                key = f"{run_id}-{model}-{number}-{attempt}"
                row = {
                    "content_id": key,
                    "model": model,
                    "provider": choice.choice(["p", "p", "p", "replay"]) if model == "b" else "p",
                    "task_set": f"set-{number % 2}",
                    "task_id": f"t{number}",
                    "attempt": attempt,
                    "prompt": f"question {number}",
                    "answer": key,
                    "is_correct": choice.choice([True, True, False, None]),
                    "started_at": START + timedelta(seconds=number),
                    "duration_seconds": 1.0,
                    "cost_usd": choice.choice([None, choice.random() / 1e4, choice.random() * 10]),
                    "is_cached": choice.choice([None, False, True]),
                    "input_tokens": choice.choice([None, 7]),
                    "output_tokens": choice.choice([None, 2**62]),
                }
                rows += [row]
                if choice.random() < 0.1:
                    rows += [row | {"content_id": f"{key}-again", "stands_in_for": key}]
    copied = [row | {"content_id": f"{run_id}-{row['content_id']}"} for row in earlier[::5]]
    rows = [row for row in rows if choice.random() < 0.9 or "stands_in_for" in row] + copied
    shared = {"suite": "mine", "run_id": run_id, "generation": "root"}
    return [row | shared | {"seq": seq} for seq, row in enumerate(rows, 1)]


def interval(store, tasks):
    """Return the interval of the cost per passed call, by the macro, of (cost, n_passed)."""
    amounts, counts = zip(*tasks, strict=True)
    sums = {
        "n": len(tasks),
        "n_counted": sum(count > 0 for count in counts),
        "amount": fsum(amounts),
        "total": sum(counts),
        "amount_squares": fsum(amount**2 for amount in amounts),
        "products": fsum(amount * count for amount, count in tasks),
        "squares": sum(count**2 for count in counts),
    }
    if not sums["total"]:
        return [None, None]
    written = ", ".join(f"{name}: {value!r}::DOUBLE" for name, value in sums.items())
    [(ends,)] = store.sql(f"SELECT ratio_interval({{{written}}})").fetchall()
    return ends


def from_calls(store):
    """Return the rows of the mart, of the calls that count."""
    series = defaultdict(list)
    query = """
        SELECT
            run_id, model, provider, entry, task_id, cost_usd, passed, input_tokens, output_tokens
        FROM scores.call_facts
    """
    for run_id, model, provider, *call in store.sql(query).fetchall():
        series[run_id, model, provider].append(call)
    rows = []
    for (run_id, model, _), listed in series.items():
        priced = [call for call in listed if call[2] is not None]
        tasks = defaultdict(lambda: [[], 0])
        for entry, task, cost, passed, *_ in priced:
            tasks[entry, task][0].append(cost)
            tasks[entry, task][1] += passed is True
        total = fsum(call[2] for call in priced) if priced else None
        n_passed = sum(call[3] is True for call in priced)
        by_task = [(fsum(costs), count) for costs, count in tasks.values()]
        tokens = [[call[at] for call in listed if call[at] is not None] for at in (4, 5)]
        sums = [sum(each) if each and sum(each) < 2**63 else None for each in tokens]
        rows.append(
            [
                *(run_id, model, len(listed), len(priced), total),
                total / len(priced) if priced else None,
                total / n_passed if n_passed else None,
                *(interval(store, by_task) if by_task else [None, None]),
                *sums,
            ]
        )
    return rows


def assert_says_what_calls_say(store):
    found = sorted(store.sql(f"SELECT {COLUMNS} FROM costs").fetchall())
    expected = sorted(from_calls(store))
    assert len(found) == len(expected) > 0
    for row, wanted in zip(found, expected, strict=True):
        for value, known in zip(row, wanted, strict=True):
            is_float = isinstance(known, float)
            assert value == (pytest.approx(known, rel=1e-9) if is_float else known), (row, wanted)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_costs_are_those_of_the_calls(tmp_path, seed):
    choice = random.Random(seed)
    store = new_store(tmp_path / "store")
    earlier = []
    for number in range(4):
        run = {"suite": "mine", "run_id": f"r{number}", "generation": "root"}
        rows = calls(run["run_id"], choice, earlier)
        add_rows(store.lake, runs=[run | {"content_id": f"header {number}"}], results=rows)
        earlier = rows
        assert_says_what_calls_say(store)
    duplicates = "SELECT count(*) FROM results WHERE duplicate_of IS NOT NULL"
    assert store.sql(duplicates).fetchall() > [(0,)]
    assert command(store.path, "forget", "r0", "--yes").code == 0
    grown = assert_says_what_calls_say(store)
    store.sync(rebuild=True)
    assert assert_says_what_calls_say(store) == grown
