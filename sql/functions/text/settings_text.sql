-- Parameters of a model as readable text, keys sorted: `temperature 1.5, thinking_level low`. Equal
-- numbers give equal text, however they are written: 1.0 is 1.
CREATE OR REPLACE MACRO settings_text(parameters) AS
    array_to_string(
        list_transform(
            list_transform(
                list_sort(json_keys(parameters)),
                lambda name: {
                    name: name,
                    path: '/' || replace(replace(name, '~', '~0'), '/', '~1')
                }
            ),
            lambda key: key['name'] || ' ' || coalesce(
                CASE
                    WHEN json_type(parameters, key['path']) IN ('DOUBLE', 'ARRAY', 'OBJECT')
                        THEN whole_numbers(json_extract_string(parameters, key['path']))
                    ELSE json_extract_string(parameters, key['path'])
                END,
                'null'
            )
        ),
        ', '
    )
