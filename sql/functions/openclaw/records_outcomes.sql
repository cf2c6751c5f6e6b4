-- Whether the logs of a suite record the outcome of each call. There, a missing outcome is unknown;
-- the logs of other suites hold answered calls only.
CREATE OR REPLACE MACRO records_outcomes(suite) AS suite = 'openclaw'
