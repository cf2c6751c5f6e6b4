-- A number rounded as reports round it: half to even on its binary value, as Python does. DuckDB's
-- own round() multiplies first, so that 2.675 (stored as slightly less) becomes 2.68.
CREATE OR REPLACE MACRO rounded(figure, digits) AS
    CAST(format('{:.' || digits || 'f}', CAST(figure AS DOUBLE)) AS DOUBLE)
