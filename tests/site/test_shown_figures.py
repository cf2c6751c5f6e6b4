"""What pages make of values: verdicts of a scorer in per cent, paths without their folders."""

import json
import re
from pathlib import Path

import altair as alt
import helm_cases
import pytest
from support import import_into, new_store

from exports.site import pictures
from exports.site.addresses import model_page
from exports.site.boards import boards
from exports.site.folder import MANIFEST
from exports.site.pages import audit, overview, run, suite
from exports.site.paths import shared_path
from exports.site.report import write_site
from exports.site.series import is_rate_of
from exports.site.site import opened_site
from exports.site.tables import table
from warehouse.analysis.charts.chart import Drawing
from warehouse.analysis.charts.registry import draw_chart
from warehouse.analysis.charts.theme import WIDTH
from warehouse.app.output.chart_page import as_page

SPEC = {
    "completion_fns": ["m"],
    "eval_name": "e.dev.v0",
    "base_eval": "e",
    "split": "dev",
    "run_config": {"eval_spec": {"cls": "evals:Match"}, "seed": 7},
    "run_id": "r",
    "created_at": "2024-02-06 06:28:16.123456",
}


def log_of_verdicts(path, verdicts, run_id="r"):
    """Write a log whose verdicts are scores of a scorer, as in logs of openai/evals."""
    lines = [{"spec": SPEC | {"run_id": run_id}}]
    for n, correct in enumerate(verdicts):
        event = {"run_id": run_id, "event_id": n, "sample_id": f"e.dev.{n}", "type": "match"}
        lines.append(event | {"data": {"correct": correct, "expected": "x"}})
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    return path


@pytest.mark.slow
def test_verdicts_of_a_log_are_per_cent(tmp_path):
    store = new_store(tmp_path / "store")
    import_into(store, log_of_verdicts(tmp_path / "log.jsonl", [True, False, False]))
    store.sync()
    with opened_site(store, [], samples="none") as site:
        [board] = boards(site)
    assert (board.metric, board.is_rate) == ("passed", True)
    assert board.places[0].value == pytest.approx(1 / 3)
    picture = json.dumps(draw_chart(store, "leaderboard").chart.to_dict())
    assert '"pass rate"' in picture
    assert '"passed, Match"' not in picture


@pytest.mark.slow
def test_figures_that_a_log_only_reports_are_on_the_page_of_its_suite(tmp_path):
    figures = {"results": {"arc": {"acc,none": 0.5}}, "configs": {"arc": {}}, "n-shot": {"arc": 0}}
    path = tmp_path / "results_2026-04-02T10-00-00.json"
    path.write_text(json.dumps(figures | {"model_name": "vendor/quiet"}), "utf-8")
    store = new_store(tmp_path / "store")
    import_into(store, path)
    write_site(store, tmp_path / "site", samples="none")
    page = (tmp_path / "site/suites/lm-eval.html").read_text("utf-8")
    before, reported = page.split("<h2>As reported</h2>")
    assert "vendor/quiet" not in before
    assert re.search(r"arc</td>.*acc</td>.*vendor/quiet</td>.*0\.5</td>", reported)


@pytest.mark.parametrize(
    ("metric", "score", "expected"),
    [("passed", None, True), ("passed", 0.5, True), ("passed", 7.0, False), ("f1", 0.5, False)],
)
def test_only_verdicts_are_rates(metric, score, expected):
    assert is_rate_of({"metric": metric, "score": score}) is expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (None, None),
        ("runs/r9/results.jsonl", "runs/r9/results.jsonl"),
        ("/srv/evals/runs/r9/results.jsonl", "…/r9/results.jsonl"),
        ("/home/ann/log.json", "…/log.json"),
        ("/home/ann/logs/log.json", "…/logs/log.json"),
        ("/Users/ann/log.json", "…/log.json"),
        ("C:\\Users\\ann\\log.json", "…/log.json"),
        ("C:\\Users\\ann\\logs\\log.json", "…/logs/log.json"),
        ("/root/log.json", "…/log.json"),
        ("/log.json", "…/log.json"),
        ("/srv/evals/r9/", "…/evals/r9"),
    ],
)
def test_a_path_on_a_page_has_no_folder_of_a_person(path, expected):
    assert shared_path(path) == expected


def test_a_column_with_one_value_is_said_once():
    rows = [{"metric": m, "model": "a", "source": None, "file": f} for m, f in (("x", 1), ("y", 2))]
    shown = table(rows, once=("model", "source", "file"), headings={"model": "the model"})
    assert [title for title, _ in shown.columns] == ["metric", "file"]
    assert shown.common == [("the model", "a")]
    # Of a single row the columns stay.
    alone = table(rows[:1], once=("model",))
    assert [title for title, _ in alone.columns] == ["metric", "model", "file"]
    assert alone.common == []


@pytest.mark.slow
def test_pages_show_no_folder_of_the_machine(tmp_path):
    store = new_store(tmp_path / "store")
    log_of_verdicts(tmp_path / "log.jsonl", [True])
    (tmp_path / "cut.jsonl").write_text(json.dumps({"spec": SPEC})[:-9], "utf-8")
    import_into(store, tmp_path / "log.jsonl", tmp_path / "cut.jsonl")
    store.sync()
    with opened_site(store, [audit.PAGE_TYPE, run.PAGE_TYPE], samples="none") as site:
        text = b"".join(page.data for each in site.types for page in site.pages(each)).decode()
    assert "/log.jsonl<" in text
    assert str(tmp_path.parent) not in text


def logged(store, run_id, model):
    with store.record(suite="tours", model=model, task_set="sights", run_id=run_id) as one:
        for task in range(3):
            one.log(task_id=f"t{task}", prompt="?", output="!", passed=task > 0, cost_usd=0.01)


@pytest.mark.campaign
def test_a_chart_has_its_figures_behind_it(store):
    logged(store, "2026-01-01", "a")
    logged(store, "2026-01-02", "b")
    names, text = suite_page_of(store)
    assert "suites/tours/costs.svg" in names
    assert "suites/tours/history.svg" not in names  # each model has one run
    assert "suites/tours/costs-narrow.svg" in names  # for phones
    assert 'srcset="../suites/tours/costs-narrow.svg"' in text
    assert 2 * text.count("<summary>The figures</summary>") == len(names) - 1
    assert ">66.7 %</td>" in text
    assert not re.search(r">0\.6667?\b", text)
    logged(store, "2026-01-03", "b")
    names, _ = suite_page_of(store)
    assert "suites/tours/history.svg" in names


def drawing_of(picture, **table):
    return Drawing(title="T", pictures=[lambda: picture], width=WIDTH, words=[], notes=[], **table)


def test_the_table_behind_a_chart_has_rates_in_per_cent():
    chart = alt.Chart(alt.Data(values=[{"n": 1}])).mark_point()
    rows = [{"is_rate": False, "value": 0.5, "n": 2}, {"is_rate": True, "value": 1 / 3, "n": 1}]
    drawing = drawing_of(chart, columns=("value", "n"), rows=rows)
    tables = list(pictures._figures(drawing))
    assert [each.rows for each in tables] == [
        [[("33.3 %", None), ("1", None)]],
        [[("0.5", None), ("2", None)]],
    ]


def test_the_page_of_a_chart_has_rates_in_per_cent():
    chart = alt.Chart(alt.Data(values=[{"n": 1}])).mark_point()
    names = ("value", "value_low", "n_tasks")
    figures = [(True, 2 / 3, 0.25, 3), (True, None, None, 1), (False, 0.5, 0.25, 2)]
    rows = [dict(zip(("is_rate", *names), each, strict=True)) for each in figures]
    drawing = drawing_of(chart, columns=names, rows=rows)
    page = as_page(drawing)
    assert re.findall(r"<th[^>]*>([^<]*)</th>", page) == [
        "figure", "low end of the 95 % interval", "tasks",
    ]  # fmt: skip
    assert re.findall(r"<td[^>]*>([^<]*)</td>", page) == [
        "66.7 %", "25.0 %", "3", "", "", "1", "0.5", "0.25", "2",
    ]  # fmt: skip


@pytest.mark.slow
def test_figures_of_a_perturbation_say_so(tmp_path):
    store = new_store(tmp_path / "store")
    import_into(store, helm_cases.write_run(tmp_path / "runs" / "suite" / "run").parent)
    store.sync()
    with opened_site(store, [run.PAGE_TYPE], samples="none") as site:
        text = list(site.pages(run.PAGE_TYPE))[-1].data.decode()
    [table] = (each for each in text.split("<table") if "<caption>Reported" in each)
    heads = re.findall(r"<th[^>]*>([^<]*)</th>", table)
    rows = [re.findall(r">([^<>]*)</td>", row) for row in table.split("<tr>")[2:]]
    shown = [dict(zip(heads, row, strict=True)) for row in rows]
    assert sorted(row["perturbation"] for row in shown if row["metric"] == "exact_match") == [
        "", "robustness (worst)",
    ]  # fmt: skip
    assert len({tuple(row) for row in rows}) == len(rows)


def suite_page_of(store):
    """Return the paths of the files of the only suite's page, and its text."""
    with opened_site(store, [suite.PAGE_TYPE], samples="none") as site:
        files = list(site.pages(suite.PAGE_TYPE))
    return [page.path for page in files], files[-1].data.decode()


def test_the_table_behind_a_chart_is_bounded():
    chart = alt.Chart(alt.Data(values=[{"n": 1}])).mark_point()
    rows = [{"n": n} for n in range(100_000)]
    page = as_page(drawing_of(chart, columns=("n",), rows=rows))
    assert page.count("<tr>") == 5_000 + 1
    assert "95,000 more rows" in page


@pytest.mark.campaign
def test_logs_in_another_order_give_the_same_bytes(tmp_path):
    logs = [
        log_of_verdicts(tmp_path / "one.jsonl", [True, False], "one"),
        log_of_verdicts(tmp_path / "two.jsonl", [False, False], "two"),
    ]
    sites = []
    for name, order in (("a", logs), ("b", logs[::-1])):
        store = new_store(tmp_path / name)
        for log in order:
            import_into(store, log)
        write_site(store, tmp_path / f"site-{name}")
        folder = tmp_path / f"site-{name}"
        sites.append(
            {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
        )
    assert len(sites[0]) > 20
    for files in sites:  # the manifest also names the batches, of which each store has its own
        manifest = json.loads(files.pop(Path(MANIFEST)))
        assert manifest["files"].keys() == {str(path) for path in files}
    assert sites[0] == sites[1]


@pytest.mark.slow
def test_the_page_of_an_only_model_says_so_and_names_a_date_once(store, tmp_path):
    with store.record(suite="one", model="m") as run:
        run.log(task_id="t", output="a", passed=True)
    [(date,)] = store.sql("SELECT CAST(run_date AS VARCHAR) FROM runs").fetchall()
    write_site(store, tmp_path / "site", samples="none")
    page = (tmp_path / "site" / model_page("m")).read_text("utf-8")
    assert "the only model" in page
    assert f"{date} to" not in page
    assert f">{date}</dd>" in page


@pytest.mark.slow
def test_the_page_of_a_model_names_the_test_of_changes_once(store, tmp_path):
    for passed in (False, True):
        with store.record(suite="one", model="m") as run:
            run.log(task_id="t", output="a", passed=passed)
    write_site(store, tmp_path / "site", samples="none")
    page = (tmp_path / "site" / model_page("m")).read_text("utf-8")
    assert page.count("McNemar") == 1


@pytest.mark.slow
def test_models_that_are_not_ranked_are_told_from_those_that_are(store):
    for model, tasks in {"a": range(9), "b": range(9), "c": range(9, 12)}.items():
        with store.record(suite="one", model=model) as run:
            for task in tasks:
                run.log(task_id=str(task), output="a", passed=True)
    with opened_site(store, [overview.PAGE_TYPE], samples="none") as site:
        [page] = site.pages(overview.PAGE_TYPE)
    text = " ".join(re.sub("<[^>]*>", "", page.data.decode()).split())
    assert "None of the 2 ranked models is known to be better than another." in text
    assert "1 more model, not ranked, below, or on the page of the suite." in text
