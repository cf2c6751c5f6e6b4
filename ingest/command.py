"""`evalstore import`: legacy logs into the store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ingest.reconciliation import Outcome
from warehouse.cli import note, open_store
from warehouse.errors import BadInput, CheckFailed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ingest.formats.posters.dataset import GoldClaim
    from ingest.importer import Summary

_MESSAGES_SHOWN = 50
_LEAST_ANNOTATORS = 2


@click.command("import")
# One path that may not be read must not keep the others out: the import says so itself.
@click.argument("paths", nargs=-1, required=True, type=click.Path(readable=False, path_type=Path))
@click.option("--as", "run_as", metavar="NEW_ID", help="Import the one run under another id.")
@click.option("--replace", is_flag=True, help="Let a conflicting log take its run's place.")
@click.option("--strict", is_flag=True, help="Refuse files that break a rule of their format.")
@click.option("--redact", is_flag=True, help="Mask what looks like a key or token.")
@click.option("--restore", is_flag=True, help="Bring back what was forgotten.")
@click.option(
    "--prompts",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Prompt file that the imported openclaw runs used.",
)
@click.option("--gold", is_flag=True, help="The posters' ground truth was settled by people.")
@click.option("--annotators", metavar="A,B", help="With --gold: the two who annotated it.")
@click.option("--adjudicated-by", metavar="C", help="With --gold: who settled what differed.")
@click.pass_obj
def import_(
    path: Path,
    paths: tuple[Path, ...],
    run_as: str | None,
    *,
    replace: bool,
    strict: bool,
    redact: bool,
    restore: bool,
    prompts: Path | None,
    gold: bool,
    annotators: str | None,
    adjudicated_by: str | None,
) -> None:
    """Bring in the logs that you have: files and folders, in any order, as often as you like.

    The format is found by what a file holds. Task and model files beside a log come in with it.
    The same files again change nothing; a log that has grown adds what is new.

    \b
      evalstore import benchmark_logs/
      evalstore import benchmark_logs/ models/ tasks/
      evalstore import --as second-try benchmark_logs/2026-03-04-example-usva-3.yaml
      evalstore import runs/ --prompts tasks/house_tools.json
      evalstore import benchmark/ --gold --annotators A,B --adjudicated-by C
    """
    from ingest.importer import Options, import_paths

    if run_as is not None and not run_as.strip():
        raise click.BadParameter("the name is empty", param_hint="--as")
    claim = _gold_claim(gold=gold, annotators=annotators, adjudicated_by=adjudicated_by)
    options = Options(run_as, replace, strict, redact, restore, prompts, claim)
    store = open_store(path)
    store.recover_journals()
    summary = import_paths(store.lake, paths, options, _track)
    _print_summary(summary)
    _fail_if_bad(summary)


def _gold_claim(
    *, gold: bool, annotators: str | None, adjudicated_by: str | None
) -> GoldClaim | None:
    """Check what `--gold` claims: two different people, and who settled what differed."""
    from ingest.formats.posters.dataset import GoldClaim

    names = [name.strip() for name in (annotators or "").split(",") if name.strip()]
    judge = (adjudicated_by or "").strip()
    if not gold:
        if names or judge:
            raise click.UsageError("--annotators and --adjudicated-by belong to --gold")
        return None
    if len({name.casefold() for name in names}) < _LEAST_ANNOTATORS or not judge:
        raise click.UsageError(
            "--gold needs two different people and who settled their differences: "
            "--annotators A,B --adjudicated-by C"
        )
    return GoldClaim(tuple(names), judge)


def _track(files: Sequence[Path]) -> Iterable[Path]:
    from warehouse.output.progress import track

    return track(files, len(files), "importing")


def _print_summary(summary: Summary) -> None:
    from warehouse.output.formatting import visible

    for path in summary.missing:
        note(f"{visible(str(path))}: no such file or folder")
    for message in summary.messages[:_MESSAGES_SHOWN]:
        note(visible(message))
    if len(summary.messages) > _MESSAGES_SHOWN:
        note(f"… and {len(summary.messages) - _MESSAGES_SHOWN} more")
    for violation in summary.violations:
        note(f"rule broken: {visible(violation)}")
    if summary.n_violations > len(summary.violations):
        more = summary.n_violations - len(summary.violations)
        note(f"… and {more:,} more: `evalstore show checks.violations`")
    outcomes = summary.outcomes
    ended = [f"{outcomes[outcome]} {outcome}" for outcome in Outcome if outcomes[outcome]]
    click.echo(
        f"files         {sum(outcomes.values()):,}" + (f"  ({', '.join(ended)})" if ended else "")
    )
    click.echo(f"runs          {len(summary.runs):,}")
    click.echo(f"results       {summary.n_results:,} new")
    click.echo(f"unchanged     {outcomes[Outcome.UNCHANGED]:,}")
    click.echo(f"quarantined   {summary.n_quarantined:,}")
    click.echo(f"rules broken  {summary.n_violations:,}")
    if summary.n_other:
        click.echo(f"other files   {summary.n_other:,}, left alone")


def _fail_if_bad(summary: Summary) -> None:
    outcomes = summary.outcomes
    problems = {
        "in quarantine": summary.n_quarantined,
        "conflicting": outcomes[Outcome.CONFLICT],
        "not there": len(summary.missing),
    }
    if any(problems.values()):
        named = ", ".join(f"{count} {what}" for what, count in problems.items() if count)
        raise BadInput(f"not everything could be imported: {named}; the rest was")
    if not outcomes:
        raise BadInput("no log, run, task file or model file was found there")
    if outcomes[Outcome.REFUSED]:
        raise CheckFailed(f"{outcomes[Outcome.REFUSED]} files break rules and were refused")
