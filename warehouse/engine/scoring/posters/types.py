"""The DuckDB types of the rows that the poster functions return."""

from warehouse.engine.scoring.posters.records.record import EVENT_FIELDS

_FLAGS = ("pred_missing", "parse_ok", "schema_valid", "schema_strict", "schema_exact")
_COUNTS = ("gold_events", "pred_events", "event_diff")
_RATES = (
    "date_precision",
    "date_recall",
    "date_f1_raw",
    "date_f1",
    "event_count",
    "event_match",
    "venue",
    "location",
    "core_event_match",
    "core_venue",
    "core_location",
    "top_level",
    "missing_field_rate",
    "missing_of_gold_rate",
    "structured",
    "app_quality",
    "app_core",
)
_MATCH = "STRUCT(gold INTEGER, prediction INTEGER, similarity DOUBLE)[]"


def _struct(fields: dict[str, str]) -> str:
    return f"STRUCT({', '.join(f'{name} {type_}' for name, type_ in fields.items())})"


POSTER_SCORE = _struct(
    {
        **dict.fromkeys(_FLAGS, "BOOLEAN"),
        **dict.fromkeys(_COUNTS, "INTEGER"),
        **dict.fromkeys(_RATES, "DOUBLE"),
        "matches": _MATCH,
        "core_matches": _MATCH,
        "reason": "VARCHAR",
    }
)

POSTER_PAIRS = _struct(
    {
        "assignment": "VARCHAR",
        "gold_index": "INTEGER",
        "predicted_index": "INTEGER",
        "similarity": "DOUBLE",
        "core_similarity": "DOUBLE",
        **{f'"{name}"': "DOUBLE" for name in EVENT_FIELDS},
        "gold_event": "VARCHAR",
        "predicted_event": "VARCHAR",
    }
)
POSTER_PAIRS += "[]"

DIFFERENCE = _struct(
    {
        **dict.fromkeys(("mean", "low", "high", "p_value"), "DOUBLE"),
        "significant": "BOOLEAN",
        "reason": "VARCHAR",
    }
)

PAIRS = _struct(
    {
        "a": "INTEGER",
        "b": "INTEGER",
        **dict.fromkeys(("mean", "low", "high", "p_value"), "DOUBLE"),
        "significant": "BOOLEAN",
        **dict.fromkeys(("paired_low", "paired_high", "paired_p_value", "holm_p_value"), "DOUBLE"),
        "paired_significant": "BOOLEAN",
    }
)
PAIRS += "[]"

AGREEMENT = _struct(
    {
        **dict.fromkeys(("events_a", "events_b", "dates_equal", "venues_equal"), "INTEGER"),
        "differences": "STRUCT(field VARCHAR, value_a VARCHAR, value_b VARCHAR)[]",
    }
)
