"""The figures that every mart is made of: Wilson's interval, and sums that do not vary."""

import math
import random
from fractions import Fraction

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from warehouse.sql_files import shipped_sql

AMOUNTS = st.lists(st.floats(0, 1e6, allow_nan=False), max_size=50)


@pytest.fixture(scope="module")
def con():
    with duckdb.connect() as con:
        for file in shipped_sql():
            if file.is_function:
                con.execute(file.sql)
        yield con


def interval(con, passed, judged):
    return con.execute(
        "SELECT wilson_low($k::BIGINT, $n::BIGINT), wilson_high($k::BIGINT, $n::BIGINT)",
        {"k": passed, "n": judged},
    ).fetchone()


@given(st.data(), st.integers(1, 1_000_000))
@settings(deadline=None)
def test_wilson_is_scipys(con, data, judged):
    passed = data.draw(st.integers(0, judged) | st.sampled_from([0, 1, judged - 1, judged]))
    expected = binomtest(passed, judged).proportion_ci(method="wilson")
    # scipy's own ends are not exactly 0 and 1 where none or all passed
    assert interval(con, passed, judged) == pytest.approx(tuple(expected), rel=1e-12, abs=1e-15)


def test_wilson_of_few(con):
    assert interval(con, 0, 0) == (None, None)
    # none of n: 0 to z² / (n + z²); all of n: n / (n + z²) to 1; z² = 3.841458820694124
    assert interval(con, 0, 1) == (0.0, pytest.approx(3.841458820694124 / 4.841458820694124))
    assert interval(con, 1, 1) == (pytest.approx(1 / 4.841458820694124), 1.0)


@given(AMOUNTS, st.integers())
@settings(deadline=None)
def test_sum_and_mean_do_not_depend_on_the_order(con, amounts, seed):
    shuffled = random.Random(seed).sample(amounts, len(amounts))
    assert figures(con, amounts) == figures(con, shuffled)


@given(AMOUNTS)
@settings(deadline=None)
def test_sum_and_mean_are_those_of_the_amounts(con, amounts):
    total, mean = figures(con, amounts)
    if amounts:
        # each amount is rounded to 15 places
        assert total == pytest.approx(sum(amounts), rel=1e-12, abs=1e-13)
        assert mean == pytest.approx(sum(amounts) / len(amounts), rel=1e-12, abs=1e-13)
    else:
        assert (total, mean) == (None, None)


def test_sum_and_mean_of_whole_numbers_are_exact(con):
    """Latencies in milliseconds; their mean stands in a summary, digit by digit."""
    amounts = [float(n) for n in range(295_149, 14_000_000, 40_009)]
    for amount in amounts:
        assert figures(con, [amount]) == (amount, amount)
    assert figures(con, amounts) == (sum(amounts), sum(amounts) / len(amounts))


@pytest.mark.parametrize("amount", [9e22, 1e30, float("inf"), float("nan")])
def test_what_is_no_amount_is_left_out_of_sum_and_mean(con, amount):
    assert figures(con, [1.0, 3.0, *[amount] * 50]) == (4.0, 2.0)


def test_null_is_not_zero(con):
    assert figures(con, [1.0, None, 3.0]) == (4.0, 2.0)
    assert figures(con, [None]) == (None, None)


def figures(con, amounts):
    return con.execute(
        "SELECT exact_sum(amount), exact_mean(amount) FROM (SELECT unnest($amounts::DOUBLE[]))"
        " AS t(amount)",
        {"amounts": amounts},
    ).fetchone()


def percentile_in_sql(con, amounts, share):
    return con.execute(
        "SELECT linear_percentile(list_sort($amounts::DOUBLE[]), $share)",
        {"amounts": amounts, "share": share},
    ).fetchone()[0]


def original_percentile(values, p):
    """The original: linear between the neighbours of rank (n - 1) * p / 100."""
    ordered = sorted(map(float, values))
    rank = (len(ordered) - 1) * (p / 100)
    lower, upper = math.floor(rank), math.ceil(rank)
    if lower == upper:
        return ordered[lower]
    return ordered[lower] * (upper - rank) + ordered[upper] * (rank - lower)


@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=40), st.sampled_from([50, 95, 99]))
@settings(deadline=None)
def test_a_percentile_is_the_originals_to_the_last_bit(con, amounts, p):
    assert percentile_in_sql(con, amounts, p / 100) == original_percentile(amounts, p)


def test_a_percentile_by_hand(con):
    # rank (3 - 1) * 0.95 = 1.9: 51 * 0.1 + 56 * 0.9; percentile_cont falls just short of it
    assert percentile_in_sql(con, [56, 0, 51], 0.95) == 55.5
    assert percentile_in_sql(con, [7], 0.99) == 7
    assert percentile_in_sql(con, [], 0.5) is None
    assert percentile_in_sql(con, None, 0.5) is None


def mcnemar(con, only_a, only_b):
    return con.execute(
        "SELECT mcnemar_p($a::BIGINT, $b::BIGINT)", {"a": only_a, "b": only_b}
    ).fetchone()[0]


@given(st.integers(0, 20), st.integers(0, 20))
@settings(deadline=None)
def test_mcnemar_of_few_is_exact(con, only_a, only_b):
    n = only_a + only_b
    tail = sum(math.comb(n, k) for k in range(min(only_a, only_b) + 1))
    assert mcnemar(con, only_a, only_b) == min(1.0, float(Fraction(2 * tail, 2**n)))


@given(st.integers(0, 900), st.integers(0, 900))
@settings(deadline=None, max_examples=40)
def test_mcnemar_is_scipys_binomial_test(con, only_a, only_b):
    n = only_a + only_b
    expected = binomtest(only_a, n).pvalue if n else 1.0
    assert mcnemar(con, only_a, only_b) == pytest.approx(expected, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ('{"temperature": 1.0, "n": 1}', "n 1, temperature 1"),
        (
            '{"a": 0.50, "b": "1.0", "c": -2.0, "d": [1.0], "e": null}',
            "a 0.5, b 1.0, c -2, d [1.0], e null",
        ),
        ('{"top/p~": true}', "top/p~ true"),
        ("{}", ""),
    ],
)
def test_a_setting_is_the_same_however_its_number_is_written(store, parameters, text):
    query = "SELECT settings_text($parameters::JSON)"
    assert store.sql(query, {"parameters": parameters}).fetchall() == [(text,)]
