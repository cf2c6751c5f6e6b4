-- Bootstrap intervals of a model's mean scores, equal to the original program's from two posters on.
-- grain: posters run × model × part
-- materialised
-- suite: posters
-- key: suite, run_id, model, part
-- inputs: poster_score_lists
-- quality_low: lower end of the 95 % interval of the mean app quality; like the other ends NULL for
--     a single poster, for which the original has an interval without width
-- quality_high: upper end of the 95 % interval of the mean app quality
-- quality_std: standard deviation of the app quality, as of a population
-- core_low: lower end of the 95 % interval of the mean app core
-- core_high: upper end of the 95 % interval of the mean app core
-- core_std: standard deviation of the app core, as of a population
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
