-- The letters with which a model's name starts, such as gpt or qwen: NULL if there are none. A family may have
-- several such names; those are taken for different families.
CREATE OR REPLACE MACRO model_family(model) AS
    nullif(regexp_extract(lower(split_part(model, '/', -1)), '^(?:meta-)?([a-z]+)', 1), '')
