"""How good judges are: sentences about their agreement with people and gold, and their biases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warehouse.analysis.decisions.sentences import p_text
from warehouse.core.text.figures import number, percent
from warehouse.core.text.formatting import visible
from warehouse.engine.query import rows_by_name
from warehouse.engine.scoring.bootstrap import holm

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import duckdb

    from warehouse.core.types import Row

ALPHA = 0.05
_MOST_SHOWN = 80  # characters of a configuration
# What each judge rated, whether or not anybody else did.
_JUDGES = """
SELECT
    coalesce(result_suite, suite) AS suite, 'rating' AS kind, criterion,
    rater_name(rater, rater_kind, rater_config) AS judge,
    count(*) AS n_items, count(*) FILTER (status <> 'ok') AS n_unread,
    if(count(coalesce(result_id, model)) = 0, 'tasks', 'answers') AS what,
    count(DISTINCT coalesce(CAST(rater_config AS VARCHAR), '')) AS n_configurations
FROM ratings
WHERE rater_kind NOT IN ('human', 'gold') AND is_current
GROUP BY ALL
UNION ALL
SELECT
    answers_suite AS suite, 'preference' AS kind, criterion,
    rater_name(rater, rater_kind, rater_config) AS judge,
    count(*) AS n_items, count(*) FILTER (outcome IS NULL) AS n_unread, 'pairs' AS what,
    count(DISTINCT coalesce(CAST(rater_config AS VARCHAR), '')) AS n_configurations
FROM preference_verdicts
WHERE rater_kind NOT IN ('human', 'gold')
GROUP BY ALL
ORDER BY suite, kind, criterion, judge
"""
# Items that several people labelled: whether all of them say the same. Answers to a task are alike.
_PEOPLE = """
WITH items AS (
    SELECT
        coalesce(result_suite, suite) AS suite, criterion,
        min(concat_ws('/', task_set, coalesce(task_id, answer))) AS unit,
        count(DISTINCT coalesce(label, CAST(value AS VARCHAR))) = 1 AS is_same
    FROM ratings
    WHERE rater_kind = 'human' AND is_current AND status = 'ok'
    GROUP BY coalesce(result_suite, suite), criterion, answer, turn
    HAVING count(*) > 1
),

tasks AS (
    SELECT suite, criterion, unit, count(*) AS n, count(*) FILTER (is_same) AS n_same
    FROM items
    GROUP BY ALL
)

SELECT
    suite, 'rating' AS kind, criterion, CAST(sum(n) AS BIGINT) AS n_items,
    CAST(sum(tasks.n_same) AS BIGINT) AS n_same,
    share_interval(list(tasks.n_same ORDER BY unit), list(n ORDER BY unit)) AS ends,
    ends[1] AS same_low, ends[2] AS same_high
FROM tasks
GROUP BY suite, criterion
"""
_AGREEMENT = "FROM judge_agreement WHERE other_kind <> 'judge'"
_DRIFT = "FROM judge_drift"
# What other judges prefer is no yardstick of length.
_LEANINGS = """
SELECT 'preference' AS kind, * FROM judge_biases WHERE other <> 'judges' OR bias = 'family'
"""
# A judge with several configurations is one: a task counts once, whichever of them judged it.
_BIAS = """
WITH tasks AS (
    SELECT
        suite, criterion, rater_name(rater, rater_kind, rater_config) AS judge, unit,
        sum(n_both_orders) AS n_both_orders, sum(n_consistent) AS n_consistent,
        sum(n_more_first) AS n_more_first, sum(n_more_second) AS n_more_second
    FROM scores.place_votes
    WHERE rater_kind NOT IN ('human', 'gold')
    GROUP BY ALL
)

SELECT
    suite, 'preference' AS kind, criterion, judge,
    CAST(sum(n_both_orders) AS BIGINT) AS n_both_orders,
    CAST(sum(n_consistent) AS BIGINT) AS n_consistent,
    CAST(sum(n_more_first) AS BIGINT) AS n_more_first,
    CAST(sum(n_more_second) AS BIGINT) AS n_more_second,
    count(*) FILTER (tasks.n_more_first > tasks.n_more_second) AS n_tasks_more_first,
    count(*) FILTER (tasks.n_more_first < tasks.n_more_second) AS n_tasks_more_second,
    CASE
        WHEN sum(n_both_orders) > 0 THEN mcnemar_p(n_tasks_more_first, n_tasks_more_second)
    END AS p_value
FROM tasks
GROUP BY suite, criterion, judge
ORDER BY suite, criterion, judge
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """A judge by one criterion.

    Attributes:
        suite: suite of the answers.
        kind: `rating` or `preference`.
        criterion: what it was asked for.
        name: its name; "with reference" where it was shown a reference answer.
        what: what it judged: answers, pairs of them, or tasks, where no model answered.
        n_items: how many of these.
        n_unread: those of them of which no reply could be read.
        n_configurations: different configurations, which the figures take together.
        agreements: rows of `judge_agreement`, with people and with gold.
        bias: row of `_BIAS`; None for ratings, and where no order is recorded.
        p_adjusted: p-value of its preference for a place, adjusted for all tests of the suite.
        n_tested: such tests in the suite: of its judges, by criterion.
        changes: rows of `judge_drift` beyond chance, with `p_adjusted` and `n_tested`, likewise.
        leanings: rows of `judge_biases` beyond chance, likewise.
    """

    suite: str
    kind: str
    criterion: str
    name: str
    what: str
    n_items: int
    n_unread: int
    n_configurations: int
    agreements: Sequence[Row]
    bias: Row | None
    p_adjusted: float | None
    n_tested: int
    changes: Sequence[Row]
    leanings: Sequence[Row]


def judges(connection: duckdb.DuckDBPyConnection, suite: str | None = None) -> list[Judge]:
    """Return the judges of a store, by suite, kind, criterion and name.

    Args:
        connection: the warehouse.
        suite: only those of this suite's answers.
    """
    agreements: dict[object, list[Row]] = {}
    for row in rows_by_name(connection.execute(_AGREEMENT)):
        agreements.setdefault(_key(row), []).append(row)
    biases = {_key(row): row for row in rows_by_name(connection.execute(_BIAS))}
    adjusted, n_tested = _adjusted(biases.values())
    leanings = _beyond_chance(rows_by_name(connection.execute(_LEANINGS)))
    changes = _beyond_chance(rows_by_name(connection.execute(_DRIFT)))
    return [
        Judge(
            suite=row["suite"],
            kind=row["kind"],
            criterion=row["criterion"],
            name=row["judge"],
            what=row["what"],
            n_items=row["n_items"],
            n_unread=row["n_unread"],
            n_configurations=row["n_configurations"],
            agreements=agreements.get(_key(row), ()),
            bias=biases.get(_key(row)),
            p_adjusted=adjusted.get(_key(row)),
            n_tested=n_tested.get(row["suite"], 0),
            changes=changes.get(_key(row), ()),
            leanings=leanings.get(_key(row), ()),
        )
        for row in rows_by_name(connection.execute(_JUDGES))
        if suite in {None, row["suite"]}
    ]


def people(connection: duckdb.DuckDBPyConnection) -> dict[tuple[str, str, str], str]:
    """Return how far people agree with each other, by suite, kind and criterion.

    Only ratings: votes of people on the same pair are in either order.
    """
    return {
        (row["suite"], row["kind"], row["criterion"]): (
            f"Of {row['n_items']:,} that several people labelled, all gave the same label to "
            f"{percent(row['n_same'] / row['n_items'])}{_interval(row, 'same', percent)}."
        )
        for row in rows_by_name(connection.execute(_PEOPLE))
    }


def _key(row: Row) -> tuple[object, ...]:
    return row["suite"], row["kind"], row["criterion"], row["judge"]


def _adjusted(biases: Iterable[Row]) -> tuple[dict[object, float | None], dict[object, int]]:
    """Return the adjusted p-value of each judge, and how many of its suite were tested."""
    by_suite: dict[object, list[Row]] = {}
    for row in biases:
        by_suite.setdefault(row["suite"], []).append(row)
    adjusted: dict[object, float | None] = {}
    n_tested = {}
    for suite, rows in by_suite.items():
        p_values = [row["p_value"] for row in rows]
        n_tested[suite] = sum(p is not None for p in p_values)
        adjusted |= dict(zip(map(_key, rows), holm(p_values), strict=True))
    return adjusted, n_tested


def _beyond_chance(rows: Sequence[Row]) -> dict[object, list[Row]]:
    """Return the rows of each judge whose p-value, adjusted for those of its suite, is low."""
    named: dict[object, list[Row]] = {}
    for suite in dict.fromkeys(row["suite"] for row in rows):
        tested = [row for row in rows if row["suite"] == suite and row["p_value"] is not None]
        for row, p_value in zip(tested, holm([row["p_value"] for row in tested]), strict=True):
            if p_value is not None and p_value < ALPHA:
                more = {"p_adjusted": p_value, "n_tested": len(tested)}
                named.setdefault(_key(row), []).append({**row, **more})
    return named


def sentences(judge: Judge) -> Iterator[str]:
    """Yield what the data show of a judge."""
    what = judge.what
    unread = f"; {judge.n_unread:,} of its replies could not be read" if judge.n_unread else ""
    yield f"It judged {judge.n_items:,} {what}{unread}."
    if judge.n_configurations > 1:
        yield (
            f"These figures take {judge.n_configurations} configurations of it (`rater_config`) "
            "together, which may be different judges."
        )
    for row in judge.agreements:
        yield from _agreement_sentences(row, what)
    if not judge.agreements:
        yield f"Uncalibrated: no label of people, and no gold, is on any of these {what}."
    yield from map(_change_sentence, judge.changes)
    yield from map(_leaning_sentence, judge.leanings)
    if judge.kind == "preference":
        yield _bias_sentence(judge)


def _change_sentence(row: Row) -> str:
    way = "risen" if row["difference"] > 0 else "fallen"
    if row["split"] == "version":
        way = "changed from one configuration to the next"
    was, now = (
        f"{row[f'kappa_{when}']:.2f} ({visible(row[when][:_MOST_SHOWN])})"
        for when in ("before", "after")
    )
    return (
        f"Its agreement with {row['other']} has {way}: kappa was {was} and is {now}, a difference "
        f"of {row['difference']:+.2f}{_interval(row, 'difference', _signed)} ({_p(row)})."
    )


def _leaning_sentence(row: Row) -> str:
    what = "longer answers" if row["bias"] == "length" else "answers of its own model family"
    more = "more" if row["difference"] > 0 else "less"
    other = "judges of other families" if row["other"] == "judges" else row["other"]
    return (
        f"It prefers {what} {more} than {other} {'does' if other == 'gold' else 'do'}: "
        f"{percent(row['share'])} of its votes are for them, and {percent(row['other_share'])} of "
        f"those of {other} on the same {row['n_items']:,} pairs ({_p(row)})."
    )


def _p(row: Row) -> str:
    of_all = f", adjusted for {row['n_tested']} tests" if row["n_tested"] > 1 else ""
    return f"p {p_text(row['p_adjusted'])}{of_all}"


def _agreement_sentences(row: Row, what: str) -> Iterator[str]:
    rate = f"{percent(row['agreement_rate'])}{_interval(row, 'agreement_rate', percent)}"
    # Of 0 to 100, two raters rarely give the same number, however near they are.
    is_number = row["linear_kappa"] is not None and row["sensitivity"] is row["specificity"] is None
    same = "gives the same number as" if is_number else "agrees with"
    yield (f"It {same} {row['other']} on {rate} of the {row['n_items']:,} {what} that both judged.")
    name = "quadratic_kappa" if row["linear_kappa"] is not None else "kappa"
    if row[name] is None:
        yield "Kappa is not defined: one gave all the same label, or both more than 101."
    else:
        weights = " with quadratic weights" if name == "quadratic_kappa" else ""
        interval = _interval(row, name, _hundredths) or " (too few tasks for an interval)"
        yield f"Kappa{weights}, the agreement beyond chance, is {row[name]:.2f}{interval}."
    if row["sensitivity"] is not None or row["specificity"] is not None:
        yield _passed_sentence(row)
    elif row["mean_difference"]:
        more = "higher" if row["mean_difference"] > 0 else "lower"
        yield f"Its numbers are {number(abs(row['mean_difference']))} {more} on average."


def _passed_sentence(row: Row) -> str:
    """Say what a judge passes of what the other passed, and of what the other did not."""
    of_passed, of_failed = "", ""
    if row["sensitivity"] is not None:
        interval = _interval(row, "sensitivity", percent)
        of_passed = f"{percent(row['sensitivity'])}{interval} of what {row['other']} passed"
    if row["specificity"] is not None:
        ends = {"wrong_low": row["specificity_high"], "wrong_high": row["specificity_low"]}
        of_failed = f"{_rest(row['specificity'])}{_interval(ends, 'wrong', _rest)}"
        of_failed += f" of what {row['other']} did not pass"
    if of_passed and of_failed:
        return f"It passes {of_passed}, and {of_failed}."
    which = "all" if of_passed else "none"
    return f"It passes {of_passed or of_failed}: {row['other']} passed {which} of them."


def _bias_sentence(judge: Judge) -> str:
    bias = judge.bias
    if bias is None:
        return "In which order it saw the answers is not recorded."
    if not bias["n_both_orders"]:
        return (
            "It saw each pair in one order only, so that a preference for the answer shown first "
            "cannot be told from a difference in quality."
        )
    first, second = bias["n_more_first"], bias["n_more_second"]
    share = percent(bias["n_consistent"] / bias["n_both_orders"])
    both = f"Of {bias['n_both_orders']:,} pairs in both orders it decides {share} alike"
    if not first + second:
        return f"{both}; no vote depends on the order."
    counts = f"the answer shown first gains in {first:,} and the one shown second in {second:,}"
    of_all = f", adjusted for {judge.n_tested} tests" if judge.n_tested > 1 else ""
    p_value = 1.0 if judge.p_adjusted is None else judge.p_adjusted
    shown = f"p {p_text(p_value)}{of_all}"
    if p_value < ALPHA:
        is_first = bias["n_tasks_more_first"] > bias["n_tasks_more_second"]
        place = "first" if is_first else "second"
        return f"{both}. It prefers the answer shown {place}: {counts} ({shown})."
    return f"{both}; {counts}: a preference for either place is not shown ({shown})."


def _interval(row: Row, name: str, as_text: Callable[[float], str]) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return "" if low is None else f" (95 % interval {as_text(low)} to {as_text(high)})"


def _rest(share: float) -> str:
    return percent(1 - share)


def _hundredths(value: object) -> str:
    return f"{value:.2f}"


def _signed(value: object) -> str:
    return f"{value:+.2f}"
