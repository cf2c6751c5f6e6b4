"""Cells of a matrix of models and items: k of n attempts passed, in no known order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.formats.common.fields import Fields, finite_number, whole_number
from ingest.formats.common.judged_files import records_reader

if TYPE_CHECKING:
    from ingest.formats.common.judged_files import JudgedRuns
    from warehouse.core.types import JsonObject, ResultRow, ResultScoreRow

SUITE = "eval-arena"
_METRIC = "pass1"
# Shares may be rounded to two digits.
_ROUNDING = 0.005


def _add(record: JsonObject, line: int, runs: JudgedRuns) -> str | None:
    """Add a cell as one result; it has a verdict only if there was one attempt.

    Of several attempts the share is a score: a verdict would say more or less than the log does.
    """
    fields = Fields(record)
    benchmark, model = fields.text("benchmark_id"), fields.text("model")
    item = fields.plain("example_id")
    if not benchmark or not model or not item:
        return "has no `benchmark_id`, `model` or `example_id`"
    share, n_attempts = finite_number(fields.value(_METRIC)), whole_number(fields.peek("count"))
    if n_attempts is None or n_attempts < 1 or share is None or not 0 <= share <= 1:
        return "`pass1` is not a share from 0 to 1, or `count` not a number of attempts"
    n_passed = round(share * n_attempts)
    if abs(n_passed / n_attempts - share) > _ROUNDING:
        return f"`pass1` {share} is not a share of {n_attempts} attempts"
    if fields.value("correct") not in (None, n_passed):
        return "`correct` is not `pass1` times `count`"
    rows = runs.of(benchmark, benchmark)
    rows.add_task(item, None)
    result_id = rows.rows.id_of("cell", benchmark, model, item, n_passed, n_attempts)
    result: ResultRow = {
        "content_id": result_id,
        "seq": line,
        "model": model,
        "task_set": benchmark,
        "task_id": item,
        "success": True,
        "objective_pass": n_passed == 1 if n_attempts == 1 else None,
        "extra": fields.extra(correct=n_passed),
    }
    rows.rows.add("results", result)
    score: ResultScoreRow = {
        "content_id": rows.rows.id_of("score", result_id),
        "result_id": result_id,
        "metric": _METRIC,
        "value": share,
    }
    rows.rows.add("result_scores", score)
    return None


read_cells = records_reader("eval-arena items", SUITE, _add, is_list=False)
