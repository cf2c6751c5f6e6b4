"""The figures of a promptfoo evaluation: of each column of prompt and provider, and of all."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingest.formats.common.fields import Fields, amount, whole_number
from ingest.formats.promptfoo.rows import (
    components_of,
    is_comparison,
    provider_of,
    settings_of,
)
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from ingest.formats.common.collector import RowCollector
    from warehouse.core.types import Json, JsonObject, ReportedMetricRow

_COUNTS = "results.extra.counts"
_USAGE = "results.extra.response.tokenUsage"
# What each figure adds up over the results.
_SUMS = {
    "score": "score",
    "testPassCount": f"{_COUNTS}.passed",
    "testErrorCount": f"{_COUNTS}.error",
    "testFailCount": f"{_COUNTS}.failed",
    "assertPassCount": f"{_COUNTS}.assertions_passed",
    "assertFailCount": f"{_COUNTS}.assertions_failed",
    "totalLatencyMs": "results.e2e_ms",
    "cost": "results.cost_usd",
    "tokenUsage.prompt": "results.input_tokens",
    "tokenUsage.completion": "results.output_tokens",
    "tokenUsage.cached": f"{_USAGE}.cached",
    "tokenUsage.total": f"{_USAGE}.total",
    "successes": f"{_COUNTS}.passed",
    "failures": f"{_COUNTS}.failed",
    "errors": f"{_COUNTS}.error",
}
_REASONS = {
    "durationMs": "the wall time of the evaluation",
    "evaluationDurationMs": "the wall time of the evaluation",
    "incurredCost": "which answers came from the cache decides it",
}
_USAGES = {"tokenUsage", "incurredTokenUsage"}
_DETAILS = "tokenUsage.completionDetails."
# Figures that cover errors, too, in versions without the other figure.
_WITHOUT_ERRORS = {"testFailCount": "testErrorCount", "failures": "errors"}
_TESTS = ("testPassCount", "testFailCount", "testErrorCount")
_STATS = ("successes", "failures", "errors")
# What comparing the answers of all columns changes.
_COMPARED = {"score", *_TESTS[:2], "assertPassCount", "assertFailCount", *_STATS[:2]}


@dataclass(slots=True)
class Column:
    """What the results of a column of prompt and provider say of it.

    Attributes:
        model: id of the provider; the evaluation's prompt names either this or its label.
        settings: as in `results`. The label of a prompt in JSON is written in two ways.
        n_assertions: number of assertions made.
        n_comparisons: those among them that compare the answers of all columns.
    """

    model: str | None
    settings: str | None
    n_assertions: int = 0
    n_comparisons: int = 0

    @classmethod
    def of(cls, row: JsonObject, columns: Collection[int]) -> Column:
        """Return the column of its first result."""
        model, label = provider_of(row.get("provider"))
        return cls(model, settings_of(row.get("prompt"), label, row.get("promptIdx"), columns))

    def add(self, row: JsonObject) -> None:
        """Count the assertions of a result."""
        components = components_of(row)
        self.n_assertions += len(components)
        self.n_comparisons += sum(map(is_comparison, components))

    def is_counted_early(self, metrics: JsonObject) -> bool:
        """Return whether figures are from before the comparisons, as of older versions."""
        numbers = [whole_number(metrics.get(f"assert{way}Count")) for way in ("Pass", "Fail")]
        n_counted = sum(number or 0 for number in numbers)
        return self.n_comparisons > 0 and n_counted == self.n_assertions - self.n_comparisons


def ambiguous_columns(prompts: Json) -> frozenset[int]:
    """Return the indices of prompts that their label and provider do not distinguish."""
    keys = [_key(prompt) for prompt in _objects(prompts)]
    times = Counter(keys)
    return frozenset(index for index, key in enumerate(keys) if times[key] > 1)


def column_names(prompts: Json) -> dict[str, int]:
    """Return the index of each column by its name, as far as names differ.

    Results of version 2 have no index.
    """
    columns = ambiguous_columns(prompts)
    listed = _objects(prompts)
    return {_key(prompt): index for index, prompt in enumerate(listed) if index not in columns}


def name_of_row(row: JsonObject) -> str:
    """Return the name of the column that a result is in: a provider's label comes before its id."""
    model, label = provider_of(row.get("provider"))
    return _name(label or model, row.get("prompt"))


def prompt_figures(
    prompts: Json, seen: Mapping[int, Column], rows: RowCollector, *, is_complete: bool
) -> Iterator[ReportedMetricRow]:
    """Yield the figures of each column.

    Args:
        prompts: as in `results.prompts`, or in the head of a table of version 2.
        seen: each column that has results.
        rows: gives ids.
        is_complete: whether the column of each result is known.
    """
    columns = ambiguous_columns(prompts)
    for index, prompt in enumerate(_objects(prompts)):
        metrics = prompt.get("metrics")
        if isinstance(metrics, dict):
            column = seen.get(index) or Column(
                _model(prompt), settings_of(prompt, None, index, columns)
            )
            n_tests = _sum(metrics, _TESTS)
            is_early = column.is_counted_early(metrics)
            for row in _figures(metrics, n_tests, rows, ("column", index)):
                row |= {"seq": index + 1, "model": column.model, "settings": column.settings}
                if index in columns and index not in seen and not is_complete:
                    row["reason"] = "which results are of this column is not recorded"
                yield _without_comparisons(row) if is_early else row


def stat_figures(
    stats: Json, prompts: Json, seen: Mapping[int, Column], rows: RowCollector
) -> Iterator[ReportedMetricRow]:
    """Yield the figures of a whole evaluation, after those of its prompts."""
    if isinstance(stats, dict):
        listed = _objects(prompts)
        is_early = any(
            column.is_counted_early(Fields(listed[index].get("metrics")).left())
            for index, column in seen.items()
            if 0 <= index < len(listed)
        )
        for row in _figures(stats, _sum(stats, _STATS), rows, ("stats",)):
            row["seq"] = len(listed) + 1
            yield _without_comparisons(row) if is_early else row


def _without_comparisons(row: ReportedMetricRow) -> ReportedMetricRow:
    """Return a figure with the reason why comparisons are not in it, if they change it."""
    if row["metric"] in _COMPARED:
        row["reason"] = "counted before answers were compared with each other"
    return row


def _figures(
    figures: JsonObject, n: int | None, rows: RowCollector, place: tuple[object, ...]
) -> Iterator[ReportedMetricRow]:
    for name, figure in _flat(figures):
        value, text = amount(figure)
        if value is None and text is None:
            continue
        score, reason = _behind(name, figures)
        yield {
            "content_id": rows.id_of("figure", *place, name, value, text),
            "metric": utf8(name),
            "score": score,
            "statistic": None if score is None else "sum",
            "reducer": None if score is None else "none",
            "value": value,
            "text": text,
            "n": None if score is None else n,
            "reason": reason,
        }


def _behind(name: str, figures: JsonObject) -> tuple[str | None, str | None]:
    """Return what a figure adds up, or why nothing that is known."""
    family, _, key = name.partition(".")
    without = _WITHOUT_ERRORS.get(name)
    if without is not None and without not in figures:
        return f"{_COUNTS}.not_passed", None
    if name in _SUMS:
        return _SUMS[name], None
    if family.startswith("namedScore"):
        return _behind_named(family, key, figures)
    if name.startswith(_DETAILS):
        return f"{_USAGE}.{key}", None
    if family in _USAGES:
        return None, "how promptfoo counts these tokens is not in the results"
    return None, _REASONS.get(name, "how promptfoo computes it is not known")


def _behind_named(family: str, key: str, figures: JsonObject) -> tuple[str | None, str | None]:
    counts = figures.get("namedScoresCount")
    if isinstance(counts, dict) and key not in counts:
        return None, "a derived metric: an expression over others"
    if '"' in key or "\\" in key:
        return None, "the name of the metric cannot be looked up"
    if family == "namedScoresCount":
        return f'{_COUNTS}.named."{key}"', None
    if family == "namedScoreWeights":
        return f'results.extra.gradingResult.namedScoreWeights."{key}"', None
    is_weighted = isinstance(figures.get("namedScoreWeights"), dict)
    return f'{_COUNTS}.{"weighted" if is_weighted else "scores"}."{key}"', None


def _flat(figures: JsonObject, prefix: str = "") -> Iterator[tuple[str, Json]]:
    for name, value in figures.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _sum(figures: JsonObject, names: tuple[str, ...]) -> int | None:
    """Return the number of results, from the numbers of those that passed and did not."""
    numbers = [whole_number(figures[name]) for name in names if name in figures]
    found = [number for number in numbers if number is not None]
    return sum(found) if found and len(found) == len(numbers) else None


def _key(prompt: JsonObject) -> str:
    return _name(_model(prompt), prompt)


def _name(provider: str | None, prompt: Json) -> str:
    return f"{provider} {settings_of(prompt, None, None, ())}"


def _model(prompt: JsonObject) -> str | None:
    return provider_of(prompt.get("provider"))[0]


def _objects(prompts: Json) -> list[JsonObject]:
    """Return the prompts; an element that is not an object keeps its place."""
    listed = prompts if isinstance(prompts, list) else []
    return [Fields(prompt).left() for prompt in listed]
