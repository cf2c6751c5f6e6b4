"""The figures of a judge: how often it is right in both orders, and agrees with itself."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from ingest.format import small_file
from ingest.formats.common.fields import amount, text_of
from ingest.formats.common.reported import figures_reading
from ingest.formats.llmbar.pairs import SUITE, evaluation_at
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.formats.llmbar.pairs import Evaluation
    from ingest.reading import ImportContext, Reading, SourceFile
    from warehouse.core.types import JsonObject, ReportedMetricRow

_PERCENT = re.compile(r"(?:\d+ / (\d+) = )?(\d+(?:\.\d+)?)%$")
_KAPPAS = {"kappa_False", "kappa_True", "kappa_average"}
_OF_VOTES = "figures of votes are not recomputed here: docs/formats/llmbar.md has a query"
_OWN_CODING = "depends on how the tool codes labels and verdicts that were not parsed"


def _parse(file: SourceFile, _: ImportContext) -> Reading:
    evaluation = evaluation_at(file.path)
    run, figures = (SUITE, evaluation.run_id), partial(_figures, evaluation)
    return figures_reading("LLMBar statistics", file, run, figures, evaluation.task_set)


read_statistics = small_file(_parse)


def _figures(evaluation: Evaluation, document: JsonObject) -> Iterator[ReportedMetricRow]:
    for name, figure in document.items():
        percent = _PERCENT.match(text_of(figure) or "")
        value, text = amount(figure)
        yield {
            "model": evaluation.judge,
            "scorer": evaluation.rater,
            "metric": utf8(name),
            "value": float(percent[2]) if percent else value,
            "text": text,
            "n": int(percent[1]) if percent and percent[1] else None,
            "reason": _OWN_CODING if name in _KAPPAS else _OF_VOTES,
            "extra": json_text({"unit": "percent"}) if percent else None,
        }
