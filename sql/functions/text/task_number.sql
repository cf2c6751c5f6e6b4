-- The number that stands for a task of a task set in joins.
CREATE OR REPLACE MACRO task_number(suite, task_set, task_id) AS
    hash(text_hash(suite), text_hash(task_set), text_hash(task_id))
