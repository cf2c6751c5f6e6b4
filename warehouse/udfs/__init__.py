"""The scoring functions, and the one list that says which of them SQL knows by which name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from warehouse.udfs import palindrome
from warehouse.udfs.tools import detect_tools_batch
from warehouse.udfs.validators import validate_batch

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Udf:
    """A scoring function that SQL can call.

    Attributes:
        name: its name in SQL.
        parameters: DuckDB types of the arguments.
        returns: DuckDB type of the result.
        batch: takes a list a column, NULL as None, and gives a list of the same length; an error
            in one row becomes a reason in that row and is never raised.
    """

    name: str
    parameters: tuple[str, ...]
    returns: str
    batch: Callable[..., list[Any]]


UDFS: tuple[Udf, ...] = (
    Udf("palindrome_answer", ("VARCHAR",), "VARCHAR", palindrome.extract_answers),
    Udf("palindrome_correct", ("VARCHAR", "VARCHAR"), "BOOLEAN", palindrome.are_correct),
    Udf("openclaw_tools", ("VARCHAR",), "VARCHAR[]", detect_tools_batch),
    Udf(
        "openclaw_verdict",
        ("VARCHAR", "VARCHAR"),
        "STRUCT(objective_pass BOOLEAN, violation VARCHAR, parsed_output VARCHAR)",
        validate_batch,
    ),
)
