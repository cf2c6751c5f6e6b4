-- A finite number in a JSON object, also where it is written as text; NULL for anything else.
CREATE OR REPLACE MACRO json_figure(document, name) AS
    CASE WHEN isfinite(try_cast(json_extract_string(document, '$.' || name) AS DOUBLE))
        THEN try_cast(json_extract_string(document, '$.' || name) AS DOUBLE) END
