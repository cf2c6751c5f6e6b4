"""The suite `posters-truth`: a model writes the ground truth of tour posters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runners.providers.base import Reply
from runners.suites.posters.base import PosterSuite, call_metadata
from runners.suites.posters.dataset import SUITE as POSTERS
from warehouse.core.hashing import content_hash
from warehouse.lake.journal.journal import Entry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runners.engine.engine import CallOutcome
    from runners.plan import Cell, Plan
    from warehouse.core.types import AnnotationRow, ResultRow

_SUMMARY = """
SELECT provider, model, settings, count(*) AS n_posters, count(*) FILTER (NOT success) AS n_failed,
    sum(json_array_length(parsed_output, '$.events')) AS n_events, exact_sum(cost_usd) AS cost_usd
FROM results
WHERE suite = $suite AND run_id = $run_id
GROUP BY ALL ORDER BY ALL
"""


class Truth(PosterSuite):
    """Has a model write ground truth, which is always silver."""

    family = f"{POSTERS}-truth"
    prompt = "ground_truth"
    summary = _SUMMARY
    answer = ()
    view = "results"

    def entries(
        self, plan: Plan, cell: Cell, outcome: CallOutcome, result: ResultRow, /
    ) -> Iterator[Entry]:
        """Yield the record as an annotation, with what the call recorded."""
        if not isinstance(outcome.result, Reply):
            return
        row: AnnotationRow = {
            "content_id": content_hash("annotation", result["content_id"]),
            "suite": POSTERS,
            "task_set": plan.task_set,
            "task_id": cell.task.task_id,
            "annotator": cell.model.name,
            "kind": "model",
            "label": "silver",
            "document": result["parsed_output"],
            "annotated_at": outcome.ended_at,
            "cost_usd": result["cost_usd"],
            "meta": call_metadata(cell, outcome),
            "raw_output": result["raw_output"],
            "source": result["source"],
        }
        yield Entry("annotations", row)


SUITE = Truth()
