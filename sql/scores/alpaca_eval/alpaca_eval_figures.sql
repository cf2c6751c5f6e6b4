-- The figures of AlpacaEval's boards as the votes of a run give them: rates in percent, lengths in characters.
-- grain: run
-- inherits: scores.vote_figures
WITH votes AS (
    SELECT
        votes.run_id,
        votes.outcome,
        coalesce(
            votes.weight_b, CASE votes.outcome WHEN 'a' THEN 0.0 WHEN 'tie' THEN 0.5 WHEN 'b' THEN 1.0 END
        ) AS share,
        length(answers.raw_output) AS n_characters,
        votes.content_id
    FROM lake.preferences AS votes
    LEFT JOIN lake.results AS answers
        ON votes.suite = answers.suite
        AND votes.run_id = answers.run_id
        AND votes.result_b = answers.content_id
    WHERE votes.suite = 'alpaca_eval'
),

counted AS (
    SELECT
        run_id,
        list(share ORDER BY content_id) FILTER (share IS NOT NULL) AS shares,
        count(share) AS n,
        count(*) FILTER (share > 0.5) AS n_wins,
        count(*) FILTER (share < 0.5) AS n_losses,
        count(*) FILTER (outcome = 'b') + count(*) FILTER (outcome = 'tie') / 2 AS n_won,
        CASE WHEN count(n_characters) = count(*) THEN sum(n_characters) // count(*) END AS avg_length
    FROM votes
    GROUP BY run_id
)

SELECT
    'alpaca_eval' AS suite, run_id, NULL AS model, n,
    MAP {
        'win_rate': 100 * ordered_mean(shares),
        'standard_error': 100 * list_aggregate(shares, 'stddev_samp') / sqrt(n),
        'n_wins': n_wins,
        'n_wins_base': n_losses,
        'n_draws': n - n_wins - n_losses,
        'n_total': n,
        'discrete_win_rate': 100 * n_won / n,
        'avg_length': avg_length
    } AS figures,
    'the texts of some answers are not in the store, or too few votes' AS reason
FROM counted
