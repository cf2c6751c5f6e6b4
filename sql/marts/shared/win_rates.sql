-- How often each model was preferred to each other one, by each rater: over pairs of answers, both orders of a
-- pair together. A tie counts one half, and so do two orders that prefer different answers.
-- grain: run × task set × rater × criterion × model × opponent
-- inherits: preference_verdicts
-- first: run_id, model, opponent, rater, win_rate, win_rate_low, win_rate_high, n_pairs, n_tasks
-- model: model or system whose rate it is
-- opponent: what it was compared with
-- n_pairs: pairs with a vote
-- n_tasks: tasks of these pairs
-- n_wins: pairs that it won
-- n_losses: pairs that the opponent won
-- n_ties: pairs without a winner, on which the votes agree
-- n_inconsistent: pairs on which the votes do not agree, such as those of the two orders
-- n_without_vote: pairs of which no vote could be read
-- win_rate: mean over the pairs of the mean of their votes for the model, of which a tie in one order and a
--     preference in the other make one quarter or three quarters; NULL without any
-- win_rate_low: lower end of its 95 % interval, by tasks (see clustered_interval); NULL below 6 tasks
-- win_rate_high: upper end of that interval
-- stderr: its standard error, by tasks; where each has one pair, the standard deviation / sqrt(n_pairs);
--     NULL below 2 tasks
WITH sides AS (
    SELECT
        * EXCLUDE (model_a, model_b),
        model_a AS model,
        model_b AS opponent,
        1 - share_b AS share,
        'a' AS side
    FROM preference_verdicts
    UNION ALL BY NAME
    SELECT
        * EXCLUDE (model_a, model_b),
        model_b AS model,
        model_a AS opponent,
        share_b AS share,
        'b' AS side
    FROM preference_verdicts
    WHERE model_a <> model_b
),

tasks AS (
    SELECT
        suite,
        run_id,
        task_set,
        task_id,
        rater,
        rater_kind,
        rater_config,
        criterion,
        model,
        opponent,
        count(share) AS n_pairs,
        coalesce(
            list_aggregate(list(share ORDER BY pair, turn, slot) FILTER (share IS NOT NULL), 'fsum'), 0
        ) AS total,
        count(*) FILTER (outcome = side) AS n_wins,
        count(*) FILTER (outcome IN ('a', 'b') AND outcome <> side) AS n_losses,
        count(*) FILTER (outcome IN ('tie', 'both_bad')) AS n_ties,
        count(*) FILTER (outcome = 'inconsistent') AS n_inconsistent,
        count(*) FILTER (share IS NULL) AS n_without_vote
    FROM sides
    GROUP BY
        suite, run_id, task_set, task_id, rater, rater_kind, rater_config, criterion, model, opponent
),

counted AS (
    SELECT
        suite,
        run_id,
        task_set,
        rater,
        rater_kind,
        rater_config,
        criterion,
        model,
        opponent,
        CAST(sum(n_pairs) AS BIGINT) AS n_pairs,
        count(*) FILTER (n_pairs > 0) AS n_tasks,
        CAST(sum(n_wins) AS BIGINT) AS n_wins,
        CAST(sum(n_losses) AS BIGINT) AS n_losses,
        CAST(sum(n_ties) AS BIGINT) AS n_ties,
        CAST(sum(n_inconsistent) AS BIGINT) AS n_inconsistent,
        CAST(sum(n_without_vote) AS BIGINT) AS n_without_vote,
        list(total ORDER BY task_id) FILTER (n_pairs > 0) AS sums,
        list(n_pairs ORDER BY task_id) FILTER (n_pairs > 0) AS sizes
    FROM tasks
    GROUP BY suite, run_id, task_set, rater, rater_kind, rater_config, criterion, model, opponent
),

averaged AS (
    SELECT
        *,
        list_aggregate(sums, 'fsum') / n_pairs AS win_rate,
        CASE WHEN n_tasks > 0 THEN clustered_interval(sums, sizes) END AS ends
    FROM counted
)

SELECT
    suite,
    run_id,
    task_set,
    rater,
    rater_kind,
    rater_config,
    criterion,
    model,
    opponent,
    n_pairs,
    n_tasks,
    n_wins,
    n_losses,
    n_ties,
    n_inconsistent,
    n_without_vote,
    win_rate,
    ends[1] AS win_rate_low,
    ends[2] AS win_rate_high,
    clustered_error(sums, sizes) AS stderr
FROM averaged
ORDER BY suite, run_id, task_set, criterion, rater, win_rate DESC NULLS LAST, model, opponent
