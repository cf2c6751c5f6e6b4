"""`evalstore judge`: has a model judge stored answers by a rubric."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from runners.command import chosen_models, run_or_resume
from runners.options import RunOptions, call_options
from warehouse.app.console.completion import complete_run, complete_suite
from warehouse.core.errors import BadInput
from warehouse.core.rating_scales import RATINGS_SUITE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runners.suites.base import PreparedRun
    from warehouse.app.store import Store


_HOW = "`evalstore judge RUN --model NAME --rubric FILE`"


@click.command()
@click.argument("runs", metavar="[RUN] [RUN]", nargs=-1, shell_complete=complete_run)
@click.option(
    "--rubric",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="File of the rubric: instructions, criteria and their scales.",
)
@click.option("--suite", shell_complete=complete_suite, help="Suite of the runs.")
@click.option(
    "--sample", type=click.IntRange(1), metavar="N", help="Judge N answers, or pairs, at random."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Which ones are drawn.")
@call_options
@click.pass_obj
def judge(path: Path, /, runs: tuple[str, ...], **given: Any) -> None:  # noqa: ANN401 - as click passes options
    """Have a model judge the stored answers of RUN by a rubric; of two runs, pairs of answers.

    The tested models are not called. The answers may come from any tool. Each answer is rated by
    the criteria of the rubric. With a second RUN, each two answers to the same task are shown in
    both orders; the same RUN twice compares the models of one run.

    The ratings are a run of their own in the suite `ratings`, with a journal, a budget and a plan
    as any other run, and can be resumed.

    \b
      evalstore judge 20260303_140000 --model openai/gpt-4o --rubric rubric.yaml --sample 200
      evalstore judge 20260303_140000 20260310_140000 --model openai/gpt-4o --rubric pairs.yaml
      evalstore judge --resume 20260311_090000 --max-cost-usd 2
    """
    own = {name: given.pop(name) for name in ("rubric", "suite", "sample", "seed")}
    options = RunOptions(**given)
    run_or_resume(path, RATINGS_SUITE, options, lambda store: _prepare(store, runs, options, **own))


def _prepare(
    store: Store,
    runs: Sequence[str],
    options: RunOptions,
    *,
    rubric: Path | None,
    suite: str | None,
    sample: int | None,
    seed: int,
) -> PreparedRun:
    from runners.judging.rubric import read_rubric
    from runners.judging.suite import plan_judging
    from runners.models.model_files import read_model_files
    from runners.suites.base import PreparedRun
    from warehouse.core.git import git_commit
    from warehouse.lake.forgetting import find_run

    if rubric is None or not options.models or len(runs) not in {1, 2}:
        raise BadInput(f"name a run, or two, a model and a rubric ({_HOW}), or --resume")
    what, warnings = read_rubric(rubric)
    if what.is_pairwise != (len(runs) > 1):
        about = "two answers; name a second run" if what.is_pairwise else "one answer; name one run"
        raise BadInput(f"{rubric}: instructions: they are about {about}")
    store.recover_journals()
    files = read_model_files()
    models = chosen_models(options, files)
    keys = [find_run(store.lake, run, suite) for run in runs]
    plan, not_judged = plan_judging(store, keys, what, models, sample=sample, seed=seed)
    plan = replace(plan, git_commit=git_commit(rubric.parent))
    rows = [files[model.path].row for model in models if model.path in files]
    all_warnings = (*warnings, *not_judged)
    return PreparedRun(plan, {"models": rows}, rubric.parent, warnings=all_warnings)
