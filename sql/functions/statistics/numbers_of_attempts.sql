-- The numbers of attempts for which figures over several attempts are given, up to the most attempts
-- at a task: each up to 10, then round ones, and the most itself.
CREATE OR REPLACE MACRO numbers_of_attempts(most) AS
    list_sort(list_distinct(list_filter(
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 16, 20, 25, 32, 50, 64, 100, 128, 200, 256, 500, 512, 1000]
        || [CAST(most AS INTEGER)],
        lambda number: number <= most
    )))
