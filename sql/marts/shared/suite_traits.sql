-- What is special about a suite's logs and scores: its main metric, its scales, where it declares
-- versions. A trait is NULL where a suite does not have it; a suite without a row has none.
-- grain: suite with a trait
-- suite: suite
-- main_metric: metric by which its models are ranked; NULL for `passed`
-- percent_metrics: scores from 0 to 100
-- headline_metrics: the only scores that are compared at first sight; NULL if there is no such list
-- minor_metrics: pattern of the names of scores that are not compared at first sight
-- declares_versions: whether its task files say which tasks a version of a task set has
-- derives_task_set_hash: whether the hash of the task set that a run names is that of the tasks in its log
-- records_limit: whether a log says to how many tasks the run was limited
-- repeats_calls: whether runs take over calls of other task sets from a cache
-- verdict_is_score: whether the score `passed` of any scorer is the verdict
-- own_audit: what the figures that its logs report are recomputed from, by rules of their own: instances or
--     votes; NULL for the scores of results
-- counts_nan: whether figures in its logs may cover scores that are not numbers
-- prompts_hash: column of runs with the hash of the prompts, where their tasks do not have it
-- judge_scorers: pattern of the names of scorers that ask a model
-- unread_reply: how the explanation of such a score begins where no grade was found in the model's reply
-- component_prefix: what the names of those scores begin with that its other scores and its verdict are made of
-- judge_in_metric: whether the score x_JUDGE_score is what one judge said, and x_score the mean of several
-- hides_models: whether its logs name the sides of a pair, but not the models that gave the answers
-- needs_seed: whether a run cannot be repeated without its temperature and seed
SELECT
    NULL::VARCHAR AS suite,
    NULL::VARCHAR AS main_metric,
    NULL::VARCHAR[] AS percent_metrics,
    NULL::VARCHAR[] AS headline_metrics,
    NULL::VARCHAR AS minor_metrics,
    NULL::BOOLEAN AS declares_versions,
    NULL::BOOLEAN AS derives_task_set_hash,
    NULL::BOOLEAN AS records_limit,
    NULL::BOOLEAN AS repeats_calls,
    NULL::BOOLEAN AS verdict_is_score,
    NULL::VARCHAR AS own_audit,
    NULL::BOOLEAN AS counts_nan,
    NULL::VARCHAR AS prompts_hash,
    NULL::VARCHAR AS judge_scorers,
    NULL::VARCHAR AS unread_reply,
    NULL::VARCHAR AS component_prefix,
    NULL::BOOLEAN AS judge_in_metric,
    NULL::BOOLEAN AS hides_models,
    NULL::BOOLEAN AS needs_seed
WHERE false
