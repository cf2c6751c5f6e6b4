-- The models of task sets that have so many that all pairs of them are not kept.
-- grain: suite × task set of more than 100 models × provider × model × settings
-- inherits: scores.board_runs
SELECT suite, task_set, series
FROM scores.board_runs
QUALIFY count(*) OVER (PARTITION BY suite, task_set) > 100
