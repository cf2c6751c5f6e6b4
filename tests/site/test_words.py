"""Pages speak in words: headers, cells without a figure, and names that are not unique."""

import re
from datetime import UTC, date, datetime, timedelta

import pytest
from support import add_rows, new_store

from exports.site.boards import boards
from exports.site.pages import audit, model, run, suite, task
from exports.site.run_names import run_names
from exports.site.site import opened_site
from exports.site.tables import table
from warehouse.core.schemas import BY_NAME
from warehouse.core.text.headings import heading
from warehouse.lake.batch import Generation

DIGITS = [digit * 64 for digit in "ab"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("n_models", "models"),
        ("wall_clock_ms", "wall clock, ms"),
        ("prediction_cost_usd", "prediction cost, US$"),
        ("p95_ms", "95th percentile, ms"),
        ("is_drift", "drift"),
        ("n_", "n_"),
        ("_", "_"),
    ],
)
def test_header_of_a_column_is_words(name, expected):
    assert heading(name) == expected


def test_cell_without_a_figure_says_why():
    rows = [
        {"run_date": None, "pass_rate": None, "mean_cost_usd": None, "is_replay": True, "x": None},
        {"run_date": "2026-01-01", "pass_rate": 0.5, "mean_cost_usd": None, "is_replay": False}
        | {"x": "y"},
        {"run_date": "2026-01-01", "pass_rate": None, "mean_cost_usd": None, "is_replay": False}
        | {"x": "z", "remark": "tasks chosen by the answers"},
    ]
    shown = table(rows, tuple(rows[0]), unknown={"x": "none"})
    assert [title for title, _ in shown.columns] == [
        "date", "pass rate", "mean cost, US$", "replay", "x",
    ]  # fmt: skip
    assert [[text for text, _ in row] for row in shown.rows] == [
        ["unknown", "no verdicts", "unknown", "yes", "none"],
        ["2026-01-01", "50.0 %", "unknown", "no", "y"],
        ["2026-01-01", "no score", "unknown", "no", "z"],
    ]


def add_runs(store, providers, metrics=()):
    """Add a run of one model for each provider, on the same two tasks, and figures of logs."""
    shared = [
        {"suite": "s", "run_id": f"r{n}", "generation": "root"} for n, _ in enumerate(providers)
    ]
    with store.lake.write("import") as writer:
        writer.add(
            BY_NAME["runs"], [{**each, "content_id": f"h{n}"} for n, each in enumerate(shared)]
        )
        writer.add(
            BY_NAME["results"],
            [
                {
                    **each,
                    "content_id": f"c{n}{task}",
                    "provider": provider,
                    "model": "m",
                    "seq": task,
                }
                | {"task_set": "s", "task_id": f"t{task}", "objective_pass": task > n}
                | {"availability_status": "ok"}
                for n, (each, provider) in enumerate(zip(shared, providers, strict=True))
                for task in range(2)
            ],
        )
        writer.add(
            BY_NAME["reported_metrics"],
            [{**shared[0], "content_id": f"f{n}", **each} for n, each in enumerate(metrics)],
        )
        writer.commit(
            generations={Generation("s", r["run_id"], "root", None): None for r in shared}
        )
    store.sync()


@pytest.mark.slow
def test_models_of_one_name_are_named_with_their_providers(tmp_path):
    store = new_store(tmp_path / "store")
    add_runs(store, ["here", None])
    with opened_site(store, [], samples="none") as site:
        [board] = boards(site)
        [page] = (p for p in site.pages(model.PAGE_TYPE) if not p.path.endswith("index.html"))
    assert sorted(place.provider for place in board.places) == [
        "from an unknown provider", "from here",
    ]  # fmt: skip
    [others] = (each for each in page.data.decode().split("<table") if "so this model is" in each)
    rows = [" ".join(re.sub("<[^>]*>", " ", row).split()) for row in others.split("<tr>")[2:]]
    first, second = sorted(rows)
    assert first.startswith("from an unknown provider m from here ")
    assert second.startswith("from here m from an unknown provider ")
    assert others.count("<td>no interval</td>") == 2  # of 2 tasks


@pytest.mark.slow
def test_what_a_page_lacks_is_said_in_words(tmp_path):
    own = {"suite": "own", "run_id": "r", "generation": "root", "content_id": "r"}
    judged = {"objective_pass": True, "success": True, "availability_status": "ok"}
    timed = {"answer": "x", "success": True, "availability_status": "ok", "duration_seconds": 0.5}
    mute = {"success": False, "availability_status": "error"}
    results = [
        {**own, "content_id": name, "seq": 0, "model": name, "task_set": "a", "task_id": "t"} | more
        for name, more in {"judged": judged, "open": timed, "mute": mute}.items()
    ]
    figure = {**own, "content_id": "f", "seq": 0, "model": "m", "task_set": "b", "metric": "x"}
    figure |= {"value": 1.0}
    store = new_store(tmp_path / "store")
    add_rows(store.lake, runs=[own], results=results, reported_metrics=[figure])
    types = [suite.PAGE_TYPE, task.PAGE_TYPE, run.PAGE_TYPE]
    with opened_site(store, types, samples="none") as site:
        pages = {
            page.path: page.data.decode(errors="replace")
            for kind in site.types
            for page in site.pages(kind)
        }
    board = pages["suites/own.html"]
    assert '<td class="n">no verdicts</td>' in board
    assert '<dt>task sets</dt><dd dir="auto">2</dd>' in board
    assert any(">1 task<" in text for path, text in pages.items() if path.endswith(".svg"))
    [of_task] = (text for path, text in pages.items() if path.startswith("tasks/own"))
    # As its verdict, and in the place of the answer.
    assert (of_task.count("no text in the log"), of_task.count("no answer")) == (1, 2)
    [of_run] = (text for path, text in pages.items() if path.startswith("runs/own"))
    costs = of_run.split(">Costs, tokens and times by model<")[1]
    assert "results with a time" in costs
    assert '<td class="n"></td>' not in costs


@pytest.mark.slow
def test_a_score_of_some_tasks_says_of_how_many_it_is(tmp_path):
    own = {"suite": "own", "run_id": "r", "generation": "root", "content_id": "r"}
    answered = {"answer": "x", "success": True, "availability_status": "ok", "model": "m"}
    results = [
        {**own, **answered, "content_id": task, "seq": 0, "task_id": task} for task in ("a", "b")
    ]
    score = {**own, "content_id": "s", "result_id": "a", "metric": "style", "value": 0.5}
    store = new_store(tmp_path / "store")
    add_rows(store.lake, runs=[own], results=results, result_scores=[score])
    types = [suite.PAGE_TYPE, model.PAGE_TYPE, run.PAGE_TYPE]
    with opened_site(store, types, samples="none") as site:
        pages = {page.path: page.data for kind in types for page in site.pages(kind)}
    counts = {path: data.count(b'<td class="n">1 of 2</td>') for path, data in pages.items()}
    assert counts["suites/own.html"] == 1
    assert counts["models/m.html"] == 2  # its place, and run by run
    assert sum(n for path, n in counts.items() if path.startswith("runs/own")) == 1


@pytest.mark.slow
def test_model_of_one_provider_is_named_without_it(tmp_path):
    store = new_store(tmp_path / "store")
    add_runs(store, ["here", "here"])
    with opened_site(store, [], samples="none") as site:
        assert [place.provider for [place] in [b.places for b in boards(site)]] == [""]


@pytest.mark.slow
def test_the_list_of_models_has_dates_of_runs_and_says_that_costs_are_partial(store):
    run_row = {"suite": "s", "run_id": "r", "generation": "root"}
    result = {**run_row, "model": "m", "task_set": "s", "availability_status": "ok", "seq": 1}
    add_rows(
        store.lake,
        runs=[{**run_row, "content_id": "h", "run_date": "2026-01-01"}],
        results=[
            {**result, "content_id": "c1", "task_id": "t1", "cost_usd": 0.5},
            {**result, "content_id": "c2", "task_id": "t2"},
        ],
    )
    store.sync()
    with opened_site(store, [model.PAGE_TYPE], samples="none") as site:
        listed, page = (page.data.decode() for page in site.pages(model.PAGE_TYPE))
    cells = re.findall(r"<td[^>]*>(?:<a[^>]*>)?(.*?)<", listed)
    assert cells == ["m", "s", "1", "2", "1", "≥ 0.5", "2026-01-01"]
    assert '<dt>dates</dt><dd dir="auto">2026-01-01</dd>' in page


@pytest.mark.slow
def test_figures_of_one_name_differ_by_their_files(tmp_path):
    store = new_store(tmp_path / "store")
    stated = {
        "metric": "accuracy",
        "value": 0.5,
        "score": "accuracy",
        "statistic": "mean",
        "seq": 1,
    }
    add_runs(store, ["here"], [stated | {"file_sha256": each} for each in DIGITS])
    with opened_site(store, [audit.PAGE_TYPE, run.PAGE_TYPE], samples="none") as site:
        texts = {page.path: page.data.decode() for each in site.types for page in site.pages(each)}
    first = re.search(r"<h1>.*?</p>", texts["audit.html"], re.DOTALL)[0]
    assert "Of 2 reported figures, 0 equal what their samples give, 0 differ, and 2 can" in first
    [text] = (text for path, text in texts.items() if path.endswith("s_r0.html"))
    for digest in DIGITS:
        assert text.count(f">{digest[:12]}</td>") == 1, text
        assert f"<code>{digest}</code>" in text  # in its provenance, too


@pytest.mark.parametrize(
    ("statuses", "reasons", "expected"),
    [
        ({}, {}, []),
        ({"equal": 1}, {}, ["Of 1 reported figure, 1 equal", "0 differ,", "0 cannot be checked."]),
        (
            {"equal": 2_342, "differs": 1, "samples missing": 20, "not recomputable": 15},
            {"random": 9, None: 2, "no value": 3, "a corpus": 1},
            [
                "Of 2,378 reported figures, 2,342 equal",
                "1 differs,",
                "35 cannot be checked: samples missing (20); random (9); no value (3); 2 other",
            ],
        ),
    ],
)
def test_audit_begins_with_a_sentence(statuses, reasons, expected):
    said = audit.figures_sentence(
        [{"status": status, "n": n} for status, n in statuses.items()],
        [{"reason": reason, "n": n} for reason, n in reasons.items()],
    )
    assert [part for part in expected if part not in said] == []
    assert bool(said) is bool(expected)


def test_runs_of_one_date_differ_in_lists():
    day, noon = date(2026, 1, 2), datetime(2026, 1, 2, 12, 0, 7, tzinfo=UTC)
    starts = {
        "alone": (date(2026, 1, 1), noon - timedelta(days=1)),
        "morning": (day, noon - timedelta(hours=3)),
        "noon": (day, noon),
        "a second later": (day, noon + timedelta(seconds=1)),
        "at once": (day, noon + timedelta(minutes=1)),
        "also at once": (day, noon + timedelta(minutes=1)),
        "no time": (day, None),
        "elsewhere": (day, noon + timedelta(days=1)),
        "no date": (None, None),
    }
    names = run_names(
        {"suite": suite, "run_id": run_id, "run_date": run_date, "started_at": start}
        for run_id, (run_date, start) in starts.items()
        for suite in ("s", run_id)
    )
    assert {run_id: tuple(names["s", run_id]) for run_id in starts} == {
        "alone": ("2026-01-01", "2026-01-01"),
        "morning": ("2026-01-02 09:00", "2026-01-02 09:00"),
        "noon": ("2026-01-02 12:00:07", "2026-01-02 12:00:07"),
        "a second later": ("2026-01-02 12:00:08", "2026-01-02 12:00:08"),
        "at once": ("2026-01-02 12:01:07", "at once"),
        "also at once": ("2026-01-02 12:01:07", "also at once"),
        "no time": ("2026-01-02", "no time"),
        "elsewhere": ("2026-01-02", "elsewhere"),
        "no date": ("", "no date"),
    }
    assert names["noon", "noon"].name == "2026-01-02"


@pytest.mark.slow
def test_a_list_of_runs_has_times_where_dates_are_equal(store):
    for run_id in ("a", "b"):
        with store.record(suite="tours", model="m", run_id=run_id) as recorded:
            recorded.log(task_id="t", output="!", passed=True)
    with opened_site(store, [run.PAGE_TYPE], samples="none") as site:
        text = next(iter(site.pages(run.PAGE_TYPE))).data.decode()
    assert len(re.findall(r">\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?</td>", text)) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        ("import", "Which files it was imported from is not recorded."),
        ("runner", "Not imported from a file: evalstore made this run."),
        (None, "Which files it was imported from is not recorded."),
    ],
)
def test_a_run_without_files_says_why(store, origin, expected):
    key = {"suite": "s", "run_id": "r", "generation": "root"}
    add_rows(store.lake, runs=[{**key, "content_id": "h", "origin": origin}])
    store.sync()
    with opened_site(store, [run.PAGE_TYPE], samples="none") as site:
        *_, page = (each.data.decode() for each in site.pages(run.PAGE_TYPE))
    assert f'<p class="pale">{expected}</p>' in page
    assert "<dt>started, UTC</dt>" in page  # its date is that of the place where it ran
