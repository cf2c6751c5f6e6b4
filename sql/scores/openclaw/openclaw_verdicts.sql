-- Whether an openclaw answer passes its task's validator, by the original program's rules.
-- grain: answered openclaw result whose task is known and has a validator
-- materialised
-- suite: openclaw
-- key: suite, run_id, content_id
-- inputs: openclaw_verdict_inputs
-- objective_pass: whether it passes; NULL if nothing is validated, or nothing could be
-- violation: why it does not pass, or why there is no verdict
-- parsed_output: what the validator read, JSON object
WITH rules AS (
    -- The rule is NULL for unusual validators.
    SELECT
        validator,
        openclaw_rule(validator) AS rule
    FROM (SELECT DISTINCT validator FROM inputs)
),

answers AS (
    SELECT
        inputs.*,
        rules.rule,
        stripped(inputs.raw_output, ' \t\r\n') AS answer,
        CAST(to_json(answer) AS VARCHAR) AS answer_json
    FROM inputs
    JOIN rules ON inputs.validator = rules.validator
),

sorted_by_kind AS (
    SELECT
        *,
        -- SQL judges what it judges exactly like Python, many times faster; NULL is left to Python.
        CASE
            -- They write control characters differently: \u000b and \u000B.
            WHEN contains(answer_json, '\u00') IS NOT FALSE THEN NULL
            WHEN rule.kind = 'json_keys' AND could_be_json(answer) THEN NULL
            ELSE rule.kind
        END AS kind
    FROM answers
),

counted AS (
    SELECT
        *,
        CASE kind WHEN 'tool_invocation' THEN openclaw_tools(raw_output) END AS tools,
        CASE kind WHEN 'exact_bullets' THEN nonblank_lines(answer) END AS lines,
        CASE kind WHEN 'regex_fullmatch' THEN full_match(rule.wanted[1], answer) END AS found,
        CASE kind
            WHEN 'max_words' THEN word_count(answer)
            WHEN 'max_sentences' THEN sentence_count(stripped(answer, whitespace_class()))
            WHEN 'exact_bullets' THEN bullet_count(lines)
        END AS got
    FROM sorted_by_kind
),

judged AS (
    SELECT
        suite,
        run_id,
        content_id,
        CASE kind
            WHEN 'noop' THEN verdict(NULL, NULL, NULL)
            WHEN 'one_of' THEN verdict(
                list_contains(rule.wanted, answer), rule.violation, '{"text":' || answer_json || '}'
            )
            WHEN 'regex_fullmatch' THEN verdict(
                found.matched,
                coalesce(found.reason, rule.violation),
                '{"text":' || answer_json || '}'
            )
            WHEN 'max_words' THEN verdict(
                got <= rule.number,
                format('too_many_words got={} limit={}', got, rule.number),
                '{"words":' || got || ',"text":' || answer_json || '}'
            )
            WHEN 'max_sentences' THEN verdict(
                got <= rule.number,
                format('too_many_sentences got={} limit={}', got, rule.number),
                '{"sentences":' || got || ',"text":' || answer_json || '}'
            )
            WHEN 'exact_bullets' THEN verdict(
                got = rule.number,
                format('bullet_count got={} want={}', got, rule.number),
                json_object('bullets', got, 'lines', lines[:20])
            )
            WHEN 'json_keys' THEN verdict(
                false,
                'json_parse_error: Expecting value: line 1 column 1 (char 0)',
                json_object(
                    'raw', left(answer, 500), 'candidate', left(stripped(answer, whitespace_class()), 500)
                )
            )
            WHEN 'tool_invocation' THEN verdict(
                len(tools) > 0 AND (len(rule.wanted) = 0 OR list_has_any(rule.wanted, tools)),
                rule.violation,
                json_object('detected_tools', tools, 'count', len(tools))
            )
            ELSE openclaw_verdict(raw_output, validator)
        END AS verdict
    FROM counted
)

SELECT
    suite,
    run_id,
    content_id,
    verdict.objective_pass AS objective_pass,
    verdict.violation AS violation,
    verdict.parsed_output AS parsed_output
FROM judged
