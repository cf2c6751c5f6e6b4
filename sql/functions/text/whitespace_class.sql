-- The characters that Python counts as whitespace, for the brackets of a regular expression.
CREATE OR REPLACE MACRO whitespace_class() AS
    '\t-\r\x1c-\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}'
