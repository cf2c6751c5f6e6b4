-- How often a rater preferred the answer of a task that it was shown first, and how often the other.
-- grain: suite × rater × criterion × task
-- inherits: position_bias
-- unit: task set and task
-- n_both_orders: pairs with a vote in both orders
-- n_consistent: those of them with the same outcome in both
WITH votes AS (
    SELECT
        *,
        -- Two answers may have the same text.
        CASE
            WHEN answer_a = answer_b THEN first_shown
            WHEN first_shown = 'a' THEN answer_a
            ELSE answer_b
        END AS first_answer,
        CASE
            WHEN answer_a = answer_b OR outcome NOT IN ('a', 'b') THEN outcome
            WHEN outcome = 'a' THEN answer_a
            ELSE answer_b
        END AS winner
    FROM preferences
    WHERE first_shown IS NOT NULL AND outcome IS NOT NULL
),

pairs AS (
    SELECT
        answers_suite AS suite,
        task_set,
        task_id,
        rater,
        rater_kind,
        rater_config,
        criterion,
        count(is_for_first) AS n_votes,
        count(*) FILTER (is_for_first) AS n_for_first,
        count(DISTINCT first_answer) = 2 AS has_both,
        count(DISTINCT first_answer) = 2 AND count(DISTINCT winner) = 1 AS is_consistent,
        count(DISTINCT first_answer) = 2 AND count(*) FILTER (is_for_first) = count(*) AS is_first_twice,
        count(DISTINCT first_answer) = 2 AND count(*) FILTER (NOT is_for_first) = count(*)
            AS is_second_twice,
        count(*) FILTER (is_for_first) - count(*) FILTER (NOT is_for_first) AS lead_of_first
    FROM votes
    GROUP BY
        answers_suite, votes.suite, run_id, task_set, task_id, pair, turn, rater, slot, rater_kind, rater_config,
        criterion
)

SELECT
    suite,
    rater,
    rater_kind,
    rater_config,
    criterion,
    concat_ws('/', task_set, task_id) AS unit,
    sum(n_votes) AS n_votes,
    sum(n_for_first) AS n_for_first,
    count(*) FILTER (has_both) AS n_both_orders,
    count(*) FILTER (is_consistent) AS n_consistent,
    count(*) FILTER (is_first_twice) AS n_first_twice,
    count(*) FILTER (is_second_twice) AS n_second_twice,
    count(*) FILTER (has_both AND lead_of_first > 0) AS n_more_first,
    count(*) FILTER (has_both AND lead_of_first < 0) AS n_more_second
FROM pairs
GROUP BY suite, rater, rater_kind, rater_config, criterion, unit
