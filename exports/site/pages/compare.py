"""The pages of comparisons: the first models of each leaderboard, each pair on the same tasks."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from dataclasses import dataclass, replace
from itertools import chain, groupby, islice
from typing import TYPE_CHECKING

from exports.site.addresses import COMPARISONS, compare_page, slug
from exports.site.boards import Board, boards
from exports.site.figures import Mark, marks
from exports.site.page import Contents
from exports.site.site import PageType, suite_places
from exports.site.tasks import task_keys
from warehouse.analysis.decisions.changed_tasks import changed_tasks
from warehouse.analysis.decisions.comparison import FEW_CLUSTERS, compare, subset
from warehouse.analysis.decisions.contests import Choice, find_contests, unanswered_sentences
from warehouse.analysis.decisions.sentences import p_text, sentence, size_of
from warehouse.core.errors import BadInput
from warehouse.core.text.figures import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from exports.site.page import Addresses
    from exports.site.site import Site
    from warehouse.analysis.decisions.changed_tasks import ChangedTask
    from warehouse.analysis.decisions.comparison import Comparison, Contest

_MODELS = 4  # of a leaderboard: six pairs
_TASK_SETS = 3  # of a suite
_BOARDS = 30  # of all suites
_PAIRS = 15  # of a task set: models with several settings have more
_FLIPS = 25  # of a pair
_LONG = 600  # characters of a prompt or an answer
_TESTS = {
    "score": "score test, exact",
    "bounded_mean": "Gaffke's test of the mean; that its level holds is a conjecture",
    "sign_flip_log": "sign flips of logarithms",
    "sign_flip": "sign flips",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    """A comparison as its page shows it.

    Attributes:
        row: the comparison.
        id: name of its place on the page.
        said: what it shows, in a sentence.
        mark: the difference and its interval, on the scale of all pairs of the page.
        facts: what it rests on.
        flips: the tasks on which the two differ most.
        n_flips: number of tasks on which they differ.
    """

    row: Comparison
    id: str
    said: str
    mark: Mark | None
    facts: list[tuple[str, str]]
    flips: list[ChangedTask]
    n_flips: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """The comparisons of a leaderboard's first models, adjusted together.

    Attributes:
        board: the leaderboard.
        path: path of the page.
        pairs: each pair.
        titles: the sides' names as headings have them, by their names.
        command: the command that makes the same comparisons.
        n_others: models of the leaderboard that are not compared here.
        n_left_out: pairs that the page leaves out, of those that show the least.
        zero: where no difference is on the scale.
    """

    board: Board
    path: str
    pairs: list[_Pair]
    titles: dict[str, str]
    command: str
    n_others: int
    n_left_out: int
    zero: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compared:
    """A leaderboard and what its first models' comparisons show.

    Attributes:
        board: the leaderboard.
        pairs: each pair that is shown, with its comparison.
        n_pairs: number of all pairs.
        unanswered: for a side that got no answer to many calls, a sentence that says so.
    """

    board: Board
    pairs: list[tuple[Contest, Comparison]]
    n_pairs: int
    unanswered: Mapping[str, str]

    @property
    def path(self) -> str:
        """Path of the page."""
        return _path(self.board)


def _path(board: Board) -> str:
    return compare_page(board.suite, board.task_set)


def _addresses(site: Site) -> Addresses:
    paths = [_path(board) for board in _boards(site)[:_BOARDS]]
    return {**{path: (path,) for path in paths}, COMPARISONS: ()}


def _load(site: Site, addresses: Addresses) -> Iterator[Contents]:
    is_all = COMPARISONS in addresses
    compared = [
        each
        for place, board in enumerate(_boards(site)[:_BOARDS])
        if is_all or _path(board) in addresses
        for each in site.once(_compared, place)
    ]
    for group in _groups(site, [each for each in compared if each.path in addresses]):
        yield Contents(
            path=group.path,
            template="compare.html",
            title=f"Comparisons: {group.board.task_set}",
            values={"group": group, "tasks": task_keys(site), "long": _LONG},
        )
    if is_all:
        groups = [_group(each, [[] for _ in each.pairs]) for each in compared]
        n_left_out = max(len(_boards(site)) - _BOARDS, 0) + _n_unchosen(site)
        yield Contents(
            path=COMPARISONS,
            template="comparisons.html",
            title="Comparisons",
            values={"groups": groups, "n_left_out": n_left_out},
        )


def _mains(site: Site) -> list[Board]:
    return [board for board in boards(site) if board.is_main and len(_models(board)) > 1]


def _boards(site: Site) -> list[Board]:
    """Return the leaderboards that are compared, of each suite those with the most models."""
    chosen = []
    for _, of_suite in groupby(_mains(site), key=lambda board: board.suite):
        by_size = sorted(of_suite, key=lambda board: -len(_models(board)))
        chosen += by_size[:_TASK_SETS]
    places = site.once(suite_places)
    return sorted(chosen, key=lambda board: places.get(board.suite, len(places)))


def _n_unchosen(site: Site) -> int:
    return len(_mains(site)) - len(_boards(site))


def _models(board: Board) -> list[str]:
    """Return the names of a leaderboard's models, best first."""
    named = (place.row["model"] for place in board.places if place.row["is_comparable"])
    return [model for model in dict.fromkeys(named) if model is not None]


def _compared(site: Site, place: int) -> list[_Compared]:
    """Return the pairs of the first models of one of the boards; nothing if they share no task."""
    board = _boards(site)[place]
    choice = Choice(suite=board.suite, task_set=board.task_set)
    try:
        contests = find_contests(site.connection, _models(board)[:_MODELS], choice)
    except BadInput:  # nothing shared, or a name that reads as another kind of side
        return []
    shared = [contest for contest in contests if len(contest.paired.tasks)]
    rows = compare(contests, has_exchangeable=False, n_intervals=_PAIRS)
    compared = list(zip(shared, rows, strict=True))
    # What is supported first; `sorted` keeps the order of the leaderboard among equals.
    by_evidence = sorted(compared, key=lambda pair: pair[1].p_value)[:_PAIRS]
    unanswered = unanswered_sentences(site.connection, contests)
    return [_Compared(board=board, pairs=by_evidence, n_pairs=len(compared), unanswered=unanswered)]


def _groups(site: Site, found: Sequence[_Compared]) -> list[_Group]:
    """Return comparisons as their pages show them: one query has the answers of all."""
    few = [[_largest(contest) for contest, _ in each.pairs] for each in found]
    flips = iter(changed_tasks(site.connection, list(chain.from_iterable(few))))
    return [
        _group(each, [list(islice(flips, _n_flips(contest))) for contest in of_group])
        for each, of_group in zip(found, few, strict=True)
    ]


def _group(found: _Compared, flips: Sequence[list[ChangedTask]]) -> _Group:
    models = _models(found.board)
    rows = [row for _, row in found.pairs]
    ends = [{"value": r.difference, "low": r.low, "high": r.high} for r in rows]
    drawn = marks([*ends, {"value": 0.0, "low": None, "high": None}], is_rate=False)
    zero = drawn[-1]
    return _Group(
        board=found.board,
        path=found.path,
        pairs=[
            _Pair(
                row=row,
                id=slug(row.metric, row.scorer, row.filter, row.a, row.b),
                said=_said(found, row),
                mark=mark,
                facts=_facts(row),
                flips=of_pair,
                n_flips=_n_flips(contest),
            )
            for (contest, row), mark, of_pair in zip(found.pairs, drawn, flips, strict=False)
        ],
        titles=_titles({side: None for row in rows for side in (row.a, row.b)}),
        command=_command(found.board, models[:_MODELS]),
        n_others=len(models[_MODELS:]),
        n_left_out=found.n_pairs - len(found.pairs),
        zero=zero.value if zero else None,
    )


def _said(found: _Compared, row: Comparison) -> str:
    """Return what a pair shows, and which side got no answer to many calls."""
    unanswered = [found.unanswered[side] for side in (row.a, row.b) if side in found.unanswered]
    return " ".join([sentence(row, n_comparisons=found.n_pairs), *unanswered])


def _titles(sides: Iterable[str]) -> dict[str, str]:
    """Return names without the paths of providers, where no two sides are then called the same."""
    short = {side: re.sub(r"^[^ ]*/(?=[^/])", "", side) for side in sides}
    shared = Counter(short.values())
    return {side: name if shared[name] == 1 else side for side, name in short.items()}


def _command(board: Board, sides: Sequence[str]) -> str:
    words = ["compare", *sides, "--suite", board.suite, "--task-set", board.task_set]
    return f"evalstore {shlex.join(words)}"


def _n_flips(contest: Contest) -> int:
    return int((contest.paired.differences != 0).sum())


def _largest(contest: Contest) -> Contest:
    """Return a pair with only the tasks on which the two differ most."""
    differences = contest.paired.differences
    largest = sorted(range(len(differences)), key=lambda at: -abs(differences[at]))[:_FLIPS]
    keep = {at for at in largest if differences[at]}
    places = range(len(differences))
    return replace(contest, paired=subset(contest.paired, (at in keep for at in places)))


def _facts(row: Comparison) -> list[tuple[str, str]]:
    tasks, units = f"{row.n_tasks:,}", "tasks"
    if row.n_clusters != row.n_tasks:
        tasks, units = f"{tasks} in {counted(row.n_clusters, 'cluster')}", "clusters"
    found = [
        ("difference", size_of(row, row.difference)),
        _p_fact(row),
        ("tasks", tasks),
        ("test", _TESTS[row.test]),
    ]
    if row.ratio is not None:
        found[0] = ("typical ratio", f"{row.ratio:.3g}")
    if row.n_clusters < FEW_CLUSTERS:
        found.append(("note", f"few {units}: intervals are reliable from {FEW_CLUSTERS} on"))
    if row.n_excluded:
        found.append(
            ("left out", f"{counted(row.n_excluded, 'task')} with a value of one side only")
        )
    if row.n_changed:
        found.append(("changed", f"{counted(row.n_changed, 'task')} whose content differs"))
    return found


def _p_fact(row: Comparison) -> tuple[str, str]:
    if row.p_adjusted is None:
        return "p", f"{p_text(row.p_value).removeprefix('= ')}, too few tasks to be significant"
    return "adjusted p", p_text(row.p_adjusted).removeprefix("= ")


def _is_shown(site: Site) -> bool:
    return bool(_mains(site))


PAGE_TYPE = PageType(
    name="compare",
    addresses=_addresses,
    load=_load,
    folder="compare",
    title="Comparisons",
    entry=COMPARISONS,
    is_main=True,
    is_shown=_is_shown,
)
