-- The number of sentences in a text without whitespace at its ends: each ends in `.`, `!` or `?`
-- followed by whitespace; the rest of the text counts as one more.
CREATE OR REPLACE MACRO sentence_count(text) AS
    CASE
        WHEN text = '' THEN 0
        ELSE len(regexp_extract_all(text, '[.!?][' || whitespace_class() || ']')) + 1
    END
