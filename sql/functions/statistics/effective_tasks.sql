-- The number of independent trials behind the mean of the tasks' pass rates, for Wilson's interval:
-- at least the number of tasks, at most the number of results. It is n·p(1 - p) / s², with p the
-- mean and s² the variance of the tasks' rates after adding a task that always passes and one that
-- never does, without which tasks that happen to agree would narrow the interval too much. Where
-- each task was asked once it is the number of tasks. `rates` and `squares` are the sums of the
-- tasks' rates and of their squares. Scores from 0 to 1, which no trials are behind, have infinite
-- `results`. The same interval then covers the true mean in 95 to 98 % of cases, where Student's t
-- does in 78 to 95 % (`docs/scores.md`).
CREATE OR REPLACE MACRO effective_tasks(tasks, results, rates, squares) AS
    greatest(tasks, least(
        results,
        tasks * ((rates + 1) / (tasks + 2)) * (1 - (rates + 1) / (tasks + 2))
        / ((squares + 1) / (tasks + 2) - ((rates + 1) / (tasks + 2)) ** 2)
    ))
