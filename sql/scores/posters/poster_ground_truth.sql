-- The posters of each run's dataset, with their current ground truth.
-- grain: posters run × poster
-- inherits: lake.tasks, scores.poster_records
-- seq: position of the poster in the manifest, from 1
-- exclusion: why the poster is not scored, by the newest version of the dataset
-- gold: text of the record; NULL if there is none, or none that is an object
-- ground_truth_cost_usd: cost of the model's record, US dollars
WITH exclusions AS (
    SELECT task_set, task_id, exclusion
    FROM lake.tasks
    WHERE suite = 'posters'
    QUALIFY row_number() OVER (
        PARTITION BY task_set, task_id ORDER BY batch DESC, content_id
    ) = 1
),

-- The ground truth's cost is that of the model's record, whichever record is current.
costs AS (
    SELECT task_set, task_id, cost_usd
    FROM lake.annotations
    WHERE suite = 'posters' AND kind IN ('declared', 'model')
    QUALIFY row_number() OVER (
        PARTITION BY task_set, task_id ORDER BY batch DESC, content_id
    ) = 1
)

SELECT
    runs.suite,
    runs.run_id,
    tasks.task_set,
    tasks.task_id,
    tasks.seq,
    tasks.status,
    exclusions.exclusion,
    records.gold,
    records.label,
    records.label_basis,
    costs.cost_usd AS ground_truth_cost_usd
FROM scores.poster_run_setups AS runs
JOIN lake.tasks AS tasks
    ON runs.task_set = tasks.task_set AND runs.task_set_hash = tasks.task_set_hash
JOIN exclusions ON tasks.task_set = exclusions.task_set AND tasks.task_id = exclusions.task_id
LEFT JOIN scores.poster_records AS records
    ON tasks.task_set = records.task_set AND tasks.task_id = records.task_id
LEFT JOIN costs ON tasks.task_set = costs.task_set AND tasks.task_id = costs.task_id
WHERE tasks.suite = 'posters'
QUALIFY row_number() OVER (
    PARTITION BY runs.run_id, tasks.task_id ORDER BY tasks.batch DESC, tasks.content_id
) = 1
