-- The probability that at least `hits` of independent events happen, the probabilities of which are in
-- a list: one minus the lower part of their distribution, which is found by adding one event after
-- the other.
CREATE OR REPLACE MACRO poisson_binomial_p(probabilities, hits) AS
    list_sum(list_reduce(
        list_transform(probabilities, lambda p: [1 - p, p]),
        lambda known, event: list_transform(
            range(len(known) + 1),
            lambda n: coalesce(known[n + 1], 0) * event[1] + coalesce(known[n], 0) * event[2]
        ),
        [1.0::DOUBLE]
    )[CAST(hits AS BIGINT) + 1:])
