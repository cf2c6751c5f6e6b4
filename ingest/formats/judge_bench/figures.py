"""The figures of judges: correlations with people's ratings, kappas, numbers of valid answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.format import small_file
from ingest.formats.common.fields import amount, object_of
from ingest.formats.common.reported import figures_reading
from ingest.formats.judge_bench.ratings import SUITE
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.reading import ImportContext, Reading, SourceFile
    from warehouse.core.types import Json, JsonObject, ReportedMetricRow

_FOLDER = "results"
_ALPHA = "krippendorff_alpha"
_OF_RATINGS = "figures of ratings are not recomputed here: they follow from the ratings of people"
_NO_ANSWERS = "the repository has no answers of the judges"


def _parse(file: SourceFile, _: ImportContext) -> Reading:
    folders = [utf8(name) for name in file.path.absolute().parts[:-1]]
    kind = folders[-1:] if _FOLDER in folders[-2:-1] else []
    task_set = utf8(file.path.stem)
    run = (SUITE, " ".join(["judges", *kind, task_set]))
    return figures_reading("JUDGE-BENCH figures", file, run, _figures, task_set)


read_figures = small_file(_parse)


def _figures(document: JsonObject) -> Iterator[ReportedMetricRow]:
    for judge, criteria in document.items():
        for criterion, figures in object_of(criteria).items():
            given = object_of(figures)
            texts: JsonObject = {k: each for k, each in given.items() if isinstance(each, str)}
            for name, figure in _leaves(given):
                value, text = amount(figure)
                yield {
                    "model": utf8(judge),
                    "metric": utf8(f"{criterion}.{name}"),
                    "value": value,
                    "text": text,
                    "reason": _OF_RATINGS if name == _ALPHA else _NO_ANSWERS,
                    "extra": json_text(texts) if texts else None,
                }


def _leaves(figures: JsonObject) -> Iterator[tuple[str, Json]]:
    """Yield the figures with their names: those inside an object as `corr_coeff.pearson`."""
    for name, value in figures.items():
        if isinstance(value, dict):
            yield from ((f"{name}.{inner}", leaf) for inner, leaf in _leaves(value))
        elif not isinstance(value, str):
            yield name, value
