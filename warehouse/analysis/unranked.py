"""Why nothing is ranked."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

REHEARSED = "all runs are rehearsals, whose answers came from a file"
_UNJUDGED = "no answer has a verdict or a score"
_UNJUDGED_REAL = f"{_UNJUDGED} but those of rehearsals, which came from a file"
_SHARE = "SELECT avg(is_replay::INT) FROM scores.entry_calls WHERE coalesce(suite = $suite, true)"


def unranked_reason(connection: duckdb.DuckDBPyConnection, suite: str | None = None) -> str:
    """Return why a suite, or the whole store, has nothing to rank; empty if it has no answers."""
    [(share,)] = connection.execute(_SHARE, {"suite": suite}).fetchall()
    if not share:
        return "" if share is None else _UNJUDGED
    return REHEARSED if share == 1 else _UNJUDGED_REAL
