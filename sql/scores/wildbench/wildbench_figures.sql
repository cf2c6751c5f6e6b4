-- The figures of WildBench's boards as scores and battles give them. A board names neither judge nor file: its row of
-- a model is of the file with the model's name, and of battles against the opponent that the board names.
-- grain: board × model
-- inherits: scores.vote_figures
WITH judged AS (
    SELECT run_id, 'score' AS kind, result_id, value, NULL AS points, content_id
    FROM lake.ratings
    WHERE suite = 'wildbench'
    UNION ALL
    SELECT
        run_id, 'pairwise' AS kind,
        if(is_second, result_b, result_a) AS result_id,
        NULL AS value,
        CASE
            WHEN outcome = 'tie' THEN 0
            WHEN outcome IS NOT NULL THEN if((outcome = 'b') = is_second, strength, -strength)
        END AS points,
        content_id
    FROM (
        SELECT *, contains(model_a, regexp_extract(run_id, '/ref=([^/]+)/', 1)) AS is_second
        FROM lake.preferences
        WHERE suite = 'wildbench'
    ) AS votes
),

counted AS (
    SELECT
        judged.run_id, kind,
        if(kind = 'score', count(value), count(*)) AS n,
        ordered_mean(list(value ORDER BY judged.content_id) FILTER (value IS NOT NULL)) AS mean,
        MAP {
            'score': mean,
            'adjusted_score': 2 * (mean - 5),
            'win_much': count(*) FILTER (points = 2),
            'win': count(*) FILTER (points = 1),
            'tie': count(*) FILTER (points = 0),
            'lose': count(*) FILTER (points = -1),
            'lose_much': count(*) FILTER (points = -2),
            'reward': sum(points) / 2 / n,
            'total': n,
            'avg_len': CASE WHEN count(raw_output) = count(*)
                THEN sum(length(if(kind = 'score', trim(raw_output), raw_output))) / count(*) END
        } AS figures
    FROM judged
    LEFT JOIN lake.results AS answers
        ON answers.suite = 'wildbench'
        AND judged.run_id = answers.run_id
        AND judged.result_id = answers.content_id
    GROUP BY judged.run_id, kind
),

boards AS (
    SELECT DISTINCT
        run_id, model,
        lower(regexp_extract(run_id, '^pairwise-(.+)-K=', 1)) AS opponent,
        opponent <> '' AND run_id NOT LIKE '%-K=-1' AS has_margin
    FROM lake.reported_metrics
    WHERE suite = 'wildbench'
)

SELECT
    'wildbench' AS suite, boards.run_id, boards.model, max(counted.n) AS n,
    CASE WHEN count(*) = 1 AND NOT has_margin THEN any_value(counted.figures) END AS figures,
    CASE
        WHEN has_margin THEN 'the margin of lengths made ties of some slight wins'
        WHEN count(*) > 1 THEN 'the store has judgements of several judges, and the board names none'
        ELSE 'the texts of some answers are not in the store'
    END AS reason
FROM boards
JOIN counted
    ON boards.model = parse_filename(counted.run_id)
    AND counted.kind = if(boards.opponent = '', 'score', 'pairwise')
    AND contains(lower(counted.run_id), boards.opponent)
GROUP BY boards.run_id, boards.model, boards.has_margin
