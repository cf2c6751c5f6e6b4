-- Parameters of a model for people, keys sorted: `temperature 1.5, thinking_level low`.
CREATE OR REPLACE MACRO settings_text(parameters) AS
    array_to_string(
        list_transform(
            list_sort(json_keys(parameters)),
            lambda name: name || ' ' || coalesce(
                json_extract_string(
                    parameters, '/' || replace(replace(name, '~', '~0'), '/', '~1')
                ),
                'null'
            )
        ),
        ', '
    )
