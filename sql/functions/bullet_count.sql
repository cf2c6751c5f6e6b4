-- How many of a text's lines begin with `-`, after any blanks.
CREATE OR REPLACE MACRO bullet_count(lines) AS
    len(list_filter(lines, lambda line: regexp_matches(line, '^[' || blanks() || ']*-')))
