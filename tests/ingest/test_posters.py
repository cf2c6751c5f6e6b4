"""Poster workspaces from end to end: import, scores, report, export, publish, ledger."""

import csv
import json
import re
import shutil
from dataclasses import replace

import duckdb
import pytest
from click.testing import CliRunner
from poster_cases import POSTERS, SAMPLES, read_cases, rows, run
from support import command, needs_reference

import evalstore
from exports.posters.publication import publish
from exports.posters.report import gather
from warehouse.app.store import Store
from warehouse.core.errors import BadInput
from warehouse.engine.views.sql_files import shipped_sql

RUN = "20260105-101500-three-models"
SAMPLE_RUN = "20260405-090000-first-try"
EDGES = (
    "crash_events_int",
    "events_string_and_dict",
    "identical_perfect_models",
    "no_ground_truth",
    "one_poster",
)
REPORTED = [("workspace", f"runs/{RUN}/report", RUN)] + [
    (f"edge/{name}", "report", name) for name in EDGES if name != "crash_events_int"
]


def read(path):
    return json.loads(path.read_text("utf-8"))


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """Return a store with all reference data, imported by the command."""
    folder = tmp_path_factory.mktemp("reference")
    paths = [POSTERS / "workspace", POSTERS / "edge", POSTERS / "published"]
    run(folder / "store", "import", *paths)
    return Store(folder / "store", on_warning=pytest.fail)


@pytest.mark.slow
@needs_reference
def test_every_sub_score_equals_the_original(reference):
    oracle = read_cases("workspace/oracle_per_poster.jsonl")
    names = [name for name in oracle[0] if name not in {"model", "poster"}]
    columns = ", ".join(f'"{name}"' for name in names)
    query = (
        f"SELECT model, task_id, {columns} FROM scores.poster_prediction_scores WHERE run_id = $run"
    )
    found = {(row["model"], row["task_id"]): row for row in rows(reference, query, run=RUN)}
    assert len(found) == len(oracle)
    for case in oracle:
        row = found[case["model"], case["poster"]]
        for name in ("matches", "core_matches"):
            pairs = row.pop(name)
            row[name] = [
                [p["gold"], p["prediction"], p["similarity"]]
                for p in pairs
                if p["prediction"] is not None
            ]
            case[name] = [pair for pair in case[name] if pair[1] is not None]
        assert {name: row[name] for name in names} == {name: case[name] for name in names}


@pytest.mark.slow
@needs_reference
@pytest.mark.parametrize(("folder", "report", "run_id"), REPORTED)
def test_report_equals_the_original(reference, tmp_path, folder, report, run_id):
    run(reference.path, "export", "posters", "--run", run_id, "--to", tmp_path)
    original = POSTERS / folder / report
    for name in ("summary.json", "comparisons.json"):
        ours, theirs = read(tmp_path / name), read(original / name)
        kept = [{key: row[key] for key in wanted} for row, wanted in zip(ours, theirs, strict=True)]
        assert kept == theirs
    for name in ("summary.md", "comparisons.md"):
        table = [line for line in (original / name).read_text().splitlines() if "|" in line]
        text = (tmp_path / name).read_text("utf-8").splitlines()
        start = text.index(table[0])
        assert text[start : start + len(table)] == table
    meta, wanted = read(tmp_path / "meta.json"), read(original / "meta.json")
    assert {key: meta[key] for key in wanted} == wanted


@pytest.mark.slow
@needs_reference
def test_single_poster_has_no_interval_and_no_p_value(reference, tmp_path):
    query = "FROM poster_report WHERE run_id = 'one_poster'"
    for row in rows(reference, query):
        assert row["app_quality_score"] is not None
        assert (row["app_quality_low"], row["app_core_high"]) == (None, None)
    pairs = rows(reference, "FROM poster_comparisons WHERE run_id = 'one_poster'")
    assert (
        {pair["p_value"] for pair in pairs} == {pair["paired_p_value"] for pair in pairs} == {None}
    )
    run(reference.path, "export", "posters", "--run", "one_poster", "--to", tmp_path, "--html")
    for name in ("summary.md", "comparisons.md"):
        assert "One poster gives neither an interval nor a p-value" in (tmp_path / name).read_text()
    (pair,) = read(tmp_path / "comparisons.json")
    assert (pair["paired_ci95"], pair["paired_p_value"], pair["holm_p_value"]) == (None, None, None)
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "An interval and a p-value need at least two posters" in page
    assert ">unknown</td>" in page  # what the predictions cost
    assert "99.17 – 99.17" not in page


@pytest.mark.slow
@needs_reference
@pytest.mark.parametrize("name", EDGES)
def test_no_edge_case_stops_the_report(reference, tmp_path, name):
    run(reference.path, "export", "posters", "--run", name, "--to", tmp_path)
    assert (tmp_path / "scatter.svg").read_text("utf-8").startswith("<svg")


@pytest.mark.slow
@needs_reference
def test_number_for_events_is_scored_with_a_note(reference):
    (row,) = rows(reference, "FROM poster_scores WHERE run_id = 'crash_events_int'")
    assert row["app_quality"] == 17.0
    assert row["reason"] == "prediction: events is a number, not a list: scored as having none"


@pytest.mark.slow
@needs_reference
def test_states_of_predictions_are_distinguished(reference):
    query = "SELECT DISTINCT output_state FROM lake.results WHERE run_id = $run"
    states = {row["output_state"] for row in rows(reference, query, run=RUN)}
    assert states == {"missing", "cut", "not_utf8", "null", "no_object", "object"}


@pytest.mark.slow
@needs_reference
def test_published_folder_contains_everything_the_original_does(reference, tmp_path):
    folder = publish(gather(reference, RUN), tmp_path, "three models")
    (original,) = (POSTERS / "workspace" / "published").iterdir()
    assert re.fullmatch(r"\d{8}-\d{6}-three_models-silver", folder.name)
    assert {path.name for path in original.iterdir()} == {path.name for path in folder.iterdir()}
    ours, theirs = read(folder / "run_metadata.json"), read(original / "run_metadata.json")
    assert ours.keys() >= theirs.keys()
    same = theirs.keys() - {"run_id", "created_at", "git_commit"}
    assert {key: ours[key] for key in same} == {key: theirs[key] for key in same}


@needs_reference
def test_all_versions_of_published_reports_answer_one_query(reference):
    query = """
        SELECT published_on, any_value(form) AS form, max(app_quality_score) AS best
        FROM published_reports WHERE is_best_of_day GROUP BY ALL ORDER BY ALL
    """
    best = {row["published_on"]: row["best"] for row in rows(reference, query)}
    assert len(best) >= 5
    for folder in (POSTERS / "published").iterdir():
        day = read(folder / "run_metadata.json")["created_at"][:10]
        assert best[day] >= max(row["app_quality_score"] for row in read(folder / "summary.json"))
    forms = {row["form"] for row in rows(reference, "SELECT DISTINCT form FROM published_reports")}
    assert forms >= {"quality", "core"}


def originals_ledger(folder):
    """Return both files of the ledger without our columns, which come last."""
    table = (folder / "experiments.csv").read_bytes().splitlines(keepends=True)
    text = (folder / "experiments.md").read_text("utf-8").splitlines()
    return (
        [line.rsplit(b",", 3)[0] + b"\r\n" for line in table],
        [line.rpartition(" | ")[0] + " |" if line.startswith("|") else line for line in text],
    )


@needs_reference
def test_ledger_equals_the_original(reference, tmp_path):
    run(reference.path, "export", "ledger", "--to", tmp_path)
    wanted = (POSTERS / "workspace" / "experiments.csv").read_bytes().splitlines(keepends=True)
    lines, text = originals_ledger(tmp_path)
    assert lines[0] == wanted[0]
    assert [line for line in lines if line.split(b",")[0] == wanted[1].split(b",")[0]] == wanted[1:]
    table = (POSTERS / "workspace" / "experiments.md").read_text("utf-8").splitlines()
    assert set(table) <= set(text)


@needs_reference
def test_ledger_alone_is_enough_for_the_ledger(tmp_path):
    source = POSTERS / "workspace" / "experiments.csv"
    run(tmp_path / "store", "import", source)
    run(tmp_path / "store", "export", "ledger", "--to", tmp_path)
    lines, text = originals_ledger(tmp_path)
    assert b"".join(lines) == source.read_bytes()
    assert text == source.with_suffix(".md").read_text().splitlines()


@needs_reference
def test_published_reports_of_the_original_are_silver_where_they_say_so(reference):
    folders = list((POSTERS / "published").iterdir())
    silver = {
        folder.name
        for folder in folders
        if "silver" in (folder / "final_report.md").read_text("utf-8").lower()
    }
    assert silver
    names = [folder.name for folder in folders]
    for view in ("published_reports", "experiment_ledger"):
        query = f"SELECT DISTINCT report, label FROM {view} WHERE list_contains($names, report)"
        labels = {row["report"]: row["label"] for row in rows(reference, query, names=names)}
        assert labels == {name: "silver" if name in silver else None for name in names}


@pytest.mark.slow
def test_ledger_says_none_where_an_older_report_lacks_a_figure(tmp_path):
    folder = tmp_path / "20260101-084403-old"
    folder.mkdir()
    summary = [5, {"model": "m", "app_quality_score": 76.3, "app_quality_ci95": [73, 79.3]}]
    (folder / "summary.json").write_text(json.dumps(summary))
    (folder / "run_metadata.json").write_text("{}")
    figures = "76.3 | None | 73.00-79.30 | None | None | None | None"
    wanted = f"| {folder.name} | m | {figures} | unknown |"
    for source, out in ((folder, "first"), (tmp_path / "first" / "experiments.csv", "second")):
        run(tmp_path / f"{out} store", "import", source)
        run(tmp_path / f"{out} store", "export", "ledger", "--to", tmp_path / out)
        lines = (tmp_path / out / "experiments.md").read_text("utf-8").splitlines()
        assert lines[4:] == [wanted]


@pytest.mark.slow
@needs_reference
def test_import_again_changes_nothing_and_keeps_no_image(reference):
    batches = reference.lake.batch_names()
    output = run(reference.path, "import", POSTERS / "workspace", POSTERS / "edge")
    assert "0 new" in output
    assert reference.lake.batch_names() == batches
    lake = reference.lake.path
    for table in ("files", "artifacts"):
        contents = duckdb.sql(f"SELECT content FROM '{lake}/*/{table}.parquet'").fetchall()
        assert contents
        assert not any((content or b"").startswith(b"\xff\xd8") for (content,) in contents)
    hashes = rows(reference, "SELECT image_sha256 FROM tasks WHERE image_sha256 IS NOT NULL")
    assert len(hashes) == 23


@pytest.mark.slow
@needs_reference
def test_every_poster_view_works_without_our_functions(reference):
    reference.sync()
    connection = duckdb.connect(str(reference.warehouse), read_only=True)
    for file in shipped_sql():
        if file.schema == "main" and not file.is_function:
            connection.execute(f"FROM {file.qualified}").fetchall()
    connection.close()


def test_functions_are_known_to_sql_by_name(samples):
    query = """
        SELECT extract_json('```json\n{"a": 1}\n```').json AS json,
            schema_strict('{}') AS strict, schema_exact(NULL) AS exact,
            bootstrap_interval([1.0, 1.0]).high AS high, holm([0.01, 0.02]) AS adjusted
    """
    assert rows(samples, query) == [
        {"json": '{"a": 1}', "strict": False, "exact": None, "high": 1.0, "adjusted": [0.02, 0.02]}
    ]


def test_functions_give_reasons_instead_of_errors(samples):
    query = """
        SELECT poster_score('{', '{}').reason AS reason, poster_score(NULL, '{}') AS no_gold,
            poster_pairs('{"events": [{"date": "x"}]}', 'cut')[1].similarity AS unmatched,
            schema_valid('cut') AS valid, string_score('Hall', 'hall ') AS likeness,
            bootstrap_difference([2.0], [1.0]).mean AS difference,
            paired_difference([2.0], []).reason AS unpaired,
            len(bootstrap_pairs([[1.0], [2.0], [3.0]])) AS n_pairs,
            population_std([1.0, 3.0]) AS std,
            annotation_agreement('{"artist_name": "A"}', '{}').differences[1].field AS field
    """
    (row,) = rows(samples, query)
    assert row.pop("reason").startswith("gold: JSONDecodeError")
    assert row.pop("unpaired")
    assert row == {
        "no_gold": None,
        "unmatched": 0.0,
        "valid": False,
        "likeness": 1.0,
        "difference": 1.0,
        "n_pairs": 3,
        "std": 1.0,
        "field": "artist_name",
    }


def test_layout_under_benchmark_with_exclusion(samples):
    (found,) = rows(samples, "FROM poster_runs")
    assert (found["task_set"], found["posters_manifest_ok"], found["n_excluded"]) == ("tours", 6, 1)
    hashes = json.loads(found["dataset_hashes"])
    assert hashes["urls_file"] == "docs/test_poster_urls.txt"
    assert "benchmark/prompts/predict.txt" in hashes["prompts"]
    excluded = rows(samples, "SELECT reason FROM poster_exclusions WHERE is_excluded")
    assert excluded == [{"reason": "carousel"}]


@pytest.mark.slow
def test_a_record_that_is_not_json_is_a_violation(tmp_path):
    shutil.copytree(SAMPLES, tmp_path / "posters")
    broken = "8cedf912fc27.json"
    (tmp_path / "posters" / "benchmark" / "ground_truth" / broken).write_text("{")
    run(tmp_path / "store", "import", tmp_path / "posters")
    found = rows(evalstore.open(tmp_path / "store"), "SELECT field, rule FROM checks.violations")
    assert found == [{"field": f"ground_truth/{broken}", "rule": "record_json"}]


@pytest.mark.slow
def test_benchmark_folder_itself_can_be_given(samples, tmp_path):
    other = tmp_path / "other"
    run(other, "import", tmp_path / "tours" / "benchmark")
    query = "SELECT * EXCLUDE (generated_at) FROM poster_runs"
    assert rows(Store(other), query) == rows(samples, query)


@pytest.mark.slow
def test_report_has_a_row_per_model_best_first(samples, tmp_path):
    run(samples.path, "annotate", "adjudicate", "--agreed", "--by", "Cho")
    run(samples.path, "annotate", "promote")
    found = rows(samples, "SELECT model, app_quality_score AS score FROM poster_report")
    assert len({row["model"] for row in found}) == len(found) == 3
    assert [row["score"] for row in found] == sorted((row["score"] for row in found), reverse=True)
    assert len(rows(samples, "FROM poster_report_parts")) == 2 * 3
    run(samples.path, "export", "posters", "--run", SAMPLE_RUN, "--to", tmp_path, "--html")
    page = (tmp_path / "report.html").read_text("utf-8")
    table = page[page.index("<h2>Models</h2>") :]
    places = [table.index(row["model"]) for row in found]
    assert places == sorted(places)


def test_pareto_front_is_of_known_costs_of_predictions(samples):
    query = (
        "SELECT model, prediction_cost_usd AS cost, is_on_pareto_front AS front FROM poster_report"
    )
    # The large model is best and costs most; of the two free ones, the better is on the front.
    assert [(row["cost"] > 0, row["front"]) for row in rows(samples, query)] == [
        (True, True), (False, True), (False, False),
    ]  # fmt: skip


def test_leaderboard_has_score_and_interval(samples):
    (best, *_) = rows(samples, "FROM leaderboard WHERE suite = 'posters'")
    assert best["model"] == "openrouter-example_vision-large"
    assert best["score_low"] < best["score"] < best["score_high"]
    assert best["n_scored"] == 5


@pytest.mark.slow
def test_compare_pairs_the_scores_of_posters(samples):
    large, small = "openrouter-example_vision-large", "openrouter-example_vision-small_free"
    compare = (samples.path, "compare", large, small, "--format", "json")
    ended, tasks = command(*compare), json.loads(command(*compare, "--tasks").out)
    (pair,) = json.loads(ended.out)
    differences = [task["value_a"] - task["value_b"] for task in tasks]
    assert min(differences) > 0
    assert pair["difference"] == pytest.approx(sum(differences) / 5)
    # Of the 32 flips of 5 signs, the one seen and its opposite are as far from 0.
    assert (pair["n_tasks"], pair["test"], pair["p_exchangeable"]) == (5, "bounded_mean", 2 / 2**5)
    assert pair["p_value"] > pair["p_exchangeable"]
    assert (pair["low"], pair["high"]) == (None, None)
    assert "too few for an interval" in ended.err


@pytest.mark.slow
def test_declared_gold_is_shown_as_declared(samples, tmp_path):
    options = ("--gold", "--annotators", "Ann,Ben", "--adjudicated-by", "Cat")
    run(samples.path, "import", tmp_path / "tours", *options)
    (found,) = rows(samples, "FROM poster_runs")
    assert (found["label"], found["label_basis"]) == ("gold", "declared")
    run(samples.path, "export", "posters", "--run", SAMPLE_RUN, "--to", tmp_path / "out")
    assert "(gold ground truth)" in (tmp_path / "out" / "summary.md").read_text("utf-8")
    assert "declared, not proven" in (tmp_path / "out" / "summary.md").read_text("utf-8")


@pytest.mark.parametrize(
    "options",
    [("--gold",), ("--gold", "--annotators", "Ann,ann", "--adjudicated-by", "C"),
     ("--annotators", "A,B")],
)  # fmt: skip
def test_gold_needs_two_annotators_and_an_adjudicator(tmp_path, options):
    run(tmp_path / "store", "import", SAMPLES, *options, code=2)


@pytest.mark.slow
def test_export_is_byte_stable(samples, tmp_path):
    for name in ("one", "two"):
        run(
            samples.path, "export", "posters", "--run", SAMPLE_RUN, "--to", tmp_path / name, "--png"
        )
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes(), path.name


def test_unknown_run_is_named(samples):
    near = SAMPLE_RUN.replace("first", "frist")
    assert SAMPLE_RUN in run(samples.path, "export", "posters", "--run", near, "--to", "x", code=2)


@pytest.mark.slow
def test_publish_refuses_images_and_existing_folders(samples, tmp_path):
    report = gather(samples, SAMPLE_RUN)
    report.texts["notes.md"] = b"![poster](data:image/png;base64,AAAA)"
    with pytest.raises(BadInput, match="image"):
        publish(report, tmp_path, "x")
    report.texts.clear()
    folder = publish(report, tmp_path, "x", note="fine")
    assert (folder / "notes.md").read_text() == "fine\n"
    assert not list(folder.parent.glob(".*"))


@pytest.mark.slow
def test_silver_run_is_published_only_if_allowed(samples, tmp_path):
    command = ("publish", "posters", "--run", SAMPLE_RUN, "--label", "x", "--to", tmp_path / "out")
    output = run(samples.path, *command, code=1)
    for words in ("0 of 5 posters are gold", "evalstore annotate", "--allow-silver"):
        assert words in output
    assert not (tmp_path / "out").exists()
    output = run(samples.path, *command, "--allow-silver")
    (folder,) = (tmp_path / "out" / "benchmark" / "published").iterdir()
    assert folder.name.endswith("-x-silver")
    assert f"to add it to the ledger: `evalstore import {folder}`" in output
    metadata = read(folder / "run_metadata.json")
    assert (metadata["gold_posters"], metadata["silver_posters"]) == (0, 5)


@pytest.mark.slow
def test_gold_run_is_published_without_being_allowed(samples, tmp_path):
    options = ("--gold", "--annotators", "Ann,Ben", "--adjudicated-by", "Cat")
    run(samples.path, "import", tmp_path / "tours", *options)
    command = ("publish", "posters", "--run", SAMPLE_RUN, "--label", "x", "--to", tmp_path / "out")
    run(samples.path, *command)
    (folder,) = (tmp_path / "out" / "benchmark" / "published").iterdir()
    assert folder.name.endswith("-x-gold")
    assert rows(samples, "SELECT label, label_basis FROM runs") == [
        {"label": "gold", "label_basis": "declared"}
    ]


@pytest.mark.slow
def test_settings_and_commit_of_a_report_are_those_of_its_run(samples, tmp_path):
    report = tmp_path / "tours" / "benchmark" / "runs" / SAMPLE_RUN / "report"
    report.mkdir(exist_ok=True)
    quality = {"structured": 0.25, "top_level": 0.25, "event_match": 0.25, "event_count": 0.25}
    recorded = {"bootstrap": {"samples": 200, "seed": 23, "alpha": 0.05}}
    recorded |= {"weights": {"quality": quality, "missing_field_penalty": 10.0}}
    (report / "meta.json").write_text(json.dumps(recorded))
    other = tmp_path / "other"
    run(other, "import", tmp_path / "tours")
    before, after = (gather(store, SAMPLE_RUN) for store in (samples, Store(other)))
    assert (before.meta["bootstrap"]["samples"], "scored_with" in before.meta) == (1000, False)
    assert after.meta["bootstrap"] == recorded["bootstrap"]
    assert after.meta["weights"]["quality"] == quality
    # What the run does not record is what the scores were computed with, and so are the figures.
    assert after.meta["weights"]["event"] == before.meta["weights"]["event"]
    assert after.meta["scored_with"] == {
        name: before.meta[name] for name in ("bootstrap", "weights")
    }
    assert "records other settings (bootstrap and weights)" in after.files()["summary.md"].decode()
    assert after.summary == before.summary
    # The commit is that of the run, never that of the folder published to.
    folder = publish(replace(after, run={**after.run, "git_commit": "c0ffee"}), tmp_path, "x")
    assert read(folder / "run_metadata.json")["git_commit"] == "c0ffee"
    assert read(folder / "run_metadata.json")["bootstrap"] == recorded["bootstrap"]


@pytest.mark.slow
def test_published_folder_can_be_imported_again(samples, tmp_path):
    folder = publish(gather(samples, SAMPLE_RUN), tmp_path, "first")
    run(samples.path, "import", folder)
    found = rows(samples, "FROM published_reports ORDER BY place")
    assert [(row["form"], row["label"], row["run_id"]) for row in found] == [
        ("labelled", "silver", SAMPLE_RUN)
    ] * 3
    run(samples.path, "export", "ledger", "--to", tmp_path)
    ledger = tmp_path / "experiments.csv"
    with ledger.open(newline="") as lines:
        columns = ("run_id", "ground_truth", "gold_posters", "silver_posters")
        found = {tuple(line[name] for name in columns) for line in csv.DictReader(lines)}
        assert found == {(folder.name, "silver", "0", "5")}
    # The ledger keeps its labels where the report itself is gone.
    run(tmp_path / "other", "import", ledger)
    run(tmp_path / "other", "export", "ledger", "--to", tmp_path / "again")
    assert (tmp_path / "again" / "experiments.csv").read_bytes() == ledger.read_bytes()


def test_image_named_like_a_text_file_is_not_stored(tmp_path):
    tours = shutil.copytree(SAMPLES, tmp_path / "tours")
    folder = tours / "benchmark" / "runs" / SAMPLE_RUN / "predictions" / "ollama-tinyeye_3b"
    image = b"\x89PNG\r\n\x1a\n zyxwvu-of-an-image"
    for name in ("b199ea2fec3d.json", "b199ea2fec3d.ocr.txt", "b199ea2fec3d.raw.txt"):
        (folder / name).write_bytes(image)
    run(tmp_path / "store", "import", tours)
    for path in (tmp_path / "store").rglob("*"):
        assert path.is_dir() or b"zyxwvu-of-an-image" not in path.read_bytes()


@pytest.mark.slow
@needs_reference
def test_imported_report_is_written_again_byte_by_byte(reference, tmp_path):
    for folder in (POSTERS / "published").iterdir():
        run(reference.path, "publish", "posters", "--report", folder.name, "--to", tmp_path)
        written = tmp_path / "benchmark" / "published" / folder.name
        assert {path.name for path in written.iterdir()} == {path.name for path in folder.iterdir()}
        for path in folder.iterdir():
            assert (written / path.name).read_bytes() == path.read_bytes(), path


@pytest.mark.parametrize(
    ("model", "score"),
    [
        ('{"model": "m", "app_quality_score": NaN, "app_quality_ci95": [NaN, Infinity]}', "nan"),
        ('{"model": "m", "app_quality_score": 5, "x": ' + "[" * 5000 + "]" * 5000 + "}", "5.0"),
        ('{"model": "m", "app_quality_score": {"a": 1}, "posters": true}', "{'a': 1}"),
    ],
)
def test_ledger_of_odd_reports_is_written(tmp_path, model, score):
    folder = tmp_path / "20260101-084403-odd"
    folder.mkdir()
    (folder / "summary.json").write_text(f"[{model}]")
    (folder / "run_metadata.json").write_text('{"created_at": 5, "git_commit": {"a": [1]}}')
    CliRunner().invoke(evalstore._cli, ["--store", str(tmp_path / "store"), "import", str(folder)])
    run(tmp_path / "store", "export", "ledger", "--to", tmp_path)
    with (tmp_path / "experiments.csv").open(newline="") as lines:
        (line,) = csv.DictReader(lines)
    assert (line["run_id"], line["app_quality_score"]) == (folder.name, score)
    query = "SELECT app_quality_score AS score FROM experiment_ledger"
    assert rows(Store(tmp_path / "store"), query) == [{"score": 5.0 if score == "5.0" else None}]


@pytest.mark.slow
def test_report_with_any_bytes_is_written_again(tmp_path):
    folder = tmp_path / "20260101-084403-old"
    files = {
        "summary.json": b'[{"model": "m"}]\r\n',
        "summary.md": b"\xef\xbb\xbf# Report\r\n",
        "run_metadata.json": b"{}",
        "notes.md": b"\xff\xfe not UTF-8 \x00",
        "scatter.svg": b"<svg/>",
    }
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    run(tmp_path / "store", "import", folder)
    command = ("publish", "posters", "--report", folder.name, "--to", tmp_path / "out")
    run(tmp_path / "store", *command)
    written = tmp_path / "out" / "benchmark" / "published" / folder.name
    assert {path.name: path.read_bytes() for path in written.iterdir()} == files
    assert "already exists" in run(tmp_path / "store", *command, code=2)
    (folder / "notes.md").write_text("later")
    run(tmp_path / "store", "import", folder)
    run(tmp_path / "store", *command[:-1], tmp_path / "later")
    (notes,) = (tmp_path / "later").rglob("notes.md")
    assert notes.read_text() == "later"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--report", "20260101-new"), "did you mean '20260101-old'?"),
        (("--report", "../outside"), "cannot be the name of a file"),
        (("--report", "20260101-old", "--label", "x"), "only --to goes with it"),
        (("--report", "in-a-ledger"), "not its files"),
        ((), "`--run ID --label NAME`"),
    ],
)
def test_report_that_cannot_be_written_again(tmp_path, arguments, words):
    for name in ("20260101-old", "../outside"):
        folder = tmp_path / name.replace("../", "")
        folder.mkdir()
        (folder / "summary.json").write_text('[{"model": "m"}]')
        (folder / "run_metadata.json").write_text(json.dumps({"run_id": name}))
        run(tmp_path / "store", "import", folder)
    (tmp_path / "experiments.csv").write_text("run_id,label,created_at,model\nin-a-ledger,,,m\n")
    run(tmp_path / "store", "import", tmp_path / "experiments.csv")
    command = ("publish", "posters", *arguments, "--to", tmp_path / "out")
    assert words in run(tmp_path / "store", *command, code=2)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_label_that_is_too_long_for_a_folder(samples, tmp_path):
    publish = ("publish", "posters", "--run", SAMPLE_RUN, "--to", tmp_path / "out")
    publish += ("--allow-silver",)
    output = run(samples.path, *publish, "--label", "x" * 300, code=2)
    (room,) = re.findall(r"--label: 300 characters; the folder's name has room for (\d+)", output)
    assert not (tmp_path / "out").exists()
    assert "room for" in run(samples.path, *publish, "--label", "x" * (int(room) + 1), code=2)
    run(samples.path, *publish, "--label", "x" * int(room))
    (folder,) = (tmp_path / "out" / "benchmark" / "published").iterdir()
    assert (folder / "meta.json").is_file()


@pytest.mark.slow
def test_corrected_ground_truth_and_later_exclusions_take_effect(samples, tmp_path):
    before = rows(samples, "SELECT model, app_quality_score FROM poster_report")
    base = tmp_path / "tours" / "benchmark"
    silver = base / "ground_truth" / "b199ea2fec3d.json"
    silver.write_text(silver.read_text("utf-8").replace("ตลาดเก่าท่าเรือใหญ่", "ตลาดเก่าท่าเรือ"), "utf-8")
    run(samples.path, "import", tmp_path / "tours")
    after = rows(samples, "SELECT model, app_quality_score FROM poster_report")
    assert after[1]["app_quality_score"] > before[1]["app_quality_score"]
    manifest = read(base / "manifest.json")
    manifest[0]["exclusion"] = "not_tour"
    (base / "manifest.json").write_text(json.dumps(manifest))
    run(samples.path, "import", tmp_path / "tours")
    (found,) = rows(samples, "FROM poster_runs")
    assert (found["n_excluded"], found["ground_truth_available"]) == (2, 4)
    assert {row["reason"] for row in rows(samples, "FROM poster_exclusions")} >= {"not_tour"}


@pytest.mark.slow
def test_a_grown_workspace_adds_its_new_rows(samples, tmp_path):
    base = tmp_path / "tours" / "benchmark"
    folder = base / "runs" / SAMPLE_RUN / "predictions" / "openrouter-example_vision-small_free"
    (refused,) = folder.glob("*.error.json")
    poster = refused.name.partition(".")[0]
    refused.unlink()
    shutil.copy(base / "ground_truth" / f"{poster}.json", folder)
    (base / "prompts" / "predict.txt").write_text("another prompt")
    assert "1 grown" in run(samples.path, "import", tmp_path / "tours")
    query = "FROM poster_scores WHERE model = $model AND task_id = $poster"
    (row,) = rows(samples, query, model=folder.name, poster=poster)
    assert (row["output_state"], row["app_quality"]) == ("object", 100.0)


@pytest.mark.slow
def test_a_changed_prediction_is_refused_unless_replaced(samples, tmp_path):
    base = tmp_path / "tours" / "benchmark" / "runs" / SAMPLE_RUN / "predictions"
    (base / "openrouter-example_vision-large" / "b199ea2fec3d.json").write_text("{}")
    assert "conflicts" in run(samples.path, "import", tmp_path / "tours", code=2)
    run(samples.path, "import", tmp_path / "tours", "--replace")
    query = "FROM poster_scores WHERE task_id = 'b199ea2fec3d' AND model LIKE '%large'"
    (row,) = rows(samples, query)
    assert row["parse_ok"]
    assert not row["schema_valid"]


@pytest.mark.slow
def test_ids_with_dots_are_read_like_others(samples, tmp_path):
    tours = shutil.copytree(SAMPLES, tmp_path / "dotted" / "tours")
    for old, new in (("b199ea2fec3d", "poster.1"), ("5fc63edbedab", "poster.1.b")):
        for path in [*tours.rglob(f"{old}.*"), tours / "benchmark" / "manifest.json"]:
            if path.suffix == ".json":
                path.write_text(path.read_text("utf-8").replace(old, new), "utf-8")
            if path.name.startswith(old):
                path.rename(path.with_name(path.name.replace(old, new)))
    run(tmp_path / "other", "import", tours)
    other = Store(tmp_path / "other", on_warning=pytest.fail)
    for query in ("FROM poster_report", "SELECT * EXCLUDE (task_id) FROM poster_scores"):
        assert rows(other, query) == rows(samples, query)
    people = "SELECT task_id FROM annotations WHERE kind = 'human' ORDER BY ALL"
    before = rows(other, people)
    assert {"task_id": "poster.1.b"} in before
    run(other.path, "annotate", "import", tours / "benchmark" / "annotations")
    assert {row["task_id"] for row in rows(other, people)} == {row["task_id"] for row in before}


@pytest.mark.slow
def test_copied_run_and_renamed_model_are_noticed(samples, tmp_path):
    runs = tmp_path / "tours" / "benchmark" / "runs"
    shutil.copytree(runs / SAMPLE_RUN, runs / "copy")
    assert "1 imported" in run(samples.path, "import", tmp_path / "tours")
    assert len(rows(samples, "FROM poster_report WHERE run_id = 'copy'")) == 3
    model = runs / "copy" / "predictions" / "ollama-tinyeye_3b"
    model.rename(model.with_name("ollama-bigeye_3b"))
    assert "conflicts" in run(samples.path, "import", tmp_path / "tours", code=2)


@pytest.mark.slow
def test_runs_with_empty_folders_are_distinguished(samples, tmp_path):
    for name in ("first", "second"):
        runs = tmp_path / "tours" / "benchmark" / "runs"
        (runs / name / "predictions" / f"model-of-{name}").mkdir(parents=True)
    run(samples.path, "import", tmp_path / "tours")
    query = "SELECT run_id, model, missing_predictions FROM poster_report WHERE model LIKE '%-of-%'"
    assert [tuple(row.values()) for row in rows(samples, query)] == [
        ("first", "model-of-first", 5),
        ("second", "model-of-second", 5),
    ]


@pytest.mark.slow
def test_seeds_of_repairs_are_among_the_seeds(tmp_path):
    tours = shutil.copytree(SAMPLES, tmp_path / "tours")
    folder = tours / "benchmark" / "runs" / SAMPLE_RUN / "predictions" / "ollama-tinyeye_3b"
    (folder / "b199ea2fec3d.repair.meta.json").write_text('{"seed": 5}')
    (folder / "b199ea2fec3d.refine.meta.json").write_text("cut {")
    run(tmp_path / "store", "import", tours)
    store = Store(tmp_path / "store", on_warning=pytest.fail)
    assert gather(store, SAMPLE_RUN).meta["seed_values"] == [5, 23]


@pytest.mark.slow
@pytest.mark.parametrize("others", [True, False])
def test_numbers_of_any_size_break_neither_import_nor_views(tmp_path, others):
    tours = shutil.copytree(SAMPLES, tmp_path / "tours")
    metas = list(tours.rglob("*.meta.json"))
    seed, tokens = 2**64 - 1, 2**63 - 1
    for path in metas[1:] if others else metas:
        path.write_text(json.dumps({"seed": seed, "prompt_tokens": tokens}))
    run(tmp_path / "store", "import", tours)
    store = Store(tmp_path / "store", on_warning=pytest.fail)
    assert seed in gather(store, SAMPLE_RUN).meta["seed_values"]
    for name in ("leaderboard", "costs", "checks.unreproducible_runs"):
        rows(store, f"FROM {name}")


def test_published_numbers_of_any_size_break_no_view(tmp_path):
    folder = tmp_path / "published"
    folder.mkdir()
    (folder / "summary.json").write_text('[{"model": "m", "posters": 1e30}]')
    (folder / "run_metadata.json").write_text("{}")
    run(tmp_path / "store", "import", folder)
    (row,) = rows(Store(tmp_path / "store", on_warning=pytest.fail), "FROM published_reports")
    assert (row["model"], row["posters"]) == ("m", None)


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_manifest_in_another_encoding_is_read(samples, tmp_path, encoding):
    tours = shutil.copytree(SAMPLES, tmp_path / "other" / "tours")
    manifest = tours / "benchmark" / "manifest.json"
    manifest.write_text(manifest.read_text("utf-8"), encoding)
    run(tmp_path / "second", "import", tours)
    query = "FROM poster_report"
    assert rows(Store(tmp_path / "second", on_warning=pytest.fail), query) == rows(samples, query)
