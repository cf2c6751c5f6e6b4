"""Ranks of models by votes between their answers: Bradley and Terry's model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.core.errors import BadInput
from warehouse.core.suggestions import did_you_mean
from warehouse.engine.vote_counts import count_votes, vote_sources

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

    from warehouse.engine.statistics.arrays import Floats, Indices
    from warehouse.engine.statistics.bradley_terry import Ties
    from warehouse.engine.vote_counts import Cluster, Control, VoteSource

COLUMNS = (
    *("rank", "rank_low", "rank_high", "model", "log_score", "log_score_low", "log_score_high"),
    *("n_votes", "n_wins", "n_ties", "suite", "criterion", "rater", "ties", "clustered_by"),
    *("control", "control_effect", "control_stderr"),
)
ANSWER = ("rank", "rank_low", "rank_high", "model", "log_score", "n_votes")
_PEOPLE = "people"


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
    from warehouse.engine.statistics.bradley_terry import bradley_terry
    from warehouse.engine.statistics.vote_ranks import vote_ranks

    names, votes = count_votes(connection, source, cluster, control=control)
    scores = bradley_terry(names, votes, ties=ties)
    first, second, wins_first, wins_second, n_ties = votes[:5]
    n_wins = _per_model(len(names), (first, wins_first), (second, wins_second))
    tied = _per_model(len(names), (first, n_ties), (second, n_ties))
    lost = _per_model(len(names), (first, wins_second), (second, wins_first))
    rows = [
        (
            rank.rank, rank.rank_low, rank.rank_high, name, float(score),
            *(rank.interval or (None, None)), won + lost_by + tie, won, tie,
            source.suite, source.criterion, source.rater, ties, cluster, control,
            scores.style_effect, scores.style_error,
        )
        for name, score, rank, won, lost_by, tie in zip(
            names, scores.log_scores, vote_ranks(scores), n_wins, lost, tied, strict=True
        )
    ]  # fmt: skip
    return sorted(rows, key=lambda row: (row[0], row[3]))


def _per_model(n: int, *counts: tuple[Indices, Floats]) -> Sequence[int]:
    import numpy as np

    sums = sum(np.bincount(models, weights=votes, minlength=n) for models, votes in counts)
    return [int(each) for each in np.asarray(sums)]
