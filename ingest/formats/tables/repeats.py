"""Finds rows that a table repeats: equal ones count once, contradictory ones are an error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ingest.formats.common.repeats import SeenHashes

if TYPE_CHECKING:
    from ingest.formats.tables.rows import ConvertedRows


class ContradictionError(Exception):
    """Two rows with the same key and different content.

    Attributes:
        key: hash of the key.
        line: line of the second one.
        is_score: whether the key is that of a score.
    """

    def __init__(self, key: int, line: int, *, is_score: bool) -> None:
        super().__init__()
        self.key = key
        self.line = line
        self.is_score = is_score


class Repeats:
    """The rows of a table so far: 32 bytes for each."""

    def __init__(self, *, is_long: bool) -> None:
        self._is_long = is_long
        self._keys, self._rows = SeenHashes(), SeenHashes()
        self._score_keys, self._scores = SeenHashes(), SeenHashes()

    def without(self, rows: ConvertedRows) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return results and scores that are not repeated.

        Raises:
            ContradictionError: a row contradicts an earlier one.
        """
        results, scores = rows.results, rows.scores
        said = results["content_id"].hash()
        if not self._is_long:
            said = _with_scores(results, scores)
        is_first = _first(
            self._keys, self._rows, results, key=results["key"], content=said, is_score=False
        )
        kept = results.filter(is_first)
        if not self._is_long:
            return kept, scores if len(kept) == len(results) else scores.filter(
                pl.col("row").is_in(kept["row"].implode())
            )
        is_first = _first(
            self._score_keys,
            self._scores,
            scores,
            key=score_keys(scores),
            content=scores["content_id"].hash(),
            is_score=True,
        )
        return kept, scores.filter(is_first)


def score_keys(scores: pl.DataFrame) -> pl.Series:
    """Return a hash of result and metric for each score."""
    return scores.select((pl.col("result_id") + pl.col("metric")).hash().alias("key")).to_series()


def _with_scores(results: pl.DataFrame, scores: pl.DataFrame) -> pl.Series:
    """Return a hash of each result with all its scores, whatever their order."""
    # Sums of unsigned integers wrap around.
    hashes = scores.group_by("row").agg(pl.col("content_id").hash().sum().alias("scores"))
    joined = results.select("row", pl.col("content_id").hash()).join(
        hashes, on="row", how="left", maintain_order="left"
    )
    return joined.select(pl.col("content_id") + pl.col("scores").fill_null(0)).to_series()


def _first(
    keys: SeenHashes,
    contents: SeenHashes,
    frame: pl.DataFrame,
    *,
    key: pl.Series,
    content: pl.Series,
    is_score: bool,
) -> pl.Series:
    is_known_key = keys.add(key.to_numpy())
    is_known = contents.add(content.to_numpy())
    wrong = np.flatnonzero(is_known_key & ~is_known)
    if len(wrong):
        at = int(wrong[0])
        raise ContradictionError(int(key[at]), int(frame["line"][at]), is_score=is_score)
    return pl.Series(~is_known)
