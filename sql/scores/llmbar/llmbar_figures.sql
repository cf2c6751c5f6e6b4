-- The statistics of LLMBar's judges as their votes give them: shares in percent, and how far both orders agree.
-- grain: run
-- inherits: scores.vote_figures
WITH pairs AS (
    SELECT
        run_id,
        max(outcome) FILTER (rater_kind = 'gold') AS gold,
        max(outcome) FILTER (first_shown = 'a') AS forward,
        max(outcome) FILTER (first_shown = 'b') AS backward
    FROM lake.preferences
    WHERE suite = 'llmbar'
    GROUP BY run_id, pair_id
    HAVING count(*) FILTER (rater_kind = 'judge') > 0
),

counted AS (
    SELECT
        run_id,
        count(*) AS n,
        count(*) FILTER (forward = gold) AS n_forward,
        count(*) FILTER (backward = gold) AS n_backward,
        count(*) FILTER (forward = gold AND backward = gold) AS n_both,
        count(*) FILTER (forward IS NOT DISTINCT FROM backward) AS n_alike,
        (
            count(*) FILTER (forward = 'a') * count(*) FILTER (backward = 'a')
            + count(*) FILTER (forward = 'b') * count(*) FILTER (backward = 'b')
        ) / n AS n_by_chance,
        count(forward) = n AND count(backward) = n AS are_parsed
    FROM pairs
    GROUP BY run_id
)

SELECT
    'llmbar' AS suite, run_id, NULL AS model, n,
    MAP {
        'correct_False': 100 * n_forward / n,
        'correct_True': 100 * n_backward / n,
        'correct_average': 50 * (n_forward + n_backward) / n,
        'correct_both': 100 * n_both / n,
        'equal': 100 * n_alike / n,
        'kappa_agreement':
            CASE WHEN are_parsed THEN (n_alike - n_by_chance) / nullif(n - n_by_chance, 0) END
    } AS figures,
    'some verdicts were not parsed, or all are the same' AS reason
FROM counted
