"""`evalstore import`: existing logs into the store."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warehouse.app.console.cli import note, open_store
from warehouse.core.errors import BadInput, CheckFailed
from warehouse.core.text.figures import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ingest.reading import ImportOptions
    from ingest.session import ImportSummary
    from warehouse.app.store import Store
    from warehouse.lake.lake import Lake

_RULES_NAMED = 5
_LEAST_ANNOTATORS = 2
_THREADS = "OPENBLAS_NUM_THREADS"


def _checked_id(
    _context: click.Context, _option: click.Parameter, run_id: str | None
) -> str | None:
    if run_id is not None and not run_id.strip():
        raise click.BadParameter("the id is empty")
    return run_id


@click.command("import")
# Other paths are imported even if one cannot be read; the import reports that one.
@click.argument("paths", nargs=-1, required=True, type=click.Path(readable=False, path_type=Path))
@click.option(
    "--as",
    "run_as",
    metavar="NEW_ID",
    callback=_checked_id,
    help="Import a single run under another id.",
)
@click.option("--replace", is_flag=True, help="Replace runs that the logs conflict with.")
@click.option("--strict", is_flag=True, help="Refuse files that break a rule of their format.")
@click.option("--redact", is_flag=True, help="Mask what looks like a secret.")
@click.option("--keep-secrets", is_flag=True, help="Sessions: keep what looks like a secret.")
@click.option("--restore", is_flag=True, help="Import forgotten files again.")
@click.option("--verbose", "-v", is_flag=True, help="Name every file and every possible secret.")
@click.option(
    "--prompts",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Prompt file that the imported openclaw runs used.",
)
@click.option("--gold", is_flag=True, help="Declare the posters' ground truth adjudicated.")
@click.option("--annotators", metavar="A,B", help="With --gold: the two annotators.")
@click.option("--adjudicated-by", metavar="C", help="With --gold: the adjudicator.")
@click.option(
    "--columns",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Tables: a YAML file that says which column is what.",
)
@click.option("--wide", is_flag=True, help="Tables: each model has a column.")
@click.option("--decimal-comma", is_flag=True, help="Tables: 0,5 is a half.")
@click.option("--yes", is_flag=True, help="Tables: do not ask whether the columns are right.")
@click.option("--suite", help="Tables: suite of the rows.  [default: the file's name]")
@click.option("--run", help="Tables: run of the rows.  [default: the file's name]")
@click.option("--model", help="Tables: model of the rows.")
@click.option("--task-set", help="Tables: task set of the rows.")
@click.pass_obj
def import_(
    path: Path,
    /,
    paths: tuple[Path, ...],
    run_as: str | None,
    *,
    replace: bool,
    strict: bool,
    redact: bool,
    keep_secrets: bool,
    restore: bool,
    verbose: bool,
    prompts: Path | None,
    gold: bool,
    annotators: str | None,
    adjudicated_by: str | None,
    yes: bool,
    **table: str | Path | bool | None,
) -> None:
    """Import existing logs: files and folders, in any order, any number of times.

    Formats are detected by content. Task and model files next to a log are imported with it.
    Importing a file again changes nothing; a log that has grown adds what is new.

    Tables of results (CSV, JSON, JSON lines, Parquet) are imported if they are named. Their columns
    are found by the usual names and shown, and nothing is stored until you confirm.

    Another store is imported if its folder is named: its batches are copied, each once. A run that
    both stores have with different records is a conflict, as it is for logs.

    \b
      evalstore import benchmark_logs/
      evalstore import benchmark_logs/ models/ tasks/
      evalstore import --as second-try benchmark_logs/2026-03-04-example-usva-3.yaml
      evalstore import runs/ --prompts tasks/house_tools.json
      evalstore import benchmark/ --gold --annotators A,B --adjudicated-by C
      evalstore import results.csv --model example/aurora-2
      evalstore import ../baseline-store
    """
    _load_numpy()
    from ingest.reading import ImportOptions
    from ingest.stores.command import is_among_stores

    store = open_store(path)
    stores = [each for each in paths if is_among_stores(each)]
    _refuse_for_stores(stores, run_as=run_as, redact=redact, strict=strict)
    options = ImportOptions(
        run_as=run_as,
        replace=replace,
        strict=strict,
        redact=redact,
        restore=restore,
        format_options=(
            *_prompts_option(prompts),
            *_kept_secrets(is_kept=keep_secrets, redact=redact),
            *_gold_claim(gold=gold, annotators=annotators, adjudicated_by=adjudicated_by),
            *_tables(store.lake, paths, table, is_confirmed=yes),
        ),
    )
    _import(store, stores, [p for p in paths if p not in stores], options, is_verbose=verbose)


def _import(
    store: Store,
    stores: Sequence[Path],
    paths: Sequence[Path],
    options: ImportOptions,
    *,
    is_verbose: bool,
) -> None:
    from ingest.importer import import_paths
    from ingest.stores.command import import_stores

    store.recover_journals()
    if stores:
        import_stores(store.lake, stores, replace=options.replace, restore=options.restore)
    if paths:
        summary = import_paths(store.lake, paths, options, _track)
        store.merge_small_batches()
        print_messages(summary, is_verbose=is_verbose)
        _print_summary(summary, is_masked=options.redact)
        fail_if_bad(summary)


def _load_numpy() -> None:
    """Load numpy without threads for linear algebra, which an import has none of.

    OpenBLAS starts one for each other processor, and each spins before it sleeps: 0.1 s. It reads
    the variable once, so that other programs get the environment as it was.
    """
    if _THREADS in os.environ or "numpy" in sys.modules:
        return
    os.environ[_THREADS] = "1"
    try:
        import numpy  # noqa: F401, ICN001 - loaded only
    finally:
        del os.environ[_THREADS]


def _refuse_for_stores(
    stores: Sequence[Path], *, run_as: str | None, redact: bool, strict: bool
) -> None:
    if not stores:
        return
    given = {"--as": run_as is not None, "--redact": redact, "--strict": strict}
    if named := ", ".join(name for name, is_given in given.items() if is_given):
        raise click.UsageError(f"{named}: only for logs, not for a store, which is copied as it is")


def _prompts_option(prompts: Path | None) -> Iterator[object]:
    if prompts is not None:
        from ingest.formats.openclaw.prompts import PromptsOption

        yield PromptsOption(prompts)


def _kept_secrets(*, is_kept: bool, redact: bool) -> Iterator[object]:
    if is_kept and redact:
        raise click.UsageError("--redact and --keep-secrets exclude each other")
    if is_kept:
        from ingest.formats.sessions.consent import KeepSecrets

        yield KeepSecrets()


def _tables(
    lake: Lake,
    paths: Sequence[Path],
    given: Mapping[str, Any],
    *,
    is_confirmed: bool,
) -> Iterator[object]:
    """Return how the tables among the files are imported, once the user has confirmed it."""
    from ingest.readers import TABLES, reader_of_named
    from ingest.reading import Candidate

    tables = [each for each in paths if reader_of_named(Candidate(each)) is TABLES]
    if tables:
        from ingest.formats.tables.columns.confirmation import TableRequest, confirmed_specs
        from ingest.formats.tables.tables import TableOption

        request = TableRequest(**given, is_confirmed=is_confirmed)
        yield TableOption(confirmed_specs(lake, tables, request))
        return
    named = [f"--{name.replace('_', '-')}" for name, value in given.items() if value]
    if named:
        raise click.UsageError(f"{', '.join(named)}: only for tables, and none of these is one")


def _gold_claim(
    *, gold: bool, annotators: str | None, adjudicated_by: str | None
) -> Iterator[object]:
    """Return the claim made with `--gold`: two different annotators and an adjudicator."""
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
    from ingest.formats.posters.dataset import GoldClaim

    yield GoldClaim(tuple(names), adjudicator)


def _track(files: Sequence[Path]) -> Iterable[Path]:
    from warehouse.core.progress import track

    return track(files, len(files), "importing")


def _print_summary(summary: ImportSummary, *, is_masked: bool) -> None:
    from ingest.reconciliation import FileOutcome
    from warehouse.core.formats.secrets import describe

    outcomes = summary.outcomes
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
        hint = f" ({summary.n_tables:,} may be tables: name them to import them)"
        shown = hint if summary.n_tables else ""
        click.echo(f"other files   {summary.n_other:,}, ignored{shown}")


def print_messages(summary: ImportSummary, *, is_verbose: bool = False) -> None:
    """Print what the user should know about the files of an import."""
    from ingest.notices import all_lines, grouped_lines
    from warehouse.core.text.formatting import visible

    for path in summary.missing:
        note(f"{visible(str(path))}: no such file or folder")
    lines = all_lines if is_verbose else grouped_lines
    for message in lines(summary.notices):
        note(visible(message))
    violations = summary.violations if is_verbose else summary.violations[:_RULES_NAMED]
    for violation in violations:
        note(f"rule broken: {visible(violation)}")
    if more := summary.n_violations - len(violations):
        note(f"… and {more:,} more: `evalstore show checks.violations`")


def fail_if_bad(summary: ImportSummary) -> None:
    """End the command with an error if not everything was imported.

    Raises:
        BadInput: something could not be imported, or nothing was found.
        CheckFailed: files were refused.
    """
    from ingest.reconciliation import IN_THE_STORE, FileOutcome

    outcomes = summary.outcomes
    refused = outcomes[FileOutcome.REFUSED]
    quarantined = "quarantined"
    if summary.n_quarantined != outcomes[FileOutcome.QUARANTINED]:
        quarantined = f"{'record' if summary.n_quarantined == 1 else 'records'} quarantined"
    problems = {
        quarantined: summary.n_quarantined,
        "conflicting": outcomes[FileOutcome.CONFLICT],
        "missing": len(summary.missing),
        "refused": refused,
    }
    if sum(problems.values()) > refused:
        n_given = sum(outcomes.values()) + len(summary.missing)
        given = f"of {counted(n_given, 'file')}"
        named = ", ".join([given, *(f"{n:,} {what}" for what, n in problems.items() if n)])
        left_out = [FileOutcome.DECLINED, FileOutcome.FORGOTTEN]
        named = ", ".join([named, *(f"{outcomes[e]:,} {e}" for e in left_out if outcomes[e])])
        if any(outcomes[each] for each in IN_THE_STORE):
            raise BadInput(f"not everything was imported: {named}; the rest was")
        raise BadInput(f"nothing was imported: {named}")
    if not outcomes:
        raise BadInput(
            "nothing to import was found: no file has a known format, which "
            "docs/formats/README.md lists; tables of results must be named themselves"
        )
    if refused:
        broke = (
            "file breaks rules of its format and was",
            "files break rules of their format and were",
        )
        raise CheckFailed(f"{counted(refused, *broke)} refused")
