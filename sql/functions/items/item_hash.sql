-- The hash of an item, equal wherever the same item was asked: of the question, its image, the
-- texts of the choices in order, and the right answers as texts, sorted. NULL if neither the
-- question nor an image is known.
CREATE OR REPLACE MACRO item_hash(question, image, choices, target) AS
    -- A list of one, so that each part is written, and planned, only once.
    list_transform(
        [
            {
                question: item_text(question),
                image: image,
                choices: item_texts(choices),
                target: item_texts(target)
            }
        ],
        lambda item: CASE
            WHEN item['question'] IS NOT NULL OR item['image'] IS NOT NULL
                THEN sha256(
                    CAST(
                        to_json(
                            {
                                question: item['question'],
                                image: item['image'],
                                choices: item['choices'],
                                target: nullif(
                                    list_sort(
                                        list_distinct(chosen_texts(item['target'], item['choices']))
                                    ),
                                    CAST([] AS VARCHAR[])
                                )
                            }
                        ) AS VARCHAR
                    )
                )
        END
    )[1]
