-- A text of a dataset's record as all its copies have it: composed Unicode (NFC), line ends as \n,
-- without whitespace at its ends. NULL if nothing is left.
CREATE OR REPLACE MACRO item_text(text) AS
    nullif(
        nfc_normalize(
            replace(
                replace(trim(text, whitespace_characters()), chr(13) || chr(10), chr(10)),
                chr(13),
                chr(10)
            )
        ),
        ''
    )
