-- The text with every whitespace character replaced by a space. The pattern takes three times as
-- long as three calls of `replace`, so it is used only for texts with rare whitespace, and not for
-- all with letters outside ASCII.
CREATE OR REPLACE MACRO whitespace_as_spaces(text) AS
    CASE
        WHEN regexp_matches(text, '[\v\f\x1c-\x1f\x{85}\x{a0}\x{1680}\x{2000}-\x{3000}]')
            THEN regexp_replace(text, '[' || whitespace_class() || ']', ' ', 'g')
        ELSE replace(replace(replace(text, chr(9), ' '), chr(10), ' '), chr(13), ' ')
    END
