"""Takes samples apart with SQL, some thousands at a time. Its text columns are the lake's.

A sample is one document of a task after one filter. Samples of a document that differ in the filter
have the same result, and each has its own scores.
"""

from __future__ import annotations

# Fields of a sample that are not its scores.
KNOWN = (
    *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"),
    *("doc_hash", "prompt_hash", "target_hash"),
)
# Scores of 1 and 0 that say whether an answer passed. The first that a sample has is its verdict.
VERDICTS = (
    *("exact_match", "acc", "em", "pass@1", "pass_at_1", "correct", "accuracy"),
    *("prompt_level_strict_acc", "prompt_level_loose_acc", "acc_norm"),
)
# What such a score is in JSON.
PASS_OR_FAIL = ("0", "1", "0.0", "1.0", "true", "false")
# Where documents have their question, in this order; it must be in the prompt.
QUESTIONS = (
    *("question", "Question", "q", "query", "problem", "prompt", "input", "text", "ctx", "goal"),
    *("premise", "sentence", "instruction"),
)
CHOICES = ("choices", "choices/text", "options", "endings")
_MOST_ATTEMPTS = 1000
# Requests of a sample whose arguments are extracted one by one.
_FEW_REQUESTS = 6


def pointers_of(names: tuple[str, ...]) -> str:
    """Return a list of pointers of fields, as SQL."""
    return "[" + ", ".join(f"'/{name}'" for name in names) + "]"


def answer_of(column: str) -> str:
    """Return the SQL for the answer after a filter, by the column that holds the filter's."""
    return f"""CASE
            WHEN json_type({column}) = 'ARRAY' AND json_array_length({column}) = 1
                AND json_type({column}, '/0') = 'VARCHAR' THEN json_extract_string({column}, '/0')
            WHEN json_type({column}) = 'VARCHAR' THEN json_extract_string({column}, '$')
            ELSE CAST({column} AS VARCHAR)
        END"""


def number_of(raw: str, kind: str) -> str:
    """Return the SQL for a score as a number, by the columns that hold it and its JSON type."""
    return f"""CASE
            WHEN {kind} = 'BOOLEAN' THEN CAST({raw} = 'true' AS DOUBLE)
            WHEN {kind} IN ('UBIGINT', 'BIGINT', 'DOUBLE', 'HUGEINT')
                THEN try_cast(CAST({raw} AS VARCHAR) AS DOUBLE)
        END"""


def _fields() -> str:
    return ", ".join(f"taken[{n}] AS {name}" for n, name in enumerate(KNOWN, 1))


def _arguments(pattern: str) -> str:
    """Return pointers of the first, the second and the third arguments of the first requests."""
    pointers = (
        pattern.format(request, argument)
        for argument in range(3)
        for request in range(_FEW_REQUESTS)
    )
    return pointers_of((*pointers,))


def _is_verdict() -> str:
    return f"metric IN {VERDICTS}"


# Parts of queries. Of $whitespace and the columns `prompt`, `questions`: the question.
QUESTION = r"""list_filter(questions, lambda each:
            contains(prompt, each) AND NOT regexp_full_match(each, '\s*')
        )[1] AS verbatim,
        CASE
            WHEN verbatim IS NOT NULL THEN verbatim
            -- Without the whitespace around it, or in the JSON of a chat.
            ELSE list_filter(questions, lambda each: trim(each, $whitespace) <> '' AND (
                contains(prompt, trim(each, $whitespace))
                OR prompt LIKE '[{%' AND contains(prompt, substring(
                    CAST(to_json(trim(each, $whitespace)) AS VARCHAR), 2,
                    length(CAST(to_json(trim(each, $whitespace)) AS VARCHAR)) - 2
                ))
            ))[1]
        END AS question"""
# Of `choice_lists`: the first list of choices, as JSON and as texts.
LISTED = """CASE WHEN choice_lists IS NOT NULL THEN list_filter(
            list_filter(choice_lists, lambda found: found IS NOT NULL),
            lambda found: json_type(found) = 'ARRAY'
                AND json_type(found, '/0') IN ('VARCHAR', 'UBIGINT', 'BIGINT', 'DOUBLE')
        )[1] END AS listed,
        CASE WHEN listed IS NOT NULL THEN json_extract_string(listed, '$[*]') END AS named"""
# The hashes that ids are made of.
HASHES = """md5(concat_ws(
            chr(31), coalesce(CAST(doc AS VARCHAR), ''), coalesce(question, chr(30)),
            coalesce(CAST(to_json(choices) AS VARCHAR), ''), coalesce(target_text, chr(30))
        )) AS task_hash,
        md5(concat_ws(
            chr(31), coalesce(CAST(doc_id AS VARCHAR), ''), coalesce(CAST(doc AS VARCHAR), ''),
            coalesce(CAST(target AS VARCHAR), ''), coalesce(CAST(arguments AS VARCHAR), ''),
            coalesce(CAST(resps AS VARCHAR), '')
        )) AS record_hash"""

ITEM = """$part || substr(record_hash, 1, 24) AS result_id,
    prompt,
    question,
    CAST(to_json(choices) AS VARCHAR) AS choices,
    reference,
    target_text,
    task_hash,
    CASE WHEN verdict IN ('1', '1.0', 'true') THEN true WHEN verdict IS NOT NULL THEN false END
        AS objective_pass"""

# Of `lines` (line, text): each sample's fields and what follows from them.
# $part: how ids begin; $names: names of the fields that are not known; $pointers: pointers of all.
# What only few samples need is in a CASE, which is computed for these; the rest is for speed, too:
# arguments have no wildcards unless there are many, and the JSON of a line is parsed once.
SAMPLES = f"""
WITH objects AS (
    SELECT
        line,
        hash(text) AS line_hash,
        $names::VARCHAR[] AS names,
        json_extract(text, $pointers::VARCHAR[]) AS taken
    FROM lines
),

fields AS (
    SELECT
        line,
        line_hash,
        {_fields()},
        list_filter(
            list_transform(
                range(1, len(names) + 1),
                lambda n: {{name: names[n], raw: taken[n + {len(KNOWN)}]}}
            ),
            lambda field: field.raw IS NOT NULL
        ) AS others
    FROM objects
),

counted AS (
    SELECT
        *,
        json_type(arguments) AS kind,
        CASE kind
            WHEN 'OBJECT' THEN len(json_keys(arguments))
            WHEN 'ARRAY' THEN json_array_length(arguments)
            ELSE 0
        END AS n_requests,
        CASE kind
            WHEN 'OBJECT' THEN json_extract(arguments, {_arguments("gen_args_{}/arg_{}")})
            WHEN 'ARRAY' THEN json_extract(arguments, {_arguments("{}/{}")})
        END AS argument_list
    FROM fields
),

requests AS (
    SELECT
        * EXCLUDE (argument_list),
        CASE
            WHEN n_requests <= {_FEW_REQUESTS}
                THEN argument_list[1:n_requests]
            WHEN kind = 'OBJECT' THEN json_extract(arguments, '$.*.arg_0')
            ELSE json_extract(arguments, '$[*][0]')
        END AS contexts,
        CASE
            WHEN n_requests <= {_FEW_REQUESTS}
                THEN argument_list[{_FEW_REQUESTS} + 1:{_FEW_REQUESTS} + n_requests]
            WHEN kind = 'OBJECT' THEN json_extract(arguments, '$.*.arg_1')
            ELSE json_extract(arguments, '$[*][1]')
        END AS seconds,
        -- All requests have as many arguments as the first.
        CASE
            WHEN argument_list[{2 * _FEW_REQUESTS + 1}] IS NOT NULL THEN 3
            WHEN seconds[1] IS NOT NULL THEN 2
            ELSE 1
        END AS n_arguments,
        contexts[1] AS context,
        json_type(context) AS context_kind,
        CASE json_type(metrics) WHEN 'ARRAY' THEN json_extract_string(metrics, '$[*]') END
            AS metric_names,
        json_type(resps, '/0') AS repeats_kind,
        json_type(resps, '/0/0') AS response_kind,
        json_extract_string(doc, {pointers_of(QUESTIONS)}) AS questions,
        json_extract(doc, {pointers_of(CHOICES)}) AS choice_lists
    FROM counted
),

texts AS (
    SELECT
        * EXCLUDE (questions, choice_lists),
        CASE
            WHEN context_kind = 'VARCHAR' THEN json_extract_string(context, '$')
            -- A chat, as the text of its messages.
            WHEN context_kind = 'ARRAY' AND json_array_length(context) = 1
                THEN json_extract_string(context, '/0')
            ELSE CAST(context AS VARCHAR)
        END AS prompt,
        len(list_filter(contexts, lambda each: each IS DISTINCT FROM context)) = 0
            AND n_requests > 0 AS is_one_context,
        -- The answers whose likelihood was asked for.
        CASE
            WHEN n_requests > 1 AND is_one_context
                AND len(list_distinct(seconds)) = n_requests
                AND len(list_filter(seconds, lambda each: json_type(each) <> 'VARCHAR')) = 0
            THEN list_transform(
                seconds, lambda each: trim(json_extract_string(each, '$'), $whitespace)
            )
        END AS continuations,
        {LISTED},
        CASE
            WHEN len(named) > 1 AND (n_requests < 2 OR len(named) = n_requests) THEN named
            ELSE continuations
        END AS choices,
        json_extract_string(target, '$') AS reference,
        {QUESTION}
    FROM requests
),

items AS (
    SELECT
        *,
        json_extract_string(doc_id, '$') AS task_id,
        CASE
            -- The place of the right answer among the choices, from 0.
            WHEN continuations IS NOT NULL AND regexp_full_match(reference, '[0-9]{{1,3}}')
                THEN coalesce(choices[CAST(reference AS INTEGER) + 1], reference)
            ELSE reference
        END AS target_text,
        {HASHES},
        list_filter(
            others,
            lambda field: metric_names IS NULL OR list_contains(metric_names, field.name)
        ) AS scored,
        list_filter(
            others,
            lambda field: metric_names IS NOT NULL AND NOT list_contains(metric_names, field.name)
        ) AS unknown,
        list_filter(
            list_transform({list(VERDICTS)}, lambda name: list_filter(
                scored, lambda field: field.name = name
                    AND field.raw::VARCHAR IN {PASS_OR_FAIL}
            )[1].raw::VARCHAR),
            lambda value: value IS NOT NULL
        )[1] AS verdict,
        CASE
            WHEN repeats_kind = 'ARRAY' AND response_kind = 'VARCHAR'
                THEN json_extract_string(resps, '$[0][*]')
            WHEN repeats_kind = 'VARCHAR' THEN [json_extract_string(resps, '/0')]
        END AS responses
    FROM texts
)

SELECT
    line,
    line_hash,
    hash(record_hash) AS record_number,
    hash(task_id, filter) AS place_hash,
    task_id,
    CASE
        WHEN task_id IS NULL THEN 'no doc_id'
        WHEN json_type(doc_id) IN ('OBJECT', 'ARRAY') THEN 'doc_id is neither a number nor text'
    END AS problem,
    json_extract_string(filter, '$') AS filter_name,
    {ITEM},
    CASE WHEN len(responses) <= {_MOST_ATTEMPTS} THEN responses END AS responses,
    CASE
        WHEN responses IS NULL OR n_requests > 1 OR len(responses) > {_MOST_ATTEMPTS}
            OR json_array_length(resps) <> 1
        THEN CAST(resps AS VARCHAR)
    END AS parsed_output,
    CASE WHEN n_requests = 1 AND json_type(seconds[1]) = 'OBJECT' THEN CAST(seconds[1] AS VARCHAR)
    END AS sent,
    CASE WHEN doc IS NOT NULL THEN '{{"doc":' || doc || '}}' END AS task_extra,
    '{{' || concat_ws(
        ',', '"doc_hash":' || doc_hash, '"prompt_hash":' || prompt_hash,
        '"target_hash":' || target_hash,
        CASE
            WHEN arguments IS NULL THEN NULL
            WHEN is_one_context AND n_arguments = 1 AND context_kind = 'VARCHAR' THEN NULL
            WHEN is_one_context AND n_arguments = 2 AND context_kind = 'VARCHAR'
                THEN CASE
                    WHEN n_requests > 1 OR json_type(seconds[1]) <> 'OBJECT'
                    THEN '"continuations":' || CAST(to_json(seconds) AS VARCHAR)
                END
            ELSE '"arguments":' || arguments
        END
    ) || '}}' AS fields_text,
    CASE WHEN len(unknown) > 0 THEN array_to_string(
        list_transform(unknown, lambda field: to_json(field.name) || ':' || field.raw), ','
    ) END AS unknown_text,
    CASE
        WHEN n_requests > 1
            AND filtered_resps::VARCHAR = to_json(json_extract(resps, '$[*][0]'))::VARCHAR THEN NULL
        ELSE {answer_of("filtered_resps")}
    END AS answer,
    scored
FROM items
"""  # noqa: S608 - names of our own fields only

# Of `samples`, those above that count, with `is_first`: whether no sample before had the result.
RESULTS = """
SELECT
    CASE WHEN place = 1 THEN result_id ELSE result_id || '-' || place END AS content_id,
    line AS seq,
    $task_set AS task_set,
    task_id,
    task_hash,
    prompt,
    CASE WHEN len(responses) > 1 THEN CAST(place AS INTEGER) END AS attempt,
    sent,
    responses[place] AS raw_output,
    CASE WHEN place = 1 THEN parsed_output END AS parsed_output,
    CASE WHEN place = 1 THEN objective_pass END AS objective_pass,
    CASE
        WHEN place > 1 THEN NULL
        WHEN unknown_text IS NULL THEN nullif(fields_text, '{}')
        WHEN fields_text = '{}' THEN '{' || unknown_text || '}'
        ELSE left(fields_text, length(fields_text) - 1) || ',' || unknown_text || '}'
    END AS extra,
    CASE WHEN place = 1 THEN sources.source END AS source
FROM samples
LEFT JOIN sources USING (line),
LATERAL (SELECT unnest(range(1, greatest(coalesce(len(responses), 1), 1) + 1)) AS place)
WHERE is_first
ORDER BY line, place
"""

TASK_KEY = "md5(concat_ws(chr(31), $task_set, task_id, task_hash))"
TASK_SEQ = "coalesce(try(try_cast(task_id AS BIGINT) + 1), line)"
TASKS = f"""
SELECT
    {TASK_KEY} AS content_id,
    $suite AS suite,
    $task_set AS task_set,
    $task_set_hash AS task_set_hash,
    {TASK_SEQ} AS seq,
    task_id,
    task_hash,
    reference,
    question,
    choices,
    target_text AS target,
    task_extra AS extra
FROM samples
WHERE is_first
"""  # noqa: S608 - our own expressions only

SCORES = f"""
WITH scored AS (
    SELECT
        result_id, line, filter_name, answer, is_first, unknown_text,
        unnest(scored).name AS metric,
        unnest(scored).raw AS raw,
        unnest(range(len(scored))) AS place
    FROM samples
),

valued AS (
    SELECT
        *,
        json_type(raw) AS kind,
        {number_of("raw", "kind")} AS number,
        CASE WHEN isfinite(number) THEN number END AS value
    FROM scored
)

SELECT
    $part || substr(md5(concat_ws(
        chr(31), result_id, metric, coalesce(filter_name, chr(30)), CAST(raw AS VARCHAR)
    )), 1, 24) AS content_id,
    result_id,
    metric,
    filter_name AS filter,
    value,
    CASE WHEN value IS NULL AND kind <> 'NULL' THEN json_extract_string(raw, '$') END AS text,
    CASE WHEN {_is_verdict()} AND value IN (0, 1) THEN value = 1 END AS passed,
    answer,
    CASE WHEN NOT is_first AND place = 0 THEN '{{' || unknown_text || '}}' END AS extra
FROM valued
"""  # noqa: S608 - names of our own metrics only
