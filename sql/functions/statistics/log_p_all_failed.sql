-- Logarithm of the probability that so many tasks, chosen at random from those of a run, are all among
-- its failures (the hypergeometric distribution).
CREATE OR REPLACE MACRO log_p_all_failed(n_tasks, n_failed, n_chosen) AS
    lgamma(n_failed + 1) - lgamma(n_failed - n_chosen + 1)
    - lgamma(n_tasks + 1) + lgamma(n_tasks - n_chosen + 1);
