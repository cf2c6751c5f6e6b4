"""`evalstore import`: existing logs into the store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from warehouse.cli import note, open_store
from warehouse.errors import BadInput, CheckFailed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ingest.session import ImportSummary

_MESSAGES_SHOWN = 50
_LEAST_ANNOTATORS = 2


@click.command("import")
# An unreadable path must not keep the others out: the import itself reports it.
@click.argument("paths", nargs=-1, required=True, type=click.Path(readable=False, path_type=Path))
@click.option("--as", "run_as", metavar="NEW_ID", help="Import a single run under another id.")
@click.option("--replace", is_flag=True, help="Replace runs that the logs conflict with.")
@click.option("--strict", is_flag=True, help="Refuse files that break a rule of their format.")
@click.option("--redact", is_flag=True, help="Mask what looks like a secret.")
@click.option("--restore", is_flag=True, help="Import forgotten files again.")
@click.option(
    "--prompts",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Prompt file that the imported openclaw runs used.",
)
@click.option("--gold", is_flag=True, help="Declare the posters' ground truth adjudicated.")
@click.option("--annotators", metavar="A,B", help="With --gold: the two annotators.")
@click.option("--adjudicated-by", metavar="C", help="With --gold: the adjudicator.")
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
    """Import existing logs: files and folders, in any order, any number of times.

    Formats are detected by content. Task and model files next to a log are imported with it.
    Importing a file again changes nothing; a log that has grown adds what is new.

    \b
      evalstore import benchmark_logs/
      evalstore import benchmark_logs/ models/ tasks/
      evalstore import --as second-try benchmark_logs/2026-03-04-example-usva-3.yaml
      evalstore import runs/ --prompts tasks/house_tools.json
      evalstore import benchmark/ --gold --annotators A,B --adjudicated-by C
    """
    from ingest.importer import import_paths
    from ingest.reading import ImportOptions

    if run_as is not None and not run_as.strip():
        raise click.BadParameter("the id is empty", param_hint="--as")
    options = ImportOptions(
        run_as=run_as,
        replace=replace,
        strict=strict,
        redact=redact,
        restore=restore,
        format_options=(
            *_prompts_option(prompts),
            *_gold_claim(gold=gold, annotators=annotators, adjudicated_by=adjudicated_by),
        ),
    )
    store = open_store(path)
    store.recover_journals()
    summary = import_paths(store.lake, paths, options, _track)
    _print_summary(summary, is_masked=redact)
    _fail_if_bad(summary)


def _prompts_option(prompts: Path | None) -> Iterator[object]:
    from ingest.formats.openclaw.prompts import PromptsOption

    if prompts is not None:
        yield PromptsOption(prompts)


def _gold_claim(
    *, gold: bool, annotators: str | None, adjudicated_by: str | None
) -> Iterator[object]:
    """Check what `--gold` claims: two different annotators, and an adjudicator."""
    from ingest.formats.posters.dataset import GoldClaim

    names = [name.strip() for name in (annotators or "").split(",") if name.strip()]
    adjudicator = (adjudicated_by or "").strip()
    if not gold:
        if names or adjudicator:
            raise click.UsageError("--annotators and --adjudicated-by require --gold")
        return
    if len({name.casefold() for name in names}) < _LEAST_ANNOTATORS or not adjudicator:
        raise click.UsageError(
            "--gold needs two different annotators and an adjudicator: "
            "--annotators A,B --adjudicated-by C"
        )
    yield GoldClaim(tuple(names), adjudicator)


def _track(files: Sequence[Path]) -> Iterable[Path]:
    from warehouse.output.progress import track

    return track(files, len(files), "importing")


def _print_summary(summary: ImportSummary, *, is_masked: bool) -> None:
    from ingest.reconciliation import FileOutcome
    from warehouse.formats.secrets import describe

    outcomes = summary.outcomes
    _print_messages(summary)
    ended = [f"{outcomes[outcome]:,} {outcome}" for outcome in FileOutcome if outcomes[outcome]]
    click.echo(
        f"files         {sum(outcomes.values()):,}" + (f"  ({', '.join(ended)})" if ended else "")
    )
    click.echo(f"runs          {len(summary.runs):,}")
    click.echo(f"results       {summary.n_results:,} new")
    click.echo(f"unchanged     {outcomes[FileOutcome.UNCHANGED]:,}")
    click.echo(f"quarantined   {summary.n_quarantined:,}")
    click.echo(f"rules broken  {summary.n_violations:,}")
    if summary.secrets:
        done = "secrets masked" if is_masked else "secrets found "
        click.echo(f"{done}  {summary.secrets.total():,}  ({describe(summary.secrets)})")
    if summary.n_other:
        click.echo(f"other files   {summary.n_other:,}, ignored")


def _print_messages(summary: ImportSummary) -> None:
    from warehouse.output.formatting import visible

    for path in summary.missing:
        note(f"{visible(str(path))}: no such file or folder")
    for message in summary.messages[:_MESSAGES_SHOWN]:
        note(visible(message))
    if len(summary.messages) > _MESSAGES_SHOWN:
        note(f"… and {len(summary.messages) - _MESSAGES_SHOWN:,} more")
    for violation in summary.violations:
        note(f"rule broken: {visible(violation)}")
    if summary.n_violations > len(summary.violations):
        more = summary.n_violations - len(summary.violations)
        note(f"… and {more:,} more: `evalstore show checks.violations`")


def _fail_if_bad(summary: ImportSummary) -> None:
    from ingest.readers import READERS
    from ingest.reconciliation import FileOutcome

    outcomes = summary.outcomes
    problems = {
        "quarantined": summary.n_quarantined,
        "conflicting": outcomes[FileOutcome.CONFLICT],
        "missing": len(summary.missing),
    }
    if any(problems.values()):
        named = ", ".join(f"{count:,} {what}" for what, count in problems.items() if count)
        raise BadInput(f"not everything was imported: {named}; the rest was")
    if not outcomes:
        formats = ", ".join(reader.format for reader in READERS)
        raise BadInput(f"nothing to import was found; known formats: {formats}")
    if outcomes[FileOutcome.REFUSED]:
        raise CheckFailed(
            f"{outcomes[FileOutcome.REFUSED]:,} files break rules of their format and were refused"
        )
