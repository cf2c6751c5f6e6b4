-- What Python takes for white space, for use between the brackets of a regular expression.
CREATE OR REPLACE MACRO blanks() AS
    '\t-\r\x1c-\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}'
