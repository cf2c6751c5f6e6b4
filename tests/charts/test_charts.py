"""Charts: their figures, recomputed from what was logged, and pictures that are safe and equal."""

import json
import random
import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from rendering import HOSTILE, UNSEEN
from support import ROOT, add_rows, child, command, new_store

from warehouse.analysis.charts.panels import panels_of
from warehouse.analysis.charts.registry import CHARTS, draw_chart
from warehouse.analysis.charts.svg import as_png, as_svg
from warehouse.analysis.charts.theme import (
    ACCENT,
    INK,
    MODELS,
    NAMES,
    PALE,
    PAPER,
    STYLE,
    WIDE,
    WIDTH,
)
from warehouse.app.commands.plot import _NAMES
from warehouse.app.output.html import STYLE as PAGE_STYLE
from warehouse.app.store import Store
from warehouse.core.errors import BadInput
from warehouse.engine.base_store import EvalstoreWarning

LONG = "epäjärjestelmällistyttämättömyydellänsäkäänköhän/lentokonesuihkuturbiini-"
ANY_NAME = "ชื่อแบบจำลองภาษาที่ยาวมากมากมากสำหรับการทดสอบ"
NAME_LIST = (HOSTILE, ANY_NAME, f"{LONG}7b", f"{LONG}9b", "none", "all")
SUITE = {"suite": None, "task_set": None, "metric": None}


JUDGED = {"suite": "capitals", "run_id": "judged", "generation": "root"}


def ratings():
    """Yield ratings of 12 answers by people, and by a judge of each name, some like them."""
    for rater in ("people", *NAME_LIST):
        for task in range(12):
            is_good = task % 2 == 0 or (rater != "people" and task < len(rater) % 9)
            yield {
                **JUDGED, "task_set": "core", "task_id": f"t{task}", "model": "m", "seq": 1,
                "content_id": f"{rater}/{task}", "criterion": "overall", "status": "ok",
                "rater": rater, "rater_kind": "human" if rater == "people" else "judge",
                "value": float(is_good), "scale_low": 0.0, "scale_high": 1.0,
            }  # fmt: skip


def log(store, models, n_tasks, suite="capitals"):
    """Log made-up results, and return them: (model, task, passed, cost, latency)."""
    chance = random.Random(7)
    rows = []
    for model in models:
        ability = {"none": 0, "all": 1}.get(model, chance.random())
        with store.record(suite=suite, model=model) as run:
            for n in range(n_tasks):
                passed = chance.random() < ability
                cost = None if model == "none" else round(chance.uniform(0.001, 0.1), 6)
                ms = round(chance.uniform(10, 900))
                run.log(task_id=f"t{n:03}", output="x", passed=passed, cost_usd=cost, latency_ms=ms)
                rows.append((model, f"t{n:03}", passed, cost, ms))
    return rows


@pytest.fixture(scope="module")
def logged(tmp_path_factory):
    """Return a store of six models with all kinds of names, and its results."""
    store = new_store(tmp_path_factory.mktemp("charts") / "store")
    rows = log(store, NAME_LIST, 12)
    add_rows(store.lake, runs=[{**JUDGED, "content_id": "run"}], ratings=list(ratings()))
    store.sync()
    with store.reading():  # to open it takes longer than most queries
        yield store, rows


def rows_of(store, name):
    chart = next(chart for chart in CHARTS if chart.name == name)
    with store.reading() as connection:
        [panel] = panels_of(connection, chart, dict.fromkeys(chart.takes))
    rows = chart.draw(panel).rows
    return panel.rows if rows is None else list(rows)


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def test_every_chart_is_offered_and_has_its_query():
    names = [chart.name for chart in CHARTS]
    assert tuple(names) == _NAMES
    assert {path.stem for path in (ROOT / "sql" / "charts").iterdir()} == set(names)
    page = (ROOT / "docs" / "charts.md").read_text("utf-8")
    assert all(f"`{name}`" in page for name in names)


# --- figures


def test_the_leaderboard_has_the_pass_rates_in_order(logged):
    store, results = logged
    shown = rows_of(store, "leaderboard")
    rates = {model: mean(r[2] for r in results if r[0] == model) for model in NAME_LIST}
    assert {row["model"]: row["value"] for row in shown} == pytest.approx(rates)
    assert all(a["value"] >= b["value"] for a, b in pairwise(shown))
    assert all(row["value_low"] <= row["value"] <= row["value_high"] for row in shown)


def test_the_front_has_the_models_that_no_other_beats(logged):
    store, results = logged
    costs = {m: mean(r[3] for r in results if r[0] == m) for m in NAME_LIST if m != "none"}
    rates = {model: mean(r[2] for r in results if r[0] == model) for model in costs}
    best = {
        a for a in costs
        if not any(costs[b] <= costs[a] and rates[b] >= rates[a]
                   and (costs[b] < costs[a] or rates[b] > rates[a]) for b in costs)
    }  # fmt: skip
    shown = rows_of(store, "costs")
    assert {row["model"]: row["cost_usd"] for row in shown} == pytest.approx(
        {**costs, "none": None}
    )
    assert {row["model"] for row in shown if row["is_on_front"]} == best
    assert [row["model"] for row in shown if row["is_on_front"] is None] == ["none"]


@pytest.mark.slow
def test_a_small_cost_has_no_exponent(tmp_path):
    store = new_store(tmp_path)
    with store.record(suite="capitals", model="small") as run:
        run.log(task_id="t", output="x", passed=True, cost_usd=6.9e-6)
    [words] = draw_chart(store, "costs").words
    assert words.endswith("small: 100.0 % for $0.0000069")


@pytest.mark.slow
def test_names_in_other_scripts_have_room(tmp_path):
    room = {}
    for name in ("example/model-that-is-known", ANY_NAME, "模型名称" * 3):
        store = new_store(tmp_path / str(len(room)))
        log(store, [name], 6)
        picture = ET.fromstring(as_svg(draw_chart(store, "latency")))
        left, _, width, _ = map(float, picture.attrib["viewBox"].split())
        paper = next(picture.iter("{http://www.w3.org/2000/svg}rect")).attrib
        assert (float(paper.get("x", 0)), float(paper["width"])) == (left, width)
        assert float(picture.attrib["width"]) == width
        room[name] = -left
    # In a browser, 30 Thai letters of 10 pixels are 10 pixels wider than Vega takes them for, and
    # 30 Chinese ones 108.
    latin, thai, chinese = room.values()
    assert latin == 0
    assert thai > 30 * 10 / 30 * 1.2
    assert chinese > 12 * 108 / 30 * 1.2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("longest_ms", "unit", "highest"),
    [
        (900, "milliseconds", 800),
        (9_000, "seconds", 8),
        (200_000, "minutes", 3),
        (9_000_000, "hours", 2.5),
    ],
)
def test_an_axis_of_times_has_their_unit(store, longest_ms, unit, highest):
    with store.record(suite="capitals", model="slow") as run:
        for n in range(6):
            run.log(task_id=f"t{n}", output="x", passed=True, latency_ms=longest_ms)
    picture = ET.fromstring(as_svg(draw_chart(store, "latency")))
    texts = [each.text for each in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert f"median and 95th percentile, {unit}" in texts
    assert f"{highest:g}" in texts


def test_judges_have_their_kappa_with_people_best_first(logged):
    store, _ = logged
    shown = rows_of(store, "judges")
    kappas = store.sql("SELECT judge, quadratic_kappa FROM judge_agreement WHERE other = 'people'")
    assert {row["model"]: row["value"] for row in shown} == dict(kappas.fetchall())
    assert len({row["value"] for row in shown}) > 2
    assert all(a["value"] >= b["value"] for a, b in pairwise(shown))
    values = draw_chart(store, "judges").chart.to_dict()["datasets"].values()
    assert ({"value": 0}, {"value": 1}) in values


@pytest.mark.slow
@pytest.mark.parametrize(
    ("raters", "n_tasks"), [({"people", "all"}, 12), ({"people", *NAME_LIST}, 5)]
)
def test_one_judge_alone_or_without_an_interval_has_no_picture(store, raters, n_tasks):
    tasks = {f"t{n}" for n in range(n_tasks)}
    rows = [row for row in ratings() if row["rater"] in raters and row["task_id"] in tasks]
    add_rows(store.lake, runs=[{**JUDGED, "content_id": "run"}], ratings=rows)
    store.sync()
    with pytest.raises(BadInput, match="nothing that the chart 'judges' shows"):
        draw_chart(store, "judges")


def test_latencies_are_those_of_the_calls(logged):
    store, results = logged
    for row in rows_of(store, "latency"):
        times = sorted(r[4] for r in results if r[0] == row["model"])
        assert row["p50_ms"] == (times[5] + times[6]) / 2
        assert times[-2] <= row["p95_ms"] <= times[-1]


def test_the_heat_map_has_every_cell_and_the_means(logged):
    store, results = logged
    shown = rows_of(store, "heatmap")
    cells = {(r[0], r[1]): float(r[2]) for r in results}
    assert {(row["model"], row["task_id"]): row["value"] for row in shown} == cells
    for row in shown:
        of_task = [value for (_, task), value in cells.items() if task == row["task_id"]]
        of_model = [value for (model, _), value in cells.items() if model == row["model"]]
        assert (row["task_mean"], row["model_mean"]) == pytest.approx(
            (mean(of_task), mean(of_model))
        )


def test_bands_of_difficulty_hold_the_tasks_by_their_mean(logged):
    store, results = logged
    bounds = ((1, 2), (0.75, 1), (0.5, 0.75), (0.25, 0.5), (1e-9, 0.25), (0, 1e-9))
    tasks = {r[1] for r in results}
    means = {task: mean(r[2] for r in results if r[1] == task) for task in tasks}
    for row in rows_of(store, "difficulty"):
        low, high = bounds[row["band"] - 1]
        own = [r[2] for r in results if r[0] == row["model"] and low <= means[r[1]] < high]
        assert (row["n_tasks"], row["value"]) == (len(own), pytest.approx(mean(own)))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["difficulty", "heatmap"])
def test_adaptive_runs_make_no_task_look_easier(store, name):
    key = {"suite": "s", "task_set": "core", "generation": "root"}
    results = [
        {**key, "run_id": run, "model": run, "task_id": task, "content_id": f"{run}/{task}"}
        | {"seq": at, "objective_pass": passed}
        for run, answers in (("full", (True, False)), ("chosen", (False, True)))
        for at, (task, passed) in enumerate(zip("ab", answers, strict=True))
    ]
    runs = [
        {**key, "run_id": "full", "content_id": "full"},
        {**key, "run_id": "chosen", "content_id": "chosen", "plan": '{"adaptive": {}}'},
    ]
    add_rows(store.lake, runs=runs, results=results)
    rows = rows_of(store, name)
    assert {row["model"] for row in rows} == {"full"}
    of_task = "band" if name == "difficulty" else "task_mean"
    assert {row[of_task] for row in rows} == ({1, 6} if name == "difficulty" else {0, 1})


@pytest.mark.slow
def test_the_history_has_every_run(store):
    for passed in (False, True):
        with store.record(suite="own", model="m") as run:
            run.log(task_id="t", output="x", passed=passed)
    assert [row["value"] for row in rows_of(store, "history")] == [0, 1]
    [words] = draw_chart(store, "history").words
    assert re.fullmatch(r"own · passed: m 0\.0 % on \S+, 100\.0 % on \S+", words)


@pytest.mark.slow
def test_runs_of_one_day_are_in_their_order_and_tags_are_marks(store):
    for run_id in ("b", "a"):
        with store.record(suite="own", model="m", run_id=run_id) as run:
            run.log(task_id="t", output="x", passed=run_id == "a")
    assert command(store.path, "tag", "a", "release=<b>").code == 0
    drawing = draw_chart(store, "history")
    runs, marks = drawing.chart.to_dict()["datasets"].values()
    assert [(row["at"], row["value"]) for row in runs] == [(0, 0), (1, 1)]
    [mark] = marks
    assert (mark["at"], mark["tag"]) == (1, "release=<b>")
    assert "; tags: a release=<b>" in drawing.words[0]
    text = as_svg(drawing)
    assert ">release=&lt;b&gt;" in text
    assert "runs in their order" in text
    assert not UNSEEN.search(text)


# --- what a picture shows


def test_names_are_short_visible_and_different(logged):
    labels = {row["label"] for row in rows_of(logged[0], "leaderboard")}
    assert len(labels) == len(NAME_LIST)
    assert not any(UNSEEN.search(label) for label in labels)
    assert max(map(len, labels)) < 45  # 30 cells: marks above Thai letters take none


@pytest.mark.slow
def test_names_that_are_cut_to_the_same_are_numbered(store):
    log(store, [f"start-{'x' * 20}{n}{'y' * 30}" for n in range(3)], 1)
    labels = [row["label"] for row in rows_of(store, "leaderboard")]
    assert sorted(label[:4] for label in labels) == ["[2] ", "[3] ", "star"]


@pytest.mark.slow
def test_settings_are_named_where_they_differ(store):
    for settings in ({"temperature": 0}, {"temperature": 1}, None):
        with store.record(suite="own", model="m", settings=settings) as run:
            run.log(task_id="t", output="x", passed=True)
    labels = {row["label"] for row in rows_of(store, "leaderboard")}
    assert labels == {"m (temperature 0)", "m (temperature 1)", "m (no settings)"}


@pytest.mark.slow
def test_pictures_are_bounded_and_say_so(store):
    log(store, [f"m{n:02}" for n in range(53)], 155)
    assert "the first 40 of 53 models" in " ".join(draw_chart(store, "leaderboard").notes)
    assert "the 40 fastest of 53 models" in " ".join(draw_chart(store, "latency").notes)
    assert "the best 40 of 53 models" in " ".join(draw_chart(store, "difficulty").notes)
    assert "45 are left out" in " ".join(draw_chart(store, "history").notes)
    heat = draw_chart(store, "heatmap")
    assert "the best 50 of 53 models" in " ".join(heat.notes)
    [drawn] = heat.chart.to_dict()["datasets"].values()
    # For each model a mark for passes and one for failures; one model passes everything.
    assert len({mark["label"] for mark in drawn}) == 50
    assert len(drawn) <= 50 * 2
    assert len(as_svg(heat)) < 200_000


@pytest.mark.slow
def test_several_task_sets_are_panels_and_can_be_chosen(store):
    log(store, ["a"], 2, suite="one")
    log(store, ["a"], 2, suite="two")
    both = draw_chart(store, "leaderboard")
    assert [words.partition(":")[0] for words in both.words] == ["one · passed", "two · passed"]
    assert len(draw_chart(store, "leaderboard", suite="two").words) == 1
    assert len(draw_chart(store, "leaderboard", task_set="one").words) == 1


@pytest.mark.slow
def test_panels_without_a_figure_are_left_out_and_noted(store):
    log(store, ["a"], 2, suite="known")
    with store.record(suite="unknown", model="a") as run:
        run.log(task_id="t", output="x", cost_usd=0.1)
    drawing = draw_chart(store, "leaderboard")
    assert [words.partition(":")[0] for words in drawing.words] == ["known · passed"]
    assert any("unknown" in note and "1 without a figure" in note for note in drawing.notes)
    with pytest.raises(BadInput, match="nothing"):
        draw_chart(store, "leaderboard", suite="unknown")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("leaderbord",), "did you mean 'leaderboard'?"),
        (("pie",), "the charts are: leaderboard, history"),
        (("leaderboard",), "the store has nothing that the chart 'leaderboard' shows"),
    ],
)
def test_what_cannot_be_drawn_is_an_error(store, arguments, message):
    with pytest.raises(BadInput) as error:
        draw_chart(store, *arguments)
    assert message in str(error.value)


def test_an_argument_that_a_chart_does_not_take_is_an_error(store):
    with pytest.raises(BadInput, match="not by task set"):
        draw_chart(store, "latency", task_set="x")
    with pytest.raises(BadInput, match="nothing of metric 'x'"):
        draw_chart(store, "heatmap", metric="x")


# --- SVG, HTML, PNG


@pytest.fixture(scope="module", params=_NAMES)
def svg(request, logged):
    """Return each chart of the store as SVG."""
    return as_svg(draw_chart(logged[0], request.param))


@pytest.mark.slow
def test_a_picture_is_safe_described_and_shrinks(svg):
    assert not UNSEEN.search(svg)
    root = ET.fromstring(svg)
    names = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert names <= {"svg", "title", "desc", "style", "g", "rect", "path", "line", "text", "defs",
                     "linearGradient", "stop"}  # fmt: skip
    title, description, *_ = root
    assert title.text
    assert any(word in description.text for word in ("passed", "median", "kappa"))
    assert (root.get("role"), root.get("aria-labelledby")) == ("img", title.get("id"))
    assert root.get("viewBox").endswith(f"{root.get('width')} {root.get('height')}")
    assert int(root.get("width")) <= 700
    assert "max-width: 100%" in STYLE
    for element in root.iter():
        attributes = " ".join(element.attrib)
        assert not re.search(r"\bon|href|style", attributes), attributes


@pytest.mark.slow
def test_a_picture_is_one_image_to_a_reader_of_the_screen(svg):
    root, *inner = ET.fromstring(svg).iter()
    assert root.get("role") == "img"
    assert [
        e.tag for e in inner if any(n == "role" or n.startswith("aria-") for n in e.attrib)
    ] == []


@pytest.mark.slow
def test_every_colour_follows_the_theme(svg):
    for paint in re.findall(r'(?:fill|stroke)="([^"]*)"', svg):
        assert paint in {"none", "transparent"} or paint.startswith("var(--chart-"), paint


@pytest.mark.slow
@pytest.mark.parametrize("name", _NAMES)
def test_the_same_data_give_the_same_bytes(logged, name, tmp_path):
    store, _ = logged
    paths = [tmp_path / f"{n}.svg" for n in range(2)]
    for path in paths:
        child("-m", "evalstore", "--store", store.path, "plot", name, "--to", path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert paths[0].read_text("utf-8") == as_svg(draw_chart(store, name))


def values(css):
    return dict(re.findall(r"--chart-([\w-]+): (#\w{6})", css))


LIGHT, DARK = map(values, STYLE.split("prefers-color-scheme: dark"))


def test_the_style_has_each_colour_for_light_and_dark():
    assert {name: colour for colour, name in NAMES.items()} == LIGHT
    assert DARK.keys() == LIGHT.keys()


def test_ink_and_paper_are_those_of_pages():
    pages = (dict(re.findall(r"--(\w+): (#\w{6})", css)) for css in PAGE_STYLE.split("@media")[:2])
    for theme, page in zip((LIGHT, DARK), pages, strict=True):
        names = {"ink": "ink", "pale": "pale", "paper": "paper", "grid": "line", "accent": "lead"}
        assert [theme[ours] for ours in names] == [page[name] for name in names.values()]


@pytest.mark.slow
def test_a_wide_picture_fills_a_column(logged):
    store, _ = logged
    narrow, wide = (
        ET.fromstring(as_svg(draw_chart(store, "leaderboard", width=width)))
        for width in (WIDTH, WIDE)
    )
    assert float(wide.get("width")) - float(narrow.get("width")) == WIDE - WIDTH
    [style] = narrow.iter("{http://www.w3.org/2000/svg}style")
    assert 'text { font-family: system-ui, "Noto Sans"' in style.text
    # Letters of a page can be wider than those that Vega measures.
    sizes = {text.get("font-size") for text in wide.iter("{http://www.w3.org/2000/svg}text")}
    assert sizes == {"12px", "14px"}


def luminance(colour):
    """Return the relative luminance of a colour, as WCAG 2.2 defines it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_text_and_marks_can_be_read(theme):
    paper = theme[NAMES[PAPER]]
    assert all(contrast(theme[NAMES[colour]], paper) >= 4.5 for colour in (INK, PALE))
    assert all(contrast(theme[NAMES[colour]], paper) >= 3 for colour in (ACCENT, *MODELS))
    for step in (1, 2, 3):
        assert contrast(theme[f"step-{step}"], theme["ink"]) >= 4.5
    for step in (4, 5):
        assert contrast(theme[f"step-{step}"], theme["on-step"]) >= 3.5
    assert contrast(theme["step-1"], paper) > 1.1  # a 0 is not a task that was not asked


@pytest.mark.slow
def test_a_page_shows_the_picture_and_its_figures(logged, tmp_path):
    store, _ = logged
    path = tmp_path / "page.html"
    assert command(store.path, "plot", "leaderboard", "--to", path).code == 0
    page = path.read_text("utf-8")
    assert "<script" not in page
    assert not UNSEEN.search(page)
    assert page.count("<style>") == 1
    assert "default-src 'none'" in page
    assert page.count("<tr>") == 1 + len(NAME_LIST)
    assert '<td class="n">12</td>' in page  # n_tasks


@pytest.mark.slow
def test_a_picture_in_pixels(logged):
    assert as_png(draw_chart(logged[0], "leaderboard")).startswith(b"\x89PNG\r\n")


@pytest.mark.slow
def test_notes_go_to_the_screen(store, tmp_path):
    log(store, ["a", "none"], 2)
    ended = command(store.path, "plot", "costs", "--to", tmp_path / "x.svg")
    assert (ended.code, ended.out) == (0, "")
    assert "without 1 model of unknown cost" in ended.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["leaderboard", "--to", "x.pdf"], "'x.pdf' does not end with .svg, .png or .html"),
        (["leaderboard"], "--to"),
        (["pie", "--to", "x.svg"], "leaderboard"),
    ],
)
def test_misuse_is_explained(cli, arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ended = cli("plot", *arguments)
    assert ended.code == 2
    assert message in ended.err
    assert not list(Path().glob("x.*"))


def test_a_notebook_gets_the_chart(logged):
    store = Store(logged[0].path)
    chart = store.chart("leaderboard", suite="capitals")
    specification = json.dumps(chart.to_dict())
    assert '"url"' not in specification
    assert not UNSEEN.search(specification)


def test_a_notebook_is_warned_of_what_is_left_out(logged):
    with pytest.warns(EvalstoreWarning, match="unknown cost"):
        Store(logged[0].path).chart("costs")
