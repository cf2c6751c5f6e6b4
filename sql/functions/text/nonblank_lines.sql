-- The lines of a text that hold more than whitespace, split as Python splits lines. Whitespace at
-- the end of a line is removed.
CREATE OR REPLACE MACRO nonblank_lines(text) AS
    regexp_extract_all(
        text, '[^\n-\r\x1c-\x1e\x{85}\x{2028}\x{2029}]*[^' || whitespace_class() || ']'
    )
