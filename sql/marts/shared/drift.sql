-- Whether a model has changed over time without a change of its name or settings: where a break
-- between its runs of a task set fits best, by the pass rate, the length of its answers, its
-- latency and its price; how large the change is, and how strong the evidence. Each task is compared
-- with itself, in the same text and with the same template, so that a run may ask others than the run
-- before, and adaptive runs count: an answer to a task says the same, however the task was chosen.
-- Answers count as in the leaderboard; those of runs without a date do not, nor those of runs
-- that only repeat failures: five tasks or more, all of which failed in the fullest run before, which
-- a choice at random would do with p < 0.001, since some pass by chance.
-- grain: suite × task set × metric × provider × model × settings, with two runs or more
-- first: metric, model, settings, is_drift, change, p_holm, after_run_id, n_runs, n_tasks
-- metric: `passed`; `answer_characters`, `latency_ms` and `cost_usd`, of answered calls: these are
--     compared by their logarithms, so that no answer outweighs the others, and free calls are left out
-- n_runs: runs with a value
-- n_tasks: tasks asked both before and after the break
-- first_date: date of the first run
-- last_date: date of the last run
-- before_run_id: last run before the break
-- after_run_id: first run after it
-- changed_on: date of that run
-- change: after less before, from the tasks asked on both sides, each weighted by n₁n₂ / (n₁ + n₂) for
--     n₁ answers before and n₂ after: points of the pass rate (-0.1: ten points less), relative for
--     the other metrics (0.1: ten percent more)
-- change_low: lower end of the 95 % interval of the change at this break
-- change_high: upper end of the 95 % interval of the change at this break
-- test: the one with the larger p-value of two. `t_of_runs`: a t test over the means of four runs or
--     more, as runs differ from each other anyway, and those of neighbouring nights less, which leaves
--     fewer effective runs; for the latency nothing else. `mantel_haenszel` for the pass rate, with
--     tasks as strata and corrected for continuity (Mantel and Haenszel 1959), and `van_elteren`, its
--     form for ranks (van Elteren 1960): both take the answers to a task as exchangeable over all runs
--     if nothing has changed
-- autocorrelation: of runs next to each other on the same side of the break, corrected for its bias in
--     few runs as far as they differ by more than their answers explain; 0 if it is negative
-- n_breaks: places at which a break was looked for
-- p_value: of the test, times 0.6 n_breaks, since breaks next to each other are nearly the same:
--     simulated, see docs/history.md; NULL if nothing can be tested, as with fewer than four runs
-- p_holm: adjusted for all series of the suite (Holm 1979)
-- is_drift: whether p_holm is below 0.05 and the interval excludes 0; NULL if nothing can be tested
WITH adjusted AS (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY suite
            ORDER BY p_value NULLS LAST, task_set, metric, provider, model, settings
        ) AS place,
        count(p_value) OVER (PARTITION BY suite) AS n_series
    FROM scores.drift_breaks
),

found AS (
    SELECT
        *,
        CASE
            WHEN p_value IS NOT NULL THEN least(1.0, max((n_series - place + 1) * p_value) OVER (
                PARTITION BY suite ORDER BY place
            ))
        END AS p_holm
    FROM adjusted
)

SELECT
    found.suite,
    found.task_set,
    found.metric,
    found.provider,
    found.model,
    found.settings,
    found.n_runs,
    found.n_tasks,
    first.run_date AS first_date,
    last.run_date AS last_date,
    found.before_run_id,
    found.after_run_id,
    after.run_date AS changed_on,
    CASE metric WHEN 'passed' THEN shift ELSE exp(shift) - 1 END AS change,
    CASE metric WHEN 'passed' THEN greatest(-1, shift - margin) ELSE exp(shift - margin) - 1 END
        AS change_low,
    CASE metric WHEN 'passed' THEN least(1, shift + margin) ELSE exp(shift + margin) - 1 END
        AS change_high,
    found.test,
    found.autocorrelation,
    found.n_breaks,
    found.p_value,
    found.p_holm,
    CASE WHEN p_holm IS NOT NULL THEN p_holm < 0.05 AND abs(shift) > margin END AS is_drift
FROM found
JOIN scores.run_times AS first
    ON found.suite = first.suite
    AND found.first_run_id = first.run_id
JOIN scores.run_times AS last
    ON found.suite = last.suite
    AND found.last_run_id = last.run_id
JOIN scores.run_times AS after
    ON found.suite = after.suite
    AND found.after_run_id = after.run_id
ORDER BY
    found.suite, found.p_holm NULLS LAST, found.p_value, found.task_set, found.metric,
    found.provider, found.model, found.settings
