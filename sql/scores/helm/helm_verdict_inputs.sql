-- The inputs of helm_verdicts: the score `passed` of each result, and what else its run is scored by.
-- grain: HELM result with the score `passed`
-- inherits: lake.result_scores
-- value: the score `passed`: `exact_match`, else `quasi_exact_match`
-- is_disputed: whether the two differ for any result of the run
-- other_metric: a score of any result of the run that also says how good an answer is; NULL if
--     there is none
WITH scored AS (
    SELECT
        suite,
        run_id,
        result_id AS content_id,
        -- Equal in files that repeat each other; where they contradict each other, nothing follows.
        CASE WHEN count(DISTINCT value) FILTER (metric = 'passed') = 1
            THEN max(value) FILTER (metric = 'passed') END AS value,
        max(value) FILTER (metric = 'exact_match') AS exact,
        max(value) FILTER (metric = 'quasi_exact_match') AS quasi_exact,
        min(metric) FILTER (
            value IS NOT NULL AND metric <> 'passed' AND is_headline(metric, traits.headline_metrics, traits.minor_metrics)
            AND NOT regexp_matches(metric, '^(quasi_)?(prefix_)?exact_match(@\d+)?$|toxic')
        ) AS other_metric
    FROM lake.result_scores
    JOIN suite_traits AS traits USING (suite)
    -- Scores of perturbed instances have the perturbation in their filter.
    WHERE suite = 'helm' AND NOT contains(coalesce(filter, ''), '{')
    GROUP BY suite, run_id, result_id
),

judged AS (
    SELECT
        suite,
        run_id,
        content_id,
        value,
        bool_or(coalesce(exact <> quasi_exact, false)) OVER of_run AS is_disputed,
        min(other_metric) OVER of_run AS other_metric
    FROM scored
    WINDOW of_run AS (PARTITION BY suite, run_id)
)

SELECT
    suite,
    run_id,
    content_id,
    value,
    is_disputed,
    other_metric
FROM judged
WHERE value IS NOT NULL
