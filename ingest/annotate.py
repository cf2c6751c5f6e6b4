"""`evalstore annotate`: from the records of two annotators to gold."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from warehouse.app.console.cli import (
    HelpfulGroup,
    TableOptions,
    note,
    open_store,
    print_rows,
    say,
    table_options,
)
from warehouse.core.errors import BadInput, CheckFailed
from warehouse.core.text.figures import counted

if TYPE_CHECKING:
    from warehouse.app.posters.adjudication import AdjudicationSession, Choice, Record
    from warehouse.core.types import JsonObject, Row

_dataset_option = click.option(
    "--dataset", metavar="NAME", help="Dataset, if the store has several."
)
_by_option = click.option("--by", required=True, metavar="NAME", help="Name of the adjudicator.")


@click.group(cls=HelpfulGroup)
def annotate() -> None:
    """Make gold ground truth for posters: two people annotate, a third adjudicates.

    \b
      evalstore annotate import benchmark/annotations/ --dataset tours
      evalstore annotate list
      evalstore annotate adjudicate c500adc741d0 --by Cara
      evalstore annotate promote
    """


@annotate.command("import")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@_dataset_option
@click.pass_obj
def import_(path: Path, folder: Path, dataset: str | None) -> None:
    """Import human records from FOLDER: <annotator>/<poster id>.json.

    \b
      evalstore annotate import benchmark/annotations/ --dataset tours
    """
    from ingest.formats.posters.records import import_records
    from warehouse.app.posters.adjudication import AdjudicationSession

    store = open_store(path)
    name = dataset if dataset is not None else AdjudicationSession(store, None).dataset
    counts = import_records(store, folder, name)
    if not counts:
        raise BadInput(f"{folder}: contains no <annotator>/<poster id>.json")
    for annotator, count in counts.items():
        say(f"{annotator}: {counted(count, 'record')}")


@annotate.command("list")
@table_options
@click.pass_obj
def list_(path: Path, output: TableOptions) -> None:
    """List the fields on which two annotators disagree, unless adjudicated.

    \b
      evalstore annotate list --format csv
    """
    query = "FROM annotation_disagreements WHERE NOT is_adjudicated"
    print_rows(path, f"SELECT * EXCLUDE (suite, is_adjudicated) {query}", output)


@annotate.command()
@click.argument("poster", required=False)
@_by_option
@_dataset_option
@click.option(
    "--from",
    "source",
    type=click.Path(exists=True, path_type=Path),
    help="File with the adjudicated record; without POSTER, a folder of <poster id>.json.",
)
@click.option("--agreed", is_flag=True, help="Adjudicate all posters on which both agree.")
@click.pass_obj
def adjudicate(
    path: Path,
    poster: str | None,
    by: str,
    dataset: str | None,
    source: Path | None,
    *,
    agreed: bool,
) -> None:
    """Adjudicate a POSTER: from a file, or interactively, field by field.

    \b
      evalstore annotate adjudicate c500adc741d0 --by Cara
      evalstore annotate adjudicate c500adc741d0 --by Cara --from settled/c500adc741d0.json
      evalstore annotate adjudicate --from settled/ --by Cara
      evalstore annotate adjudicate --agreed --by Cara
    """
    from ingest.formats.posters.records import read_adjudicated
    from warehouse.app.posters.adjudication import AdjudicationSession

    is_folder = source is not None and source.is_dir()
    if [poster is not None, agreed, is_folder].count(True) != 1 or (agreed and source):
        raise click.UsageError("name one poster, or give --agreed, or --from with a folder")
    session = AdjudicationSession(open_store(path), dataset)
    if source is not None:
        files = sorted(source.glob("*.json")) if is_folder else [source]
        documents = {poster or file.stem: read_adjudicated(file) for file in files}
    elif poster is None:
        documents = {each: session.pair(each)[0].document for each in session.agreed()}
    else:
        documents = {poster: _interactive(session, poster)}
    session.adjudicate(documents, by, _now())
    say(f"adjudicated: {', '.join(documents) or 'nothing'}")
    if own := session.written_by(by, documents):
        note(f"{by} wrote a record of {', '.join(own)}: let a third person adjudicate")


@annotate.command()
@_dataset_option
@click.pass_obj
def promote(path: Path, dataset: str | None) -> None:
    """Promote adjudicated posters to gold.

    \b
      evalstore annotate promote
    """
    from warehouse.app.posters.adjudication import AdjudicationSession

    session = AdjudicationSession(open_store(path), dataset)
    promoted, problems = session.promote(_now())
    say(f"gold: {', '.join(promoted) or 'nothing new'}")
    for poster, reasons in problems.items():
        for reason in reasons:
            note(f"{poster}: {reason}")
    if problems:
        count = "1 poster was" if len(problems) == 1 else f"{len(problems)} posters were"
        raise CheckFailed(f"{count} not promoted")


def _interactive(session: AdjudicationSession, poster: str) -> JsonObject:
    """Ask for each difference which record is right, or what the right text is."""
    from warehouse.app.posters.adjudication import merged
    from warehouse.engine.scoring.posters.annotation_pairs import differences

    a, b = session.pair(poster)
    choices = [_ask(row, a, b) for row in differences(a.document, b.document)]
    return merged(a.document, b.document, choices)


def _ask(difference: Row, a: Record, b: Record) -> Choice | str | None:
    from warehouse.app.posters.adjudication import Choice
    from warehouse.core.text.formatting import visible

    say(difference["field"])
    for letter, record, value in (("a", a, difference["value_a"]), ("b", b, difference["value_b"])):
        shown = "(nothing)" if value is None else visible(value)
        say(f"  {letter}) {visible(record.annotator)}: {shown}")
    is_event = str(difference["field"]).endswith("]")
    question = "  a or b" if is_event else "  a, b, or = and the right text"
    answer: str = click.prompt(question, type=_Answer(may_type=not is_event))
    if answer in {"a", "b"}:
        return Choice(answer)
    return answer.removeprefix("=").strip() or None


class _Answer(click.ParamType[str]):
    """`a`, `b`, or, where text is allowed, `=` and a text."""

    name = "answer"

    def __init__(self, *, may_type: bool) -> None:
        self._may_type = may_type

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Check an answer."""
        if value in {"a", "b"} or (self._may_type and value.startswith("=")):
            return value
        return self.fail("not one of the answers", param, ctx)


def _now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)
