"""What trajectories are made of: the steps of trials, in the order in which they are written."""

from __future__ import annotations

from exports.run_rows import OF_RUNS

# Of each run, how many results it has, and how many of them have steps.
COUNTS = f"""
SELECT suite, run_id, count(*) AS n_results, count(totals.result_id) AS n_trials
FROM results
LEFT JOIN scores.step_totals AS totals USING (suite, run_id, result_id)
{OF_RUNS}
GROUP BY suite, run_id
ORDER BY suite, run_id
"""  # noqa: S608 - only names of our own
# The steps of the results of a block: of each trial first its own, then those of each sub-agent.
# Its first row has what is known of the trial.
STEPS = """
WITH own AS (
    SELECT block.result_number, steps.*
    FROM steps
    JOIN block USING (suite, run_id, result_id)
),

-- A trajectory without an agent of its own, which counts, continues the trial's.
trajectories AS (
    SELECT
        result_number, trajectory, min(seq) AS first_seq, max(seq) AS last_seq,
        arg_min(agent, seq) AS trajectory_agent,
        arg_min(model, seq) FILTER (kind = 'model') AS trajectory_model,
        trajectory IS NULL OR (trajectory_agent IS NULL AND bool_or(is_counted))
            OR row_number() OVER (PARTITION BY result_number ORDER BY min(seq)) = 1 AS is_main
    FROM own
    GROUP BY result_number, trajectory
),

-- The messages of a step whose text they hold; of an answer also those before it that no step has.
said AS (
    SELECT
        suite, run_id, result_id, result_number, seq, first_message,
        unnest(range(
            if(kind = 'model', least(first_message, 1 + coalesce(previous, 0)), first_message),
            last_message + 1
        )) AS message
    FROM (
        SELECT
            *,
            max(last_message) OVER (
                PARTITION BY result_number ORDER BY seq
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS previous
        FROM own
        WHERE first_message IS NOT NULL
    )
    WHERE text IS NULL
),

spoken AS (
    SELECT
        said.result_number, said.seq,
        list({
            role: messages.role, text: messages.text,
            is_result: messages.role = 'tool' OR messages.tool_call_id IS NOT NULL
        } ORDER BY said.message) AS messages
    FROM said
    JOIN messages
        ON said.suite = messages.suite
        AND said.run_id = messages.run_id
        AND said.result_id = messages.result_id
        AND said.message = messages.seq
    WHERE said.message >= said.first_message OR messages.role IN ('user', 'system')
    GROUP BY said.result_number, said.seq
),

-- The conversations of logs whose steps do not say what was asked.
conversations AS (
    SELECT result_number, list({role: role, text: text} ORDER BY seq) AS conversation
    FROM messages
    JOIN block USING (suite, run_id, result_id)
    ANTI JOIN (FROM own WHERE kind IN ('user', 'system') OR first_message IS NOT NULL)
        USING (result_number)
    WHERE trajectory IS NULL
    GROUP BY result_number
),

-- The document without its steps, of a trial that came in this format.
documents AS (
    SELECT
        suite, run_id, regexp_replace(tag, '/[^/]*$', '') AS trial_id,
        arg_min(document, seq) AS document
    FROM events
    SEMI JOIN block USING (suite, run_id)
    WHERE suite = 'atif' AND event = 'trajectory'
    GROUP BY suite, run_id, trial_id
),

outlines AS (
    SELECT
        result_number,
        min(first_seq) FILTER (is_main) AS first_seq,
        max(last_seq) FILTER (is_main) AS last_seq,
        list({name: trajectory, seq: first_seq} ORDER BY first_seq) FILTER (NOT is_main)
            AS subagents
    FROM trajectories
    GROUP BY result_number
),

facts AS (
    SELECT block.result_number, trials AS trial, documents.document
    FROM trials
    JOIN block USING (suite, run_id, result_id)
    LEFT JOIN documents USING (suite, run_id, trial_id)
)

SELECT
    own.* EXCLUDE (first_message, last_message, is_counted, step_row_id, file_sha256, batch),
    spoken.messages, trajectories.is_main, trajectory_agent, trajectory_model, subagents,
    outlines.last_seq, conversation, trial, document
FROM own
JOIN trajectories
    ON own.result_number = trajectories.result_number
    AND own.trajectory IS NOT DISTINCT FROM trajectories.trajectory
LEFT JOIN spoken ON own.result_number = spoken.result_number AND own.seq = spoken.seq
LEFT JOIN outlines
    ON own.result_number = outlines.result_number AND own.seq = outlines.first_seq
LEFT JOIN facts ON outlines.result_number = facts.result_number
LEFT JOIN conversations ON outlines.result_number = conversations.result_number
ORDER BY
    own.result_number, is_main DESC, CASE WHEN NOT is_main THEN trajectories.first_seq END, own.seq
"""
