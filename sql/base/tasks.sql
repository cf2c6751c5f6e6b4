-- The tasks of all task sets, in all versions.
-- grain: version of a task in a version of its task set
-- inherits: lake.tasks
-- task_version: id of this version
SELECT
    content_id AS task_version,
    suite,
    task_set,
    task_set_hash,
    seq,
    task_id,
    task_name,
    task_hash,
    prompt,
    reference,
    validator,
    expected_tools,
    image_url,
    image_sha256,
    exclusion,
    set_title,
    set_template,
    extra,
    source,
    file_sha256,
    batch
FROM lake.tasks
