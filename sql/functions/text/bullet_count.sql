-- The number of lines that begin with `-`, after any whitespace.
CREATE OR REPLACE MACRO bullet_count(lines) AS
    len(list_filter(lines, lambda line: regexp_matches(line, '^[' || whitespace_class() || ']*-')))
