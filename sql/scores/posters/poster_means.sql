-- The mean quality of each model in each poster run: of poster_report what leaderboards show, without
-- the rest, whose planning takes longer than theirs.
-- grain: run × model with scored posters; replays are left out
-- inherits: poster_report
-- posters: scored posters
WITH replays AS (
    SELECT run_id, model
    FROM scores.replayed_models
    WHERE suite = 'posters'
)

SELECT
    scored.suite,
    scored.run_id,
    scored.model,
    ordered_mean(list(scored.app_quality ORDER BY scored.seq, scored.task_id)) AS app_quality_mean,
    count(*) AS posters
FROM scores.poster_prediction_scores AS scored
ANTI JOIN replays
    ON scored.run_id = replays.run_id
    AND scored.model = replays.model
GROUP BY scored.suite, scored.run_id, scored.model
