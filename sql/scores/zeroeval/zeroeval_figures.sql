-- The figures of ZeroEval's boards as answers give them, in percent to two digits. Boards renamed some models.
-- grain: board × model
-- inherits: scores.vote_figures
WITH renamed (model, board_model) AS (
    VALUES
    ('gemma-2-9b-it@nvidia', 'gemma-2-9b-it'),
    ('deepseek-chat', 'deepseek-v2-chat-0628'),
    ('Llama-3.1-405B-Instruct-Turbo', 'Llama-3.1-405B-Inst-fp8@together')
),

counted AS (
    SELECT
        results.run_id, coalesce(renamed.board_model, results.model) AS model,
        count(DISTINCT results.task_id) AS n,
        count(*) AS n_answers,
        count(*) FILTER (verdicts.is_correct) AS n_correct,
        count(*) FILTER (results.answer IS NULL) AS n_none,
        count(verdicts.is_correct) AS n_judged
    FROM lake.results AS results
    JOIN scores.zeroeval_verdicts AS verdicts USING (suite, run_id, content_id)
    LEFT JOIN renamed ON results.model = renamed.model
    GROUP BY ALL
)

SELECT
    'zeroeval' AS suite, run_id, model, n,
    MAP {
        'Acc': CASE WHEN n_judged = n_answers AND n_answers = n
            THEN CAST(format('{:.2f}', 100 * n_correct / n_answers) AS DOUBLE) END,
        'No answer': CASE WHEN n_answers = n
            THEN CAST(format('{:.2f}', 100 * n_none / n_answers) AS DOUBLE) END
    } AS figures,
    'some answers have no verdict, or an item has several' AS reason
FROM counted
