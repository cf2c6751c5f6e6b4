"""What the calls of an agent's tools share: a store, and limits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from warehouse.app.opening import open_store

if TYPE_CHECKING:
    from pathlib import Path

    from warehouse.app.store import Store


@dataclass(frozen=True, slots=True)
class AgentSession:
    """What the calls of tools share.

    Attributes:
        store: the store.
        max_seconds: time limit of a query.
        is_expendable: whether this process may be ended with a query that cannot be stopped.
        warnings: warnings about the store since the last answer.
    """

    store: Store
    max_seconds: float
    is_expendable: bool = False
    warnings: list[str] = field(default_factory=list)


def open_session(path: Path, *, max_seconds: float, is_expendable: bool = False) -> AgentSession:
    """Return a session for a store; warnings go into the next answer, not to a screen."""
    warnings: list[str] = []
    store = open_store(path, on_warning=warnings.append)
    return AgentSession(store, max_seconds, is_expendable, warnings)
