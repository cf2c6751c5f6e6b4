-- How sure a model's mean scores are: bootstrap intervals, equal to the original program's.
-- grain: posters run × model × part
-- materialised
-- suite: posters
-- key: suite, run_id, model, part
-- inputs: poster_score_lists
WITH computed AS (
    SELECT
        suite,
        run_id,
        model,
        part,
        bootstrap_interval(quality) AS quality_interval,
        bootstrap_interval(core) AS core_interval,
        population_std(quality) AS quality_std,
        population_std(core) AS core_std
    FROM inputs
)

SELECT
    suite,
    run_id,
    model,
    part,
    quality_interval.low AS quality_low,
    quality_interval.high AS quality_high,
    quality_std,
    core_interval.low AS core_low,
    core_interval.high AS core_high,
    core_std
FROM computed
