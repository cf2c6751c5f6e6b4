"""Leaderboards as pages show them: who is best, whether that is supported, and every figure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from exports.site.figures import Mark, are_shares, figure, got_no_answer, marks, scale_ends
from exports.site.series import is_rate_of, value_of
from warehouse.analysis.items.audit import MIN_SYSTEMS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from exports.site.site import Site
    from warehouse.core.types import Row

_BOARD = ("suite", "task_set", "metric", "scorer", "filter")
_MODEL = ("provider", "model", "settings")
_NAMED = 4
_GROUPS = "FROM leaderboard_groups"
_LEADERBOARD = "FROM leaderboard"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A model of a leaderboard.

    Attributes:
        row: its row of the view `leaderboard`.
        value: its pass rate or score.
        low: lower end of its 95 % interval.
        high: upper end of its 95 % interval.
        provider: its provider, if another one has a model of the same name and settings here.
        ranks: the ranks that the data leave open, `2` or `1–3`; empty where nothing is compared.
        is_leader: whether no model is known to be better, but some are known to be worse.
        mark: where the figure and its interval are drawn.
    """

    row: Row
    value: float | None
    low: float | None
    high: float | None
    provider: str
    ranks: str
    is_leader: bool
    mark: Mark | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """A leaderboard: the models of a task set by a metric, best first.

    Attributes:
        suite: its suite.
        task_set: its task set.
        metric: the metric, with scorer and filter if they are known.
        is_main: whether it is the main metric of the task set.
        is_rate: whether the figures are pass rates, from 0 to 1.
        claim: what the data say about the best model, without its name.
        leaders: models that may be the best, in the words of `claim`.
        n_ranked: models that are compared with each other.
        is_supported: whether one model is known to be better than all others.
        scale: what the ends of the scale are on which the figures are drawn.
        places: the models.
    """

    suite: str
    task_set: str
    metric: str
    is_main: bool
    is_rate: bool
    claim: str
    leaders: str
    n_ranked: int
    is_supported: bool
    scale: tuple[str, str]
    places: list[Place]


def boards(site: Site) -> list[Board]:
    """Return all leaderboards of a site, in the order of the view."""
    return site.once(_boards)


def _boards(site: Site) -> list[Board]:
    site.keep("leaderboard")
    groups = {_key(row): row for row in site.rows(_GROUPS)}
    rows = site.rows(_LEADERBOARD)
    return [
        _board(list(of_board), groups)
        for _, of_board in groupby(rows, key=lambda row: [row[name] for name in _BOARD])
    ]


def unranked(site: Site, suite: str | None = None) -> str:
    """Return why a suite, or the whole site, has no leaderboard; empty if it has one."""
    if any(suite in {None, board.suite} for board in boards(site)):
        return ""
    from warehouse.analysis.unranked import unranked_reason

    return unranked_reason(site.connection, suite)


def rated_suites(site: Site) -> list[str]:
    """Return the suites on whose boards two models or more have a pass rate: they have items."""
    return site.once(_rated_suites)


def _rated_suites(site: Site) -> list[str]:
    return sorted({board.suite for board in boards(site) if _has_several(board)})


def _has_several(board: Board) -> bool:
    rated = [place for place in board.places if place.row["pass_rate"] is not None]
    return board.is_main and len(rated) >= MIN_SYSTEMS


def model_label(row: Row) -> str:
    """Return a model's name as text."""
    return "unknown" if row["model"] is None else str(row["model"])


def _key(row: Row) -> tuple[object, ...]:
    return tuple(row[name] for name in (*_BOARD, *_MODEL))


def _board(rows: list[Row], groups: dict[tuple[object, ...], Row]) -> Board:
    first = rows[0]
    is_rate = all(map(is_rate_of, rows))
    values = list(map(value_of, rows))
    ranked = [groups.get(_key(row)) for row in rows]
    claim, leaders, is_supported = _claim(list(zip(rows, ranked, strict=True)))
    is_unit = is_rate or are_shares(values)
    drawn = marks(values, is_rate=is_unit)
    low, high = scale_ends(values, is_rate=is_unit)
    named = Counter((row["model"], row["settings"]) for row in rows)
    return Board(
        suite=first["suite"],
        task_set=first["task_set"],
        metric=", ".join(dict.fromkeys(filter(None, (first[n] for n in _BOARD[2:])))),
        is_main=first["is_main"],
        is_rate=is_rate,
        claim=claim,
        leaders=leaders,
        n_ranked=max((group["n_models"] for group in ranked if group is not None), default=0),
        is_supported=is_supported,
        scale=(figure(low, is_rate=is_rate), figure(high, is_rate=is_rate)),
        places=[
            Place(
                row=row,
                value=value["value"],
                low=value["low"],
                high=value["high"],
                provider=_provider(row, named),
                ranks=_ranks(group),
                is_leader=leaders != "" and group is not None and group["rank_low"] == 1,
                mark=mark,
            )
            for row, value, group, mark in zip(rows, values, ranked, drawn, strict=True)
        ],
    )


def _provider(row: Row, named: Counter[tuple[object, object]]) -> str:
    is_shared = named[row["model"], row["settings"]] > 1
    return f"from {row['provider'] or 'an unknown provider'}" if is_shared else ""


def _ranks(group: Row | None) -> str:
    if group is None or group["n_models"] < 2:  # noqa: PLR2004 - one model has nothing to compare
        return ""
    low, high = group["rank_low"], group["rank_high"]
    if low is None:
        return ""
    return f"{low}" if low == high else f"{low}–{high}"


def _claim(rows: Sequence[tuple[Row, Row | None]]) -> tuple[str, str, bool]:
    """Return what the data say about the best model, who it may be, and whether it is one."""
    compared = [(row, group) for row, group in rows if group is not None]
    if not compared:
        if all(got_no_answer(row) for row, _ in rows):
            return "No call got an answer", "", False
        has_none = all(value_of(row)["value"] is None and not row["remark"] for row, _ in rows)
        return ("No answer has a verdict or a score" if has_none else ""), "", False
    n_models = compared[0][1]["n_models"]
    leaders = [model_label(row) for row, group in compared if group["rank_low"] == 1]
    if n_models == 1 or compared[0][1]["rank_low"] is None:
        return "", "", False
    ranked = "" if n_models == len(rows) else "ranked "
    if len(leaders) == 1:
        others = f"all {n_models - 1} other {ranked}models"
        if n_models == 2:  # noqa: PLR2004
            others = f"the other {ranked}model"
        return f"is better than {others}", leaders[0], True
    if len(leaders) == n_models:
        return (
            f"None of the {n_models} {ranked}models is known to be better than another",
            "",
            False,
        )
    of_all = f"{n_models} {ranked}models" if ranked else n_models
    return f"may be the best of {of_all}: the data do not distinguish them", _named(leaders), False


def _named(names: Iterable[str]) -> str:
    listed = list(dict.fromkeys(names))
    rest = len(listed) - _NAMED
    return ", ".join(listed[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")
