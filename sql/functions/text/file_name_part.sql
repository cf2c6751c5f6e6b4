-- A model's name as part of a file name: slashes, and characters that a file name cannot hold,
-- become `-`. A name that is too long keeps its beginning and ends in a hash that makes it unique.
CREATE OR REPLACE MACRO file_name_part(name) AS
    CASE
        WHEN name IS NULL OR name = '' THEN 'unnamed'
        WHEN strlen(name) > 180 THEN
            left(regexp_replace(name, '[/\\[:cntrl:]]', '-', 'g'), 40) || '-' || left(md5(name), 12)
        ELSE regexp_replace(name, '[/\\[:cntrl:]]', '-', 'g')
    END
