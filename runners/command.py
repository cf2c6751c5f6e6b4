"""`evalstore run`: models called, results kept. `evalstore models`: what can be called."""

from __future__ import annotations

import math
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from runners.providers.registry import PROVIDERS
from warehouse.cli import format_option, note, open_store, print_rows
from warehouse.errors import BadInput, CheckFailed

if TYPE_CHECKING:
    from runners.run import Options, Run
    from runners.suites.base import PreparedRun
    from warehouse.store import Store

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
_POSTER_OPTIONS = ("urls", "images", "include", "exclude", "dataset", "of_run")
# What a run asks, and of whom, was settled when it began.
_SETTLED = (
    "models", "provider", "pairs", "attempts", "limit", "tasks", "prompts", "stream",
    *_POSTER_OPTIONS,
)  # fmt: skip
_NUMBERS = ("max_cost_usd", "rpm", "tpm", "timeout_s")


@click.command()
@click.argument("suite", required=False)
@click.option("--model", "-m", "models", multiple=True, metavar="NAME", help="Name, file, or ALL.")
@click.option("--provider", type=click.Choice(tuple(PROVIDERS)), help="How to reach the models.")
@click.option("--option", "-o", "pairs", nargs=2, multiple=True, metavar="NAME VALUE")
@click.option("--attempts", type=click.IntRange(1), default=1, help="Ask everything so often.")
@click.option("--limit", type=click.IntRange(1), help="Ask the first so many tasks alone.")
@click.option("--tasks", metavar="IDS", help="Ask these tasks alone: ids or numbers, with commas.")
@click.option("--prompts", type=click.Path(path_type=Path), help="A task file; posters: a folder.")
@click.option("--max-cost-usd", type=click.FloatRange(0), help="What the whole run may cost.")
@click.option("--dry-run", is_flag=True, help="Say what would be asked, and what it may cost.")
@click.option("--resume", metavar="RUN_ID", help="Go on with a run: ask what is missing.")
@click.option("--retry-failed", is_flag=True, help="With --resume: ask again what failed, too.")
@click.option("--stream", is_flag=True, help="Have answers piece by piece, to measure ttft_ms.")
@click.option("--base-url", metavar="URL", help="Where the provider is.")
@click.option("--answers", type=_FILE, help="What `replay` answers from.")
@click.option("--concurrency", type=click.IntRange(1), help="Calls at once for each provider.")
@click.option("--rpm", type=click.FloatRange(0, min_open=True), help="Requests per minute.")
@click.option("--tpm", type=click.FloatRange(0, min_open=True), help="Tokens per minute.")
@click.option(
    "--timeout-s", type=click.FloatRange(0, min_open=True), default=300, show_default=True
)
@click.option("--tries", type=click.IntRange(1), default=5, help="Calls for a cell.")
@click.option("--urls", type=_FILE, help="Posters: the list of their addresses.")
@click.option(
    "--images", type=_FOLDER, help="Posters: pictures at hand, DIR/<id>.jpg; no download."
)
@click.option("--include", type=_FILE, help="Posters: those that belong, of the list.")
@click.option("--exclude", type=_FILE, help="Posters: those not to score, each with a reason.")
@click.option("--dataset", metavar="NAME", help="Posters: name of the dataset.")
@click.option("--of", "of_run", metavar="RUN_ID", help="posters-judge: the run to judge.")
@click.pass_obj
def run(path: Path, /, suite: str | None, **given: Any) -> None:  # noqa: ANN401 - what the options give
    """Call models and keep what they answer. SUITE is palindrome, openclaw, or your own file.

    Of posters there are three: `posters` has models read them, `posters-truth` has a model write
    silver ground truth, `posters-judge` has one judge a run. Pictures are downloaded into a cache.

    Every answer is on disk before it counts. A run that was stopped or killed goes on where it
    was: nothing is asked twice.

    \b
      evalstore run palindrome --model example/aurora-2 --provider replay
      evalstore run palindrome --model gemini/gemini-2.0-flash --limit 3 --dry-run
      evalstore run --resume 20260213_235930 --retry-failed
      evalstore run capitals.yaml --model ALL --max-cost-usd 2
      evalstore run posters --urls docs/test_poster_urls.txt --model gemini/gemini-2.0-flash
    """
    from runners.claim import new_run, resumed_run

    if given["retry_failed"] and given["resume"] is None:
        raise BadInput("--retry-failed goes with --resume RUN_ID")
    if given["resume"] is not None:
        _refuse_what_is_settled(click.get_current_context())
    store = open_store(path)
    options = _options(suite, given)
    if given["resume"] is not None:
        with resumed_run(store, given["resume"], suite, options) as resumed:
            _go(store, resumed, None, dry=given["dry_run"])
        return
    prepared = _prepare(store, suite, given)
    for text in prepared.notes:
        note(f"warning: {text}")
    with new_run(store, prepared.plan, options) as fresh:
        _go(store, fresh, prepared, dry=given["dry_run"])


def _refuse_what_is_settled(context: click.Context) -> None:
    for option in context.command.params:
        is_given = context.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
        if is_given and option.name in _SETTLED:
            raise BadInput(
                f"{option.opts[0]} cannot be changed with --resume: the run goes on with what it "
                "began with; without --resume it would be another run"
            )


def _go(store: Store, run: Run, prepared: PreparedRun | None, *, dry: bool) -> None:
    from runners.estimate import check
    from runners.progress import Progress

    if dry:
        _print_estimates(run)
        return
    for text in check(run):
        note(f"warning: {text}")
    if prepared is not None:
        _write_files(prepared)
    note(f"run {run.run_id}: {len(run.wanted)} to ask")
    try:
        with Progress(wanted.cell.model.name for wanted in run.wanted) as progress:
            run.execute(prepared.rows if prepared else {}, progress.count)
    finally:
        store.recover_journals()
    which = {"suite": run.plan.suite, "run_id": run.run_id}
    print_rows(store.path, run.family.summary, "table", which)
    if run.stop_reason is not None:
        raise CheckFailed(
            f"stopped: {run.stop_reason}; go on with `evalstore run --resume {run.run_id}`"
        )
    note(f"see more: evalstore sql \"FROM {run.family.view} WHERE run_id = '{run.run_id}'\"")


def _prepare(store: Store, suite: str | None, given: dict[str, Any]) -> PreparedRun:
    from runners.model_files import choose_models, read_model_files
    from runners.suites.base import PosterFiles, RunSpec
    from runners.suites.openclaw import suite as openclaw
    from runners.suites.registry import prepare

    names = list(given["models"])
    if "" in names:
        raise BadInput("--model: the name is empty")
    if suite is None or (not names and suite != openclaw.FAMILY):
        raise BadInput("say what to run: `evalstore run SUITE --model NAME`, or `--resume RUN_ID`")
    of_posters = {name: given[name] for name in _POSTER_OPTIONS if given[name] is not None}
    if of_posters and not suite.startswith("posters"):
        name = next(iter(of_posters)).removesuffix("_run")
        raise BadInput(f"--{name} goes with the suite posters")
    files = read_model_files()
    options = {name: _value(text) for name, text in given["pairs"]} or None
    models = choose_models(
        names,
        files,
        provider=given["provider"],
        options=options,
        base_url=given["base_url"],
    )
    if names and not models:
        raise BadInput("no model is left to ask: every model file says `skip: true`")
    wish = RunSpec(
        suite,
        tuple(models if names else openclaw.default_models()),
        files,
        datetime.now().astimezone().strftime("%Y-%m-%d"),
        store,
        given["prompts"],
        tuple(name.strip() for name in (given["tasks"] or "").split(",") if name.strip()),
        given["limit"],
        given["attempts"],
        given["stream"],
        PosterFiles(**of_posters),
    )
    return prepare(wish)


def _options(suite: str | None, given: dict[str, Any]) -> Options:
    from runners.engine.engine import EngineSettings
    from runners.engine.retry import RetryPolicy
    from runners.run import Options
    from warehouse.paths import TASKS

    for name in _NUMBERS:
        if math.isnan(given[name] or 0):
            raise BadInput(f"--{name.replace('_', '-')}: nan is no number")
    settings = EngineSettings(
        timeout_seconds=given["timeout_s"],
        concurrency=given["concurrency"],
        requests_per_minute=given["rpm"],
        tokens_per_minute=given["tpm"],
        retries=RetryPolicy(max_tries=given["tries"]),
    )
    own = [given["answers"]] if given["answers"] else []
    shipped = (
        [TASKS / "replay" / f"{suite}.jsonl"]
        if suite
        else sorted((TASKS / "replay").glob("*.jsonl"))
    )
    return Options(
        settings,
        given["max_cost_usd"],
        given["retry_failed"],
        (*own, *shipped),
        given["base_url"] if given["resume"] is not None else None,
    )


def _write_files(prepared: PreparedRun) -> None:
    import yaml

    from runners.model_files import model_document

    for model in prepared.new_files:
        path = Path(str(model.path))
        text = yaml.safe_dump(model_document(model), sort_keys=False, allow_unicode=True)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise BadInput(
                f"{path}: cannot be written ({error.strerror}); nothing was asked"
            ) from error
        note(f"wrote {path}")


def _print_estimates(run: Run) -> None:
    from runners.estimate import estimate
    from warehouse.output.writers import write_rows

    columns = ("model", "provider", "cells", "done", "to_ask", "tokens", "cost_usd", "missing")
    rows = [
        (
            e.model.name,
            e.model.provider,
            e.cells,
            e.done,
            e.cells - e.done,
            e.tokens,
            e.cost_usd,
            e.missing,
        )
        for e in estimate(run)
    ]
    write_rows(columns, rows, "table", sys.stdout.buffer, note=note)
    note("nothing was asked; tokens and cost are estimates")


def _value(text: str) -> Any:  # noqa: ANN401 - whatever the text says
    """Read an option's value as the palindrome program did: true, on, yes, a number, or text."""
    words = {"true": True, "on": True, "yes": True, "false": False, "off": False, "no": False}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


@click.command()
@format_option
def models(fmt: str) -> None:
    """List the model files, and what is missing to use each: a key, a program, a server.

    \b
      evalstore models
      evalstore models --format csv
    """
    from runners.model_list import COLUMNS, model_lines
    from warehouse.output.writers import write_rows

    write_rows(COLUMNS, model_lines(), fmt, sys.stdout.buffer, note=note)
