"""The rows that all sessions share: the tested system, the trial, the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.formats.common.trials import system_row
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warehouse.core.types import JsonObject, SystemRow

SUITE = "sessions"


def system_of(
    run_id: str,
    agent: str | None,
    version: str | None,
    models: Sequence[str],
    configuration: JsonObject | None = None,
) -> SystemRow:
    """Return the row of a system of a run.

    Args:
        run_id: the run.
        agent: name of the agent.
        version: its version.
        models: its models in the order of their first use; where none is recorded, the system is
            pooled with no other.
        configuration: settings that the log records.
    """
    main = models[0] if len(models) == 1 else list(models)
    row = system_row(
        agent=agent,
        agent_version=version,
        models={"agent": main} if models else None,
        configuration=configuration,
        run_id=run_id,
    )
    row["content_id"] = content_hash(run_id, row["content_id"])
    return row


def trial_content_id(run_id: str, system: SystemRow, trial_id: str, open_ends: object) -> str:
    """Return the content id of a trial.

    Args:
        run_id: the run.
        system: the tested system.
        trial_id: the trial.
        open_ends: what a later version of the log may change, and not only add to.
    """
    return content_hash(SUITE, run_id, system["system"], trial_id, open_ends)
