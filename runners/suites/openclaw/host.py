"""What an OpenClaw run notes of the host: its inventory, resource snapshots, idle Ollama.

A program that is not there, or fails, is a recorded error and never ends a run.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_COLUMNS_OF_LIST = 3
_PAUSES_SECONDS = (0.5, 1.0, 1.5, 2.0, 2.5)
_SECTIONS = (
    ("free -h", ["free", "-h"], "free", 10),
    ("df -h /", ["df", "-h", "/"], "df", 10),
    ("du -sh ~/.ollama", ["du", "-sh", "~/.ollama"], "du", 30),
    ("ollama ps", ["ollama", "ps"], "ollama ps", 10),
)

Event = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Ran:
    """How a program ended: its output, and what was wrong if it failed."""

    out: str
    error: str | None = None


def run_program(arguments: list[str], seconds: float = 30) -> Ran:
    """Run a program of the host, and wait for it."""
    # Not by `Path.expanduser`: it fails where nobody has a home, as in a container.
    arguments = [os.path.expanduser(argument) for argument in arguments]  # noqa: PTH111
    try:
        ended = subprocess.run(  # noqa: S603 - programs of ours by name, no shell
            arguments, capture_output=True, timeout=seconds, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Ran("", str(error))
    out = ended.stdout.decode("utf-8", "replace")
    if ended.returncode != 0:
        return Ran(out, ended.stderr.decode("utf-8", "replace").strip())
    return Ran(out)


def inventory(run_id: str) -> dict[str, Any]:
    """Give the inventory of the host, as `inventory.json` has it."""
    listed = run_program(["ollama", "list"])
    store = run_program(["du", "-sh", "~/.ollama"])
    claude = run_program(["claude", "--version"])
    return {
        "run_id": run_id,
        "created_at": datetime.now(UTC).isoformat(),
        "host": {"uname": " ".join(platform.uname()[:5]), "python": sys.version},
        "ollama_list": _or_error(listed, listed.out),
        "ollama_models": list(_models(listed.out)),
        "ollama_store_du": _or_error(store, store.out.strip()),
        "claude_version": _or_error(claude, claude.out.strip()),
    }


def snapshot() -> bytes:
    """Give a snapshot of the system's resources: four sections, each a program's own words."""
    parts = []
    for title, arguments, name, seconds in _SECTIONS:
        ran = run_program(arguments, seconds)
        parts.append(f"# {title}\n{ran.out if ran.error is None else f'({name} failed)'}")
    return "\n\n".join(part.rstrip("\n") for part in parts).encode() + b"\n"


def idle_events(tag: str, sleep: Callable[[float], None] = time.sleep) -> Iterator[Event]:
    """Stop what Ollama runs, so that a model's suite begins on an idle machine.

    Args:
        tag: of the model's suite.
        sleep: waits so many seconds.
    """

    def event(name: str, **rest: Any) -> Event:  # noqa: ANN401
        return {"record_type": "event", "tag": tag, "event": name, **rest}

    running = run_program(["ollama", "ps"], 10)
    if running.error is not None:
        yield event("ollama_ps_failed", error=running.error)
        return
    models = _running(running.out)
    if not models:
        return
    for model in models:
        stopped = run_program(["ollama", "stop", model])
        yield event("ollama_stop", model=model, ok=stopped.error is None, error=stopped.error)
    for attempt, pause in enumerate(_PAUSES_SECONDS, start=1):
        sleep(pause)
        running = run_program(["ollama", "ps"], 10)
        if running.error is not None:
            yield event("ollama_ps_failed_after_stop", attempt=attempt, error=running.error)
            return
        if not _running(running.out):
            yield event("ollama_idle_confirmed", attempt=attempt)
            return
    yield event("ollama_still_running", models=_running(running.out))


def _or_error(ran: Ran, value: str) -> str | dict[str, str]:
    return value if ran.error is None else {"error": ran.error}


def _models(listed: str) -> Iterator[dict[str, str]]:
    lines = listed.splitlines()
    if lines and lines[0].lower().startswith("name"):
        lines = lines[1:]
    for line in lines:
        words = line.split()
        if len(words) >= _COLUMNS_OF_LIST:
            yield {"name": words[0], "size": words[2]}


def _running(listed: str) -> list[str]:
    lines = [line.split() for line in listed.splitlines()[1:] if line.strip()]
    return list(dict.fromkeys(words[0] for words in lines))
