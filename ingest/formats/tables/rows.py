"""Makes rows of the lake of a batch of a table: results, their scores, their tasks.

A row's id is a hash of what it says, so that it is the same in batches of any size.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ingest.formats.tables import values
from ingest.formats.tables.columns.column_map import CELL, MODEL
from ingest.formats.tables.columns.roles import (
    BOOLEAN,
    BY_NAME,
    DURATION,
    INTEGER,
    LIST,
    NUMBER,
    TIME,
)
from ingest.reading import Reject
from warehouse.core.formats.json_text import json_text

if TYPE_CHECKING:
    import duckdb

    from ingest.formats.tables.batches import TableBatch
    from ingest.formats.tables.columns.column_map import TableSpec

_CONVERTERS = {
    BOOLEAN: values.boolean,
    INTEGER: values.integer,
    LIST: values.json_list,
    NUMBER: values.finite_number,
    TIME: values.moment,
}
_DEMANDED = {
    BOOLEAN: "true or false, yes or no, pass or fail, 1 or 0",
    DURATION: "a duration with a unit, as in 350 ms",
    INTEGER: "an integer",
    LIST: "a JSON list",
    NUMBER: "a finite number",
    TIME: "a time as in 2026-03-04T05:06:07Z, or seconds since 1970",
}
_KEY = ("run_id", "provider", "model", "task_set", "task_id", "attempt")
_TASK = ("question", "prompt", "choices", "target")
_CLUSTER = "cluster"
_RESULT = (
    *(*_KEY, "prompt", "task_hash", "started_at", "run_date", "duration_seconds"),
    *("input_tokens", "output_tokens", "cost_usd", "raw_output", "answer", "objective_pass"),
    "extra",
)
_LONGEST_EXCERPT = 60
_MOST_ATTEMPTS = 2**31 - 1


@dataclass(slots=True, kw_only=True)
class ConvertedRows:
    """Rows of a batch that can be used.

    Attributes:
        results: `line`, `content_id`, the columns of `results`, `key` (of the run, model, task and
            attempt), and the columns of a task.
        scores: `line`, `result_id`, `metric`, `value`, `text` and `extra` of each score, with the
            `row` of `results` that it belongs to.
        rejects: rows that cannot be used.
    """

    results: pl.DataFrame
    scores: pl.DataFrame
    rejects: list[Reject]


class RowMaker:
    """Makes rows of the batches of one table."""

    def __init__(self, spec: TableSpec, connection: duckdb.DuckDBPyConnection) -> None:
        self._spec = spec = replace(spec, map=spec.map.by_model())
        self._connection = connection
        self._converters = {**_CONVERTERS, DURATION: self._duration}
        self.is_long = "metric" in spec.map.columns
        self.has_tasks = not spec.map.columns.keys().isdisjoint((*_TASK, _CLUSTER))

    def rows(self, batch: TableBatch) -> ConvertedRows:
        """Return the rows of a batch."""
        frame, rejects = self._results(batch)
        scores = (
            self._long_scores(batch, frame) if self.is_long else self._wide_scores(batch, frame)
        )
        return ConvertedRows(results=frame, scores=scores, rejects=rejects)

    def hashes(self, texts: pl.Series) -> pl.Series:
        """Return 32 hexadecimal digits for each text."""
        table = pl.DataFrame({"text": texts}).to_arrow()
        self._connection.register("texts", table)
        found: pl.DataFrame = self._connection.sql("SELECT md5(text) AS hash FROM texts").pl()
        return found["hash"]

    def _results(self, batch: TableBatch) -> tuple[pl.DataFrame, list[Reject]]:
        """Return results with the `row` in the batch that each came from, and other rows."""
        columns, problems = self._converted(batch)
        # In a table with a row for each metric, other columns may belong to the metric.
        extra = pl.repeat(None, len(batch.lines), dtype=pl.String, eager=True)
        extra = extra if self.is_long else batch.extra
        frame = pl.DataFrame(
            {"line": batch.lines, "row": np.arange(len(batch.lines))},
            schema={"line": pl.Int64, "row": pl.Int64},
        ).with_columns(*columns.values(), extra.alias("extra"))
        is_bad = np.zeros(len(frame), bool)
        rejects = []
        for bad, reasons in problems:
            new = np.flatnonzero(bad.to_numpy() & ~is_bad).tolist()
            rejects += [_reject(batch, at, reasons[at]) for at in new]
            is_bad |= bad.to_numpy()
        if is_bad.any():
            frame = frame.filter(pl.Series(~is_bad))
        task_hash = pl.repeat(None, len(frame), dtype=pl.String, eager=True)
        if self.has_tasks:
            asks = not self._spec.map.columns.keys().isdisjoint(_TASK)
            task_hash = self.hashes(_as_json(frame, _TASK if asks else ("task_id",)))
        frame = frame.with_columns(task_hash.alias("task_hash"))
        frame = frame.with_columns(
            _as_json(frame, _KEY).hash().alias("key"),
            self.hashes(_as_json(frame, _RESULT)).alias("content_id"),
        )
        return frame, rejects

    def _converted(
        self, batch: TableBatch
    ) -> tuple[dict[str, pl.Series], list[tuple[pl.Series, dict[int, str]]]]:
        """Return the columns of results, and masks of bad rows with what is wrong with each."""
        given: dict[str, pl.Series] = {}
        problems: list[tuple[pl.Series, dict[int, str]]] = []
        for role, column in self._spec.map.columns.items():
            kind = BY_NAME[role].kind
            series = batch.values[column]
            if kind not in self._converters or role == "value":
                given[role] = values.as_text(series)
                continue
            given[role], bad = self._converters[kind](self._with_points(series, kind))
            if bad.any():
                named = batch.values[MODEL] if column == CELL else None
                demand = f"must be {_DEMANDED[kind]}"
                problems.append((bad, _reasons(series, bad, demand, named)))
        if "attempt" in given:
            first = self._spec.map.first_attempt
            bad = ~given["attempt"].is_between(first, _MOST_ATTEMPTS - 1).fill_null(value=True)
            reasons = _reasons(given["attempt"], bad, f"must be counted from {first}")
            problems.append((bad, reasons))
        columns = self._columns(given, batch)
        for name, what in (("run_id", "run"), ("model", "model"), ("task_id", "task")):
            missing = columns[name].is_null()
            if missing.any():
                reason = f"names no {what}"
                problems.append((missing, dict.fromkeys(missing.arg_true().to_list(), reason)))
        return columns, problems

    def _columns(self, given: dict[str, pl.Series], batch: TableBatch) -> dict[str, pl.Series]:
        spec, n = self._spec, len(batch.lines)

        def column(name: str, dtype: pl.DataType | type[pl.DataType], role: str) -> pl.Series:
            series = given.get(role)
            if series is None:
                series = pl.repeat(None, n, dtype=dtype, eager=True)
            return series.cast(dtype).alias(name)

        def constant(name: str, role: str, value: str | None) -> pl.Series:
            if role in given:
                return _without_whitespace(given[role]).alias(name)
            return pl.repeat(value, n, dtype=pl.String, eager=True).alias(name)

        question, prompt = (
            column("question", pl.String, "question"),
            column("prompt", pl.String, "prompt"),
        )
        asked = prompt if "prompt" in given else question
        task = _without_whitespace(given["task"]) if "task" in given else asked
        attempt = column("attempt", pl.Int64, "attempt") + (1 - spec.map.first_attempt)
        time = spec.map.columns.get("time")
        made = [
            constant("run_id", "run", spec.run),
            column("provider", pl.String, "provider"),
            constant("model", "model", spec.model),
            constant("task_set", "task_set", spec.task_set),
            task.alias("task_id"),
            attempt.cast(pl.Int32, strict=False).alias("attempt"),
            question,
            asked.alias("prompt"),
            column("choices", pl.String, "choices"),
            column("target", pl.String, "target"),
            constant(_CLUSTER, _CLUSTER, None),
            column("started_at", pl.Datetime("us"), "time"),
            (
                values.date_text(batch.values[time])
                if time is not None
                else column("run_date", pl.String, "")
            ).alias("run_date"),
            column("duration_seconds", pl.Float64, "latency"),
            column("input_tokens", pl.Int64, "input_tokens"),
            column("output_tokens", pl.Int64, "output_tokens"),
            column("cost_usd", pl.Float64, "cost"),
            column("raw_output", pl.String, "output"),
            column("answer", pl.String, "answer"),
            column("objective_pass", pl.Boolean, "passed"),
        ]
        return {series.name: series for series in made}

    def _wide_scores(self, batch: TableBatch, results: pl.DataFrame) -> pl.DataFrame:
        parts = [_NO_SCORES]
        rows = results["row"]
        for name in self._spec.map.scores:
            value, text = self._score(batch.values[name].gather(rows))
            part = results.select("line", "row", result_id="content_id").with_columns(
                pl.lit("score" if name == CELL else name).alias("metric"),
                value,
                text,
                pl.lit(None, pl.String).alias("extra"),
            )
            parts.append(part.filter(pl.col("value").is_not_null() | pl.col("text").is_not_null()))
        return self._with_ids(pl.concat(parts))

    def _long_scores(self, batch: TableBatch, results: pl.DataFrame) -> pl.DataFrame:
        rows, columns = results["row"], self._spec.map.columns
        value, text = self._score(batch.values[columns["value"]].gather(rows))
        metric = _without_whitespace(values.as_text(batch.values[columns["metric"]].gather(rows)))
        extra = batch.extra.gather(rows).alias("extra")
        scores = results.select("line", "row", result_id="content_id").with_columns(
            metric.alias("metric"), value, text, extra
        )
        is_score = pl.col("metric").is_not_null() & (
            pl.col("value").is_not_null() | pl.col("text").is_not_null()
        )
        return self._with_ids(pl.concat([_NO_SCORES, scores.filter(is_score)]))

    def _score(self, series: pl.Series) -> tuple[pl.Series, pl.Series]:
        value, text = values.score(self._with_points(series, NUMBER))
        text = pl.select(pl.when(text.is_not_null()).then(values.as_text(series))).to_series()
        return value.alias("value"), text.alias("text")

    def _duration(self, series: pl.Series) -> values.Converted:
        return values.duration(series, self._spec.map.latency_unit)

    def _with_points(self, series: pl.Series, kind: str) -> pl.Series:
        is_number = kind in {DURATION, INTEGER, NUMBER}
        has_commas = self._spec.map.decimal_comma and is_number
        return values.decimal_points(series) if has_commas else series

    def _with_ids(self, scores: pl.DataFrame) -> pl.DataFrame:
        said = _as_json(scores, ("result_id", "metric", "value", "text", "extra"))
        return scores.with_columns(self.hashes(said).alias("content_id"))


_NO_SCORES = pl.DataFrame(
    schema={
        "line": pl.Int64,
        "row": pl.Int64,
        "result_id": pl.String,
        "metric": pl.String,
        "value": pl.Float64,
        "text": pl.String,
        "extra": pl.String,
    }
)


def _as_json(frame: pl.DataFrame, columns: tuple[str, ...]) -> pl.Series:
    return frame.select(pl.struct(columns).struct.json_encode()).to_series()


def _without_whitespace(series: pl.Series) -> pl.Series:
    stripped = series.str.strip_chars()
    return stripped.set((stripped == "").fill_null(value=False), None)


def _reasons(
    series: pl.Series, bad: pl.Series, demand: str, named: pl.Series | None = None
) -> dict[int, str]:
    """Return what is wrong with each bad value, by the name of its column, in `named` by row."""
    texts = values.as_text(series)
    return {
        at: f"{series.name if named is None else named[at]} {demand}, not {_excerpt(texts[at])}"
        for at in bad.arg_true().to_list()
    }


def _excerpt(text: str) -> str:
    return repr(text if len(text) <= _LONGEST_EXCERPT else f"{text[:_LONGEST_EXCERPT]}…")


def _reject(batch: TableBatch, at: int, reason: str) -> Reject:
    row = {name: values.as_text(batch.values[name])[at] for name in batch.values.columns}
    row["extra"] = batch.extra[at]
    return Reject(reason, int(batch.lines[at]), raw=json_text(row).encode())
