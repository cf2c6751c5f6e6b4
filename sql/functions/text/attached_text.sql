-- The text of a JSON value: of a text itself, or the attachment that it refers to; of other values their
-- JSON; of a list of parts their texts, each on a line, where all of them have one.
CREATE OR REPLACE MACRO attached_text(content, attachments) AS
    CASE json_type(content)
        WHEN 'NULL' THEN NULL
        WHEN 'VARCHAR' THEN CASE
            WHEN starts_with(json_extract_string(content, '$'), 'attachment://') THEN coalesce(
                json_extract_string(
                    attachments, '$."' || substr(json_extract_string(content, '$'), 14) || '"'
                ),
                json_extract_string(content, '$')
            )
            ELSE json_extract_string(content, '$')
        END
        WHEN 'ARRAY' THEN coalesce(
            nullif(array_to_string(json_extract_string(content, '$[*].text'), chr(10)), ''), content::VARCHAR
        )
        ELSE content::VARCHAR
    END
