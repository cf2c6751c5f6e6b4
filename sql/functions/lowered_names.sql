-- Names in lower case as Python has it; of the letters in them it differs from SQL's at `İ` alone.
CREATE OR REPLACE MACRO lowered_names(names) AS
    list_transform(names, lambda name: lower(replace(name, chr(304), 'i' || chr(775))))
