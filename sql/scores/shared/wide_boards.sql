-- Task sets of so many models that all pairs of them are not kept.
-- grain: suite × task set of more than 100 models
-- inherits: scores.board_runs
SELECT suite, task_set
FROM scores.board_runs
GROUP BY suite, task_set
HAVING count(*) > 100
