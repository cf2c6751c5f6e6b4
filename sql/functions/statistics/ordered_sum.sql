-- The sum of a list of numbers, added from left to right, so that it is the same on every machine
-- to the last bit; 0.0 for an empty list.
CREATE OR REPLACE MACRO ordered_sum(amounts) AS
    list_reduce(amounts, lambda total, amount: total + amount, 0.0::DOUBLE)
