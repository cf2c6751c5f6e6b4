"""The options of `evalstore run`, apart from those that only some suites take, and of `judge`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from runners.completion import complete_model_to_run
from runners.providers.registry import PROVIDERS
from warehouse.app.console.completion import complete_run
from warehouse.core.errors import BadInput
from warehouse.core.formats.task_lists import read_task_list

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_Command = TypeVar("_Command", bound="Callable[..., object]")
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_RUN_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}")
_POSITIVE = click.FloatRange(0, min_open=True)

_MODELS = (
    click.option(
        "--model",
        "-m",
        "models",
        multiple=True,
        metavar="NAME",
        shell_complete=complete_model_to_run,
        help="Model name, model file, or ALL for all files in models/. Repeatable.",
    ),
    click.option(
        "--provider",
        type=click.Choice(tuple(PROVIDERS)),
        help="Provider to use instead of that in the model file.",
    ),
    click.option(
        "--option",
        "-o",
        "pairs",
        nargs=2,
        multiple=True,
        metavar="NAME VALUE",
        help="Model parameter, such as temperature 0.2. Repeatable.",
    ),
)
# Of `evalstore run` only.
_TASKS = (
    click.option(
        "--attempts",
        type=click.IntRange(1),
        default=1,
        show_default=True,
        help="Number of attempts per task.",
    ),
    click.option(
        "--limit", type=click.IntRange(1), metavar="N", help="Run only the first N tasks."
    ),
    click.option(
        "--tasks",
        metavar="IDS",
        help="Run only these tasks: comma-separated IDs or numbers, or @FILE with an ID per line.",
    ),
    click.option(
        "--prompts",
        type=click.Path(path_type=Path),
        help="Task file to use instead of the default; for posters, a folder of prompts.",
    ),
    click.option(
        "--adaptive",
        is_flag=True,
        help="Ask each model what says most about its full score, by the stored results of 30 "
        "models, until that is known.",
    ),
    click.option(
        "--error",
        type=click.FloatRange(0, 1, min_open=True),
        help="With --adaptive: half-width of the 90 % interval at which a model is asked no more.  "
        "[default: 0.05]",
    ),
    click.option("--stream", is_flag=True, help="Stream responses (records `ttft_ms`)."),
    click.option("--judge-base-url", metavar="URL", help="Address of the judges, if another."),
    click.option(
        "--tries", type=click.IntRange(1), hidden=True, help="Former name of --max-tries."
    ),
)
_CALLS = (
    click.option(
        "--max-cost-usd",
        type=click.FloatRange(0),
        help="Cost limit of the whole run, in US dollars.",
    ),
    click.option(
        "--dry-run", is_flag=True, help="Show the planned calls and their estimated cost."
    ),
    click.option(
        "--resume",
        metavar="RUN_ID",
        shell_complete=complete_run,
        help="Resume a run: make only the missing calls.",
    ),
    click.option(
        "--retry-failed", is_flag=True, help="With --resume: repeat failed calls as well."
    ),
    click.option(
        "--retry-empty", is_flag=True, help="With --resume: ask again where an answer was empty."
    ),
    click.option("--run-id", metavar="ID", help="ID of the new run.  [default: the time]"),
    click.option(
        "--shard",
        metavar="K/N",
        help="Make only every N-th call, from the K-th on; other processes make the others. "
        "Requires --run-id or --resume.",
    ),
    click.option(
        "--base-url", metavar="URL", help="Address of all calls of the run, judges included."
    ),
    click.option("--answers", type=_FILE, help="File of responses for the provider `replay`."),
    click.option(
        "--concurrency",
        type=click.IntRange(1),
        help="Maximum simultaneous calls per server.  "
        "[default: 8; ollama_openai: 1; claude_code_cli: 2]",
    ),
    click.option("--rpm", type=_POSITIVE, help="Maximum requests per minute and server."),
    click.option("--tpm", type=_POSITIVE, help="Maximum tokens per minute and server (estimated)."),
    click.option(
        "--timeout-s",
        type=_POSITIVE,
        default=300,
        show_default=True,
        help="Time limit per call, in seconds.",
    ),
    click.option(
        "--max-tries",
        type=click.IntRange(1),
        default=5,
        show_default=True,
        help="Maximum calls per task, retries included.",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Values of the options; None where not given."""

    models: tuple[str, ...]
    provider: str | None
    pairs: tuple[tuple[str, str], ...]
    attempts: int = 1
    limit: int | None = None
    tasks: str | None = None
    prompts: Path | None = None
    adaptive: bool = False
    error: float | None = None
    stream: bool = False
    judge_base_url: str | None = None
    tries: int | None = None
    max_cost_usd: float | None
    dry_run: bool
    resume: str | None
    retry_failed: bool
    retry_empty: bool
    run_id: str | None
    shard: str | None
    base_url: str | None
    answers: Path | None
    concurrency: int | None
    rpm: float | None
    tpm: float | None
    timeout_s: float
    max_tries: int

    @property
    def parameters(self) -> dict[str, object]:
        """The model parameters that are given."""
        return {name: _value(text) for name, text in self.pairs}

    @property
    def task_ids(self) -> tuple[str, ...]:
        """The tasks that are given, by ID or number.

        Raises:
            BadInput: the file that names them cannot be used.
        """
        text = self.tasks or ""
        if text.startswith("@"):
            return read_task_list(Path(text[1:]))
        return tuple(name.strip() for name in text.split(",") if name.strip())

    def check(self) -> None:
        """Check the options that depend on each other.

        Raises:
            BadInput: one needs or excludes another, or the ID of a new run cannot be the name of a
                folder.
        """
        for name in ("retry_failed", "retry_empty"):
            if getattr(self, name) and self.resume is None:
                raise BadInput(f"--{name.replace('_', '-')} requires --resume RUN_ID")
        if self.error is not None and not self.adaptive:
            raise BadInput("--error requires --adaptive")
        if self.adaptive and (self.shard is not None or self.attempts > 1):
            other = "--shard" if self.shard is not None else "--attempts"
            raise BadInput(f"{other} cannot be used with --adaptive, which asks each task once")
        if self.shard is not None and not (self.run_id or self.resume):
            raise BadInput("--shard requires --run-id ID: all shards of a run have the same ID")
        if self.run_id is not None and not _RUN_ID.fullmatch(self.run_id):
            raise BadInput(
                f"--run-id {self.run_id!r}: not a name of up to 100 letters, digits and _ . + - "
                "that begins with a letter, a digit or _"
            )


def run_options(command: _Command) -> _Command:
    """Add the options to a command."""
    return _add((*_MODELS, *_TASKS, *_CALLS), command)


def call_options(command: _Command) -> _Command:
    """Add the options to a command that says itself what is asked: no tasks, no attempts."""
    return _add((*_MODELS, *_CALLS), command)


def _add(options: Sequence[Callable[[_Command], _Command]], command: _Command) -> _Command:
    return reduce(lambda decorated, option: option(decorated), reversed(options), command)


def _value(text: str) -> bool | int | float | str:
    """Parse an option's value as the palindrome program did: true, on, yes, a number, or text."""
    words = {"true": True, "on": True, "yes": True, "false": False, "off": False, "no": False}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
