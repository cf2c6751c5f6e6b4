"""The interface to Great Expectations: its expectations from ours, evaluated on frames.

Its import takes seconds, so it happens on the first call, and only in `evalstore check`.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from warehouse.analysis.checking.expectations import COLUMN_ARGUMENTS, Location
from warehouse.core.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from warehouse.analysis.checking.expectations import Expectation

# Expectations that need another table, or a database that Great Expectations queries itself.
_UNSUPPORTED: Final = ("expect_table_row_count_to_equal_other_table", "expect_query_results_to_")
# Arguments of every expectation that would change which rows are evaluated, or how.
_UNSUPPORTED_ARGUMENTS: Final = {
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
    "not supported",
)


@dataclass(frozen=True, slots=True)
class GxResult:
    """The answer of Great Expectations for a frame.

    Attributes:
        passed: whether the expectation is met.
        positions: positions of the frame's offending rows; empty if it is about a figure.
        observed: the figure, if it is about one.
        error: why it could not be evaluated; empty if it could.
    """

    passed: bool
    positions: tuple[int, ...] = ()
    observed: str = ""
    error: str = ""


def prepare(expectation: Expectation, types: dict[str, str]) -> object:
    """Return an expectation as an object of Great Expectations.

    Args:
        expectation: the expectation.
        types: DuckDB's type of each column of its relation.

    Raises:
        BadInput: it does not exist or its arguments are invalid; the message names file, line and
            key.
    """
    class_ = _class_of(expectation)
    for key in expectation.kwargs:
        if key in _UNSUPPORTED_ARGUMENTS:
            _at(expectation, key).fail(f"{expectation.type}: {key}: {_UNSUPPORTED_ARGUMENTS[key]}")
    kwargs = _with_times(expectation, types)
    try:
        return class_(**kwargs)
    except ValueError as error:
        key, message = _problem(error)
        place = _at(expectation, key) if key in expectation.lines else expectation.location
        place.fail(": ".join(filter(None, (expectation.type, key, message))))


def with_columns(prepared: object, names: Mapping[str, str]) -> object:
    """Return a prepared expectation about columns of other names."""
    expectation: Any = prepared
    renamed = {
        key: names[value] if isinstance(value, str) else [names[name] for name in value]
        for key, value in expectation.dict(exclude_defaults=True).items()
        if key in COLUMN_ARGUMENTS
    }
    return expectation.copy(update=renamed)


def evaluate(prepared: object, frame: pd.DataFrame) -> GxResult:
    """Evaluate a prepared expectation on a frame, whose rows are numbered from 0."""
    batch = _batches().get_batch(batch_parameters={"dataframe": frame})
    # Whether it is met takes half the time of finding the offending rows.
    if batch.validate(prepared, result_format="BOOLEAN_ONLY").success:
        return GxResult(passed=True)
    answer = batch.validate(prepared, result_format="COMPLETE")
    if error := _error_in(answer.exception_info):
        return GxResult(passed=False, error=error)
    observed = answer.result.get("observed_value")
    return GxResult(
        passed=False,
        positions=tuple(int(at) for at in answer.result.get("unexpected_index_list") or ()),
        observed="" if observed is None else str(observed),
    )


@cache
def load() -> Any:  # noqa: ANN401 - the library is not usefully typed
    """Import Great Expectations without its output and its usage reports over the network."""
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    with warnings.catch_warnings():
        # Its modules import deprecated ones (sre_constants).
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
def _known() -> dict[str, object]:
    """Return the expectations that can be evaluated on a frame, by name."""
    load()
    from great_expectations.expectations.registry import (
        get_expectation_impl,
        list_registered_expectation_implementations,
    )

    return {
        name: get_expectation_impl(name)
        for name in list_registered_expectation_implementations()
        if name.startswith("expect_") and not name.startswith(_UNSUPPORTED)
    }


def _class_of(expectation: Expectation) -> Any:  # noqa: ANN401
    known = _known()
    if expectation.type not in known:
        gallery = "Great Expectations' gallery lists them all"
        hint = did_you_mean(expectation.type, known, gallery)
        expectation.location.fail(f"{expectation.type}: unknown expectation; {hint}")
    return known[expectation.type]


def _at(expectation: Expectation, key: str) -> Location:
    return Location(expectation.location.file, expectation.lines[key])


def _with_times(expectation: Expectation, types: dict[str, str]) -> dict[str, object]:
    """Return the arguments, with bounds of time columns as times: YAML files have them as text."""
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
        _at(expectation, key).fail(f"{expectation.type}: {key}: {text!r} is not a date or time")


def _problem(error: ValueError) -> tuple[str, str]:
    """Return the first invalid argument of a validation error, and why it is invalid."""
    errors = getattr(error, "errors", None)
    found = [] if errors is None else errors()
    named = [(str(e["loc"][0]).replace("__root__", ""), str(e["msg"])) for e in found]
    return max(named, key=lambda problem: bool(problem[0])) if named else ("", str(error))


def _error_in(info: dict[str, Any]) -> str:
    entries = [info] if "raised_exception" in info else list(info.values())
    messages = [str(e.get("exception_message")) for e in entries if e.get("raised_exception")]
    return messages[0] if messages else ""
