-- What a pass rate with missing verdicts is of, and what it can be, in words; NULL where none is missing.
CREATE OR REPLACE MACRO missing_verdicts_remark(
    pass_rate, n_rated, n_tasks, min_pass_rate, max_pass_rate
) AS
    CASE WHEN min_pass_rate IS NOT NULL THEN format(
        if(
            n_rated = n_tasks,
            '{0} of {1} tasks passed by their judged attempts',
            '{0} of {1} judged passed, {2} tasks'
        )
        || '; {3:.1f} % if the missing verdicts are failures, {4:.1f} % if passes; the interval is of the judged',
        if(
            abs(pass_rate * n_rated - round(pass_rate * n_rated)) < 1e-9,
            CAST(CAST(round(pass_rate * n_rated) AS BIGINT) AS VARCHAR),
            format('{:.1f} %', 100 * pass_rate)
        ),
        n_rated,
        n_tasks,
        100 * min_pass_rate,
        100 * max_pass_rate
    ) END
