"""`RESULTS.md`: the table of ratios, and how figures grow, as a table and a chart."""

from __future__ import annotations

import json
import math
import os
import platform
import re
import subprocess
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bench.ratios import Ratio

Point = dict[str, Any]

_FOLDER = Path(__file__).parent
RESULTS = _FOLDER / "RESULTS.md"
_GROWTH = _FOLDER / "growth.json"
_CHART = _FOLDER / "growth.svg"
_LIBRARIES = ("duckdb", "pyarrow", "polars", "pandas", "pyyaml", "litellm")
_ROW = re.compile(r"\| (.*?) \| (.*?) \| ([\d.]+) × \| .* \|")
_GROWTH_TITLE = "## Growth"
# What is measured in seconds and in memory, and then what is not.
_DRAWN = {
    "sync": "sync of a new run",
    "rebuild": "rebuild",
    "leaderboard": "leaderboard",
    "runs": "runs",
    "history": "history",
    "overview": "overview",
    "compare": "compare",
    "gate": "gate",
    "costs": "costs",
    "metrics": "metrics",
    "report": "report",
}
_WORK_COLUMNS = {
    "import_rows_per_second": "import, rows/s",
    **{f"{name}_seconds": f"{title}, s" for name, title in _DRAWN.items()},
    "lake_mb": "lake, MB",
    "warehouse_mb": "warehouse, MB",
    "import_peak_mb": "peak of the import, MB",
    **{f"{name}_peak_mb": f"{title}, peak MB" for name, title in _DRAWN.items() if name != "sync"},
}


def committed_values(page: Path = RESULTS) -> dict[tuple[str, str], float]:
    """Return the ratios of the last committed table, by work and what it was compared with.

    Without a repository, of the table as it is.
    """
    shown = subprocess.run(
        ["git", "show", f"HEAD:./{page.name}"],  # noqa: S607 - found where the user has it
        cwd=page.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    text = shown.stdout if shown.returncode == 0 else _text(page)
    return {key: value for key, (value, _) in _rows(text).items()}


def write_ratios(ratios: Iterable[Ratio], page: Path = RESULTS) -> None:
    """Write new ratios into the table; those of benchmarks that did not run stay."""
    rows = {(r.work, r.against): _row(r) for r in ratios}
    kept = {key: line for key, (_, line) in _rows(_text(page)).items()}
    libraries = ", ".join(f"{name} {metadata.version(name)}" for name in _LIBRARIES)
    where = f"{_machine()}, Python {platform.python_version()}, {libraries}"
    lines = [
        "# Benchmarks",
        "",
        (
            "Written by `make bench` and `make bench-full`. Both sides of a ratio are measured "
            "alternately in one run. [What bounds the queries](LIMITS.md)."
        ),
        "",
        f"{datetime.now(UTC):%Y-%m-%d}, {where}.",
        "",
        "| work | compared with | ratio | target | met | figures |",
        "| --- | --- | --- | --- | --- | --- |",
        *(kept | rows).values(),
        "",
    ]
    page.write_text("\n".join(lines) + _growth_section(), encoding="utf-8")


def read_growth() -> list[Point]:
    """Return the figures of each measured number of results."""
    if not _GROWTH.exists():
        return []
    points: list[Point] = json.loads(_GROWTH.read_text("utf-8"))
    return points


def write_growth(points: Sequence[Point]) -> None:
    """Write the figures, the chart, and the section of the page."""
    ordered = sorted(points, key=lambda point: point["results"])
    _GROWTH.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")
    if len(ordered) > 1:
        _CHART.write_text(_drawn(ordered), encoding="utf-8")
    ratios, _, _ = RESULTS.read_text("utf-8").partition(_GROWTH_TITLE)
    RESULTS.write_text(ratios.rstrip("\n") + "\n" + _growth_section(), encoding="utf-8")


def exponents(points: Sequence[Point]) -> dict[str, float]:
    """Return the exponent of growth between the two largest sizes, by title of the work.

    0 is flat, 1 is linear. What only one of them has is left out.
    """
    if len(points) < 2:  # noqa: PLR2004 - it takes two
        return {}
    before, last = sorted(points, key=lambda point: point["results"])[-2:]
    factor = math.log(last["results"] / before["results"])
    return {
        title: math.log(last[name] / before[name]) / factor
        for name, title in _WORK_COLUMNS.items()
        if name in before and name in last
    }


def _text(page: Path) -> str:
    return page.read_text("utf-8") if page.exists() else ""


def _rows(text: str) -> dict[tuple[str, str], tuple[float, str]]:
    """Return the ratio and the line of each row of a table, by work and other side."""
    found = filter(None, map(_ROW.fullmatch, text.partition(_GROWTH_TITLE)[0].splitlines()))
    return {(row[1], row[2]): (float(row[3]), row[0]) for row in found}


def _row(ratio: Ratio) -> str:
    return (
        f"| {ratio.work} | {ratio.against} | {ratio.value:.2f} × | {ratio.target} | "
        f"{'yes' if ratio.is_met else '**no**'} | {ratio.figures} |"
    )


def _growth_section() -> str:
    points = read_growth()
    if not points:
        return ""
    steepness = exponents(points)
    titles = _WORK_COLUMNS.values()
    lines = [
        "",
        _GROWTH_TITLE,
        "",
        (
            "Written by `python -m bench.growth`. Seconds are CPU time. A run of 100 results is "
            "synced and 100,000 OpenClaw rows are imported into a store of the given size; a "
            "query includes opening the store, and the report has all pages except those of "
            "samples. The last line is the exponent between the two largest sizes: 0 is flat, 1 is "
            "linear."
        ),
        "",
        f"| results | {' | '.join(titles)} |",
        f"|{' --- |' * (1 + len(titles))}",
        *(
            f"| {point['results']:,} | "
            + " | ".join(f"{point[name]:,}" if name in point else "" for name in _WORK_COLUMNS)
            + " |"
            for point in points
        ),
        "| exponent | "
        + " | ".join(f"{steepness[title]:.2f}" if title in steepness else "" for title in titles)
        + " |",
        "",
    ]
    if len(points) > 1:
        lines += ["![Seconds by number of results](growth.svg)", ""]
    return "\n".join(lines)


def _drawn(points: Sequence[Point]) -> str:
    """Return the chart of the seconds by the number of results, both logarithmic, as SVG."""
    import altair as alt
    import vl_convert

    values = [
        {"results": point["results"], "work": title, "seconds": point[f"{name}_seconds"]}
        for point in points
        for name, title in _DRAWN.items()
        if f"{name}_seconds" in point
    ]
    scale = alt.Scale(type="log")
    # Ticks between these overlap.
    sizes = alt.Axis(values=[point["results"] for point in points], format=",")
    powers = alt.Axis(values=[0.1, 1, 10, 100, 1000])
    chart = (
        alt.Chart(alt.Data(values=values), width=560, height=320)
        .mark_line(point=True)
        .encode(
            x=alt.X("results:Q", scale=scale, axis=sizes, title="results in the store"),
            y=alt.Y("seconds:Q", scale=scale, axis=powers, title="seconds"),
            color=alt.Color("work:N", title=None),
        )
    )
    svg: str = vl_convert.vegalite_to_svg(chart.to_dict())
    return svg + "\n"


def _machine() -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, {memory:.0f} GiB"
