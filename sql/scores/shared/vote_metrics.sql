-- What votes say of the models on the boards of a suite: one log score for all runs, settings and task sets of a
-- model, which its run on each board of a task set with votes shows.
-- grain: run × provider × model × settings × task set × scorer × metric
-- inherits: scores.headline_scores, metrics
-- scorer: whose votes: people, or a judge
-- metric: the criterion, followed by "(votes, log score)"
-- n_tasks: tasks of the votes on the model
-- n_results: votes on the model
-- mean: the log score; the difference of two is the logit of one model being preferred to the other
-- remark: of how many models 0 is the mean, and of which votes; or why there is no score
SELECT
    board.entry,
    votes.scorer,
    votes.criterion || ' (votes, log score)' AS metric,
    NULL AS filter,
    if(votes.mean IS NULL, 0, votes.n_tasks) AS n_tasks,
    if(votes.mean IS NULL, 0, votes.n_results) AS n_results,
    votes.mean,
    NULL AS n_clusters,
    votes.mean_low,
    votes.mean_high,
    concat_ws(
        '; ',
        votes.remark,
        CASE WHEN len(votes.task_sets) > 1 THEN len(votes.task_sets) || ' task sets together' END,
        CASE WHEN count(*) OVER of_model > 1 THEN 'all entries of the model together' END
    ) AS remark
FROM scores.vote_scores AS votes
JOIN scores.board_runs AS board
    ON votes.suite = board.suite
    AND votes.model = board.model
    AND list_contains(votes.task_sets, board.task_set)
WINDOW of_model AS (PARTITION BY votes.suite, votes.criterion, votes.scorer, votes.model, board.task_set)
