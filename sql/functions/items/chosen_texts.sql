-- Texts with each letter, unless it is itself a choice, replaced by the choice at its place: A is
-- the first.
CREATE OR REPLACE MACRO chosen_texts(texts, choices) AS
    list_transform(
        texts,
        lambda text: CASE
            WHEN regexp_full_match(text, '[A-Z]') AND NOT list_contains(choices, text)
                THEN coalesce(choices[ascii(text) - 64], text)
            ELSE text
        END
    )
