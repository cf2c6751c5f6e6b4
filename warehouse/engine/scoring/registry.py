"""The scoring functions that SQL can call, by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warehouse.engine.scoring import bootstrap_batches, palindrome
from warehouse.engine.scoring.custom import scorers
from warehouse.engine.scoring.openclaw.rules import read_rules
from warehouse.engine.scoring.openclaw.validators import validate_batch
from warehouse.engine.scoring.posters import annotation_pairs, batches, comparisons, events
from warehouse.engine.scoring.posters.types import (
    AGREEMENT,
    DIFFERENCE,
    PAIRS,
    POSTER_PAIRS,
    POSTER_SCORE,
)
from warehouse.engine.scoring.regex.matching import full_match_batch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True, slots=True)
class Udf:
    """A scoring function that SQL can call.

    Attributes:
        name: its name in SQL.
        parameters: DuckDB types of the arguments.
        returns: DuckDB type of the result.
        batch: the function. It takes a list per column, with None for NULL, and returns a list of
            the same length. An error in one row becomes the `reason` of that row; it is not raised.
    """

    name: str
    parameters: tuple[str, ...]
    returns: str
    batch: Callable[..., Sequence[object]]


_TEXT_PAIR = ("VARCHAR", "VARCHAR")
_SCORES = "DOUBLE[]"

UDFS: tuple[Udf, ...] = (
    Udf("palindrome_answer", ("VARCHAR",), "VARCHAR", palindrome.extract_answers),
    Udf("palindrome_correct", ("VARCHAR", "VARCHAR"), "BOOLEAN", palindrome.are_correct),
    Udf(
        "extract_json",
        ("VARCHAR",),
        "STRUCT(json VARCHAR, reason VARCHAR)",
        batches.extract_json_batch,
    ),
    Udf("schema_strict", ("VARCHAR",), "BOOLEAN", batches.schema_strict_batch),
    Udf("schema_valid", ("VARCHAR",), "BOOLEAN", batches.schema_valid_batch),
    Udf("schema_exact", ("VARCHAR",), "BOOLEAN", batches.schema_exact_batch),
    Udf(
        "schema_problems",
        ("VARCHAR",),
        "STRUCT(field VARCHAR, reason VARCHAR)[]",
        batches.schema_problems_batch,
    ),
    Udf("string_score", _TEXT_PAIR, "DOUBLE", batches.string_score_batch),
    Udf("poster_score", _TEXT_PAIR, POSTER_SCORE, batches.score_batch),
    Udf("poster_pairs", _TEXT_PAIR, POSTER_PAIRS, events.explain_batch),
    Udf(
        "bootstrap_interval",
        (_SCORES,),
        "STRUCT(low DOUBLE, high DOUBLE, reason VARCHAR)",
        bootstrap_batches.confidence_interval_batch,
    ),
    Udf("bootstrap_difference", (_SCORES, _SCORES), DIFFERENCE, bootstrap_batches.difference_batch),
    Udf(
        "paired_difference",
        (_SCORES, _SCORES),
        DIFFERENCE,
        bootstrap_batches.paired_difference_batch,
    ),
    Udf("holm", (_SCORES,), "DOUBLE[]", bootstrap_batches.holm_batch),
    Udf("bootstrap_pairs", ("DOUBLE[][]",), PAIRS, comparisons.compare_pairs_batch),
    Udf("annotation_agreement", _TEXT_PAIR, AGREEMENT, annotation_pairs.compare_batch),
    Udf("population_std", (_SCORES,), "DOUBLE", comparisons.population_std_batch),
    Udf(
        "full_match",
        _TEXT_PAIR,
        "STRUCT(matched BOOLEAN, reason VARCHAR)",
        full_match_batch,
    ),
    Udf(
        "scorer_verdict", _TEXT_PAIR, "STRUCT(passed BOOLEAN, reason VARCHAR)", scorers.score_batch
    ),
    Udf(
        "openclaw_rule",
        ("VARCHAR",),
        "STRUCT(kind VARCHAR, wanted VARCHAR[], number BIGINT, violation VARCHAR)",
        read_rules,
    ),
    Udf(
        "openclaw_verdict",
        ("VARCHAR", "VARCHAR"),
        "STRUCT(objective_pass BOOLEAN, violation VARCHAR, parsed_output VARCHAR)",
        validate_batch,
    ),
)
