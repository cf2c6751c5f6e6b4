"""`evalstore gate`: whether a candidate keeps the rules."""

from __future__ import annotations

import shutil
import sys
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warehouse.app.console.cli import note, open_store
from warehouse.app.console.completion import complete_model, complete_suite
from warehouse.core.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from warehouse.analysis.decisions.gate.decision import Verdict
    from warehouse.analysis.decisions.gate.rules import Rule, Rules

_FORMATS = ("table", "json", "junit", "markdown", "github")
_FALLBACKS = ("fail", "warn", "pass")


@click.command()
@click.argument(
    "rules_file", metavar="[RULES.yaml]", required=False, type=click.Path(path_type=Path)
)
@click.option("--candidate", metavar="SIDE", shell_complete=complete_model, help="Side to judge.")
@click.option(
    "--baseline", metavar="SIDE", shell_complete=complete_model, help="Side to compare it with."
)
@click.option(
    "--baseline-runs",
    type=click.IntRange(1, 1000),
    help="How many last runs of the baseline's tag or model are pooled.  [default: 1]",
)
@click.option(
    "--anchor",
    metavar="SIDE",
    shell_complete=complete_model,
    help="Second side to compare it with, which does not move with each change.",
)
@click.option(
    "--max-anchor-days",
    type=click.FloatRange(0),
    help="Inconclusive if the anchor is older than the candidate by more.  [default: 365]",
)
@click.option(
    "--confirm",
    type=click.IntRange(0, 1000),
    metavar="N",
    help="Decide what fails by N more runs of candidate and baseline; exit with 3 until then.",
)
@click.option("--suite", shell_complete=complete_suite, help="Only this suite.")
@click.option("--task-set", help="Only this task set.")
@click.option("--metric", help="Metric of --max-drop and --min-value.  [default: passed]")
@click.option(
    "--scorer", metavar="NAME[@VERSION]", help="Judge `passed` by this re-score; see rescore."
)
@click.option(
    "--cluster",
    metavar="COLUMN",
    help="A column of tasks whose equal values mark tasks that depend on each other.  "
    "[default: the clusters in the store]",
)
@click.option("--max-drop", type=float, help="Largest drop allowed, in the metric's unit.")
@click.option(
    "--max-missed",
    type=click.FloatRange(0),
    help="Inconclusive if only a drop larger than this has 80 % power to be found.",
)
@click.option("--min-value", type=float, help="Minimum of the lower end of the interval.")
@click.option(
    "--min-pass-hat-k",
    type=float,
    help="Minimum of the lower end of the interval of pass^k: all of --k attempts pass.",
)
@click.option("--max-pass-hat-k-drop", type=float, help="Largest drop of pass^k allowed.")
@click.option("--k", type=click.IntRange(1, 1000), help="Attempts that must all pass, for pass^k.")
@click.option(
    "--max-cost-per-passed-usd", type=float, help="Maximum cost per passed call, in US dollars."
)
@click.option("--max-p95-ms", type=float, help="Maximum 95th percentile of the latency.")
@click.option("--must-pass", metavar="TASK", multiple=True, help="Task that must pass. Repeatable.")
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Level of all drop rules together.  [default: 0.05]",
)
@click.option(
    "--min-tasks", type=click.IntRange(1), help="Fewest tasks to decide on.  [default: 20]"
)
@click.option(
    "--min-coverage",
    type=click.FloatRange(0, 1),
    help="Share of the baseline's tasks that the candidate must have answered.  [default: 0.95]",
)
@click.option(
    "--missing",
    type=click.Choice(("exclude", "fail")),
    help="Tasks asked but not judged: leave them out, or count them as 0.  [default: exclude]",
)
@click.option(
    "--min-judge-kappa",
    type=click.FloatRange(0, 1),
    help="Least kappa with people or gold of a judge whose metric a rule is about.",
)
@click.option(
    "--max-judge-age-days",
    type=click.FloatRange(0),
    help="Inconclusive if a judge's newest label is older than the candidate by more.",
)
@click.option(
    "--require-calibrated", is_flag=True, help="Inconclusive if labels do not show a judge's kappa."
)
@click.option("--prove", is_flag=True, help="Pass only if a drop of --max-drop is excluded.")
@click.option(
    "--on-inconclusive",
    "--cannot-tell",
    type=click.Choice(_FALLBACKS),
    help="What to do about inconclusive rules.  [default: exit with 3]",
)
@click.option(
    "--format",
    "fmt",
    type=click.Choice(_FORMATS),
    default="table",
    show_default=True,
    help="Output format.",
)
@click.option(
    "--junit", type=click.Path(dir_okay=False, path_type=Path), help="Also write JUnit XML."
)
@click.option(
    "--markdown", type=click.Path(dir_okay=False, path_type=Path), help="Also write Markdown."
)
@click.option("--json", type=click.Path(dir_okay=False, path_type=Path), help="Also write JSON.")
@click.pass_obj
@click.pass_context
def gate(
    ctx: click.Context,
    path: Path,
    /,
    rules_file: Path | None,
    *,
    fmt: str,
    junit: Path | None,
    markdown: Path | None,
    json: Path | None,
    **options: object,
) -> None:
    """Decide whether a candidate keeps the rules, for example in continuous integration.

    A side is a model, MODEL@DATE (its run on the board then), run:RUN_ID or tag:NAME=VALUE. Rules
    come from a file or from options, which also replace values of the file.

    A drop rule fails if the data show a larger drop than the one allowed: the one-sided test of
    "drop <= max_drop" is rejected at --alpha, with Holm's adjustment over all drop rules.
    Otherwise it passes, and says which larger drop would probably have been found.

    The exit code is 0 if all rules are kept, 1 if one is not, and 3 if one is inconclusive: there
    is no baseline, no shared task, too few tasks, or the candidate answered too few of them.

    \b
      evalstore gate rules.yaml
      evalstore gate rules.yaml --candidate example/aurora-2@2025-12-31 --junit gate.xml
      evalstore gate --candidate example/aurora-2 --baseline example/kaamos-mini --max-drop 0.02
      evalstore gate --candidate example/aurora-2 --min-value 0.8 --max-p95-ms 5000
    """
    from warehouse.analysis.decisions.gate.gate import run_gate

    rules = _rules(rules_file, options)
    store = open_store(path)
    with store.reading() as connection:
        verdict = replace(run_gate(connection, rules), left_out=store.left_out)
    click.echo(_writers()[fmt](verdict), nl=False)
    for kind, target in (("junit", junit), ("markdown", markdown), ("json", json)):
        if target is not None:
            _write(target, _writers()[kind](verdict))
    for text in verdict.notes:
        note(text)
    ctx.exit(verdict.exit_code)


def _writers() -> dict[str, Callable[[Verdict], str]]:
    from warehouse.analysis.decisions.gate import ci_reports, reports

    return {
        "table": partial(reports.text_report, width=_terminal_width()),
        "json": reports.json_report,
        "junit": ci_reports.junit_report,
        "markdown": ci_reports.markdown_report,
        "github": ci_reports.github_report,
    }


def _terminal_width() -> int | None:
    """Return the width of the terminal; None if standard output is a file or pipe."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _write(target: Path, text: str) -> None:
    from warehouse.lake.targets import write_whole

    write_whole(target, text.encode())


def _rules(file: Path | None, options: Mapping[str, object]) -> Rules:
    """Return the rules of a file, with the options in the place of its values."""
    from warehouse.analysis.decisions.gate.rules import Rules

    found: dict[str, Any] = _of_file(file) if file is not None else {}
    # A limit of 0 is one, although it equals False.
    given = {
        name: value
        for name, value in options.items()
        if value is not None and value is not False and value != ()
    }
    found |= {each.name: given[each.name] for each in fields(Rules) if each.name in given}
    if "prove" in given:
        found["proves"] = True
    rules = _rules_of_options(given)
    if rules and file is not None:
        raise click.UsageError("give the rules in a file or as options, not both")
    if rules:
        found["rules"] = rules
    elif "rules" in found:
        names = ("max_missed", "min_judge_kappa", "max_judge_age_days")
        general = {name: None for name in names if name in given}
        found["rules"] = tuple(replace(rule, **general) for rule in found["rules"])
    if "candidate" not in found:
        raise click.UsageError("no candidate: name it with --candidate, or in the file")
    if "rules" not in found:
        raise click.UsageError("no rule: give a file, or --max-drop, --min-value or another limit")
    return Rules(**found)


def _of_file(file: Path) -> dict[str, object]:
    from warehouse.analysis.decisions.gate.rules_file import MAX_BYTES, read_rules_file
    from warehouse.core.files import read_regular

    try:
        data = read_regular(file, max_bytes=MAX_BYTES)
    except OSError as error:
        raise BadInput(f"{file}: {error.strerror or 'cannot be read'}") from error
    return read_rules_file(data, str(file))


def _rules_of_options(given: Mapping[str, object]) -> tuple[Rule, ...]:
    """Return the rules that options give, one for each limit."""
    from warehouse.analysis.decisions.gate.rules import LIMITS, OF_METRIC, OF_PASS_HAT, Rule
    from warehouse.analysis.decisions.gate.rules_file import k_problem, limit_problem

    metric = str(given.get("metric", "passed"))
    k = value if isinstance(value := given.get("k"), int) else None
    kinds = [kind for kind in LIMITS if kind in given]
    if "metric" in given and not OF_METRIC.intersection(kinds):
        raise click.UsageError("--metric: only with --max-drop or --min-value")
    if problem := k_problem(kinds, k):
        raise click.UsageError(f"--{problem.replace('_', '-')}")
    rules = []
    for kind in kinds:
        value = given[kind]
        limit = value if isinstance(value, float) else 0.0
        if problem := limit_problem(kind, limit, metric):
            raise BadInput(f"--{problem.replace('_', '-', kind.count('_'))}")
        tasks = value if isinstance(value, tuple) else ()
        k_of = k if kind in OF_PASS_HAT else None
        rules.append(Rule(kind=kind, limit=limit, metric=metric, k=k_of, tasks=tasks))
    return tuple(rules)
