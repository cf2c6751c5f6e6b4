"""The scores of posters under the ground truth as it was at a date, next to those of today."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

SUITE = "posters"

# Only posters whose ground truth has changed are scored again.
_SCORES = """
WITH known AS (
    SELECT task_set, task_id, gold, label
    FROM scores.poster_record_versions
    WHERE since < $until
    QUALIFY row_number() OVER (
        PARTITION BY task_set, task_id ORDER BY precedence, batch DESC, content_id
    ) = 1
),

models AS (
    SELECT run_id, unnest(models) AS model
    FROM scores.poster_run_setups
    WHERE $runs IS NULL OR list_contains($runs, run_id)
),

posters AS (
    SELECT
        posters.run_id, models.model, posters.task_id, posters.seq, predictions.prediction,
        posters.gold, posters.label, known.gold AS gold_then, known.label AS label_then,
        known.gold IS NOT NULL AND known.gold IS DISTINCT FROM posters.gold AS is_other
    FROM scores.poster_ground_truth AS posters
    JOIN models USING (run_id)
    ANTI JOIN scores.replayed_models AS replays
        ON posters.run_id = replays.run_id AND models.model = replays.model
    LEFT JOIN known
        ON posters.task_set = known.task_set AND posters.task_id = known.task_id
    LEFT JOIN scores.poster_predictions AS predictions
        ON posters.run_id = predictions.run_id AND models.model = predictions.model
        AND posters.task_id = predictions.task_id
    WHERE posters.status = 'ok' AND posters.exclusion IS NULL
),

again AS (
    SELECT *, poster_score(gold_then, prediction) AS score
    FROM posters
    WHERE is_other
)

SELECT
    posters.run_id, posters.model, posters.task_id, posters.seq,
    posters.label_then, posters.label, posters.is_other AS is_changed,
    CASE
        WHEN posters.is_other THEN again.score.app_quality
        WHEN posters.gold_then IS NOT NULL THEN current.app_quality
    END AS app_quality_then,
    current.app_quality,
    CASE
        WHEN posters.is_other THEN again.score.app_core
        WHEN posters.gold_then IS NOT NULL THEN current.app_core
    END AS app_core_then,
    current.app_core
FROM posters
LEFT JOIN again
    ON posters.run_id = again.run_id AND posters.model = again.model
    AND posters.task_id = again.task_id
LEFT JOIN scores.poster_prediction_scores AS current
    ON posters.run_id = current.run_id AND posters.model = current.model
    AND posters.task_id = current.task_id
"""
POSTERS = f"FROM ({_SCORES}) ORDER BY run_id, model, seq, task_id"
MODELS = f"""
SELECT
    run_id, model,
    count(app_quality_then) AS n_posters_then,
    count(app_quality) AS n_posters,
    count(*) FILTER (is_changed) AS n_changed,
    count(*) FILTER (label_then = 'gold') AS n_gold_then,
    exact_mean(app_quality_then) AS app_quality_then,
    exact_mean(app_quality) AS app_quality,
    exact_mean(app_core_then) AS app_core_then,
    exact_mean(app_core) AS app_core
FROM ({_SCORES})
GROUP BY run_id, model
ORDER BY run_id, model
"""  # noqa: S608 - a constant


def parameters(day: date, runs: Sequence[str]) -> dict[str, object]:
    """Return the parameters of `POSTERS` and `MODELS`.

    Args:
        day: the ground truth at the end of this day, UTC, counts.
        runs: IDs of the only runs that count; empty for all.
    """
    end = datetime.combine(day, time(), UTC) + timedelta(days=1)
    return {"until": end.replace(tzinfo=None), "runs": list(runs) or None}
