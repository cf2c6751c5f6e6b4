-- What keeps a pass rate from being read like others, in words: where verdicts are missing, what it is of and
-- what it can be; how many calls got no answer, which did not pass. NULL where there is neither.
CREATE OR REPLACE MACRO pass_rate_remark(
    pass_rate, n_rated, n_tasks, min_pass_rate, max_pass_rate, n_unanswered, n_results
) AS
    nullif(concat_ws(
        '; ',
        CASE WHEN min_pass_rate IS NOT NULL THEN format(
            if(
                n_rated = n_tasks,
                '{0} of {1} task{5} passed by {6} judged attempts',
                '{0} of {1} judged passed, {2} task{5}'
            )
            || '; {3:.1f} % if the missing verdicts are failures, {4:.1f} % if passes; '
            || 'the interval is of the judged',
            if(
                abs(pass_rate * n_rated - round(pass_rate * n_rated)) < 1e-9,
                CAST(CAST(round(pass_rate * n_rated) AS BIGINT) AS VARCHAR),
                format('{:.1f} %', 100 * pass_rate)
            ),
            n_rated,
            n_tasks,
            100 * min_pass_rate,
            100 * max_pass_rate,
            if(n_tasks = 1, '', 's'),
            if(n_tasks = 1, 'its', 'their')
        ) END,
        CASE WHEN pass_rate IS NOT NULL AND n_unanswered > 0 THEN format(
            'no answer to {0} of {1} call{2}: not passed',
            n_unanswered,
            n_results,
            if(n_results = 1, '', 's')
        ) END
    ), '')
