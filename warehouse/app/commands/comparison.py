"""What `evalstore compare` says around its tables: sentences, groups, warnings."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from warehouse.app.console.cli import note_wrapped, say, say_wrapped
from warehouse.core.text.figures import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

    from warehouse.analysis.decisions.comparison import Comparison, Contest
    from warehouse.analysis.decisions.ranks import Rank
    from warehouse.analysis.decisions.rescored import Rescorer

# More sentences than this nobody reads; the table has them all.
_MOST_SENTENCES = 6
_MANY_MISSING = 0.05


def say_comparisons(
    connection: duckdb.DuckDBPyConnection,
    rows: Sequence[Comparison],
    contests: Sequence[Contest],
    margin: float | None,
) -> None:
    """Say what the comparisons show, before their table."""
    from warehouse.analysis.decisions.corrected import correction_sentences
    from warehouse.analysis.decisions.ranks import groups_in_words, ranks
    from warehouse.analysis.decisions.sentences import margin_sentence, sentence

    if len(rows) <= _MOST_SENTENCES:
        for row in rows:
            say_wrapped(sentence(row, n_comparisons=len(rows)))
            if margin is not None:
                say_wrapped(margin_sentence(row, margin))
    else:
        n_clear = sum(row.conclusion != "unclear" for row in rows)
        say_wrapped(f"The data show which is better for {n_clear} of {len(rows)} comparisons.")
    whole = [contest for contest in contests if contest.slice is None]
    for text in correction_sentences(connection, whole):
        say_wrapped(text)
    families: dict[tuple[str, str, str], list[Rank]] = {}
    for rank in ranks(rows):
        families.setdefault((rank.suite, rank.task_set, rank.metric), []).append(rank)
    for (suite, task_set, metric), found in families.items():
        place = suite if task_set == suite else f"{suite}, {task_set}"
        groups = groups_in_words(found)
        said = "Groups that cannot be told apart ({}): {}."
        if len(groups) == len(found) and not any("," in rank.groups for rank in found):
            said = "Any two of them can be told apart ({}), the best first: {}."
        say_wrapped(said.format(f"{place}, {metric}", "; ".join(groups)))
    for text in _differing(connection, contests):
        say_wrapped(text)
    say("")


def note_corrections(connection: duckdb.DuckDBPyConnection, contests: Sequence[Contest]) -> None:
    """Note what labels make of differences by judges."""
    from warehouse.analysis.decisions.corrected import correction_sentences

    for text in correction_sentences(connection, contests):
        note_wrapped(text)


def found_rescorer(
    connection: duckdb.DuckDBPyConnection, text: str | None, suite: str | None
) -> Rescorer | None:
    """Return the re-score of `--scorer`, and note its version; None without the option.

    Raises:
        BadInput: no answer was judged by it.
    """
    from warehouse.analysis.decisions.rescored import find_rescorer

    if text is None:
        return None
    rescorer = find_rescorer(connection, text, suite=suite)
    note_wrapped(f"passed is the verdict of {rescorer.text}, a re-score")
    return rescorer


def _differing(connection: duckdb.DuckDBPyConnection, contests: Sequence[Contest]) -> list[str]:
    """Return what differs besides the model; of several pairs, only the names of it."""
    from warehouse.analysis.decisions.circumstances import Circumstances

    known: dict[int, Circumstances] = {}
    found: dict[str, None] = {}
    pairs = {(contest.a, contest.b) for contest in contests}
    for contest in contests:
        panel = contest.paired.panel
        if id(panel) not in known:
            known[id(panel)] = Circumstances(connection, panel.series)
        for differing in known[id(panel)].between(contest.paired.a, contest.paired.b):
            found[str(differing) if len(pairs) == 1 else differing.name] = None
    if not found:
        return []
    between = "" if len(pairs) == 1 else " between some"
    return [f"Also different{between}: {'; '.join(found)}."]


def warn(rows: Sequence[Comparison]) -> None:
    """Warn about what makes the comparisons say less than they seem to."""
    whole = [row for row in rows if row.slice is None]
    fewest = min(rows, key=lambda row: row.n_clusters, default=None)
    if fewest is not None:
        _warn_of_few(fewest)
    excluded = max(whole, key=_share_excluded, default=None)
    if excluded is not None and _share_excluded(excluded) > _MANY_MISSING:
        _warn_of_missing(excluded)
    changed = max(whole, key=lambda row: row.n_changed, default=None)
    if changed is not None and changed.n_changed:
        tasks = "1 task" if changed.n_changed == 1 else f"{changed.n_changed} tasks"
        names = f"{changed.a} and {changed.b}"
        note_wrapped(f"warning: {tasks} left out, with different content for {names}")


def warn_of_unanswered(connection: duckdb.DuckDBPyConnection, contests: Sequence[Contest]) -> None:
    """Warn about sides that got no answer to many calls."""
    from warehouse.analysis.decisions.contests import unanswered_sentences

    for text in unanswered_sentences(connection, contests).values():
        note_wrapped(f"warning: {text.removesuffix('.')}")


def note_runs(contests: Sequence[Contest]) -> None:
    """Note which newer runs do not count, and of mixed runs how many tasks each gave."""
    series = {}
    for contest in contests:
        panel = contest.paired.panel
        for row, name in ((contest.paired.a, contest.a), (contest.paired.b, contest.b)):
            series[name, panel.suite, panel.task_set] = panel.series[row]
    for (name, *_), one in series.items():
        completions = [run.run_id for run in one.newer if run.is_completion]
        others = [run for run in one.newer if not run.is_completion]
        if completions:
            note_wrapped(
                f"note: {name}: answers of {', '.join(completions)} count where {one.runs[0]} "
                "got none"
            )
        if others:
            run = others[-1]
            more = f", nor do {len(others) - 1} others" if len(others) > 1 else ""
            note_wrapped(
                f"note: {name}: the newer run {run.run_id} ({counted(run.n_tasks, 'task')}) does "
                f"not count, because {one.runs[0]} ({counted(len(one.asked), 'task')}) covers "
                f"more{more}; --mix-runs takes each task from the latest run that asked it"
            )
        elif len(one.runs) > 1:
            counts = Counter(asked.run_id for asked in one.asked.values())
            listed = ", ".join(f"{n:,} of {run_id}" for run_id, n in sorted(counts.items()))
            note_wrapped(f"note: {name}: tasks of {len(counts)} runs are mixed: {listed}")


def _warn_of_few(row: Comparison) -> None:
    from warehouse.analysis.decisions.comparison import FEW_CLUSTERS
    from warehouse.engine.statistics.arrays import MIN_CLUSTERS

    unit = "task" if row.n_clusters == row.n_tasks else "cluster"
    units = f"{row.n_clusters} {unit}{'' if row.n_clusters == 1 else 's'}"
    where = f" of {row.slice}" if row.slice else ""
    if row.n_clusters < MIN_CLUSTERS:
        note_wrapped(
            f"warning: {units}{where}: too few for an interval, which takes {MIN_CLUSTERS}"
        )
    elif row.n_clusters < FEW_CLUSTERS:
        note_wrapped(
            f"warning: {units}{where}: too few; intervals are reliable from {FEW_CLUSTERS} on"
        )


def _share_excluded(row: Comparison) -> float:
    return row.n_excluded / (row.n_tasks + row.n_excluded)


def _warn_of_missing(row: Comparison) -> None:
    hint = "" if row.less_is_better else "; --missing fail counts them as 0"
    note_wrapped(
        f"warning: {row.n_excluded} of {row.n_tasks + row.n_excluded} tasks of {row.a} and {row.b} "
        f"are left out: only one side has a value of {row.metric} (asked but not judged: "
        f"{row.n_unjudged_a} and {row.n_unjudged_b}){hint}"
    )
