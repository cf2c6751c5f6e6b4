-- The texts of a JSON list, or a text as the only one, each as item_text; NULL if there is none.
CREATE OR REPLACE MACRO item_texts(document) AS
    nullif(
        list_transform(json_texts(document), lambda text: item_text(text)),
        CAST([] AS VARCHAR[])
    )
