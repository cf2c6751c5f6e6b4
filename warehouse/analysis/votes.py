"""Ranks of models by votes between their answers: Bradley and Terry's model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from warehouse.core.errors import BadInput
from warehouse.core.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

    from warehouse.engine.statistics.arrays import Floats, Indices
    from warehouse.engine.statistics.bradley_terry import Ties

Cluster: TypeAlias = Literal["task", "rater"]
Control: TypeAlias = Literal["length"]

COLUMNS = (
    *("rank", "rank_low", "rank_high", "model", "log_score", "log_score_low", "log_score_high"),
    *("n_votes", "n_wins", "n_ties", "suite", "criterion", "rater", "ties", "clustered_by"),
    *("control", "control_effect", "control_stderr"),
)
ANSWER = ("rank", "rank_low", "rank_high", "model", "log_score", "n_votes")
_PEOPLE = "people"
_SOURCES = """
SELECT
    answers_suite AS suite, criterion, rater_name(rater, rater_kind, rater_config) AS rater,
    count(DISTINCT concat_ws('/', task_set, task_id)) AS n_tasks,
    count(DISTINCT rater) AS n_raters
FROM preferences
WHERE outcome IS NOT NULL AND model_a <> model_b AND rater_kind <> 'gold'
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
    FROM preferences {texts}
    WHERE outcome IS NOT NULL AND model_a <> model_b
        AND answers_suite = $suite AND criterion = $criterion
        AND rater_kind <> 'gold' AND rater_name(rater, rater_kind, rater_config) = $rater
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


def vote_sources(connection: duckdb.DuckDBPyConnection) -> list[VoteSource]:
    """Return the votes of a store that can be ranked, by suite, criterion and rater."""
    return [VoteSource(*row) for row in connection.execute(_SOURCES).fetchall()]


def choose_votes(
    connection: duckdb.DuckDBPyConnection,
    suite: str | None,
    criterion: str | None,
    rater: str | None,
) -> VoteSource:
    """Return the votes that options choose; of several raters, those of people.

    Raises:
        BadInput: there are no such votes, or several kinds of them; the message names them.
    """
    sources = vote_sources(connection)
    if not sources:
        raise BadInput("the store has no votes between two models; docs/judges.md says what has")
    for name, value in (("suite", suite), ("criterion", criterion), ("rater", rater)):
        known = sorted({getattr(source, name) for source in sources})
        if value is not None and value not in known:
            hint = did_you_mean(value, known, f"there are those of: {', '.join(known)}")
            raise BadInput(f"no votes have the {name} {value!r}; {hint}")
        chosen = {value} if value is not None else set(known)
        if name == "rater" and value is None and _PEOPLE in known:
            chosen = {_PEOPLE}
        sources = [source for source in sources if getattr(source, name) in chosen]
        if len({getattr(source, name) for source in sources}) > 1:
            option = "SUITE" if name == "suite" else f"--{name}"
            raise BadInput(f"votes of several {name}s: choose one by {option}: {', '.join(known)}")
    [source] = sources
    return source


def rank_by_votes(
    connection: duckdb.DuckDBPyConnection,
    source: VoteSource,
    ties: Ties,
    cluster: Cluster,
    control: Control | None = None,
) -> list[tuple[object, ...]]:
    """Return a row of `COLUMNS` for each model, the best first.

    Args:
        connection: the warehouse.
        source: the votes.
        ties: what a tie is: half a win each, or an outcome of its own.
        cluster: votes on one task, or of one rater, depend on each other.
        control: "length" to rank models as if their answers were equally long.

    Raises:
        BadInput: some models cannot be compared with others, or lengths are not known.
    """
    import numpy as np

    from warehouse.engine.statistics.bradley_terry import Votes, bradley_terry
    from warehouse.engine.statistics.vote_ranks import vote_ranks

    values = {"suite": source.suite, "criterion": source.criterion, "rater": source.rater}
    query = _COUNTS.format(
        length=_LENGTH if control else "NULL::INTEGER", texts=_TEXTS if control else ""
    )
    counts = connection.execute(query, {**values, "cluster": cluster}).fetchnumpy()
    names = sorted({*counts["first"], *counts["second"]})
    numbers = {name: number for number, name in enumerate(names)}
    wins_first, wins_second, n_ties = (
        np.asarray(counts[name], dtype=np.float64) for name in ("wins_first", "wins_second", "ties")
    )
    first, second = (
        np.array([numbers[name] for name in counts[side]], dtype=np.int64)
        for side in ("first", "second")
    )
    clusters = np.asarray(counts["cluster"], dtype=np.int64)
    lengths = _lengths(counts["length"], wins_first + wins_second + n_ties) if control else None
    votes = Votes(first, second, wins_first, wins_second, n_ties, clusters, lengths)
    scores = bradley_terry(names, votes, ties=ties)
    n_wins = _per_model(len(names), (first, wins_first), (second, wins_second))
    tied = _per_model(len(names), (first, n_ties), (second, n_ties))
    lost = _per_model(len(names), (first, wins_second), (second, wins_first))
    rows = [
        (
            rank.rank, rank.rank_low, rank.rank_high, name, float(score),
            *(rank.interval or (None, None)), won + lost_by + tie, won, tie,
            *values.values(), ties, cluster, control, scores.style_effect, scores.style_error,
        )
        for name, score, rank, won, lost_by, tie in zip(
            names, scores.log_scores, vote_ranks(scores), n_wins, lost, tied, strict=True
        )
    ]  # fmt: skip
    return sorted(rows, key=lambda row: (row[0], row[3]))


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


def _per_model(n: int, *counts: tuple[Indices, Floats]) -> Sequence[int]:
    import numpy as np

    sums = sum(np.bincount(models, weights=votes, minlength=n) for models, votes in counts)
    return [int(each) for each in np.asarray(sums)]
