-- Whether Python's JSON parser would start to read something in a text. If not, its error is always
-- that it expects a value at the first character.
CREATE OR REPLACE MACRO could_be_json(text) AS
    contains(text, '{') OR regexp_matches(
        text, '^[' || whitespace_class() || ']*(["[0-9-]|null|true|false|NaN|Infinity|\x{feff})'
    )
