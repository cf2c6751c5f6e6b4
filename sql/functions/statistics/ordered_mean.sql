-- The mean of a list of numbers, added from left to right; NULL for an empty list.
CREATE OR REPLACE MACRO ordered_mean(amounts) AS
    list_reduce(amounts, lambda total, amount: total + amount, 0.0::DOUBLE)
    / nullif(len(amounts), 0)
