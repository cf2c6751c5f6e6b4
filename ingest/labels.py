"""`evalstore label`: labels of people, asked for in a terminal or by a file that comes back."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from warehouse.app.console.cli import HelpfulGroup, note, open_store, say
from warehouse.app.console.completion import complete_suite
from warehouse.core.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from warehouse.app.labelling.samples import LabelSample, SampleRequest
    from warehouse.app.store import Store

_TERMINAL = "terminal"
# The parameters of `SampleRequest`, and whether raters see the right answer.
_PARAMETERS = (
    click.argument("targets", nargs=-1, required=True, metavar="SUITE|RUN...",
                   shell_complete=complete_suite),
    click.option("--sample", type=click.IntRange(min=1), metavar="N",
                 help="Draw N answers.  [default: all]"),
    click.option("--seed", type=int, default=0, show_default=True, help="Seed of the draw."),
    click.option("--stratified", is_flag=True, help="As many of each model and task set."),
    click.option("--draw", type=click.Choice(["random", "unsure", "disagree"]), default="random",
                 show_default=True, help="Draw more of what judges are unsure of, or models "
                 "disagree on."),
    click.option("--criterion", default="overall", show_default=True, help="What to judge."),
    click.option("--scale", default="pass/fail", show_default=True,
                 help="pass/fail, numbers as 1..5, or labels as bad,fair,good."),
    click.option("--reference", is_flag=True, help="Show the right answer, where it is known."),
)  # fmt: skip


def _sampled(command: Callable[..., None]) -> Callable[..., None]:
    """Add the parameters that say which answers are labelled, by what."""
    for parameter in reversed(_PARAMETERS):
        command = parameter(command)
    return command


class _LabelGroup(HelpfulGroup):
    """Commands of which the one for the terminal needs no name."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; what is neither a command nor help goes to the terminal's."""
        if args and args[0] not in {*self.commands, "--help"} and not ctx.resilient_parsing:
            args = [_TERMINAL, *args]
        return super().parse_args(ctx, args)


@click.group(cls=_LabelGroup)
def label() -> None:
    """Let people label answers, without their knowing whose answers they are.

    With the name of a suite or run, label answers in this terminal. To have others label them,
    export a file and import it when it comes back.

    \b
      evalstore label palindrome --sample 20 --rater Anna
      evalstore label export palindrome --sample 20 --to labels.csv
      evalstore label import labels.csv --rater Anna
    """


@label.command(_TERMINAL)
@_sampled
@click.option("--rater", required=True, metavar="NAME", help="Who labels.")
@click.pass_obj
def terminal(
    path: Path, /, rater: str, *, reference: bool, **request: Unpack[SampleRequest]
) -> None:
    """Label answers of suites or runs in this terminal; `evalstore label RUN` for short.

    Shows one answer after the other, without its model. A key gives a label, which is stored at
    once; the same command goes on where it stopped.

    \b
      evalstore label palindrome --sample 20 --rater Anna
    """
    from warehouse.app.labelling.labels import read_labels
    from warehouse.app.labelling.sheets import sample_texts
    from warehouse.app.labelling.terminal import ask_for_labels

    if not sys.stdin.isatty():
        raise BadInput("labels are asked for in a terminal; `evalstore label export` writes a file")
    store = open_store(path)
    sample = _take_sample(store, request)
    labels = read_labels(store, sample, rater)
    texts = sample_texts(store, sample, has_reference=reference)
    try:
        ask_for_labels(store, labels, texts)
    finally:
        n_done, n_drawn = len(labels.newest), len(sample.answers)
        goes_on = "; the same command goes on" if n_done < n_drawn else ""
        note(f"{n_done:,} of {n_drawn:,} labelled{goes_on}")
    store.merge_small_batches()


@label.command("export")
@_sampled
@click.option("--rater", metavar="NAME", help="Include the labels that this rater gave before.")
@click.option(
    "--to",
    "target",
    required=True,
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write: .csv, or .html for a page.",
)
@click.pass_obj
def export(
    path: Path,
    /,
    rater: str | None,
    target: Path,
    *,
    reference: bool,
    **request: Unpack[SampleRequest],
) -> None:
    """Write a file that asks for labels of answers of suites or runs: a table, or a page.

    Answers are drawn at random; each has an ID that says nothing of its model or run. The same
    command has the same answers again, also when the store has grown: --seed draws others.

    A page (.html) works in any browser without a network, shows one answer at a time, takes keys,
    keeps what was done, and gives a table back.

    \b
      evalstore label export palindrome --sample 20 --seed 1 --to labels.csv
      evalstore label export palindrome --criterion style --scale 1..5 --to labels.html
    """
    from warehouse.app.labelling.labels import read_labels
    from warehouse.app.labelling.sheets import as_csv, as_page, sample_texts

    kind = target.suffix.lower()
    if kind not in {".csv", ".html"}:
        raise BadInput(f"{target}: a file to label ends in .csv or .html")
    if target.exists():
        raise BadInput(f"{target}: already exists; labels in it would be lost: choose another name")
    store = open_store(path)
    sample = _take_sample(store, request)
    own = read_labels(store, sample, rater) if rater is not None else None
    texts = sample_texts(store, sample, has_reference=reference)
    target.write_bytes(as_csv(texts, own) if kind == ".csv" else as_page(sample, texts, own))
    note(f"{target}: {len(texts):,} of {len(sample.answers):,} drawn answers to label")


@label.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--rater", required=True, metavar="NAME", help="Who gave the labels.")
@click.pass_obj
def import_(path: Path, file: Path, rater: str) -> None:
    """Import the labels of a FILE that `label export` wrote and a person filled in.

    Rows without a label are skipped. The same file again changes nothing; of two labels that a
    rater gave an answer the newer one counts, and two raters keep both.

    \b
      evalstore label import labels.csv --rater Anna
    """
    from ingest.command import fail_if_bad, print_messages
    from ingest.formats.labels.labels import RaterOption
    from ingest.formats.labels.recognition import is_labels
    from ingest.importer import import_paths
    from ingest.reading import Candidate, ImportOptions
    from warehouse.app.labelling.labels import read_labels
    from warehouse.app.labelling.samples import checked_name, read_samples

    rater = checked_name("rater", rater)
    if not is_labels(Candidate(file)):
        raise BadInput(
            f"{file}: not a table of labels: it needs the columns `id` and `label` as "
            "`evalstore label export` wrote them, as CSV in UTF-8; a page gives it by "
            '"Download the labels"'
        )
    store = open_store(path)
    store.recover_journals()
    samples = [read_labels(store, sample, rater) for sample in read_samples(store)]
    labels = {answer_id: each for each in samples for answer_id in each.sample.answers}
    option = RaterOption(labels, datetime.now(UTC).replace(tzinfo=None))
    summary = import_paths(store.lake, [file], ImportOptions(format_options=(option,)))
    store.merge_small_batches()
    print_messages(summary)
    say(f"labels         {option.counts['new']:,} new")
    say(f"unchanged      {option.counts['unchanged']:,}")
    say(f"without label  {option.counts['without']:,}, skipped")
    say(f"quarantined    {summary.n_quarantined:,}")
    fail_if_bad(summary)


def _take_sample(store: Store, request: SampleRequest) -> LabelSample:
    from warehouse.app.labelling.samples import take_sample

    store.recover_journals()
    sample = take_sample(store, request)
    n_drawn = f"{len(sample.answers):,} of {sample.n_answers:,} answers"
    note(f"sample {sample.run_id!r}: {n_drawn}; --seed draws others")
    return sample
