"""The commands `init`, `run` and `models`."""

from __future__ import annotations

import math
import sys
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from runners.completion import complete_suite_to_run
from runners.options import RunOptions, run_options
from runners.suites.options import SuiteOptions, suite_options
from warehouse.app.console.cli import (
    TableOptions,
    note,
    note_wrapped,
    open_store,
    print_rows,
    print_values,
    table_options,
)
from warehouse.core.errors import BadInput, BudgetSpent, CheckFailed, ModelsUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable

    from runners.models.model import Model
    from runners.models.model_files import ModelFile
    from runners.run import Run, RunSettings
    from runners.suites.base import PreparedRun, Suite
    from warehouse.app.store import Store

_SUITE_OPTIONS = tuple(field.name for field in fields(SuiteOptions))
# Fixed by the plan of a run.
_FIXED = (
    "models",
    "provider",
    "pairs",
    "run_id",
    "attempts",
    "limit",
    "tasks",
    "prompts",
    "adaptive",
    "error",
    "stream",
    "runs",
    "rubric",
    "sample",
    "seed",
    *_SUITE_OPTIONS,
)


@click.command()
@click.argument("folder", default=".", type=click.Path(file_okay=False, path_type=Path))
def init(folder: Path) -> None:
    """Create a suite, a model file and a README in FOLDER (by default, this folder).

    The suite runs at once with recorded answers, without network or key. The README says which
    line to change for a real model. Existing files are never overwritten.

    \b
      evalstore init my-suite
    """
    from runners.starter.starter import write_starter

    for path in write_starter(folder):
        note(f"wrote {path}")
    note(f"next: the commands in {folder / 'README.md'}")


@click.command()
@click.argument("suite", required=False, shell_complete=complete_suite_to_run)
@run_options
@suite_options
@click.pass_obj
def run(path: Path, /, suite: str | None, **given: Any) -> None:  # noqa: ANN401 - as click passes options
    """Call models and store their responses. SUITE is palindrome, openclaw, posters or a file.

    The poster suites are `posters` (models extract the data of posters from their images),
    `posters-truth` (a model writes silver ground truth) and `posters-judge` (a model judges the
    predictions of a run). Images are downloaded once, into a cache.

    Each response is on disk before it counts. A run that was interrupted or killed can be resumed
    and repeats no completed call.

    \b
      evalstore run palindrome --model example/aurora-2 --provider replay
      evalstore run palindrome --model gemini/gemini-2.0-flash --limit 3 --dry-run
      evalstore run --resume 20260213_235930 --retry-failed
      evalstore run capitals.yaml --model ALL --max-cost-usd 2
      evalstore run capitals.yaml --model ALL --run-id nightly-17 --shard 3/16
      evalstore run posters --urls docs/test_poster_urls.txt --model gemini/gemini-2.0-flash
    """
    for_suite = SuiteOptions(**{name: given.pop(name) for name in _SUITE_OPTIONS})
    options = RunOptions(**given)
    run_or_resume(path, suite, options, lambda store: _prepare(store, suite, options, for_suite))


def run_or_resume(
    path: Path,
    suite: str | None,
    options: RunOptions,
    prepare: Callable[[Store], PreparedRun],
) -> None:
    """Begin a run, or resume one, and report how it ended.

    Args:
        path: the store.
        suite: name of the suite, or path of its file; None for that of the run to resume.
        options: the options of the command.
        prepare: makes the plan of a new run.

    Raises:
        EvalstoreError: an option cannot be used, the run was stopped, or nothing was answered.
    """
    from runners.claim import named_run, new_run, resumed_run

    options.check()
    if options.resume is not None:
        _refuse_fixed(click.get_current_context())
    _check_addresses(options)
    store = open_store(path)
    settings = _settings(suite, options)
    if options.resume is not None:
        with resumed_run(store, options.resume, suite, settings) as resumed:
            _execute(store, resumed, None, dry_run=options.dry_run)
        return
    prepared = prepare(store)
    for text in prepared.warnings:
        note(f"warning: {text}")
    if options.run_id is None:
        claim = new_run(store, prepared.plan, settings)
    else:
        claim = named_run(store, prepared.plan, options.run_id, settings)
    with claim as new:
        _execute(store, new, prepared, dry_run=options.dry_run)


def _refuse_fixed(context: click.Context) -> None:
    """Raise `BadInput` if an option is given that would change the plan of a resumed run."""
    for option in context.command.params:
        is_given = context.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
        if is_given and option.name in _FIXED:
            raise BadInput(
                f"{option.opts[0]} cannot be changed with --resume; start a new run instead"
            )


def _execute(store: Store, run: Run, prepared: PreparedRun | None, *, dry_run: bool) -> None:
    from runners.claim import check_shards
    from runners.estimate import addresses, check, simultaneous
    from runners.progress import Progress

    calls_at = addresses(run)
    if dry_run:
        for text in calls_at:
            note(text)
        _print_estimates(run)
        return
    for text in check(run):
        note(f"warning: {text}")
    if prepared is not None:
        _write_files(prepared)
    shard = run.settings.shard
    part = f" of shard {shard}" if shard else ""
    at_once = f", {simultaneous(run)}" if run.pending else ""
    n_calls = len(run.pending)
    calls = f"{run.at_most}{n_calls} call{'s' * (n_calls != 1)}"
    note_wrapped(f"run {run.run_id}: {calls}{part} to make{at_once}")
    for text in calls_at:
        note(text)
    try:
        with Progress(pending.cell.model.name for pending in run.pending) as progress:
            run.execute(prepared.rows if prepared else {}, progress.count)
    finally:
        store.recover_journals()
    store.merge_small_batches()
    if shard:
        check_shards(store, run)
    _report(store, run)


def _report(store: Store, run: Run) -> None:
    """Print how a run ended.

    Raises:
        EvalstoreError: it was stopped, or nothing was answered or judged.
    """
    from runners.summary import summarise

    shard = run.settings.shard
    which = {"suite": run.plan.suite, "run_id": run.run_id}
    # This command has no option for columns.
    output = TableOptions(hint="a pipe or file has all")
    print_rows(store.path, run.summary, output, which, answer=run.answer)
    ended = summarise(store, run)
    for text in ended.sentences:
        note_wrapped(text)
    again = f"evalstore run --resume {run.run_id}{f' --shard {shard}' if shard else ''}"
    if run.stopped is not None:
        if isinstance(run.stopped, BudgetSpent):
            again += " --max-cost-usd USD"
        if isinstance(run.stopped, ModelsUnavailable):
            again += " --retry-failed"
        left = f"; calls still to make: {run.at_most}{ended.n_left}" if ended.n_left else ""
        raise type(run.stopped)(f"stopped: {run.stopped}{left}; resume with `{again}`")
    if ended.problem is not None:
        raise CheckFailed(f"{ended.problem} with `{again}{ended.options}`")
    is_replay = any(model.provider == "replay" for model in run.plan.models)
    view = "results" if is_replay else run.suite.view
    note(f"see more: evalstore sql \"FROM {view} WHERE run_id = '{run.run_id}'\"")


def _prepare(
    store: Store, suite_name: str | None, options: RunOptions, for_suite: SuiteOptions
) -> PreparedRun:
    from runners.models.addresses import Address, addressed, own_address
    from runners.models.model_files import read_model_files
    from runners.suites.base import RunSpec
    from runners.suites.registry import prepare, suite_named

    suite = suite_named(suite_name) if suite_name is not None else None
    defaults = suite.default_models() if suite is not None else ()
    if suite is None or not (options.models or defaults):
        raise BadInput("name a suite and a model (`evalstore run SUITE --model NAME`), or --resume")
    _refuse_foreign(suite, for_suite)
    files = read_model_files()
    at = Address(options.base_url)
    models = chosen_models(options, files)
    spec = RunSpec(
        suite=suite_name or "",
        models=tuple(models or (addressed(model, at, own_address(model)) for model in defaults)),
        files=files,
        run_date=datetime.now().astimezone().strftime("%Y-%m-%d"),
        store=store,
        prompts=options.prompts,
        task_ids=options.task_ids,
        limit=options.limit,
        attempts=options.attempts,
        is_streamed=options.stream,
        options=for_suite,
        at=at,
        judge_at=Address(options.judge_base_url),
    )
    prepared = prepare(suite, spec)
    if not options.adaptive:
        return prepared
    from runners.adaptive import with_adaptive_order

    return with_adaptive_order(prepared, store, options.error, options.concurrency)


def chosen_models(options: RunOptions, files: dict[str, ModelFile]) -> list[Model]:
    """Return the models that the options name; warn of what is odd in the model files.

    Raises:
        BadInput: a name cannot be used, or every model file is to be skipped.
    """
    from runners.models.addresses import Address
    from runners.models.model_files import choose_models

    if "" in options.models:
        raise BadInput("--model: the name is empty")
    models = choose_models(
        options.models,
        files,
        provider=options.provider,
        options=options.parameters or None,
        at=[Address(options.base_url)],
    )
    paths = {model.path for model in models}
    for text in (text for path, file in files.items() if path in paths for text in file.warnings):
        note(f"warning: {text}")
    for path, file in files.items():
        if file.errors:
            note(f"warning: {path} has errors; this run does not use it\n{file.errors}")
    if options.models and not models:
        raise BadInput("no model is selected: every model file has `skip: true`")
    return models


def _refuse_foreign(suite: Suite, for_suite: SuiteOptions) -> None:
    """Raise `BadInput` if an option is given that the suite does not take."""
    for option in click.get_current_context().command.params:
        name = option.name or ""
        is_foreign = name in _SUITE_OPTIONS and name not in suite.options
        if is_foreign and getattr(for_suite, name) not in {None, False}:
            raise BadInput(f"{option.opts[0]} is not an option of the suite {suite.family}")


def _settings(suite: str | None, options: RunOptions) -> RunSettings:
    from runners.engine.engine import EngineSettings
    from runners.engine.retry import RetryPolicy
    from runners.run import RunSettings
    from runners.shard import Shard
    from warehouse.core.paths import TASKS

    for name in ("max_cost_usd", "rpm", "tpm", "timeout_s"):
        if math.isnan(getattr(options, name) or 0):
            raise BadInput(f"--{name.replace('_', '-')}: nan is not a number")
    replay = TASKS / "replay"
    shipped = [replay / f"{suite}.jsonl"] if suite else sorted(replay.glob("*.jsonl"))
    return RunSettings(
        engine=EngineSettings(
            timeout_seconds=options.timeout_s,
            concurrency=options.concurrency,
            requests_per_minute=options.rpm,
            tokens_per_minute=options.tpm,
            retries=RetryPolicy(max_tries=options.tries or options.max_tries),
        ),
        max_cost_usd=options.max_cost_usd,
        retry_failed=options.retry_failed,
        retry_empty=options.retry_empty,
        answers=(*([options.answers] if options.answers else []), *shipped),
        base_url=options.base_url if options.resume is not None else None,
        judge_base_url=options.judge_base_url if options.resume is not None else None,
        shard=Shard.parse(options.shard) if options.shard is not None else None,
    )


def _check_addresses(options: RunOptions) -> None:
    """Raise `BadInput` if an address cannot be called."""
    from runners.models.addresses import address_problem

    for name, value in (("base", options.base_url), ("judge-base", options.judge_base_url)):
        problem = address_problem("base_url", value) if value is not None else None
        if problem is not None:
            raise BadInput(f"--{name}-url: {problem}")


def _write_files(prepared: PreparedRun) -> None:
    import yaml

    from runners.models.model_files import model_document

    for model in prepared.new_files:
        path = Path(str(model.path))
        text = yaml.safe_dump(model_document(model), sort_keys=False, allow_unicode=True)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise BadInput(
                f"{path}: cannot be written ({error.strerror}); no calls were made"
            ) from error
        note(f"wrote {path}")


def _print_estimates(run: Run) -> None:
    from runners.estimate import estimate
    from warehouse.app.output.writers import write_rows

    columns = ("model", "provider", "cells", "done", "pending", "tokens", "cost_usd", "missing")
    rows = [
        (
            line.model.name,
            line.model.provider,
            line.n_cells,
            line.n_cells - line.n_pending,
            line.n_pending,
            line.tokens,
            "unknown" if line.cost_usd is None else line.cost_usd,
            line.unavailable_reason,
        )
        for line in estimate(run)
    ]
    write_rows(columns, rows, "table", sys.stdout.buffer, note=note)
    note("no calls were made; tokens and cost are estimates")


@click.command()
@table_options
def models(output: TableOptions) -> None:
    """List the model files, and what is missing to call each: a key, a program or a server.

    The files are those of the folder models/. Without any, the examples that ship with evalstore
    are listed. The exit code is 1 if a file has errors.

    \b
      evalstore models
      evalstore models --format csv
    """
    from runners.models.model_files import listed_files, read_model_files
    from runners.models.model_list import ANSWER, COLUMNS, model_lines

    files = listed_files(read_model_files())
    for text in (text for file in files.values() for text in file.warnings):
        note(f"warning: {text}")
    print_values(COLUMNS, model_lines(files), output.fmt, output.layout(ANSWER))
    if errors := [file.errors for file in files.values() if file.errors]:
        raise CheckFailed("\n".join(errors))
