-- The text without the characters of a class (the inside of a pattern's brackets) at its ends.
CREATE OR REPLACE MACRO stripped(text, characters) AS
    CASE
        WHEN regexp_matches(text, '^[' || characters || ']')
            OR regexp_matches(text, '[' || characters || ']$')
            THEN regexp_replace(text, '^[' || characters || ']+|[' || characters || ']+$', '', 'g')
        ELSE text
    END
