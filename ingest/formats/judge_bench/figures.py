"""The figures of judges: correlations with people's ratings, kappas, numbers of valid answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.formats.common.documents import object_in
from ingest.formats.common.fields import object_of
from ingest.formats.common.judged_files import Figure, figures_reader
from ingest.formats.judge_bench.ratings import SUITE
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.reading import SourceFile
    from warehouse.core.types import Json, JsonObject, ReportedMetricRow

_FOLDER = "results"
_ALPHA = "krippendorff_alpha"
_NO_ANSWERS = "the repository has no answers of the judges"


def _figures(file: SourceFile) -> Iterator[Figure]:
    folders = [utf8(name) for name in file.path.absolute().parts[:-1]]
    kind = folders[-1:] if _FOLDER in folders[-2:-1] else []
    task_set = utf8(file.path.stem)
    run_id = " ".join(["judges", *kind, task_set])
    for judge, criteria in object_in(file).items():
        for criterion, figures in object_of(criteria).items():
            given = object_of(figures)
            texts: JsonObject = {k: each for k, each in given.items() if isinstance(each, str)}
            for name, figure in _leaves(given):
                columns: ReportedMetricRow = {
                    "model": utf8(judge),
                    "task_set": task_set,
                    "reason": None if name == _ALPHA else _NO_ANSWERS,
                    "extra": json_text(texts) if texts else None,
                }
                yield Figure(run_id, f"{criterion}.{name}", figure, columns)


def _leaves(figures: JsonObject) -> Iterator[tuple[str, Json]]:
    """Yield the figures with their names: those inside an object as `corr_coeff.pearson`."""
    for name, value in figures.items():
        if isinstance(value, dict):
            yield from ((f"{name}.{inner}", leaf) for inner, leaf in _leaves(value))
        elif not isinstance(value, str):
            yield name, value


read_figures = figures_reader("JUDGE-BENCH figures", SUITE, _figures)
