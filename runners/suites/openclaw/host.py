"""Records of the host for an OpenClaw run: inventory, resource snapshots, stopping Ollama.

A program that is missing or fails is recorded as an error and never ends a run.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

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

Event = dict[str, object]


@dataclass(frozen=True, slots=True)
class ProgramOutput:
    """The output of a program.

    Attributes:
        out: its standard output.
        error: why it failed; None if it did not.
    """

    out: str
    error: str | None = None


def run_program(arguments: list[str], seconds: float = 30) -> ProgramOutput:
    """Run a program and wait for its end, at most this many seconds."""
    # Not `Path.expanduser`: it fails if there is no home folder, as in some containers.
    arguments = [os.path.expanduser(argument) for argument in arguments]  # noqa: PTH111
    try:
        ended = subprocess.run(  # noqa: S603 - fixed program names, no shell
            arguments, capture_output=True, timeout=seconds, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return ProgramOutput("", str(error))
    out = ended.stdout.decode("utf-8", "replace")
    if ended.returncode != 0:
        return ProgramOutput(out, ended.stderr.decode("utf-8", "replace").strip())
    return ProgramOutput(out)


def inventory(run_id: str) -> dict[str, object]:
    """Return the inventory of the host in the form of `inventory.json`."""
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
    """Return a snapshot of the system resources: four sections, each the output of a program."""
    parts = []
    for title, arguments, name, seconds in _SECTIONS:
        ran = run_program(arguments, seconds)
        parts.append(f"# {title}\n{ran.out if ran.error is None else f'({name} failed)'}")
    return "\n\n".join(part.rstrip("\n") for part in parts).encode() + b"\n"


def idle_events(tag: str, sleep: Callable[[float], None] = time.sleep) -> Iterator[Event]:
    """Stop the models that Ollama runs, so that a model starts on an idle machine.

    Args:
        tag: tag of the model.
        sleep: waits this many seconds.

    Yields:
        Events of the harness, for `events.jsonl`.
    """

    def event(name: str, **rest: object) -> Event:
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


def _or_error(ran: ProgramOutput, value: str) -> str | dict[str, str]:
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
