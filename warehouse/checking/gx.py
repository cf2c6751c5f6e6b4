"""Great Expectations: makes expectations of our data, and asks them about a frame.

Its import takes seconds, so that it happens on the first call, and only in `evalstore check`.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from warehouse.checking.expectations import Place

if TYPE_CHECKING:
    import pandas as pd

    from warehouse.checking.expectations import Expectation

# They need another table, or a database that Great Expectations itself queries.
_NOT_OF_A_BATCH: Final = ("expect_table_row_count_to_equal_other_table", "expect_query_results_to_")
# What every expectation has, and what would change which rows are asked about, or how.
_NOT_TAKEN: Final = {
    "row_condition": "put the condition into the query",
    "condition_parser": "put the condition into the query",
} | dict.fromkeys(
    (
        "id",
        "meta",
        "notes",
        "result_format",
        "catch_exceptions",
        "rendered_content",
        "windows",
        "batch_id",
    ),
    "it is not used here",
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What Great Expectations says of a frame.

    Attributes:
        passed: whether the expectation holds.
        positions: of the rows of the frame that do not meet it; empty where it is about a figure.
        observed: the figure, where it is about one.
        error: why it could not be asked; empty where it could.
    """

    passed: bool
    positions: tuple[int, ...] = ()
    observed: str = ""
    error: str = ""


def prepare(expectation: Expectation, types: dict[str, str]) -> object:
    """Make the expectation of Great Expectations.

    Args:
        expectation: ours.
        types: DuckDB's type of each column of its batch.

    Raises:
        BadInput: there is no such expectation, or its arguments do not fit; names file, line, key.
    """
    made = _class_of(expectation)
    for key in expectation.kwargs:
        if key in _NOT_TAKEN:
            _at(expectation, key).refuse(f"{expectation.type}: {key}: {_NOT_TAKEN[key]}")
    kwargs = _with_times(expectation, types)
    try:
        return made(**kwargs)
    except ValueError as error:
        key, message = _problem(error)
        place = _at(expectation, key) if key in expectation.lines else expectation.place
        place.refuse(": ".join(filter(None, (expectation.type, key, message))))


def judge(prepared: object, frame: pd.DataFrame) -> Verdict:
    """Ask an expectation about a frame, whose rows are numbered from 0."""
    batch = _batches().get_batch(batch_parameters={"dataframe": frame})
    # Whether it holds is known in half the time that it takes to say what is wrong.
    if batch.validate(prepared, result_format="BOOLEAN_ONLY").success:
        return Verdict(passed=True)
    answer = batch.validate(prepared, result_format="COMPLETE")
    if error := _error_in(answer.exception_info):
        return Verdict(passed=False, error=error)
    observed = answer.result.get("observed_value")
    return Verdict(
        passed=False,
        positions=tuple(int(at) for at in answer.result.get("unexpected_index_list") or ()),
        observed="" if observed is None else str(observed),
    )


@cache
def load() -> Any:  # noqa: ANN401 - the library has no types of use here
    """Import Great Expectations: silent, without its reports of usage over the network."""
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    with warnings.catch_warnings():
        # Its modules import deprecated ones (sre_constants), which is not for us to mend.
        warnings.simplefilter("ignore", DeprecationWarning)
        import great_expectations
        import great_expectations.expectations.core
    return great_expectations


@cache
def _batches() -> Any:  # noqa: ANN401
    context = load().get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False, "metric_calculations": False}
    asset = context.data_sources.add_pandas("duckdb").add_dataframe_asset("batch")
    return asset.add_batch_definition_whole_dataframe("all")


@cache
def _known() -> dict[str, Any]:
    """Give the expectations that can be asked about a frame, by name."""
    load()
    from great_expectations.expectations.registry import (
        get_expectation_impl,
        list_registered_expectation_implementations,
    )

    return {
        name: get_expectation_impl(name)
        for name in list_registered_expectation_implementations()
        if name.startswith("expect_") and not name.startswith(_NOT_OF_A_BATCH)
    }


def _class_of(expectation: Expectation) -> Any:  # noqa: ANN401
    known = _known()
    if expectation.type not in known:
        near = get_close_matches(expectation.type, known, n=1)
        hint = f"did you mean {near[0]}?" if near else "Great Expectations' gallery lists them"
        expectation.place.refuse(f"{expectation.type}: there is no such expectation; {hint}")
    return known[expectation.type]


def _at(expectation: Expectation, key: str) -> Place:
    return Place(expectation.place.file, expectation.lines[key])


def _with_times(expectation: Expectation, types: dict[str, str]) -> dict[str, object]:
    """Make times of the bounds of columns that hold times: YAML has none."""
    kwargs = dict(expectation.kwargs)
    if any(
        types.get(column, "").startswith(("TIMESTAMP", "DATE")) for column in expectation.columns
    ):
        for key in ("min_value", "max_value"):
            if isinstance(text := kwargs.get(key), str):
                kwargs[key] = _time(expectation, key, text)
    return kwargs


def _time(expectation: Expectation, key: str, text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        _at(expectation, key).refuse(f"{expectation.type}: {key}: {text!r} is no date or time")


def _problem(error: ValueError) -> tuple[str, str]:
    """Give the first argument that does not fit, and why, out of a validation error."""
    errors = getattr(error, "errors", None)
    found = [] if errors is None else errors()
    named = [(str(e["loc"][0]).replace("__root__", ""), str(e["msg"])) for e in found]
    return max(named, key=lambda problem: bool(problem[0])) if named else ("", str(error))


def _error_in(info: dict[str, Any]) -> str:
    entries = [info] if "raised_exception" in info else list(info.values())
    messages = [str(e.get("exception_message")) for e in entries if e.get("raised_exception")]
    return messages[0] if messages else ""
