"""The options of `evalstore run`, apart from those that only some suites take."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from runners.completion import complete_model_to_run
from runners.providers.registry import PROVIDERS
from warehouse.app.console.completion import complete_run

if TYPE_CHECKING:
    from collections.abc import Callable

_Command = TypeVar("_Command", bound="Callable[..., object]")
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_POSITIVE = click.FloatRange(0, min_open=True)

_OPTIONS = (
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
        "--tasks", metavar="IDS", help="Run only these tasks: comma-separated IDs or numbers."
    ),
    click.option(
        "--prompts",
        type=click.Path(path_type=Path),
        help="Task file to use instead of the default; for posters, a folder of prompts.",
    ),
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
    click.option("--stream", is_flag=True, help="Stream responses (records `ttft_ms`)."),
    click.option(
        "--base-url", metavar="URL", help="Address of all calls of the run, judges included."
    ),
    click.option("--judge-base-url", metavar="URL", help="Address of the judges, if another."),
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
    click.option(
        "--tries", type=click.IntRange(1), hidden=True, help="Former name of --max-tries."
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Values of the options; None where not given."""

    models: tuple[str, ...]
    provider: str | None
    pairs: tuple[tuple[str, str], ...]
    attempts: int
    limit: int | None
    tasks: str | None
    prompts: Path | None
    max_cost_usd: float | None
    dry_run: bool
    resume: str | None
    retry_failed: bool
    retry_empty: bool
    run_id: str | None
    shard: str | None
    stream: bool
    base_url: str | None
    judge_base_url: str | None
    answers: Path | None
    concurrency: int | None
    rpm: float | None
    tpm: float | None
    timeout_s: float
    max_tries: int
    tries: int | None


def run_options(command: _Command) -> _Command:
    """Add the options to a command."""
    return reduce(lambda decorated, option: option(decorated), reversed(_OPTIONS), command)
