"""Takes samples apart with SQL, some thousands at a time. Its text columns are the lake's.

A sample is one document of a task after one filter. Samples of a document that differ in the filter
have the same result, and each has its own scores.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.core.hashing import text_hash_sql

if TYPE_CHECKING:
    from collections.abc import Iterable

# Fields of a sample that are not its scores.
_KNOWN = (
    *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"),
    *("doc_hash", "prompt_hash", "target_hash"),
)
# Scores of 1 and 0 that say whether an answer passed. The first number that a sample has among them
# is its verdict: where that is between 0 and 1, another would mix two metrics in one pass rate.
_VERDICTS = (
    *("exact_match", "acc", "em", "pass@1", "pass_at_1", "correct", "accuracy"),
    *("prompt_level_strict_acc", "prompt_level_loose_acc", "acc_norm"),
)
# What such a score is in JSON.
_PASSED, _FAILED = ("1", "1.0", "true"), ("0", "0.0", "false")
_NUMBERS = ("BOOLEAN", "UBIGINT", "BIGINT", "DOUBLE", "HUGEINT")
# Where documents have their question, in this order; it must be in the prompt.
_QUESTIONS = (
    *("question", "Question", "q", "query", "problem", "prompt", "input", "text", "ctx", "goal"),
    *("premise", "sentence", "instruction"),
)
_CHOICES = ("choices", "choices/text", "options", "endings")
_MOST_ATTEMPTS = 1000
_MOST_FIELDS = 1000
_WHITESPACE = r"E' \t\n\r\f\x0b'"
# Requests of a sample whose arguments are extracted one by one.
_FEW_REQUESTS = 6


def samples_query(task_set: str, part: str) -> str:
    """Return the query that takes `lines` (line, text) apart, NULL for what is not an object.

    It is one for all forms of samples and has no parameters: version 1.5.5 of DuckDB waits forever
    for a stream if a query has some. What only few samples need is in a CASE, which is computed for
    these; arguments have no wildcards unless there are many.

    Args:
        task_set: task set of the samples.
        part: how the ids of their rows begin.
    """
    return f"""
WITH {_FIELDS},
{_REQUESTS},
{_TEXTS},
{_ITEMS}
SELECT
    line,
    keys IS NOT NULL AS is_object,
    line_hash,
    {text_hash_sql("record_hash")} AS record_number,
    hash({text_hash_sql("task_id")}, {text_hash_sql("filter")}) AS place_hash,
    CASE
        WHEN len(keys) > {_MOST_FIELDS}
            THEN format('{{:,}} fields; the limit is {_MOST_FIELDS:,}', len(keys))
        WHEN task_id IS NULL THEN 'no doc_id'
        WHEN json_type(doc_id) IN ('OBJECT', 'ARRAY') THEN 'doc_id is neither a number nor text'
    END AS problem,
    task_id,
    json_extract_string(filter, '$') AS filter_name,
    '{part}' || substr(record_hash, 1, 24) AS result_id,
    prompt,
    question,
    CAST(to_json(choices) AS VARCHAR) AS choices,
    reference,
    target_text,
    task_hash,
    CASE WHEN verdict IN {_PASSED} THEN true WHEN verdict IN {_FAILED} THEN false END
        AS objective_pass,
    CASE WHEN len(responses) <= {_MOST_ATTEMPTS} THEN responses END AS responses,
    CASE
        WHEN responses IS NULL OR n_requests > 1 OR len(responses) > {_MOST_ATTEMPTS}
            OR json_array_length(resps) <> 1
        THEN CAST(resps AS VARCHAR)
    END AS parsed_output,
    CASE WHEN n_requests = 1 AND json_type(seconds[1]) = 'OBJECT' THEN CAST(seconds[1] AS VARCHAR)
    END AS sent,
    {_RESULT_EXTRA} AS result_extra,
    '{{' || unknown_text || '}}' AS score_extra,
    CASE WHEN doc IS NOT NULL THEN '{{"doc":' || doc || '}}' END AS task_extra,
    md5(concat_ws(chr(31), {_literal(task_set)}, task_id, task_hash)) AS task_key,
    coalesce(try(try_cast(task_id AS BIGINT) + 1), line) AS task_seq,
    {_ANSWER} AS answer,
    {_scores(part)} AS scores
FROM items
"""  # noqa: S608 - names of our own fields, and a text that is quoted


def _scores(part: str) -> str:
    """Return the SQL for the rows of `result_scores` of a sample, but for what it has itself."""
    return f"""list_transform(
        list_transform(scored, lambda score: {{
            'metric': score.name, 'raw': score.raw, 'number': {_NUMBER}
        }}),
        lambda score: {{
            'content_id': '{part}' || substr(md5(concat_ws(
                chr(31), result_id, score.metric, coalesce(filter_name, chr(30)), score.raw::VARCHAR
            )), 1, 24),
            'metric': score.metric,
            'value': CASE WHEN isfinite(score.number) THEN score.number END,
            'text': CASE WHEN isfinite(score.number) IS NOT true AND json_type(score.raw) <> 'NULL'
                THEN json_extract_string(score.raw, '$') END,
            'passed': CASE WHEN score.metric IN {_VERDICTS} AND score.number IN (0, 1)
                THEN score.number = 1 END
        }}
    )"""


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _pointers(names: Iterable[str]) -> str:
    """Return a list of pointers of fields, as SQL."""
    return "[" + ", ".join(f"'/{name}'" for name in names) + "]"


def _arguments(pattern: str) -> str:
    """Return pointers of two arguments of the first requests, and the third of the first."""
    return _pointers(
        pattern.format(request, argument)
        for argument, n_requests in enumerate((_FEW_REQUESTS, _FEW_REQUESTS, 1))
        for request in range(n_requests)
    )


# A score as a number.
_NUMBER = """CASE
                WHEN json_type(score.raw) = 'BOOLEAN' THEN CAST(score.raw = 'true' AS DOUBLE)
                WHEN json_type(score.raw) IN ('UBIGINT', 'BIGINT', 'DOUBLE', 'HUGEINT')
                    THEN try_cast(CAST(score.raw AS VARCHAR) AS DOUBLE)
            END"""
# The fields of each sample: those that are known, and `others`.
_FIELDS = f"""objects AS (
    SELECT
        line,
        {text_hash_sql("text")} AS line_hash,
        CASE WHEN json_valid(text) AND starts_with(ltrim(text, {_WHITESPACE}), '{{') THEN text END
            AS object
    FROM lines
),
named AS (
    SELECT
        line,
        line_hash,
        object,
        -- Of a repeated name Python takes the last value, DuckDB the first.
        CASE WHEN list_unique(names) = len(names) THEN names END AS keys
    FROM (SELECT *, json_keys(object) AS names FROM objects)
),
taken AS (
    SELECT
        * EXCLUDE (object),
        CASE WHEN len(keys) <= {_MOST_FIELDS} THEN object END AS small,
        json_extract(small, {_pointers(_KNOWN)}) AS known,
        list_transform(
            list_sort(list_distinct(list_filter(keys, lambda name: name NOT IN {_KNOWN}))),
            lambda name: {{'name': name, 'raw': json_extract(
                small, '/' || replace(replace(name, '~', '~0'), '/', '~1')
            )}}
        ) AS others
    FROM named
),
fields AS (
    SELECT
        * EXCLUDE (small, known),
        {", ".join(f"known[{n}] AS {name}" for n, name in enumerate(_KNOWN, 1))}
    FROM taken
)"""  # noqa: S608 - names of our own fields
# What was asked of the model, and what it was asked about.
_REQUESTS = f"""counted AS (
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
        json_extract_string(doc, {_pointers(_QUESTIONS)}) AS questions,
        -- Few documents have choices, and to look for them takes a while.
        CASE
            WHEN contains(doc, '"choices"') OR contains(doc, '"options"')
                OR contains(doc, '"endings"')
            THEN json_extract(doc, {_pointers(_CHOICES)})
        END AS choice_lists
    FROM counted
)"""  # noqa: S608 - names of our own fields
_TEXTS = f"""texts AS (
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
                seconds, lambda each: trim(json_extract_string(each, '$'), {_WHITESPACE})
            )
        END AS continuations,
        CASE WHEN choice_lists IS NOT NULL THEN list_filter(
            list_filter(choice_lists, lambda found: found IS NOT NULL),
            lambda found: json_type(found) = 'ARRAY'
                AND json_type(found, '/0') IN ('VARCHAR', 'UBIGINT', 'BIGINT', 'DOUBLE')
        )[1] END AS listed,
        CASE WHEN listed IS NOT NULL THEN json_extract_string(listed, '$[*]') END AS named,
        CASE
            WHEN len(named) > 1 AND (n_requests < 2 OR len(named) = n_requests) THEN named
            ELSE continuations
        END AS choices,
        json_extract_string(target, '$') AS reference,
        list_filter(questions, lambda each:
            contains(prompt, each) AND NOT regexp_full_match(each, '\\s*')
        )[1] AS verbatim,
        CASE
            WHEN verbatim IS NOT NULL THEN verbatim
            -- Without the whitespace around it, or in the JSON of a chat.
            ELSE list_filter(questions, lambda each: trim(each, {_WHITESPACE}) <> '' AND (
                contains(prompt, trim(each, {_WHITESPACE}))
                OR prompt LIKE '[{{%' AND contains(prompt, substring(
                    CAST(to_json(trim(each, {_WHITESPACE})) AS VARCHAR), 2,
                    length(CAST(to_json(trim(each, {_WHITESPACE})) AS VARCHAR)) - 2
                ))
            ))[1]
        END AS question
    FROM requests
)"""  # noqa: S608 - no texts from a file
# The hashes that ids are made of, the verdict, the answers, and the fields that are scores.
_ITEMS = f"""items AS (
    SELECT
        *,
        json_extract_string(doc_id, '$') AS task_id,
        CASE
            -- The place of the right answer among the choices, from 0.
            WHEN continuations IS NOT NULL AND regexp_full_match(reference, '[0-9]{{1,3}}')
                THEN coalesce(choices[CAST(reference AS INTEGER) + 1], reference)
            ELSE reference
        END AS target_text,
        md5(concat_ws(
            chr(31), coalesce(CAST(doc AS VARCHAR), ''), coalesce(question, chr(30)),
            coalesce(CAST(to_json(choices) AS VARCHAR), ''), coalesce(target_text, chr(30))
        )) AS task_hash,
        md5(concat_ws(
            chr(31), coalesce(CAST(doc_id AS VARCHAR), ''), coalesce(CAST(doc AS VARCHAR), ''),
            coalesce(CAST(target AS VARCHAR), ''), coalesce(CAST(arguments AS VARCHAR), ''),
            coalesce(CAST(resps AS VARCHAR), '')
        )) AS record_hash,
        list_filter(
            others,
            lambda field: metric_names IS NULL OR list_contains(metric_names, field.name)
        ) AS scored,
        list_filter(
            others,
            lambda field: metric_names IS NOT NULL AND NOT list_contains(metric_names, field.name)
        ) AS unknown,
        CASE WHEN len(unknown) > 0 THEN array_to_string(
            list_transform(unknown, lambda field: to_json(field.name) || ':' || field.raw), ','
        ) END AS unknown_text,
        list_filter(
            list_transform({list(_VERDICTS)}, lambda name: list_filter(
                scored, lambda field: field.name = name AND json_type(field.raw) IN {_NUMBERS}
            )[1].raw::VARCHAR),
            lambda value: value IS NOT NULL
        )[1] AS verdict,
        CASE
            WHEN repeats_kind = 'ARRAY' AND response_kind = 'VARCHAR'
                THEN json_extract_string(resps, '$[0][*]')
            WHEN repeats_kind = 'VARCHAR' THEN [json_extract_string(resps, '/0')]
        END AS responses
    FROM texts
)"""  # noqa: S608 - names of our own fields
_RESULT_EXTRA = """nullif('{' || concat_ws(
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
        END,
        unknown_text
    ) || '}', '{}')"""
# The answer after a filter.
_ANSWER = """CASE
        WHEN n_requests > 1
            AND filtered_resps::VARCHAR = to_json(json_extract(resps, '$[*][0]'))::VARCHAR THEN NULL
        WHEN json_type(filtered_resps) = 'ARRAY' AND json_array_length(filtered_resps) = 1
            AND json_type(filtered_resps, '/0') = 'VARCHAR'
            THEN json_extract_string(filtered_resps, '/0')
        WHEN json_type(filtered_resps) = 'VARCHAR' THEN json_extract_string(filtered_resps, '$')
        ELSE CAST(filtered_resps AS VARCHAR)
    END"""
