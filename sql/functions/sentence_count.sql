-- How many sentences a text without blanks at its ends has: those that end in `.`, `!` or `?` and a
-- blank, and what follows the last of them.
CREATE OR REPLACE MACRO sentence_count(text) AS
    CASE
        WHEN text = '' THEN 0
        ELSE len(regexp_extract_all(text, '[.!?][' || blanks() || ']')) + 1
    END
