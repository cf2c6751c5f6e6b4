-- A model's name as a part of a file name: slashes, and what no file name may hold, become `-`.
-- A name too long for a file keeps its beginning, and a hash that tells it apart.
CREATE OR REPLACE MACRO file_name_part(name) AS
    CASE
        WHEN name IS NULL OR name = '' THEN 'unnamed'
        WHEN strlen(name) > 180 THEN
            left(regexp_replace(name, '[/\\[:cntrl:]]', '-', 'g'), 40) || '-' || left(md5(name), 12)
        ELSE regexp_replace(name, '[/\\[:cntrl:]]', '-', 'g')
    END
