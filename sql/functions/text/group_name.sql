-- A value of a JSON document as the name of a group, as Python writes it: text as it is, True, False,
-- None; NULL if there is no value.
CREATE OR REPLACE MACRO group_name(value) AS
    CASE json_type(value)
        WHEN 'BOOLEAN' THEN CASE CAST(value AS VARCHAR) WHEN 'true' THEN 'True' ELSE 'False' END
        WHEN 'NULL' THEN 'None'
        ELSE value ->> '$'
    END
