-- The score of a task from the scores of its attempts, in their order and without NULLs; NULL where
-- the reducer has no value. `c` of `n` attempts score at least 1: at_least_k is 1 if c >= k, else 0;
-- pass_at_k is 1 - C(n - c, k) / C(n, k) and pass^k is C(c, k) / C(n, k), NULL if n < k; mode is the
-- most frequent score, the first of those seen equally often; majority is a score that more than
-- half of the attempts have.
CREATE OR REPLACE MACRO reduced_score(amounts, reducer, k) AS
    CASE reducer
        WHEN 'mean' THEN ordered_mean(amounts)
        WHEN 'median' THEN list_median(amounts)
        WHEN 'max' THEN list_max(amounts)
        WHEN 'mode' THEN list_mode(amounts)
        WHEN 'majority' THEN CASE
            WHEN 2 * len(list_filter(amounts, lambda amount: amount = list_mode(amounts)))
                > len(amounts) THEN list_mode(amounts)
        END
        WHEN 'at_least_k' THEN CASE
            WHEN len(amounts) > 0
                THEN CAST(len(list_filter(amounts, lambda amount: amount >= 1)) >= k AS DOUBLE)
        END
        WHEN 'pass_at_k' THEN CASE
            WHEN len(amounts) >= k THEN 1 - coalesce(list_product(list_transform(
                range(k),
                lambda i: greatest(len(list_filter(amounts, lambda x: x < 1)) - i, 0)
                    / (len(amounts) - i)
            )), 1)
        END
        WHEN 'pass^k' THEN CASE
            WHEN len(amounts) >= k THEN coalesce(list_product(list_transform(
                range(k),
                lambda i: greatest(len(list_filter(amounts, lambda x: x >= 1)) - i, 0)
                    / (len(amounts) - i)
            )), 1)
        END
    END
