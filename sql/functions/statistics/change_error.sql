-- The standard error of a mean change over tasks, from the differences of all tasks (ascending); where tasks
-- depend on each other, from those of their clusters: `sums` of so many tasks each (`sizes`, else NULL). NULL
-- where all changed alike, or for one cluster.
CREATE OR REPLACE MACRO change_error(differences, change, sums, sizes) AS
    nullif(CASE
        WHEN sizes IS NULL THEN sqrt(ordered_sum(list_transform(
            differences, lambda difference: (difference - change) ** 2
        )) / nullif(len(differences) - 1, 0) / nullif(len(differences), 0))
        ELSE sqrt(list_aggregate(list_transform(
            sums, lambda sum, i: (sum - change * sizes[i]) ** 2
        ), 'fsum') * len(sizes) / nullif(len(sizes) - 1, 0)) / len(differences)
    END, 0)
