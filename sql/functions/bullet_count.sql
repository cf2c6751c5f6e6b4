-- How many lines of a text begin with `-`, after any blanks.
CREATE OR REPLACE MACRO bullet_count(text) AS
    CASE
        WHEN contains(text, '-')
            THEN len(list_filter(filled_lines(text), lambda line: regexp_matches(line, '^[' || blanks() || ']*-')))
        ELSE 0
    END
