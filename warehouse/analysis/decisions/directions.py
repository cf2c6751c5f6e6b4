"""Of which scores less is better, as their logs say: error rates, perplexities."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.analysis.decisions.series import CALL_METRICS, VERDICT

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

    from warehouse.analysis.decisions.paired import Panel

_LESSER = """
SELECT suite, task_set, metric
FROM scores.lesser_metrics
SEMI JOIN (SELECT unnest($suite) AS suite, unnest($task_set) AS task_set) USING (suite, task_set)
"""


def set_directions(connection: duckdb.DuckDBPyConnection, panels: Sequence[Panel]) -> None:
    """Set of which panels of scores less is better; of several suites, if all say so.

    Args:
        connection: an open warehouse.
        panels: the panels, whose `less_is_better` is set.
    """
    scores = [panel for panel in panels if panel.metric.metric not in {VERDICT, *CALL_METRICS}]
    if not scores:
        return
    sets = sorted({(one.key.suite, one.key.task_set) for panel in scores for one in panel.series})
    suites, task_sets = zip(*sets, strict=True)
    parameters = {"suite": list(suites), "task_set": list(task_sets)}
    lesser = {*connection.execute(_LESSER, parameters).fetchall()}
    for panel in scores:
        metric = panel.metric.metric
        of_panel = {(one.key.suite, one.key.task_set, metric) for one in panel.series}
        panel.less_is_better = of_panel <= lesser
