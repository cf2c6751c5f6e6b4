"""The suite `posters`: models extract the records of tour posters, to be scored."""

from __future__ import annotations

from runners.suites.posters.base import PosterSuite
from runners.suites.posters.dataset import SUITE as FAMILY

_SUMMARY = """
SELECT model, label, posters, missing_predictions, app_quality_score, app_quality_low AS low,
    app_quality_high AS high, app_core_score, schema_strict_rate, prediction_cost_usd
FROM scores.all_poster_report
WHERE suite = $suite AND run_id = $run_id
ORDER BY app_quality_score DESC NULLS LAST, model
"""


class Predictions(PosterSuite):
    """Has models extract records, which are scored against the available ground truth."""

    family = FAMILY
    prompt = "predict"
    summary = _SUMMARY
    answer = ()
    view = "poster_scores"


SUITE = Predictions()
