-- The tasks of all task sets, in all versions.
-- grain: version of a task in a version of its task set
-- inherits: lake.tasks
-- first: task_set, task_id, prompt, reference
-- task_version: id of this version
-- item_hash: hash of the question (where only a prompt or an image is recorded: of these), of the
--     texts of the choices in order, and of the right answers as texts, sorted; equal for the same
--     item in other suites and tools, whatever their line ends, Unicode form and surrounding
--     whitespace; NULL if the question is not known
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
    question,
    choices,
    target,
    item_hash(
        coalesce(question, prompt), image_sha256, choices, coalesce(target, reference)
    ) AS item_hash,
    validator,
    scorer,
    expected_tools,
    image_url,
    image_sha256,
    exclusion,
    set_title,
    set_template,
    cluster,
    extra,
    source,
    file_sha256,
    batch
FROM lake.tasks
