-- A text of a dataset's record as all its copies have it: composed Unicode (NFC), line ends as \n,
-- without whitespace at its ends. NULL if nothing is left.
CREATE OR REPLACE MACRO item_text(text) AS
    nullif(
        nfc_normalize(
            -- Few texts have any of it, and to change a text takes many times as long as to look.
            CASE
                WHEN contains(text, chr(13))
                    THEN trim(
                        replace(replace(text, chr(13) || chr(10), chr(10)), chr(13), chr(10)),
                        whitespace_characters()
                    )
                WHEN contains(whitespace_characters(), text[1])
                    OR contains(whitespace_characters(), text[-1])
                    THEN trim(text, whitespace_characters())
                ELSE text
            END
        ),
        ''
    )
