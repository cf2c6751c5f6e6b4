"""Columns of the lake's tables that only the warehouse has: what results are joined by."""

from __future__ import annotations

from warehouse.engine.views.sql_files import traits_sql

# What calls must share to be the same call: `scores.duplicate_calls` compares the rest, the model
# and the time. A call without text and time has no hash: there is nothing to recognise it by. A
# log that names the model's file may lack times, models and providers, but it has a date. Of a call
# without a time, a date and a duration there is only the text, and many models answer twice the
# same. Where runs take the calls of each other from a cache, a call counts in each task set.
# A trial has an id of its own: two systems may both leave an empty patch.
_CALL_HASH = f"""CASE
    WHEN trial_id IS NOT NULL THEN NULL
    WHEN coalesce(answer, raw_output) IS NOT NULL
        AND coalesce(
            model_path, run_date, CAST(started_at AS VARCHAR),
            CAST(duration_seconds AS VARCHAR), CAST(e2e_ms AS VARCHAR)
        ) IS NOT NULL
        OR started_at IS NOT NULL AND coalesce(duration_seconds, e2e_ms) IS NOT NULL
    THEN hash(
        text_hash(suite), text_hash(thinking_level), text_hash(coalesce(prompt, task_id)),
        text_hash(coalesce(nullif(answer, ''), raw_output, answer)),
        coalesce(duration_seconds, e2e_ms),
        CASE
            WHEN model_path IS NOT NULL THEN hash(run_date)
            ELSE hash(
                text_hash(provider), text_hash(model), started_at,
                CASE WHEN started_at IS NULL THEN run_date END
            )
        END,
        CASE
            WHEN suite IN (SELECT suite FROM ({traits_sql()}) WHERE repeats_calls)
                THEN text_hash(task_set)
        END
    )
END"""

# Results of older runs of ours do not say that they were replayed; the run's plan does.
_REPLAYED_MODELS = """CASE
    WHEN contains(plan, '"replay"') AND json_valid(plan)
    THEN list_transform(
        list_filter(
            from_json(plan -> '$.models', '[{"name": "VARCHAR", "provider": "VARCHAR"}]'),
            lambda planned: planned.provider = 'replay'
        ),
        lambda planned: planned.name
    )
END"""

# What a run's results have in common is resolved once: see `scores.setups`.
_SETUP = """hash(
    text_hash(suite), text_hash(run_id), text_hash(provider), text_hash(model),
    text_hash(model_path), text_hash(settings), text_hash(thinking_level), text_hash(task_set),
    text_hash(system)
)"""

# Columns that only the warehouse has: type and expression, by table and name. `facts.py`
# fills those without a value here, which depend on other rows.
COMPUTED = {
    "results": {
        "call_hash": ("UBIGINT", _CALL_HASH),
        "setup": ("UBIGINT", _SETUP),
        "is_replaced": ("BOOLEAN", "false"),
        "n_replaced_calls": ("BIGINT", "0::BIGINT"),
        "duplicate_of": ("VARCHAR", "NULL::VARCHAR"),
        "computed_verdict": ("BOOLEAN", "NULL::BOOLEAN"),
    },
    "runs": {"replayed_models": ("VARCHAR[]", _REPLAYED_MODELS)},
}
