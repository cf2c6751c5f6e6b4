-- A figure rounded as reports round it: half to even on the binary value, as Python does.
-- DuckDB's own round() multiplies first, and so takes 2.675 (which is a little less) to 2.68.
CREATE OR REPLACE MACRO rounded(figure, digits) AS
    CAST(format('{:.' || digits || 'f}', CAST(figure AS DOUBLE)) AS DOUBLE)
