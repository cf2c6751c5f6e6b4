-- How far people agree by each criterion of JUDGE-BENCH, as the files of judges repeat it: Krippendorff's alpha,
-- nominal of labels, ordinal of numbers.
-- grain: run of judges
-- inherits: scores.vote_figures
-- n: ratings of items with two or more
WITH counted AS (
    SELECT
        task_set, criterion, task_id,
        coalesce(label, CAST(value AS VARCHAR)) AS said,
        any_value(value) AS value,
        count(*) AS n
    FROM lake.ratings
    WHERE suite = 'judge_bench' AND rater_kind = 'human' AND status = 'ok'
    GROUP BY task_set, criterion, task_id, said
    QUALIFY sum(count(*)) OVER (PARTITION BY task_set, criterion, task_id) > 1
),

-- The difference of two numbers is that of the middles of their ranks.
ranked AS (
    SELECT
        *,
        sum(n) OVER (PARTITION BY task_set, criterion, said) AS n_alike,
        sum(n) OVER (PARTITION BY task_set, criterion ORDER BY value) - n_alike / 2 AS middle
    FROM counted
),

items AS (
    SELECT
        task_set, criterion, task_id,
        count(value) = count(*) AS has_numbers,
        sum(n) AS m,
        if(has_numbers, m * sum(n * middle ** 2) - sum(n * middle) ** 2, m ** 2 - sum(n ** 2)) AS spread,
        sum(n * middle) AS total,
        sum(n * middle ** 2) AS squares,
        sum(n * n_alike) AS n_alike
    FROM ranked
    GROUP BY task_set, criterion, task_id
),

alphas AS (
    SELECT
        task_set, criterion, sum(m) AS n,
        1 - ordered_sum(list(spread / (m - 1) ORDER BY task_id)) * (n - 1) / nullif(if(
            bool_and(has_numbers), n * sum(squares) - sum(total) ** 2, n ** 2 - sum(n_alike)
        ), 0) AS alpha
    FROM items
    GROUP BY task_set, criterion
)

SELECT
    'judge_bench' AS suite, judged.run_id, NULL AS model, sum(n) AS n,
    map(list(criterion || '.krippendorff_alpha' ORDER BY criterion), list(alpha ORDER BY criterion))
        AS figures,
    'all ratings are the same' AS reason
FROM alphas
JOIN (SELECT DISTINCT run_id, task_set FROM lake.reported_metrics WHERE suite = 'judge_bench') AS judged
    ON alphas.task_set = judged.task_set
GROUP BY judged.run_id
