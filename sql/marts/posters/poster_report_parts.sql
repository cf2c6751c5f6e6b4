-- The figures of poster_report over the gold and over the silver posters, of runs that have both.
-- grain: run × model × part
-- first: model, part, app_quality_score, posters, app_core_score, run_id
-- inherits: scores.poster_figures
-- part: gold or silver
SELECT *
FROM scores.poster_figures
ANTI JOIN scores.replayed_models USING (suite, run_id, model)
WHERE part <> 'all'
ORDER BY run_id, part, app_quality_mean DESC NULLS LAST, model
