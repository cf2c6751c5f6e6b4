-- How many calls a pass rate counts as not passed because they got no answer, in words; NULL without a
-- pass rate, and where every call was answered.
CREATE OR REPLACE MACRO unanswered_remark(pass_rate, n_unanswered, n_results) AS
    CASE WHEN pass_rate IS NOT NULL AND n_unanswered > 0 THEN format(
        'no answer to {0} of {1} call{2}: not passed',
        n_unanswered,
        n_results,
        if(n_results = 1, '', 's')
    ) END
