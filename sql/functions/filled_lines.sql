-- The lines of a text that are not blank, without the blanks at their ends, as Python splits lines.
CREATE OR REPLACE MACRO filled_lines(text) AS
    regexp_extract_all(
        text, '[^\n-\r\x1c-\x1e\x{85}\x{2028}\x{2029}]*[^' || blanks() || ']'
    )
