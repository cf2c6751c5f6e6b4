"""The figures of a judge: how often it is right in both orders, and agrees with itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ingest.formats.common.documents import object_in
from ingest.formats.common.fields import text_of
from ingest.formats.common.judged_files import Figure, figures_reader
from ingest.formats.llmbar.pairs import SUITE, evaluation_at
from warehouse.core.formats.json_text import json_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.reading import SourceFile
    from warehouse.core.types import ReportedMetricRow

_PERCENT = re.compile(r"(?:\d+ / (\d+) = )?(\d+(?:\.\d+)?)%$")
_KAPPAS = {"kappa_False", "kappa_True", "kappa_average"}
_OWN_CODING = "depends on how the tool codes labels and verdicts that were not parsed"


def _figures(file: SourceFile) -> Iterator[Figure]:
    evaluation = evaluation_at(file.path)
    for name, figure in object_in(file).items():
        percent = _PERCENT.match(text_of(figure) or "")
        columns: ReportedMetricRow = {
            "model": evaluation.judge,
            "scorer": evaluation.rater,
            "task_set": evaluation.task_set,
            "n": int(percent[1]) if percent and percent[1] else None,
            "reason": _OWN_CODING if name in _KAPPAS else None,
            "extra": json_text({"unit": "percent"}) if percent else None,
        }
        value = figure
        if percent:
            value, columns["text"] = float(percent[2]), percent[0]
        yield Figure(evaluation.run_id, name, value, columns)


read_statistics = figures_reader("LLMBar statistics", SUITE, _figures)
