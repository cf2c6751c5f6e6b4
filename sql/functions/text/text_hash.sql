-- A hash of a text that tells it from any other text of the store. DuckDB's own tells apart texts of random
-- characters only: it reads 8 bytes at a time, and differences at the end of such blocks cancel, so that of 2,500 names
-- like subset_7_doc_12 it takes 160 for another one. What ends a block in the text does not in the shifted ones.
CREATE OR REPLACE MACRO text_hash(text) AS
    hash(text, '...' || text, '.....' || text)
