-- Whether Python's JSON parser finds in a text what it could begin to read. Where not, its error is
-- always that it expects a value at the first character.
CREATE OR REPLACE MACRO may_be_json(text) AS
    contains(text, '{') OR regexp_matches(
        text, '^[' || blanks() || ']*(["[0-9-]|null|true|false|NaN|Infinity|\x{feff})'
    )
