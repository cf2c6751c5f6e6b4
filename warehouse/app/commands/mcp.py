"""`evalstore mcp`: the store for agents."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING

import click

from warehouse.app.console.cli import max_memory_option, note
from warehouse.engine.base_store import check_is_store

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.option(
    "--max-seconds",
    type=click.FloatRange(min=0.1, max=3600),
    default=30,
    show_default=True,
    help="Time limit of a query.",
)
@max_memory_option
@click.pass_obj
def mcp(path: Path, max_seconds: float, max_memory_mb: int) -> None:
    """Serve the store to an agent over the Model Context Protocol, on stdin and stdout.

    The client of the agent starts this command; docs/agents.md describes its set-up. The agent
    can list and describe the views, run queries and read samples, and can change nothing.

    \b
      evalstore --store /path/to/store mcp
    """
    check_is_store(path)
    if sys.stdin.isatty():
        note("waiting for a client on standard input; docs/agents.md describes the set-up")
    # Imported here: it takes a second.
    from warehouse.app.agents.server import serve
    from warehouse.app.agents.worker import Limits, Worker

    # At once: the thread that waits for the client would only end with its next message.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    serve(Worker(path, Limits(max_seconds, max_memory_mb)))
