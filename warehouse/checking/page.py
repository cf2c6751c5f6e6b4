"""The page of a check: what does not hold, with sample rows, and everything that was checked."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.checking.report import counts, problems, said
from warehouse.output.formatting import human
from warehouse.output.html import TAIL, head, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from warehouse.checking.check import Checked, Outcome
    from warehouse.types import Row

_STYLE = Path(__file__).with_suffix(".css")
_FOOTER = (
    "Samples show up to five rows, long values cut. Each check of the schema <code>checks</code> "
    "is a view: <code>evalstore show checks.violations</code> gives all of its rows."
)
_LONG = 40  # characters: from here on a cell gets room, so that it does not become a pillar


def page(checked: Sequence[Checked], when: datetime | None = None) -> str:
    """Write the page.

    Args:
        checked: what was checked.
        when: of the check, UTC; None: now.
    """
    failed, warned = counts(checked)
    verdict = _verdict(failed, warned)
    found = problems(checked)
    parts = [
        head(f"evalstore check: {verdict}", _STYLE.read_text("utf-8")),
        "<main>\n<h1>evalstore check</h1>\n",
        f'<p class="verdict {"bad" if failed else "good"}">{verdict}</p>\n',
        f'<p class="pale">{when or datetime.now(UTC):%Y-%m-%d %H:%M} UTC</p>\n',
        f'<dl class="figures">{_figures(checked, failed, warned)}</dl>\n',
        _section("Failed", [_problem(c, o, opened=True) for c, o in found if o.is_failure]),
        _section(
            "Worth a look", [_problem(c, o, opened=False) for c, o in found if not o.is_failure]
        ),
        '<h2>Everything that was checked</h2>\n<div class="all">',
        *map(_batch, checked),
        f'</div>\n<p class="pale last">{_FOOTER}</p>\n</main>\n',
        TAIL,
    ]
    return "".join(parts)


def _verdict(failed: int, warned: int) -> str:
    if failed == 0:
        return "Nothing failed" if warned else "Everything holds"
    return "One expectation is not met" if failed == 1 else f"{failed:,} expectations are not met"


def _figures(checked: Sequence[Checked], failed: int, warned: int) -> str:
    total = sum(len(each.outcomes) for each in checked)
    results = next((each.n_rows for each in checked if each.batch.name == "lake.results"), 0)
    figures = (
        ("results", results, ""),
        ("expectations", total, ""),
        ("hold", total - failed - warned, "good"),
        ("failed", failed, "bad" if failed else ""),
        ("warnings", warned, "warn" if warned else ""),
    )
    return "".join(
        f'<div><dt>{name}</dt><dd class="{tone}">{value:,}</dd></div>'
        for name, value, tone in figures
    )


def _section(title: str, cards: Sequence[str]) -> str:
    return f"<h2>{title}</h2>\n{''.join(cards)}" if cards else ""


def _problem(each: Checked, outcome: Outcome, *, opened: bool) -> str:
    tone = "bad" if outcome.is_failure else "warn"
    place = outcome.expectation.place
    where = f" · {place.file}, line {place.line}" if place.line else ""
    return f"""\
<details class="card {tone}"{" open" if opened else ""}>
<summary><span class="top"><h3>{text(each.batch.name)}</h3>\
<span class="mark {tone}">{text(_extent(outcome))}</span>\
<span class="about pale">{text(each.batch.about)}</span></span></summary>
<div class="body">
<p>{text(said(outcome))}</p>
{_sample(outcome.sample)}
<p class="pale">{text(outcome.expectation.type + where)}</p>
</div>
</details>
"""


def _extent(outcome: Outcome) -> str:
    if outcome.error:
        return "no answer"
    if outcome.n_offending is None:
        return outcome.observed or "not met"
    return f"{outcome.n_offending:,} row{'s' * (outcome.n_offending != 1)}"


def _sample(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    head = "".join(f"<th>{text(name)}</th>" for name in rows[0])
    body = "".join(f"<tr>{_cells(row)}</tr>\n" for row in rows)
    return (
        f'<div class="wide"><table class="rows"><thead><tr>{head}</tr></thead>'
        f"<tbody>\n{body}</tbody></table></div>"
    )


def _cells(row: Row) -> str:
    return "".join(_cell(name, value) for name, value in row.items())


def _cell(name: str, value: object) -> str:
    label = f'data-name="{text(name)}"'
    if value is None:
        return f'<td {label}><span class="null">NULL</span></td>'
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f'<td class="n" {label}>{value}</td>'
    shown = human(value)
    tone = "long" if len(shown) > _LONG else "short"
    return f'<td class="{tone}" {label} dir="auto">{text(shown)}</td>'


def _batch(each: Checked) -> str:
    failed, warned = counts([each])
    tone = "bad" if failed else "warn" if warned else "good"
    marks = [f"{failed} failed"] * (failed > 0) + [f"{warned} warned"] * (warned > 0)
    rows = f"{each.n_rows:,} row{'s' * (each.n_rows != 1)}"
    return f"""\
<details class="card">
<summary><span class="top"><h3>{text(each.batch.name)}</h3><span class="pale">{rows}</span>\
<span class="mark {tone}">{", ".join(marks) or "ok"}</span></span></summary>
<div class="body">
<p class="pale">{text(each.batch.about)}</p>
<ul class="list">{_lines(each.outcomes)}</ul>
</div>
</details>
"""


def _lines(outcomes: Iterable[Outcome]) -> str:
    return "".join(
        f'<li><span class="sign {_tone(outcome)}">{"✓" if outcome.passed else "✗"}</span>'
        f"{text(outcome.expectation.text if outcome.passed else said(outcome))}</li>\n"
        for outcome in outcomes
    )


def _tone(outcome: Outcome) -> str:
    return "good" if outcome.passed else "bad" if outcome.is_failure else "warn"
