"""What all sessions share: the row of a trial, and of what it tested."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.formats.common.trials import outcome, system_row
from warehouse.core.formats.json_text import json_text
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ingest.formats.common.collector import RowCollector
    from warehouse.core.types import JsonObject, ResultRow, SystemRow

SUITE = "sessions"
TABLES = ("systems", "results", "steps", "events")


def system_of(
    run_id: str, agent: str | None, version: str | None, models: Sequence[str]
) -> SystemRow:
    """Return the row of a system of a run.

    Args:
        run_id: the run.
        agent: name of the agent.
        version: its version.
        models: its models in the order of their first use; where none is recorded, the system is
            pooled with no other.
    """
    main = models[0] if len(models) == 1 else list(models)
    row = system_row(
        agent=agent,
        agent_version=version,
        models={"agent": main} if models else None,
        run_id=run_id,
    )
    row["content_id"] = content_hash(run_id, row["content_id"])
    return row


def add_trial(
    rows: RowCollector,
    system: SystemRow,
    row: ResultRow,
    *,
    shared: JsonObject,
    open_ends: object,
) -> str:
    """Add a trial and its system, and return the id of its result.

    What grows with a session (its end, tokens, steps) is summed up from the steps: the result of a
    session that goes on stays the same.

    Args:
        rows: collects the rows.
        system: what was tested.
        row: what the session says of the trial, with its id.
        shared: what it says of all of its steps.
        open_ends: what a later version of the log may change, and not only add to.
    """
    label, trial_id = system["system"], row["trial_id"]
    result: ResultRow = {
        **outcome(),
        "content_id": content_hash(SUITE, rows.run_id, label, trial_id, open_ends),
        "seq": 1,
        "model": system["model"],
        "system": label,
        "extra": json_text(shared) if shared else None,
        **row,
    }
    rows.add("systems", system)
    rows.add("results", result)
    return result["content_id"]
