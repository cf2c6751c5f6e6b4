-- The texts of a JSON list of texts; any other text is a list of its own.
CREATE OR REPLACE MACRO json_texts(document) AS
    CASE
        WHEN starts_with(document, '[')
            AND json_valid(document)
            AND list_distinct(CAST(json_type(document, '$[*]') AS VARCHAR[])) IN (['VARCHAR'], [])
            THEN CAST(json_extract_string(document, '$[*]') AS VARCHAR[])
        WHEN document IS NOT NULL THEN [CAST(document AS VARCHAR)]
    END
