"""HELM's statistics: those of an instance are scores of its result, those of a run are figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.formats.common.fields import finite_number, object_of
from warehouse.core.formats.json_text import canonical_json, json_text
from warehouse.core.formats.values import utf8
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warehouse.core.types import Json, JsonObject, ReportedMetricRow, ResultScoreRow

# Scores of 1 and 0 that say whether an answer passed; the first that an instance has does.
_VERDICTS = ("exact_match", "quasi_exact_match")
_COUNT = "num_instances"
# Figures that are computed from sums of other scores.
_RATIOS = {
    "perplexity": ("perplexity", "num_perplexity_tokens"),
    "bits_per_byte": ("bits", "num_bytes"),
    "logprob_per_byte": ("ratio", "num_bytes"),
}
# Figures of the variants of an instance, by what they are computed on, and kinds of perturbations.
_OF_VARIANTS = ("worst", "original")
_KINDS = ("robustness", "fairness")
_BROKEN = "a statistic without a name"


def score_rows(stats: Json, result_id: str) -> Iterator[ResultScoreRow]:
    """Yield the scores of a result, and its verdict as the metric `passed`.

    Raises:
        ValueError: a statistic has no name.
    """
    verdicts: dict[str, float] = {}
    for stat in stats if isinstance(stats, list) else ():
        name, filter_ = _name_of(stat)
        row = _score_row(object_of(stat), name, filter_, result_id)
        value = row.get("value")
        if name in _VERDICTS and value in {0, 1} and not _perturbation(stat):
            verdicts.setdefault(name, value)
        yield row
    verdict = next((verdicts[name] for name in _VERDICTS if name in verdicts), None)
    if verdict is not None:
        passed: ResultScoreRow = {
            "result_id": result_id,
            "metric": "passed",
            "value": verdict,
            "passed": verdict == 1,
        }
        yield {**passed, "content_id": content_hash("score", passed)}


def figure_rows(stats: list[Json], model: str | None) -> list[ReportedMetricRow]:
    """Return the figures of a run.

    Args:
        stats: the elements of `stats.json`.
        model: the run's model.

    Raises:
        ValueError: a statistic has no name.
    """
    sizes = _sizes(stats)
    rows = []
    for seq, stat in enumerate(stats, 1):
        name, filter_ = _name_of(stat)
        row = _figure_row(object_of(stat), name, filter_)
        row |= {"seq": seq, "model": model, "n": sizes.get(row.get("filter"))}
        row["content_id"] = content_hash("figure", row)
        rows.append(row)
    return rows


def _figure_row(stat: JsonObject, name: str, filter_: str | None) -> ReportedMetricRow:
    names = object_of(stat["name"])
    extra = {field: value for field, value in stat.items() if field != "mean"}
    row: ReportedMetricRow = {
        "metric": name,
        "filter": filter_,
        "statistic": "mean",
        "extra": json_text(extra),
        **_value(stat.get("mean")),
    }
    if stat.get("mean") is None:
        row["reason"] = "the log has no value"
    elif (variants := _variants(object_of(names.get("perturbation")))) is not None:
        row |= variants
        row["filter"] = _filter(names.get("split"), names.get("sub_split"), None)
    elif name == _COUNT:
        # Every instance has this score once.
        row |= {"statistic": "count", "score": "num_references"}
    elif name in _RATIOS:
        statistic, per = _RATIOS[name]
        parameters = json_text({"per": per})
        row |= {"statistic": statistic, "score": "logprob", "reducer_parameters": parameters}
    return row


def _variants(perturbation: JsonObject) -> ReportedMetricRow | None:
    """Return of which variants of an instance a figure is made; None if it is of one.

    Those of one perturbation, or of all that concern `robustness` or `fairness`.
    """
    computed_on, name = perturbation.get("computed_on"), perturbation.get("name")
    if computed_on not in _OF_VARIANTS:
        return None
    described = {key: value for key, value in perturbation.items() if key != "computed_on"}
    of = name if name in _KINDS else canonical_json(described)
    return {"reducer": str(computed_on), "reducer_parameters": json_text({"variants": of})}


def _score_row(stat: JsonObject, name: str, filter_: str | None, result_id: str) -> ResultScoreRow:
    count, total = finite_number(stat.get("count")), finite_number(stat.get("sum"))
    mean = total / count if count and total is not None else None
    row: ResultScoreRow = {"result_id": result_id, "metric": name, "filter": filter_}
    if mean is not None:
        row["value"] = mean
        if name in _VERDICTS and mean in {0, 1}:
            row["passed"] = mean == 1
    elif count != 0:
        row["text"] = json_text(stat.get("mean"))
    if count != 1 or mean is None:
        row["extra"] = json_text({k: v for k, v in stat.items() if k != "name"})
    row["content_id"] = content_hash("score", row)
    return row


def _name_of(stat: Json) -> tuple[str, str | None]:
    """Return name and filter of a statistic: where it was computed."""
    name = stat.get("name") if isinstance(stat, dict) else None
    if not isinstance(name, dict) or not isinstance(name.get("name"), str):
        raise ValueError(_BROKEN)  # noqa: TRY004 - of the file, not of an argument
    filter_ = _filter(name.get("split"), name.get("sub_split"), name.get("perturbation"))
    return utf8(str(name["name"])), filter_


def _filter(split: Json, sub_split: Json, perturbation: Json) -> str | None:
    parts = [utf8(str(part)) for part in (split, sub_split) if part is not None]
    if perturbation:
        parts.append(canonical_json(perturbation))
    return " ".join(parts) or None


def _sizes(stats: list[Json]) -> dict[str | None, int]:
    """Return the number of instances by filter: of each split, and of each perturbation in it."""
    found: dict[str | None, int] = {}
    for stat in stats:
        name, filter_ = _name_of(stat)
        mean = finite_number(object_of(stat).get("mean"))
        if name == _COUNT and mean is not None and mean == int(mean):
            found[filter_] = int(mean)
    return found


def _perturbation(stat: Json) -> Json:
    return object_of(object_of(stat).get("name")).get("perturbation")


def _value(value: Json) -> ReportedMetricRow:
    number = finite_number(value)
    if number is not None:
        return {"value": number}
    if value is None:
        return {}
    return {"text": str(value) if isinstance(value, float) else json_text(value)}
