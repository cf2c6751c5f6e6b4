-- Whether raters prefer the answer that they are shown first. Only pairs that a rater judged in both orders
-- tell this from the quality of the answers.
-- grain: suite × rater × criterion
-- inherits: preferences
-- first: suite, rater, criterion, n_both_orders, consistent_rate, n_first_twice, n_second_twice, p_value
-- suite: suite of the answers
-- n_votes: votes whose order of presentation is recorded, with a winner
-- n_for_first: those of them for the answer that was shown first
-- n_both_orders: pairs with a vote in both orders
-- n_consistent: those of them with the same outcome in both
-- n_first_twice: pairs of which the answer that was shown first won in both orders
-- n_second_twice: pairs of which the answer that was shown second won in both orders
-- n_more_first: pairs of which the first won more often than the second; the other vote may be a tie
-- n_more_second: pairs of which the second won more often than the first
-- n_tasks_more_first: tasks with more pairs of n_more_first than of n_more_second
-- n_tasks_more_second: tasks with fewer
-- consistent_rate: share of the pairs in both orders with the same outcome; NULL without any
-- consistent_rate_low: lower end of its 95 % interval: see share_interval
-- consistent_rate_high: upper end of that interval
-- p_value: of the exact sign test over tasks that neither place is preferred: if so, n_tasks_more_first and
--     n_tasks_more_second differ by chance, whichever answers are better; NULL without a pair in both orders. It
--     is not adjusted for the number of raters.
WITH counted AS (
    SELECT
        suite,
        rater,
        rater_kind,
        rater_config,
        criterion,
        CAST(sum(n_votes) AS BIGINT) AS n_votes,
        CAST(sum(n_for_first) AS BIGINT) AS n_for_first,
        CAST(sum(n_both_orders) AS BIGINT) AS n_both_orders,
        CAST(sum(n_consistent) AS BIGINT) AS n_consistent,
        CAST(sum(n_first_twice) AS BIGINT) AS n_first_twice,
        CAST(sum(n_second_twice) AS BIGINT) AS n_second_twice,
        CAST(sum(n_more_first) AS BIGINT) AS n_more_first,
        CAST(sum(n_more_second) AS BIGINT) AS n_more_second,
        count(*) FILTER (tasks.n_more_first > tasks.n_more_second) AS n_tasks_more_first,
        count(*) FILTER (tasks.n_more_first < tasks.n_more_second) AS n_tasks_more_second,
        share_interval(
            list(tasks.n_consistent ORDER BY unit) FILTER (tasks.n_both_orders > 0),
            list(tasks.n_both_orders ORDER BY unit) FILTER (tasks.n_both_orders > 0)
        ) AS ends
    FROM scores.place_votes AS tasks
    GROUP BY suite, rater, rater_kind, rater_config, criterion
)

SELECT
    suite,
    rater,
    rater_kind,
    rater_config,
    criterion,
    n_votes,
    n_for_first,
    n_both_orders,
    n_consistent,
    n_first_twice,
    n_second_twice,
    n_more_first,
    n_more_second,
    n_tasks_more_first,
    n_tasks_more_second,
    n_consistent / nullif(n_both_orders, 0) AS consistent_rate,
    ends[1] AS consistent_rate_low,
    ends[2] AS consistent_rate_high,
    CASE WHEN n_both_orders > 0 THEN mcnemar_p(n_tasks_more_first, n_tasks_more_second) END AS p_value
FROM counted
ORDER BY suite, criterion, rater
