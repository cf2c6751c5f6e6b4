-- The number of words in a text, split at whitespace as Python's `split()` does. Replacing
-- whitespace and splitting at spaces takes a third of the time of a pattern.
CREATE OR REPLACE MACRO word_count(text) AS
    len(list_filter(string_split(whitespace_as_spaces(text), ' '), lambda word: word <> ''))
