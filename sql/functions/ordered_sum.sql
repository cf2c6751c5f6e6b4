-- The sum of a list's numbers from left to right, bit by bit the same everywhere; 0.0 for none.
CREATE OR REPLACE MACRO ordered_sum(amounts) AS
    list_reduce(amounts, lambda total, amount: total + amount, 0.0::DOUBLE)
