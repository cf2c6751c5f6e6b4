-- Whether a metric is one of those by which models are ranked and compared at first sight. All scores
-- of logs are, apart from what suite_traits says of the suite.
CREATE OR REPLACE MACRO is_headline(metric, headline_metrics, minor_metrics) AS coalesce(
    list_contains(headline_metrics, metric),
    NOT regexp_matches(metric, minor_metrics),
    true
)
