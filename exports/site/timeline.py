"""The timelines of trials: along time, which steps lie where, and how tokens and cost add up."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from exports.site.grouping import by
from exports.site.steps import ASKED, FAILED, trial_lists
from warehouse.core.text.figures import money

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exports.site.site import Site
    from exports.site.trials import Key
    from warehouse.core.types import Row

_BINS = 120
_HEIGHT = 10  # of a lane, in units of its view box; its width is the number of bins
# Where a step has no time, those of its trial lie by their order. Copied steps have old times.
_BINNED = f"""
{ASKED},

extents AS (
    SELECT
        suite, run_id, result_id, max(seq) AS last_seq,
        epoch_ms(min(started_at)) AS first_ms,
        epoch_ms(max(started_at)) - first_ms AS span_ms,
        count(started_at) = count(*) AND span_ms > 0 AS is_timed
    FROM steps
    SEMI JOIN asked USING (suite, run_id, result_id)
    WHERE NOT is_copied
    GROUP BY suite, run_id, result_id
),

counted AS (
    SELECT
        *, {FAILED} AS is_failed,
        CASE
            WHEN is_timed THEN (epoch_ms(started_at) - first_ms) / span_ms
            ELSE (seq - 1) / last_seq
        END AS share
    FROM steps
    JOIN extents USING (suite, run_id, result_id)
    WHERE NOT is_copied
)

SELECT
    suite, run_id, result_id,
    least(floor(share * {_BINS}), {_BINS - 1})::INTEGER AS bin,
    any_value(is_timed) AS is_timed,
    any_value(span_ms) AS span_ms,
    count(*) FILTER (kind = 'model') AS n_model,
    count(*) FILTER (kind = 'tool') AS n_tool,
    count(*) FILTER (is_failed) AS n_failed,
    count(*) FILTER (trajectory IS NOT NULL) AS n_sub,
    count(*) FILTER (kind NOT IN ('model', 'tool')) AS n_other,
    sum(coalesce(input_tokens, 0) + coalesce(output_tokens, 0))
        FILTER (input_tokens IS NOT NULL OR output_tokens IS NOT NULL)::BIGINT AS tokens,
    sum(cost_usd ORDER BY seq) AS cost_usd
FROM counted
GROUP BY suite, run_id, result_id, bin
ORDER BY suite, run_id, result_id, bin
"""  # noqa: S608 - our own numbers
_LANES = {
    "model calls": "n_model",
    "tool calls": "n_tool",
    "errors": "n_failed",
    "sub-agents": "n_sub",
    "other steps": "n_other",
}


class Lane(NamedTuple):
    """A lane of a timeline: its title, the data of an SVG path, and its total as a text."""

    title: str
    path: str
    total: str
    is_curve: bool


class Timeline(NamedTuple):
    """A timeline.

    Attributes:
        lanes: its lanes.
        span_ms: time from the start of the first to that of the last step, milliseconds; None if
            steps lie by their order.
        n_bins: width of its lanes, in units of their view box.
    """

    lanes: list[Lane]
    span_ms: int | None
    n_bins: int = _BINS


def timelines(site: Site, keys: Sequence[Key]) -> dict[Key, Timeline]:
    """Return the timelines of those of some trials that have steps."""
    rows = by(site.rows(_BINNED, trial_lists(keys)), "suite", "run_id", "result_id")
    return {key: _timeline(rows[key]) for key in keys if rows[key]}


def _timeline(bins: list[Row]) -> Timeline:
    lanes = [
        Lane(title, _ticks(bins, name), f"{total:,}", is_curve=False)
        for title, name in _LANES.items()
        if (total := sum(row[name] for row in bins))
    ]
    tokens = [(row["bin"], row["tokens"]) for row in bins if row["tokens"]]
    costs = [(row["bin"], row["cost_usd"]) for row in bins if row["cost_usd"]]
    if tokens:
        total = sum(value for _, value in tokens)
        lanes.append(Lane("tokens of all steps", _curve(tokens), f"{total:,}", is_curve=True))
    if costs:
        total = f"${money(sum(value for _, value in costs))}"
        lanes.append(Lane("cost of all steps", _curve(costs), total, is_curve=True))
    return Timeline(lanes, bins[0]["span_ms"] if bins[0]["is_timed"] else None)


def _ticks(bins: list[Row], name: str) -> str:
    return "".join(f"M{row['bin']} 0h1v{_HEIGHT}h-1z" for row in bins if row[name])


def _curve(values: list[tuple[int, float]]) -> str:
    """Return the path of a sum as it grows: it steps up where it does, to the full height."""
    sums = list(accumulate(value for _, value in values))
    heights = (_HEIGHT * (1 - each / sums[-1]) for each in sums)
    steps = "".join(f"H{at + 1}V{y:.2f}" for (at, _), y in zip(values, heights, strict=True))
    return f"M0 {_HEIGHT}{steps}H{_BINS}V{_HEIGHT}z"
