-- Names in lower case, as Python's `lower()` gives them. For the letters that tool names may hold,
-- it differs from SQL's only in `İ`.
CREATE OR REPLACE MACRO lowercase_names(names) AS
    list_transform(names, lambda name: lower(replace(name, chr(304), 'i' || chr(775))))
