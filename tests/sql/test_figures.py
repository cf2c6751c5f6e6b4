"""The figures that the marts share: Wilson intervals, reproducible sums, percentiles, tests."""

import math
import random
import time
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from scipy.stats import t as student

from warehouse.engine.views.sql_files import shipped_sql

AMOUNTS = st.lists(st.floats(0, 1e6, allow_nan=False), max_size=50)


def interval(con, passed, judged):
    return con.execute(
        "SELECT wilson_low($k::BIGINT, $n::BIGINT), wilson_high($k::BIGINT, $n::BIGINT)",
        {"k": passed, "n": judged},
    ).fetchone()


@given(st.data(), st.integers(1, 1_000_000))
@settings(deadline=None)
def test_wilson_interval_equals_scipy(con, data, judged):
    passed = data.draw(st.integers(0, judged) | st.sampled_from([0, 1, judged - 1, judged]))
    expected = binomtest(passed, judged).proportion_ci(method="wilson")
    # scipy's ends are not exactly 0 and 1 if none or all passed
    assert interval(con, passed, judged) == pytest.approx(tuple(expected), rel=1e-12, abs=1e-15)


def test_wilson_interval_of_few_results(con):
    assert interval(con, 0, 0) == (None, None)
    # none of n: 0 to z² / (n + z²); all of n: n / (n + z²) to 1; z² = 3.841458820694124
    assert interval(con, 0, 1) == (0.0, pytest.approx(3.841458820694124 / 4.841458820694124))
    assert interval(con, 1, 1) == (pytest.approx(1 / 4.841458820694124), 1.0)


@pytest.mark.slow
@given(AMOUNTS, st.integers())
@settings(deadline=None)
def test_sum_and_mean_do_not_depend_on_the_order(con, amounts, seed):
    shuffled = random.Random(seed).sample(amounts, len(amounts))
    assert figures(con, amounts) == figures(con, shuffled)


@given(AMOUNTS)
@settings(deadline=None)
def test_sum_and_mean_are_correct(con, amounts):
    total, mean = figures(con, amounts)
    if amounts:
        # each amount is rounded to 15 places
        assert total == pytest.approx(sum(amounts), rel=1e-12, abs=1e-13)
        assert mean == pytest.approx(sum(amounts) / len(amounts), rel=1e-12, abs=1e-13)
    else:
        assert (total, mean) == (None, None)


VALUES = st.none() | st.floats(-1e6, 1e6) | st.integers(0, 3).map(float)


@given(st.lists(st.tuples(VALUES, st.integers(1, 5)), max_size=8))
@settings(deadline=None)
def test_a_weighted_median_is_that_of_all_values(con, sized):
    amounts, sizes = [amount for amount, _ in sized], [size for _, size in sized]
    values = [amount for amount, size in sized for _ in range(size)]
    query = "SELECT weighted_median($a::DOUBLE[], $n::BIGINT[]), list_median($v::DOUBLE[])"
    found, expected = con.execute(query, {"a": amounts, "n": sizes, "v": values}).fetchone()
    assert found == expected


def test_sum_and_mean_of_whole_numbers_are_exact(con):
    """Latencies in milliseconds, whose mean a summary shows with all digits."""
    amounts = [float(n) for n in range(295_149, 14_000_000, 40_009)]
    for amount in amounts:
        assert figures(con, [amount]) == (amount, amount)
    assert figures(con, amounts) == (sum(amounts), sum(amounts) / len(amounts))


@pytest.mark.parametrize("amount", [float("inf"), float("-inf"), float("nan")])
def test_values_that_are_not_amounts_are_left_out(con, amount):
    assert figures(con, [1.0, 3.0, *[amount] * 50]) == (4.0, 2.0)


@pytest.mark.parametrize("amount", [1e15, 2e15, -1e15, 9e22, -1e30, 1e300])
def test_values_too_large_for_decimals_count(con, amount):
    total, mean = figures(con, [1.0, 3.5, *[amount] * 50])
    assert total == pytest.approx(50 * amount + 4.5, rel=1e-14)
    assert mean == total / 52
    assert figures(con, [amount]) == (amount, amount)
    assert figures(con, [2.0, 1e300, amount, -1e300, 3e16]) == figures(
        con, [-1e300, 3e16, 1e300, 2.0, amount]
    )


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
    """Return the original's percentile: linear interpolation at rank (n - 1) * p / 100."""
    ordered = sorted(map(float, values))
    rank = (len(ordered) - 1) * (p / 100)
    lower, upper = math.floor(rank), math.ceil(rank)
    if lower == upper:
        return ordered[lower]
    return ordered[lower] * (upper - rank) + ordered[upper] * (rank - lower)


@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=40), st.sampled_from([50, 95, 99]))
@settings(deadline=None)
def test_a_percentile_equals_the_original_to_the_last_bit(con, amounts, p):
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
def test_mcnemar_of_few_results_is_exact(con, only_a, only_b):
    n = only_a + only_b
    tail = sum(math.comb(n, k) for k in range(min(only_a, only_b) + 1))
    assert mcnemar(con, only_a, only_b) == min(1.0, float(Fraction(2 * tail, 2**n)))


@given(st.integers(0, 900), st.integers(0, 900))
@settings(deadline=None, max_examples=40)
def test_mcnemar_equals_scipys_binomial_test(con, only_a, only_b):
    n = only_a + only_b
    expected = binomtest(only_a, n).pvalue if n else 1.0
    assert mcnemar(con, only_a, only_b) == pytest.approx(expected, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ('{"temperature": 1.0, "n": 1}', "n 1, temperature 1"),
        (
            '{"a": 0.50, "b": "1.0", "c": -2.0, "d": [1.0, 2.0], "e": null}',
            "a 0.5, b 1.0, c -2, d [1,2], e null",
        ),
        ('{"top/p~": true}', "top/p~ true"),
        ("{}", ""),
    ],
)
def test_a_setting_is_the_same_however_its_number_is_written(store, parameters, text):
    query = "SELECT settings_text($parameters::JSON)"
    assert store.sql(query, {"parameters": parameters}).fetchall() == [(text,)]


def test_pass_at_k_of_many_attempts(con):
    """In time linear in the attempts: by a product for each k, it would take half a minute."""
    n, passed = 32_000, 10_667
    sql = next(file.sql for file in shipped_sql() if file.name == "pass_at_k")
    con.execute("CREATE SCHEMA scores")
    con.execute(
        "CREATE TABLE scores.outcomes AS SELECT 's' AS suite, 'r' AS run_id, "
        "'p' AS provider, 'm' AS model, '' AS settings, 't' AS task_set, 'x' AS task_id, "
        "false AS is_replay, NULL AS duplicate_of, i % 3 = 0 AS passed, passed AS outcome "
        f"FROM range({n}) AS attempts(i);"
        "CREATE TABLE scores.run_headers AS "
        "SELECT 's' AS suite, 'r' AS run_id, false AS is_adaptive"
    )
    start = time.process_time()
    chances = dict(con.execute(f"SELECT k, pass_at_k FROM ({sql})").fetchall())
    assert time.process_time() - start < 15
    assert len(chances) == n
    for k in (1, 2, 10, 100, n - passed, n - passed + 1, n):
        expected = 1 - Fraction(math.comb(n - passed, k), math.comb(n, k))
        assert chances[k] == pytest.approx(float(expected), rel=1e-12)


@pytest.mark.parametrize("df", [1, 2, 3, 4, 7, 10, 11, 12, 30, 57, 200, 10_001])
@pytest.mark.parametrize("t", [0.0, 0.3, -1.2, 2.5, 9.0])
def test_student_is_scipys(con, t, df):
    query = "SELECT student_p($t::DOUBLE, $df::BIGINT), student_quantile($df::BIGINT)"
    p_value, quantile = con.execute(query, {"t": t, "df": df}).fetchone()
    assert p_value == pytest.approx(2 * student.sf(abs(t), df), rel=1e-9, abs=1e-13)
    assert quantile == pytest.approx(student.ppf(0.975, df), abs=1e-12)


def test_student_of_nothing(con):
    query = "SELECT student_p(NULL, 1), student_p(1.0, NULL), student_quantile(0)"
    assert con.execute(query).fetchone() == (None, None, None)


@pytest.mark.parametrize(
    ("call", "table"),
    [
        ("newcombe_interval({}, {}, {}, {})", {"a": 5, "b": 1, "c": 0, "n": 11}),
        ("clustered_interval({}, {})", {"n": [1.0, 0, 2, 1, 1, 3], "total": [1, 1, 3, 1, 2, 3]}),
        ("clustered_student_interval({}, {})", {"sum": [1.0, 0, 2, 1, 1, 3], "c": [1] * 6}),
        ("percentile_ranks({}, {})", {"k": 30, "chance": 0.5}),
        ("mcnemar_p({}, {})", {"k": 7, "n": 2}),
    ],
)
def test_a_function_reads_the_callers_columns_whatever_they_are_called(con, call, table):
    by_value = con.execute(f"SELECT {call.format(*table.values())}").fetchone()
    columns = ", ".join(f"{value} AS {name}" for name, value in table.items())
    # DuckDB calls subqueries without a name alike, those inside of functions, too.
    for name in ("t", "s", "unnamed_subquery"):
        for names in (table, [f"{name}.{column}" for column in table]):
            query = f"SELECT {call.format(*names)} FROM (SELECT {columns}) AS {name}"
            assert con.execute(query).fetchone() == by_value, query


@pytest.mark.parametrize(
    ("call", "values"),
    [
        ("wilson_low({}, {})", (3, 10)),
        ("wilson_high({}, {})", (3, 10)),
        ("mcnemar_p({}, {})", (7, 2)),
        ("newcombe_interval({}, {}, {}, {})", (5, 1, 0, 11)),
        ("rank_interval({}, {}, true)", (0.5, 10)),
        ("student_p({}, {})", (2.1, 5)),
        ("chi_square_p({}, {})", (9, 5)),
        ("normal_p({})", (2,)),
    ],
)
def test_of_unknown_numbers_nothing_is_known(con, call, values):
    assert con.execute(f"SELECT {call.format(*values)}").fetchone() != (None,)
    for place in range(len(values)):
        some = [*values[:place], "NULL", *values[place + 1 :]]
        assert con.execute(f"SELECT {call.format(*some)}").fetchone() == (None,)


def test_newcombes_interval_is_that_of_the_paper(con):
    """Method 10, transcribed from Newcombe 1998, for all small tables and a few large ones."""
    tables = [
        (a, b, c, n - a - b - c)
        for n in (1, 2, 5, 12)
        for a in range(n + 1)
        for b in range(n + 1 - a)
        for c in range(n + 1 - a - b)
    ]
    tables += [(14, 5, 0, 22), (60, 5, 0, 32), (400, 90, 10, 470)]
    query = "SELECT newcombe_interval(t[1], t[2], t[3], t[4]) FROM (SELECT unnest($1) AS t)"
    intervals = con.execute(query, [tables]).fetchall()
    for table, (ends,) in zip(tables, intervals, strict=True):
        assert ends == pytest.approx(newcombe(*table), abs=1e-12), table
    assert con.execute("SELECT newcombe_interval(0, 0, 0, 0)").fetchone() == (None,)


def newcombe(r, s, t, u):
    n = r + s + t + u
    (l1, u1), (l2, u2) = wilson(r + s, n), wilson(r + t, n)
    p1, p2 = (r + s) / n, (r + t) / n
    margins = (r + s) * (t + u) * (r + t) * (s + u)
    excess = r * u - s * t
    excess = max(excess - n / 2, 0) if excess > 0 else excess
    phi = excess / math.sqrt(margins) if margins else 0
    below = math.sqrt((p1 - l1) ** 2 - 2 * phi * (p1 - l1) * (u2 - p2) + (u2 - p2) ** 2)
    above = math.sqrt((u1 - p1) ** 2 - 2 * phi * (u1 - p1) * (p2 - l2) + (p2 - l2) ** 2)
    return [p1 - p2 - below, p1 - p2 + above]


def wilson(k, n):
    z = 1.959963984540054
    reach = z * math.sqrt(k * (n - k) / n + z * z / 4)
    low, high = (k + z * z / 2 - reach) / (n + z * z), (k + z * z / 2 + reach) / (n + z * z)
    return (0.0 if k == 0 else low), (1.0 if k == n else high)
