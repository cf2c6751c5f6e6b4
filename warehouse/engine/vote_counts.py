"""Votes between two models that can be rated together, counted by pair and cluster in SQL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from warehouse.core.errors import BadInput

if TYPE_CHECKING:
    import duckdb

    from warehouse.engine.statistics.arrays import Floats
    from warehouse.engine.statistics.bradley_terry import Votes

Cluster: TypeAlias = Literal["task", "rater"]
Control: TypeAlias = Literal["length"]

# Votes that count, and those of a source.
_COUNTED = """outcome IS NOT NULL AND model_a <> model_b AND rater_kind <> 'gold'
    AND answers_suite NOT IN (SELECT suite FROM suite_traits WHERE hides_models)"""
OF_SOURCE = f"""{_COUNTED} AND answers_suite = $suite AND criterion = $criterion
    AND rater_name(rater, rater_kind, rater_config) = $rater"""
_SOURCES = """
SELECT
    answers_suite AS suite, criterion, rater_name(rater, rater_kind, rater_config) AS rater,
    count(DISTINCT concat_ws('/', task_set, task_id)) AS n_tasks,
    count(DISTINCT rater) AS n_raters
FROM {votes}
WHERE {counted}
GROUP BY ALL
ORDER BY ALL
"""
# Counts: a million votes are a few thousand rows.
_COUNTS = """
WITH votes AS (
    SELECT
        least(model_a, model_b) AS first,
        greatest(model_a, model_b) AS second,
        CASE outcome WHEN 'a' THEN model_a WHEN 'b' THEN model_b END AS winner,
        CASE $cluster
            WHEN 'task' THEN concat_ws('/', task_set, task_id)
            ELSE rater
        END AS cluster,
        {length} AS length
    FROM {votes} {texts}
    WHERE {source}
)

SELECT
    first, second, dense_rank() OVER (ORDER BY cluster) - 1 AS cluster,
    count(*) FILTER (winner = first) AS wins_first,
    count(*) FILTER (winner = second) AS wins_second,
    count(*) FILTER (winner IS NULL) AS ties,
    length
FROM votes
GROUP BY first, second, votes.cluster, length
ORDER BY first, second, cluster, length
"""
# Characters by which the first's answer is longer. A text that was cut has no length.
_LENGTH = "if(model_a = first, 1, -1) * (length_a - length_b)"
_TEXT = """
    LEFT JOIN (
        SELECT
            suite AS suite_{side}, run_id AS run_id_{side}, content_id AS result_{side},
            length(raw_output) AS length_{side}
        FROM lake.results
        WHERE raw_output_truncated IS NOT TRUE
    ) AS side_{side} USING (suite_{side}, run_id_{side}, result_{side})"""
_TEXTS = _TEXT.format(side="a") + _TEXT.format(side="b")


@dataclass(frozen=True, slots=True)
class VoteSource:
    """Votes that can be ranked together: of one suite, by one criterion, of people or a judge."""

    suite: str
    criterion: str
    rater: str
    n_tasks: int
    n_raters: int

    def clusters(self) -> Cluster:
        """Return what votes are clustered by: tasks, or raters where there are 20 of only these."""
        from warehouse.engine.statistics.bradley_terry import MIN_CLUSTERS

        return "rater" if self.n_tasks < MIN_CLUSTERS <= self.n_raters else "task"


def vote_sources(
    connection: duckdb.DuckDBPyConnection, votes: str = "preferences"
) -> list[VoteSource]:
    """Return the votes that can be ranked, by suite, criterion and rater.

    Args:
        connection: the warehouse.
        votes: the view `preferences`, or a table of a part of it.
    """
    rows = connection.execute(_SOURCES.format(votes=votes, counted=_COUNTED)).fetchall()
    return [VoteSource(*row) for row in rows]


def count_votes(
    connection: duckdb.DuckDBPyConnection,
    source: VoteSource,
    cluster: Cluster,
    *,
    control: Control | None = None,
    votes: str = "preferences",
) -> tuple[list[str], Votes]:
    """Return the names of the models, and the counts of votes between them by their numbers.

    Args:
        connection: the warehouse.
        source: the votes.
        cluster: votes on one task, or of one rater, depend on each other.
        control: "length" to count votes by the difference of lengths, too.
        votes: as for `vote_sources`.

    Raises:
        BadInput: lengths are asked for, and not known.
    """
    import numpy as np

    from warehouse.engine.statistics.bradley_terry import Votes

    query = _COUNTS.format(
        votes=votes,
        source=OF_SOURCE,
        length=_LENGTH if control else "NULL::INTEGER",
        texts=_TEXTS if control else "",
    )
    key = {"suite": source.suite, "criterion": source.criterion, "rater": source.rater}
    counts = connection.execute(query, {**key, "cluster": cluster}).fetchnumpy()
    names = sorted({*counts["first"], *counts["second"]})
    numbers = {name: number for number, name in enumerate(names)}
    first, second = (
        np.array([numbers[name] for name in counts[side]], dtype=np.int64)
        for side in ("first", "second")
    )
    wins_first, wins_second, n_ties = (
        np.asarray(counts[name], dtype=np.float64) for name in ("wins_first", "wins_second", "ties")
    )
    clusters = np.asarray(counts["cluster"], dtype=np.int64)
    lengths = _lengths(counts["length"], wins_first + wins_second + n_ties) if control else None
    return names, Votes(first, second, wins_first, wins_second, n_ties, clusters, lengths)


def _lengths(lengths: Floats, n_votes: Floats) -> Floats:
    """Return the differences of lengths; raise BadInput if some are unknown."""
    import numpy as np

    is_unknown = np.ma.getmaskarray(lengths)
    if is_unknown.any():
        raise BadInput(
            f"--control length: of {int(n_votes[is_unknown].sum()):,} of {int(n_votes.sum()):,} "
            "votes the store lacks the text of an answer, or a part of it; rank without --control"
        )
    return np.asarray(lengths, dtype=np.float64)
