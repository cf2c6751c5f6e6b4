-- How many tasks with one attempt each tell as much as tasks with several, if attempts at a task are all
-- alike. This is Kish's effective number (Kish 1965, Survey Sampling, 11.7), rounded down. `attempts` and
-- `squares` are the sums of the tasks' numbers of attempts and of their squares; NULL if there are none.
CREATE OR REPLACE MACRO independent_tasks(attempts, squares) AS
    CAST(floor(attempts ** 2 / nullif(squares, 0) + 1e-9) AS BIGINT)
