-- The perturbed copies of instances in HELM's logs.
-- grain: suite × task set × task
-- inherits: lake.tasks
SELECT DISTINCT suite, task_set, task_id
FROM lake.tasks
WHERE suite = 'helm' AND json_type(extra, '$.instance.perturbation') = 'OBJECT'
