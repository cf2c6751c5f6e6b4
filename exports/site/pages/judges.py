"""The page of judges: how far they agree with people and gold, their biases, and ranks by votes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple, cast

from exports.site.addresses import JUDGES, judges_files
from exports.site.labels import labelled_suites
from exports.site.page import Contents
from exports.site.pictures import ShownChart, drawings, shown_chart
from exports.site.site import PageType, only
from exports.site.tables import table
from warehouse.analysis.charts.panels import panels_of
from warehouse.analysis.judges import judges, people, sentences
from warehouse.analysis.votes import COLUMNS, rank_by_votes
from warehouse.core.errors import BadInput
from warehouse.engine.vote_counts import vote_sources

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exports.site.page import Addresses, Page
    from exports.site.site import Site
    from exports.site.tables import Table
    from warehouse.analysis.charts.chart import Panel
    from warehouse.analysis.judges import Judge
    from warehouse.core.types import Row
    from warehouse.engine.vote_counts import VoteSource

_JUDGES = 200  # of a suite
_COLUMNS = (
    "judge", "other", "n_items",
    *(
        f"{name}{end}"
        for name in ("agreement_rate", "kappa", "quadratic_kappa", "sensitivity", "specificity")
        for end in ("", "_low", "_high")
    ),
    "mean_difference",
)  # fmt: skip
_HEADINGS = {
    "other": "compared with",
    "n_items": "judged by both",
    "agreement_rate": "agreement",
    "quadratic_kappa": "kappa with quadratic weights",
    "mean_difference": "mean difference of its numbers",
}
_SHARES = tuple(name for name in _COLUMNS if name.startswith(("sensitivity", "specificity")))
_RANK_COLUMNS = (
    "rank", "rank_low", "rank_high", "model", "log_score", "log_score_low", "log_score_high",
    "n_votes", "n_wins", "n_ties",
)  # fmt: skip
_RANK_HEADINGS = {"n_votes": "votes", "n_wins": "wins", "n_ties": "ties", "log_score": "log score"}


class _Criterion(NamedTuple):
    """A criterion of a suite: how far people agree, and figures and words on its judges."""

    title: str
    people: str
    figures: Table
    said: list[tuple[Judge, str]]


class _Ranks(NamedTuple):
    """The models of a suite by the votes of people or of a judge, or why they have no ranks."""

    title: str
    places: Table | None
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Suite:
    """A suite with ratings or votes.

    Attributes:
        labels: how many of its ratings and votes are from judges, people and gold.
        criteria: its judges by what they were asked for.
        n_left_out: judges that the page leaves out.
        ranks: ranks of its models by votes.
        panels: the panels of the chart of its judges.
        chart: that chart; None until it is drawn, and where no two judges have a kappa.
    """

    labels: Row
    criteria: list[_Criterion]
    n_left_out: int
    ranks: list[_Ranks]
    panels: list[Panel]
    chart: ShownChart | None = None


def _load(site: Site, _: Addresses) -> Iterator[Contents]:
    every = judges(site.connection)
    sources = vote_sources(site.connection)
    suites = [
        _suite(
            site,
            labels,
            [each for each in every if each.suite == suite],
            [each for each in sources if each.suite == suite],
        )
        for suite, labels in site.once(labelled_suites).items()
    ]
    n_uncalibrated = sum(not each.agreements for each in every)
    values = {"suites": suites, "n_judges": len(every), "n_uncalibrated": n_uncalibrated}
    yield Contents(path=JUDGES, template="judges.html", title="Judges", values=values)


def _suite(site: Site, labels: Row, members: list[Judge], sources: list[VoteSource]) -> _Suite:
    from warehouse.analysis.charts.kinds.judges import CHART  # Altair takes half a second

    shown = members[:_JUDGES]
    people_said = site.once(_people)
    by_criterion = groupby(shown, key=lambda each: (each.kind, each.criterion))
    return _Suite(
        labels=labels,
        criteria=[
            _criterion(
                f"{kind}s, {criterion}",
                people_said.get((labels["suite"], kind, criterion), ""),
                list(group),
            )
            for (kind, criterion), group in by_criterion
        ],
        n_left_out=len(members) - len(shown),
        ranks=[_ranks(site, source) for source in sources],
        panels=panels_of(site.connection, CHART, {"suite": labels["suite"]}),
    )


def _people(site: Site) -> dict[tuple[str, str, str], str]:
    return people(site.connection)


def _criterion(title: str, people_said: str, members: list[Judge]) -> _Criterion:
    rows = [row for judge in members for row in judge.agreements]
    said = [(judge, " ".join(sentences(judge))) for judge in members]
    figures = table(rows, _COLUMNS, headings=_HEADINGS, shares=_SHARES)
    return _Criterion(title, people_said, figures, said)


def _ranks(site: Site, source: VoteSource) -> _Ranks:
    title = f"Ranks by votes of {source.rater}, {source.criterion}; a tie is half a win each"
    cluster = source.clusters()
    try:
        found = rank_by_votes(site.connection, source, "half", cluster)
    except BadInput as error:  # models that no chain of votes connects
        return _Ranks(title, None, str(error))
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in found]
    has_ranks = rows[0]["rank_low"] is not None
    title += f"; intervals by {cluster}s" if has_ranks else f"; too few {cluster}s for intervals"
    return _Ranks(title, table(rows, _RANK_COLUMNS, headings=_RANK_HEADINGS), "")


def _render(site: Site, contents: Contents) -> Iterator[Page]:
    """Yield the pictures of the suites that have several judges with a kappa, and the page."""
    from warehouse.analysis.charts.kinds.judges import CHART

    suites = []
    for suite in cast("list[_Suite]", contents.values["suites"]):
        drawn = drawings(CHART, suite.panels) if suite.panels else None
        chart = None
        if drawn is not None:
            chart, pictures = shown_chart(CHART, drawn, judges_files(suite.labels["suite"]))
            yield from pictures
        suites.append(replace(suite, chart=chart))
    yield site.page(replace(contents, values={**contents.values, "suites": suites}))


def _is_shown(site: Site) -> bool:
    return bool(site.once(labelled_suites))


PAGE_TYPE = PageType(
    name="judges",
    addresses=only(JUDGES),
    load=_load,
    render=_render,
    title="Judges",
    entry=JUDGES,
    is_shown=_is_shown,
)
