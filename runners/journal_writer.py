"""The writer of a run's journal: one row per call, on disk before it counts."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from runners.providers.base import OK, Failure, Reply
from warehouse.core.formats.json_text import canonical_json, json_text
from warehouse.core.formats.values import utf8
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runners.engine.engine import CallOutcome
    from runners.plan import Cell, Plan
    from warehouse.core.types import ResultRow
    from warehouse.lake.journal.journal import Entry, Journal

_MAX_RETRY_TEXT = 500  # characters kept of the text of a retried call


class JournalWriter:
    """Appends to a journal for concurrent calls: one flush for all that are waiting."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._waiting: list[tuple[list[Entry], asyncio.Future[None]]] = []
        self._writer: asyncio.Task[None] | None = None

    async def add(self, entries: Iterable[Entry]) -> None:
        """Append rows and return when they are on disk.

        Raises:
            OSError: they could not be written.
        """
        written = asyncio.get_running_loop().create_future()
        self._waiting.append((list(entries), written))
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write())
        # Cancelling one waiting call must not cancel the flush for the others.
        await asyncio.shield(written)

    async def finish(self) -> None:
        """Wait until everything is written."""
        if self._writer is not None:
            await self._writer

    async def _write(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            entries = [entry for waiting, _ in batch for entry in waiting]
            error: Exception | None = None
            try:
                await asyncio.to_thread(self._journal.append, entries)
            except Exception as caught:  # noqa: BLE001 - raised in the waiting calls
                error = caught
            for _, written in batch:
                if error is not None:
                    written.set_exception(error)
                else:
                    written.set_result(None)


def result_row(
    plan: Plan, run_id: str, invocation: str, cell: Cell, outcome: CallOutcome
) -> ResultRow:
    """Return the columns of a result that all suites share.

    Args:
        plan: the plan of the run.
        run_id: ID of the run.
        invocation: name of the journal; differs each time that the run is resumed.
        cell: the call.
        outcome: what became of it.
    """
    result = outcome.result
    identity = plan.suite, run_id, invocation, cell.seq
    settings = canonical_json(cell.model.sampling)
    n_bytes = result.n_bytes if isinstance(result, Failure) else None
    cut = f"raw_output is the beginning of {n_bytes:,} bytes" if n_bytes is not None else None
    return {
        "content_id": content_hash("result", *identity),
        "seq": cell.seq,
        "run_date": plan.run_date,
        "provider": cell.model.provider,
        "model": cell.model.name,
        "model_path": cell.model.path,
        "thinking_level": cell.model.thinking_level,
        "settings": settings if cell.model.sampling else None,
        **_sent(cell, result),
        "task_set": plan.task_set,
        "task_id": cell.task.task_id,
        "task_name": cell.task.name,
        "task_hash": cell.task.task_hash,
        "prompt": cell.task.prompt,
        "template_hash": content_hash(plan.template) if plan.template is not None else None,
        "attempt": cell.attempt,
        "availability_status": OK if isinstance(result, Reply) else result.status,
        "success": isinstance(result, Reply),
        "failure_type": None if isinstance(result, Reply) else result.failure_type,
        "started_at": outcome.started_at,
        "ended_at": outcome.ended_at,
        "e2e_ms": outcome.e2e_ms,
        "ttft_ms": result.ttft_ms if isinstance(result, Reply) else None,
        "duration_seconds": round(outcome.duration_seconds, 3),
        "input_tokens": result.input_tokens,
        "output_tokens": result.output_tokens,
        "cost_usd": result.cost_usd,
        "cost_source": result.cost_source,
        "raw_output": utf8(result.text),
        "raw_output_truncated": True if n_bytes is not None else None,
        "violation": cut,
        "retries": _retries(outcome),
    }


def _sent(cell: Cell, result: Reply | Failure) -> ResultRow:
    """Return the parameters sent, and those requested unless all of them were sent."""
    requested = cell.model.parameters
    sent = dict(result.sent)
    is_complete = all(sent.get(key) == value for key, value in requested.items())
    return {
        "requested": None if is_complete else canonical_json(requested),
        "sent": canonical_json(sent) if sent else None,
    }


def _retries(outcome: CallOutcome) -> str | None:
    if not outcome.failed_calls:
        return None
    return json_text(
        [
            {
                "availability_status": call.failure.status,
                "failure_type": call.failure.failure_type,
                "started_at": call.started_at.isoformat(timespec="milliseconds") + "Z",
                "e2e_ms": call.e2e_ms,
                "waited_seconds": round(call.waited_seconds, 3),
                "said": utf8(call.failure.text[:_MAX_RETRY_TEXT]),
            }
            for call in outcome.failed_calls
        ]
    )
