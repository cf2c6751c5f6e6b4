-- How many words a text has, split at any white space, as Python's `split()` counts them.
-- Replacing blanks and splitting at one takes a third of the time of a pattern.
CREATE OR REPLACE MACRO word_count(text) AS
    len(list_filter(string_split(single_blanks(text), ' '), lambda word: word <> ''))
