-- JSON text with whole numbers written without a point, so that equal values are equal text: 1.0 is
-- 1, and the text "1" stays another value. Twice, as neighbours in a list share their comma.
CREATE OR REPLACE MACRO whole_numbers(json_text) AS
    regexp_replace(
        regexp_replace(
            CAST(json_text AS VARCHAR), '(^|[:\[,])(-?[0-9]+)\.0+([,}\]]|$)', '\1\2\3', 'g'
        ),
        '(^|[:\[,])(-?[0-9]+)\.0+([,}\]]|$)', '\1\2\3', 'g'
    )
