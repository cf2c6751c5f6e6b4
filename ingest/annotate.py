"""`evalstore annotate`: from two people's records to gold."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from warehouse.cli import format_option, note, open_store, print_rows, say
from warehouse.errors import BadInput, CheckFailed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ingest.formats.posters.adjudication import AdjudicationSession, Record

_dataset_option = click.option("--dataset", metavar="NAME", help="Needed where there are several.")
_by_option = click.option("--by", required=True, metavar="NAME", help="Who settles it.")


@click.group()
def annotate() -> None:
    """Make gold ground truth of posters: two people annotate, a third look settles.

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
def import_records(path: Path, folder: Path, dataset: str | None) -> None:
    """Import people's records from FOLDER: <annotator>/<poster id>.json.

    \b
      evalstore annotate import benchmark/annotations/ --dataset tours
    """
    from ingest.formats.posters import adjudication

    store = open_store(path)
    name = dataset if dataset is not None else adjudication.AdjudicationSession(store, None).dataset
    counts = adjudication.import_records(store, folder, name)
    if not counts:
        raise BadInput(f"{folder}: no <annotator>/<poster id>.json was found there")
    for annotator, count in counts.items():
        say(f"{annotator}: {count} records")


@annotate.command("list")
@format_option
@click.pass_obj
def list_(path: Path, fmt: str) -> None:
    """List the fields in which two annotators differ, and that nobody has settled.

    \b
      evalstore annotate list --format csv
    """
    query = "FROM annotation_disagreements WHERE NOT is_adjudicated"
    print_rows(path, f"SELECT * EXCLUDE (suite, is_adjudicated) {query}", fmt)


@annotate.command()
@click.argument("poster", required=False)
@_by_option
@_dataset_option
@click.option(
    "--from",
    "settled",
    type=click.Path(exists=True, path_type=Path),
    help="Take the settled record from a file; without POSTER from a folder, <poster id>.json.",
)
@click.option("--agreed", is_flag=True, help="Settle all posters on which both agree.")
@click.pass_obj
def adjudicate(
    path: Path,
    poster: str | None,
    by: str,
    dataset: str | None,
    settled: Path | None,
    *,
    agreed: bool,
) -> None:
    """Settle a POSTER: from a file, or side by side, field by field.

    \b
      evalstore annotate adjudicate c500adc741d0 --by Cara
      evalstore annotate adjudicate c500adc741d0 --by Cara --from settled/c500adc741d0.json
      evalstore annotate adjudicate --from settled/ --by Cara
      evalstore annotate adjudicate --agreed --by Cara
    """
    from ingest.formats.posters.adjudication import AdjudicationSession, read_settled

    from_folder = settled is not None and settled.is_dir()
    if [poster is not None, agreed, from_folder].count(True) != 1 or (agreed and settled):
        raise click.UsageError("name one poster, give --agreed, or --from a folder")
    desk = AdjudicationSession(open_store(path), dataset)
    if settled is not None:
        paths = sorted(settled.glob("*.json")) if from_folder else [settled]
        documents = {poster or path.stem: read_settled(path) for path in paths}
    elif poster is None:
        documents = {each: desk.pair(each)[0].document for each in desk.agreed()}
    else:
        documents = {poster: _side_by_side(desk, poster)}
    desk.adjudicate(documents, by, _now())
    say(f"settled: {', '.join(documents) or 'nothing'}")


@annotate.command()
@_dataset_option
@click.pass_obj
def promote(path: Path, dataset: str | None) -> None:
    """Promote to gold what is adjudicated, and nothing else.

    \b
      evalstore annotate promote
    """
    from ingest.formats.posters.adjudication import AdjudicationSession

    desk = AdjudicationSession(open_store(path), dataset)
    promoted, problems = desk.promote(_now())
    say(f"gold: {', '.join(promoted) or 'nothing new'}")
    for problem in problems:
        note(problem)
    if problems:
        raise CheckFailed(f"{len(problems)} posters were not promoted")


def _side_by_side(desk: AdjudicationSession, poster: str) -> dict[str, object]:
    """Ask for each difference which side is right, or what is."""
    from ingest.formats.posters.adjudication import merged
    from warehouse.scoring.posters.annotation_pairs import differences

    a, b = desk.pair(poster)
    choices = [_ask(row, a, b) for row in differences(a.document, b.document)]
    return merged(a.document, b.document, choices)


def _ask(row: Mapping[str, str | None], a: Record, b: Record) -> object:
    from ingest.formats.posters.adjudication import TAKE_A, TAKE_B
    from warehouse.output.formatting import visible

    say(row["field"])
    for letter, record, value in (("a", a, row["value_a"]), ("b", b, row["value_b"])):
        shown = "(nothing)" if value is None else visible(value)
        say(f"  {letter}) {visible(record.annotator)}: {shown}")
    is_event = str(row["field"]).endswith("]")
    question = "  a or b" if is_event else "  a, b, or = and the right text"
    answer: str = click.prompt(question, type=_Answer(may_type=not is_event))
    if answer in {"a", "b"}:
        return TAKE_A if answer == "a" else TAKE_B
    return answer.removeprefix("=").strip() or None


class _Answer(click.ParamType[str]):
    """`a`, `b`, or `=` and a text, where a text can be the answer."""

    name = "answer"

    def __init__(self, *, may_type: bool) -> None:
        self._may_type = may_type

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Check an answer."""
        if value in {"a", "b"} or (self._may_type and value.startswith("=")):
            return value
        return self.fail("answer with one of these", param, ctx)


def _now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)
