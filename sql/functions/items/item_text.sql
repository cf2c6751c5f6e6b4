-- A text of a dataset's record as all its copies have it: composed Unicode (NFC), line ends as \n,
-- without whitespace at its ends. NULL if nothing is left.
CREATE OR REPLACE MACRO item_text(text) AS
    nullif(
        nfc_normalize(
            replace(
                replace(
                    -- Few texts have any, and `trim` takes ten times as long as to look.
                    CASE
                        WHEN contains(whitespace_characters(), left(text, 1))
                            OR contains(whitespace_characters(), right(text, 1))
                            THEN trim(text, whitespace_characters())
                        ELSE text
                    END,
                    chr(13) || chr(10),
                    chr(10)
                ),
                chr(13),
                chr(10)
            )
        ),
        ''
    )
