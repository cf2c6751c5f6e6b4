-- The tools that an answer invokes, in lower case, once for each match of the five patterns. A
-- pattern that starts with a single literal is searched faster, so double quotes become single ones
-- and `$` prompts become `#` first.
CREATE OR REPLACE MACRO tool_mentions(answer) AS
    CASE
        WHEN regexp_matches(answer, '[`''"$#<\[]') THEN list_concat(
            CASE
                WHEN contains(answer, '`')
                    THEN lowercase_names(
                        regexp_extract_all(
                            answer, '`([A-Za-z0-9_\-.\x{130}\x{131}\x{17f}\x{212a}]+)', 1
                        )
                    )
                ELSE []
            END,
            CASE
                WHEN contains(answer, '''') OR contains(answer, '"') THEN regexp_extract_all(
                    replace(answer, '"', ''''), '''([a-z0-9_\-.]+)[' || whitespace_class() || ']', 1
                )
                ELSE []
            END,
            CASE
                WHEN contains(answer, '#') OR contains(answer, '$') THEN regexp_extract_all(
                    replace(answer, '$', '#'), '#[' || whitespace_class() || ']+([a-z0-9_\-.]+)', 1
                )
                ELSE []
            END,
            CASE
                WHEN contains(answer, '<') THEN lowercase_names(
                    regexp_extract_all(
                        answer,
                        '(?i:<tool>)([A-Za-z0-9_\-.\x{130}\x{131}\x{17f}\x{212a}]+)(?i:</tool>)',
                        1
                    )
                )
                ELSE []
            END,
            CASE
                WHEN contains(answer, '[') THEN regexp_extract_all(
                    answer, '\[(?:tool|TOOL):[' || whitespace_class() || ']*([a-z0-9_\-.]+)\]', 1
                )
                ELSE []
            END
        )
        WHEN answer IS NOT NULL THEN []
    END
