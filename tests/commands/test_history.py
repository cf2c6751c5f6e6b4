"""`evalstore history`: the figures of a model, run by run, on terminals and in pipes."""

import json

import pytest
from rendering import HOSTILE, UNSEEN
from rich.cells import cell_len
from support import add_rows, command, new_store

from tools.screens import shown_on_terminal
from warehouse.app.commands.history_chart import chart, drift_pieces, legend, sentence, title

MODEL = "example/aurora-2"


def row(**figures):
    ends = [f"{figure}{end}" for figure in ("pass_rate", "score") for end in ("", "_low", "_high")]
    others = (
        "scorer",
        "filter",
        "change",
        "p_holm",
        "run_date",
        "provider",
        "n_results",
        "n_unanswered",
        "remark",
        "repeats_failures",
        "test",
    )
    unknown = dict.fromkeys((*ends, *others))
    names = {"suite": "s", "task_set": "t", "metric": "passed", "model": "m", "settings": ""}
    return {**unknown, **names, "run_id": "r", **figures}


def rate(value, low, high, **figures):
    return row(pass_rate=value, pass_rate_low=low, pass_rate_high=high, **figures)


def test_a_bar_shows_the_interval_in_its_place():
    rows = [
        rate(0.5, 0.25, 0.75, run_date="2026-01-01", run_id="first"),
        rate(1.0, 0.5, 1.0, run_date="2026-01-02", run_id="second", change=0.5, p_holm=0.01),
        rate(0.0, 0.0, 0.0, run_date=None, run_id="third", change=-1.0, p_holm=0.5),
    ]
    lines = chart(rows, 70, encoding="utf-8")
    # 70 columns less dates, rates, changes and gaps: 33, half of it for the chart
    assert lines == [
        "run_date    pass_rate  0 %        100 %      change  run_id",
        "──────────  ─────────  ────────────────  ──────────  ──────",
        "2026-01-01     50.0 %      ├───●───┤                 first",
        "2026-01-02    100.0 %          ├──────●   +50.0 pp*  second",
        "undated         0.0 %  ●                 -100.0 pp   third",
    ]
    tail = ", adjusted for all runs shown (Holm)"
    assert list(legend(rows))[-1] == f"* more than chance explains: p < 0.05{tail}"
    by_mcnemar = [{**each, "test": "mcnemar"} for each in rows]
    assert list(legend(by_mcnemar))[-1].endswith(f" p < 0.05 by McNemar's test{tail}")


def test_a_series_without_changes_has_no_column_for_them():
    rows = [rate(0.5, 0.25, 0.75)]
    assert "change" not in chart(rows, 70, encoding="utf-8")[0]
    assert list(legend(rows)) == []


def test_a_rate_of_the_judged_tasks_only_is_said_to_be_one():
    rows = [
        rate(0.5, 0.25, 0.75, run_date="2026-01-01", change=0.0),
        rate(1.0, 0.5, 1.0, run_date="2026-01-02", change=0.5, remark="2 of 2 judged, 5 tasks"),
    ]
    assert list(legend(rows))[-1] == "2026-01-02, run r: 2 of 2 judged, 5 tasks"
    said = list(legend(rows[1:] * 5))
    assert said[-4:] == [
        *["2026-01-02, run r: 2 of 2 judged, 5 tasks"] * 3,
        "there are remarks on 2 more runs; see --wide",
    ]
    outage = {
        **rows[1],
        "run_date": "2026-01-01",
        "remark": "no answer to 3 of 9 calls: not passed",
    }
    said = list(legend([outage, *rows[1:] * 5]))
    assert said[-4:-2] == [
        "2026-01-01, run r: no answer to 3 of 9 calls: not passed",
        "2026-01-02, run r: 2 of 2 judged, 5 tasks",
    ]


def test_runs_that_only_repeat_failures_are_named():
    rows = [rate(0.5, 0.25, 0.75), rate(0.6, 0.5, 0.7, run_id="again", repeats_failures=True)]
    assert list(legend(rows)) == [
        "compared with no other run, because they only repeat failures: again"
    ]


def test_scores_have_a_scale_of_their_own():
    rows = [
        row(metric="length", score=4.0, score_low=2.0, score_high=6.0, run_date="2026-01-01"),
        row(metric="length", score=None, run_date="2026-01-02"),
        row(metric="length", score=10.0, run_date="2026-01-03", change=6.0),
    ]
    header, _, first, second, third = chart(rows, 80, encoding="utf-8")
    assert ("├" in first, first.index("├") < first.index("●") < first.index("┤")) == (True, True)
    assert "unknown" in second
    assert "●" not in second
    assert third.rstrip().endswith("+6  r")
    assert header.split() == ["run_date", "score", "2", "10", "change", "run_id"]


def test_the_ends_of_a_scale_have_room():
    rows = [row(metric="length", score=score) for score in (-123_456_789.5, 987_654_321.5)]
    header, rule, *lines = chart(rows, 60, encoding="utf-8")
    low, high = header.split()[2:4]
    assert (header.index(low), header.index(high) + len(high)) == (
        lines[0].index("●"),
        lines[1].index("●") + 1,
    )
    assert cell_len(rule) <= 60


def test_equal_scores_are_drawn():
    lines = chart(
        [row(metric="length", score=4.0), row(metric="length", score=4.0)], 80, encoding="utf-8"
    )
    assert lines[2].count("●") == 1


def test_terminals_without_lines_get_ascii():
    lines = chart([rate(0.5, 0.2, 0.8, run_id="räksmörgås" * 9)], 60, encoding="ascii")
    assert "\n".join(lines).isascii()
    assert "[---" in lines[2]
    assert set(lines[1]) == {"-", " "}


@pytest.mark.parametrize("width", [20, 60, 80, 100, 300])
@pytest.mark.parametrize("name", ["r", "x" * 300, "日本語" * 50, HOSTILE])
def test_lines_fit_the_terminal_whatever_the_names(width, name):
    rows = [rate(0.5, 0.2, 0.8, run_id=name, run_date="2026-01-01", change=-1.0, p_holm=0.01)] * 3
    lines = chart(rows, width, encoding="utf-8")
    assert max(map(cell_len, lines)) <= max(60, min(width, 120))
    assert not UNSEEN.search("\n".join(lines))
    assert not UNSEEN.search(title(row(model=name)))


def test_a_terminal_shows_charts(examples):
    shown = shown_on_terminal(examples.path, ["history", MODEL], 80)
    assert f"palindrome · passed · {MODEL} · example\n" in shown
    assert shown.count("●") == 6
    assert max(map(cell_len, shown.splitlines())) <= 80
    assert "\x1b" not in shown


@pytest.mark.slow
def test_pipes_and_formats_have_the_rows_of_the_view(examples):
    assert "●" not in command(examples.path, "history", MODEL).out
    rows = json.loads(command(examples.path, "history", MODEL, "--format", "json").out)
    query = f"SELECT run_id, pass_rate, change FROM model_history WHERE model = '{MODEL}'"
    expected = examples.sql(query).fetchall()
    assert [(row["run_id"], row["pass_rate"], row["change"]) for row in rows] == expected
    shown = shown_on_terminal(examples.path, ["history", MODEL, "--columns", "run_id"], 80)
    assert "●" not in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["exampl/aurora-2"], "did you mean 'example/aurora-2'?"),
        ([MODEL, "--metric", "pased"], "has no figures by 'pased'; did you mean 'passed'?"),
        ([MODEL, "--suite", "palindrom"], "did you mean 'palindrome'?"),
    ],
)
def test_mistakes_are_explained(examples, arguments, message):
    ended = command(examples.path, "history", *arguments)
    assert (ended.code, message in ended.err) == (2, True), ended.err


def test_a_model_that_a_suite_did_not_ask_is_not_said_to_be_unjudged(tmp_path):
    store = new_store(tmp_path / "store")
    runs = [
        {"suite": suite, "run_id": "r", "generation": "root", "content_id": suite, "model": suite}
        for suite in ("ours", "theirs")
    ]
    add_rows(store.lake, runs=runs, results=[{**run, "seq": 0, "task_id": "t"} for run in runs])
    ended = command(store.path, "history", "ours", "--suite", "theirs")
    assert (ended.code, "no results of a model 'ours' in theirs;" in ended.err) == (2, True)


@pytest.mark.slow
def test_a_model_without_verdicts_is_explained(store):
    with store.record(suite="mine", model="m") as run:
        run.log(task_id="t", output="x")
    ended = command(store.path, "history", "m")
    assert (ended.code, "'m' has no figures: it got no answers" in ended.err) == (
        2,
        True,
    )


@pytest.mark.slow
def test_drift_is_named(store):
    for run_id in ("first", "second", "before", "after"):
        with store.record(suite="mine", model="m", run_id=run_id) as run:
            for n in range(30):
                run.log(task_id=f"t{n}", output="x" * 9, passed=run_id != "after")
    shown = shown_on_terminal(store.path, ["history", "m"], 200)
    assert "Drift in mine: the pass rate of m changed by -100.0 points with run after of" in shown
    assert "30 tasks)." in shown
    assert "  -100.0 pp*  after" in shown


def test_a_relative_change_is_a_percentage():
    drift = row(metric="latency_ms", change=0.5, change_low=0.25, change_high=0.8, p_holm=0.0012)
    drift |= {"after_run_id": "r", "changed_on": "2026-01-01", "n_tasks": 9}
    drift |= {"suite": "tours", "task_set": "sights", "model": "m", "settings": "temperature=0"}
    assert sentence(drift_pieces(drift)) == (
        "Drift in tours, sights: the latency of m (temperature=0) changed by +50.0 % with run r of "
        "2026-01-01 (95 % interval +25.0 to +80.0, p = 0.0012, 9 tasks)."
    )
