-- The date that a text of the form YYYY-MM-DD names; NULL for other text and dates that do not exist.
CREATE OR REPLACE MACRO calendar_date(text) AS
    CASE
        WHEN regexp_full_match(text, '[0-9]{4}-[0-9]{2}-[0-9]{2}') AND text >= '0001'
            THEN try_cast(text AS DATE)
    END
