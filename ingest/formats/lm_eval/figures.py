"""The figures of a results file as rows of `reported_metrics`, of all versions since 0.3."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from ingest.formats.common.fields import finite_number, object_of
from ingest.formats.lm_eval.aggregations import Aggregation, aggregations, default_aggregation
from ingest.formats.lm_eval.groups import Leaf, is_independent, is_unweighted, leaves_of
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.values import is_integer, utf8
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warehouse.core.types import Json, JsonObject, ReportedMetricRow

_STDERR = "_stderr"
# Fields of a task's results that are not figures.
_OTHER = {"alias", "name", "sample_len", "sample_count", "samples", " "}
# Fields of a row of the oldest form, besides its figures.
_NAMES = {"task_name", "prompt_name", "prompt_id", "dataset_name", "dataset_path", "subset"}
_TEXTS = _NAMES | {"prompt_jinja", "fixed_answer_choice_list", "prompt_original_task"}


@dataclass(slots=True)
class _Entry:
    """The results of a task, or of a group of tasks.

    Attributes:
        name: name of the task or group.
        values: its figures by metric and filter.
        errors: their standard errors.
        extra: what is not a figure.
    """

    name: str
    values: dict[tuple[str, str | None], Json] = field(default_factory=dict)
    errors: dict[tuple[str, str | None], Json] = field(default_factory=dict)
    extra: JsonObject = field(default_factory=dict)


class Figures:
    """Makes the rows of one results file."""

    def __init__(self, document: JsonObject, model: str | None) -> None:
        self._model = model
        self._configs = object_of(document.get("configs"))
        self._n_samples = object_of(document.get("n-samples"))
        self._directions = object_of(document.get("higher_is_better"))
        self._subtasks = object_of(document.get("group_subtasks"))
        self._groups = object_of(document.get("groups"))
        self._results = document.get("results")

    def rows(self) -> list[ReportedMetricRow]:
        """Return a row for each figure, without the key of the run."""
        rows: list[ReportedMetricRow] = []
        entries = list(self._entries())
        by_name = {entry.name: entry for entry in entries}
        for entry in entries:
            for key, value in entry.values.items():
                rows += self._rows_of(entry, key, value, by_name)
        for seq, row in enumerate(rows, 1):
            row["seq"] = seq
            row["content_id"] = content_hash("figure", row)
        return rows

    def _entries(self) -> Iterator[_Entry]:
        if isinstance(self._results, list):
            yield from (_listed(row) for row in self._results if isinstance(row, dict))
            return
        results = object_of(self._results)
        for name, figures in results.items():
            if isinstance(figures, dict):
                yield _entry(name, figures)
        for name, figures in self._groups.items():
            # Groups repeat what is among the results.
            if isinstance(figures, dict) and name not in results:
                yield _entry(name, figures)

    def _rows_of(
        self, entry: _Entry, key: tuple[str, str | None], value: Json, entries: dict[str, _Entry]
    ) -> Iterator[ReportedMetricRow]:
        metric, filter_ = key
        is_group = entry.name in self._groups or bool(self._subtasks.get(entry.name))
        aggregation, of_group = self._aggregation(entry, key, value, entries, is_group=is_group)
        error = entry.errors.get(key)
        extra = dict(entry.extra)
        stderr = finite_number(error)
        is_odd = error is not None and stderr is None
        if is_odd and not isinstance(error, float):
            extra["stderr"] = error
        row: ReportedMetricRow = {
            "model": self._model,
            "metric": metric,
            "filter": filter_,
            "statistic": aggregation.statistic,
            "reason": aggregation.reason,
            "n": self._n(entry.name),
            "higher_is_better": self._is_higher_better(entry.name, metric),
            **of_group,
        }
        if not is_group:
            row["task_set"] = utf8(entry.name)
        first: ReportedMetricRow = {
            **row,
            **_value(value),
            "stderr": stderr,
            "stderr_method": aggregation.stderr_method if stderr is not None else None,
            "extra": json_text(extra) if extra else None,
        }
        yield first
        if is_odd and isinstance(error, float):
            # NaN: the error of a single sample, or of an infinite one.
            yield {**row, "statistic": "stderr", **_value(error)}

    def _aggregation(
        self,
        entry: _Entry,
        key: tuple[str, str | None],
        value: Json,
        entries: dict[str, _Entry],
        *,
        is_group: bool,
    ) -> tuple[Aggregation, ReportedMetricRow]:
        """Return how a figure follows from the scores, and what a group's row has besides."""
        empty = cast("ReportedMetricRow", {})
        if not is_group:
            return self._of_task(entry.name, key[0]), empty
        names = leaves_of(entry.name, self._subtasks)
        leaves = [
            Leaf(
                name,
                finite_number(entries[name].values[key]),
                finite_number(entries[name].errors.get(key)),
                self._n(name),
            )
            for name in names
            if name in entries and key in entries[name].values
        ]
        found = {self._of_task(leaf.task, key[0]) for leaf in leaves}
        of_group: ReportedMetricRow = {"task_group": utf8(entry.name)}
        if len(found) != 1:
            reason = "the tasks of the group are not recorded" if not leaves else None
            return Aggregation(None, reason, None), of_group
        aggregation = found.pop()
        of_group["task_sets"] = [utf8(leaf.task) for leaf in leaves]
        sizes = [leaf.n for leaf in leaves if leaf.n is not None]
        of_group["n"] = sum(sizes) if len(sizes) == len(leaves) else None
        if aggregation.statistic != "mean":
            return Aggregation(None, aggregation.reason, None), of_group
        number = finite_number(value)
        if number is None or not is_unweighted(number, leaves):
            return Aggregation("mean", None, "pooled"), of_group
        error = finite_number(entry.errors.get(key))
        method = "independent" if error is not None and is_independent(error, leaves) else "pooled"
        return Aggregation("macro_mean", None, method), of_group

    def _of_task(self, task: str, metric: str) -> Aggregation:
        return aggregations(self._configs.get(task)).get(metric) or default_aggregation(metric)

    def _n(self, task: str) -> int | None:
        sizes = self._n_samples.get(task)
        effective = sizes.get("effective") if isinstance(sizes, dict) else None
        return effective if is_integer(effective) else None

    def _is_higher_better(self, task: str, metric: str) -> bool | None:
        found = object_of(self._directions.get(task)).get(metric)
        return found if isinstance(found, bool) else None


def _entry(name: str, figures: JsonObject) -> _Entry:
    entry = _Entry(name)
    for field_, value in figures.items():
        if field_ in _OTHER:
            if field_ not in {"alias", "name"}:
                entry.extra[field_] = value
            continue
        metric, comma, filter_ = field_.partition(",")
        key = (utf8(metric.removesuffix(_STDERR)), utf8(filter_) if comma else None)
        (entry.errors if metric.endswith(_STDERR) else entry.values)[key] = value
    _keep_lonely_errors(entry)
    return entry


def _listed(row: JsonObject) -> _Entry:
    """Return an element of the list of the oldest form: a task with a prompt."""
    entry = _Entry(str(row.get("task_name", "")))
    for field_, value in row.items():
        if field_ in _TEXTS or isinstance(value, str):
            if field_ != "task_name":
                entry.extra[field_] = value
        else:
            is_error = field_.endswith(_STDERR)
            key = (utf8(field_.removesuffix(_STDERR)), None)
            (entry.errors if is_error else entry.values)[key] = value
    _keep_lonely_errors(entry)
    return entry


def _keep_lonely_errors(entry: _Entry) -> None:
    """Make a standard error without a figure a figure: its metric only ends like one."""
    for metric, filter_ in [key for key in entry.errors if key not in entry.values]:
        entry.values[metric + _STDERR, filter_] = entry.errors.pop((metric, filter_))


def _value(value: Json) -> ReportedMetricRow:
    """Return a figure as a number, or else as text."""
    number = finite_number(value)
    if number is not None:
        return {"value": number}
    if isinstance(value, str):
        return {"text": utf8(value)}
    return {"text": str(value) if isinstance(value, float) else json_text(value)}
