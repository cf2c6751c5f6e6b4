-- An end of an interval in a JSON object, 0 for the lower and 1 for the upper; NULL if it does not
-- have two.
CREATE OR REPLACE MACRO interval_end(document, name, place) AS
    CASE WHEN json_array_length(document, '$.' || name) = 2
        THEN json_extract(document, '$.' || name || '[' || place || ']') END
