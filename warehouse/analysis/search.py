"""Search in the texts of results: one scan of the view `texts`, without an index."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import duckdb

from warehouse.core.errors import BadInput
from warehouse.engine.query import query_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# A task's prompt, and what is sent with it, is the same in every result: it is listed once.
_QUERY = """
WITH matched AS MATERIALIZED (
    SELECT * FROM texts {chosen} WHERE {condition}
),

-- The prompt and the answer are messages, too, where a log has those.
listed AS (
    SELECT *
    FROM matched AS wanted
    WHERE part NOT IN ('prompt', 'answer') OR NOT EXISTS (
        FROM matched AS message
        WHERE message.part IN ('message', 'step')
            AND message.suite = wanted.suite
            AND message.run_id = wanted.run_id
            AND message.result_id = wanted.result_id
            AND (contains(wanted.text, message.text) OR contains(message.text, wanted.text))
    )
),

described AS (
    SELECT
        listed.suite,
        listed.run_id,
        results.model,
        results.task_set,
        results.task_id,
        results.attempt,
        coalesce(results.is_correct, results.objective_pass, results.computed) AS passed,
        listed.part,
        listed.seq,
        listed.who,
        regexp_extract(listed.text, $excerpt) AS found,
        strpos(listed.text, found) AS found_at,
        found_at + length(found) <= length(listed.text) AS is_cut,
        concat(if(found_at > 1, '…', ''), found, if(is_cut, '…', '')) AS excerpt,
        listed.result_id,
        results.run_date,
        results.seq AS result_seq,
        coalesce(listed.part = 'prompt' OR listed.who IN ('system', 'user'), false) AS is_sent,
        -- A result's id is unique in its run only.
        hash(
            task_number(listed.suite, results.task_set, results.task_id), listed.part, listed.who,
            CASE
                WHEN is_sent THEN text_hash(listed.text)
                ELSE text_hash(concat_ws('/', listed.run_id, listed.result_id, listed.seq))
            END
        ) AS same
    FROM listed
    JOIN scores.resolved_results AS results
        ON listed.suite = results.suite
        AND listed.run_id = results.run_id
        AND listed.result_id = results.result_id
)

SELECT
    * EXCLUDE (found, found_at, is_cut, run_date, result_seq, is_sent, same),
    count(DISTINCT (run_id, result_id)) OVER (PARTITION BY same) AS n_results
FROM described
QUALIFY row_number() OVER (
    PARTITION BY same ORDER BY run_date DESC NULLS LAST, run_id, result_seq, seq
) = 1
ORDER BY run_date DESC NULLS LAST, suite, run_id, result_seq, seq NULLS FIRST, part
"""
COLUMNS = (
    *("suite", "run_id", "model", "task_set", "task_id", "attempt", "passed"),
    *("part", "seq", "who", "excerpt", "result_id", "n_results"),
)
_BLOCK = 10_000
_CHOSEN = """SEMI JOIN (
    SELECT suite, run_id, result_id
    FROM (
        SELECT *, coalesce(is_correct, objective_pass, computed) AS passed
        FROM scores.resolved_results
    )
    WHERE {conditions}
) AS chosen USING (suite, run_id, result_id)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What is searched for, and where.

    Attributes:
        pattern: a regular expression of RE2; `^` and `$` match at the ends of lines.
        is_fixed: the pattern is a text, not an expression.
        ignores_case: upper and lower case are the same.
        parts: parts of `texts` to search; empty for all.
        equal: values by column of `results` that a result must have.
        where: a condition on the columns of `results`, in SQL.
        context: characters of the text on either side of a match.
    """

    pattern: str
    is_fixed: bool = False
    ignores_case: bool = False
    parts: tuple[str, ...] = ()
    equal: Mapping[str, str] = field(default_factory=dict)
    where: str | None = None
    context: int = 24

    @property
    def _expression(self) -> str:
        flags = "(?mi)" if self.ignores_case else "(?m)"
        return flags + (re.escape(self.pattern) if self.is_fixed else f"(?:{self.pattern})")

    def parameters(self) -> dict[str, object]:
        """Return the values of the query's parameters."""
        around = f"[\\s\\S]{{0,{self.context}}}"
        parameters: dict[str, object] = {
            "pattern": self.pattern if self._is_contained else self._expression,
            "excerpt": f"{around}{self._expression}{around}",
            **self.equal,
        }
        if self.parts:
            parameters["parts"] = list(self.parts)
        return parameters

    def condition(self, write: Callable[[str], str]) -> str:
        """Return the condition that a text matches the pattern, which a function writes."""
        if self._is_contained:
            return f"contains(text, {write(self.pattern)})"
        return f"regexp_matches(text, {write(self._expression)})"

    def query(self) -> str:
        """Return the query: a row for each text that matches, newest run first."""
        conditions = [self.condition(lambda _: "$pattern")]
        if self.parts:
            conditions.append("list_contains($parts, part)")
        chosen = [f"{column} = ${column}" for column in self.equal]
        if self.where:
            chosen.append(f"({self.where}\n)")
        return _QUERY.format(
            chosen=_CHOSEN.format(conditions=" AND ".join(chosen)) if chosen else "",
            condition=" AND ".join(conditions),
        )

    @property
    def _is_contained(self) -> bool:
        """Whether a plain comparison does, which takes a third of the time."""
        is_text = self.is_fixed or not re.search(r"[^\w\s]", self.pattern)
        return is_text and not self.ignores_case


def check_pattern(
    connection: duckdb.DuckDBPyConnection, wanted: Search, *, advice: str = ""
) -> None:
    """Check the pattern of a search.

    Args:
        connection: any connection.
        wanted: the search.
        advice: what the error says at its end.

    Raises:
        BadInput: it is no regular expression.
    """
    try:
        connection.execute(
            "SELECT regexp_matches('', $excerpt)", {"excerpt": wanted.parameters()["excerpt"]}
        )
    except duckdb.InvalidInputException as error:
        reason = str(error).removeprefix("Invalid Input Error: ").partition(": ")[0]
        raise BadInput(
            f"{wanted.pattern!r} is not a regular expression: {reason}{advice}"
        ) from error


def search(
    connection: duckdb.DuckDBPyConnection, wanted: Search, limit: int
) -> tuple[list[tuple[object, ...]], int]:
    """Return the first rows of a search, with the columns `COLUMNS`, and how many there are.

    Raises:
        BadInput: the pattern is no regular expression, or the condition no SQL.
    """
    check_pattern(connection, wanted, advice="; --fixed takes it as a text")
    with query_errors(is_users=wanted.where is not None):
        found = connection.execute(wanted.query(), wanted.parameters())
        rows = found.fetchmany(limit)
        n_rows = len(rows)
        while more := len(found.fetchmany(_BLOCK)):
            n_rows += more
    return rows, n_rows
