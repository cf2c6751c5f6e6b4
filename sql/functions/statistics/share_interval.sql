-- The 95 % interval of a share of cases, where cases of the same task depend on each other, a list of two.
-- It is Wilson's; where a task has several cases, by tasks (see clustered_interval), and NULL below 6 tasks.
-- `sums` are the numbers of cases of each task that count, `sizes` the numbers of all its cases.
CREATE OR REPLACE MACRO share_interval(sums, sizes) AS
    CASE
        WHEN list_max(sizes) > 1 THEN clustered_interval(list_transform(sums, lambda sum: sum::DOUBLE), sizes)
        ELSE [wilson_low(list_sum(sums), len(sizes)), wilson_high(list_sum(sums), len(sizes))]
    END
