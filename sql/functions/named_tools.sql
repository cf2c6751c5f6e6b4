-- The tools that an answer invokes, in lower case, as often as each of the five patterns finds them.
-- A pattern that begins with one literal is searched faster, hence one quote and one prompt for two.
CREATE OR REPLACE MACRO named_tools(answer) AS
    CASE
        WHEN regexp_matches(answer, '[`''"$#<\[]') THEN list_concat(
            CASE
                WHEN contains(answer, '`')
                    THEN lowered_names(regexp_extract_all(answer, '`([A-Za-z0-9_\-.\x{130}\x{131}\x{17f}\x{212a}]+)', 1))
                ELSE []
            END,
            CASE
                WHEN contains(answer, '''') OR contains(answer, '"') THEN regexp_extract_all(
                    replace(answer, '"', ''''), '''([a-z0-9_\-.]+)[' || blanks() || ']', 1
                )
                ELSE []
            END,
            CASE
                WHEN contains(answer, '#') OR contains(answer, '$') THEN regexp_extract_all(
                    replace(answer, '$', '#'), '#[' || blanks() || ']+([a-z0-9_\-.]+)', 1
                )
                ELSE []
            END,
            CASE
                WHEN contains(answer, '<') THEN lowered_names(
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
                    answer, '\[(?:tool|TOOL):[' || blanks() || ']*([a-z0-9_\-.]+)\]', 1
                )
                ELSE []
            END
        )
        WHEN answer IS NOT NULL THEN []
    END
