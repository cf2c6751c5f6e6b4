"""Poster workspaces all the way: import, scores, report, export, publish, ledger."""

import csv
import json
import re
import shutil

import duckdb
import pytest
from poster_cases import POSTERS, SAMPLES, read_cases, rows, run
from support import needs_reference

from exports.posters.publication import publish
from exports.posters.report import gather
from warehouse.errors import BadInput
from warehouse.sql_files import shipped_sql
from warehouse.store import Store

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
    """Give a store with the whole reference data, imported by the command."""
    folder = tmp_path_factory.mktemp("reference")
    paths = [POSTERS / "workspace", POSTERS / "edge", POSTERS / "published"]
    run(folder / "store", "import", *paths)
    return Store(folder / "store", on_warning=pytest.fail)


@needs_reference
def test_every_sub_score_of_the_workspace_is_the_originals(reference):
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


@needs_reference
@pytest.mark.parametrize(("folder", "report", "run_id"), REPORTED)
def test_report_is_the_originals(reference, tmp_path, folder, report, run_id):
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


@needs_reference
@pytest.mark.parametrize("name", EDGES)
def test_no_edge_case_stops_the_report(reference, tmp_path, name):
    run(reference.path, "export", "posters", "--run", name, "--to", tmp_path)
    assert (tmp_path / "scatter.svg").read_text("utf-8").startswith("<svg")


@needs_reference
def test_number_for_events_is_scored_with_a_note(reference):
    (row,) = rows(reference, "FROM poster_scores WHERE run_id = 'crash_events_int'")
    assert row["app_quality"] == 17.0
    assert row["reason"] == "prediction: events is a number, not a list: scored as having none"


@needs_reference
def test_states_of_predictions_are_told_apart(reference):
    query = "SELECT DISTINCT output_state FROM lake.results WHERE run_id = $run"
    states = {row["output_state"] for row in rows(reference, query, run=RUN)}
    assert states == {"missing", "cut", "not_utf8", "null", "no_object", "object"}


@needs_reference
def test_published_folder_holds_all_that_the_original_does(reference, tmp_path):
    folder = publish(gather(reference, RUN), tmp_path, "three models")
    (original,) = (POSTERS / "workspace" / "published").iterdir()
    assert re.fullmatch(r"\d{8}-\d{6}-three_models-silver", folder.name)
    assert {path.name for path in original.iterdir()} == {path.name for path in folder.iterdir()}
    ours, theirs = read(folder / "run_metadata.json"), read(original / "run_metadata.json")
    assert ours.keys() >= theirs.keys()
    same = theirs.keys() - {"run_id", "created_at", "git_commit"}
    assert {key: ours[key] for key in same} == {key: theirs[key] for key in same}


@needs_reference
def test_all_generations_of_published_reports_answer_one_query(reference):
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


@needs_reference
def test_ledger_is_the_originals(reference, tmp_path):
    run(reference.path, "export", "ledger", "--to", tmp_path)
    wanted = (POSTERS / "workspace" / "experiments.csv").read_bytes().splitlines(keepends=True)
    lines = (tmp_path / "experiments.csv").read_bytes().splitlines(keepends=True)
    assert lines[0] == wanted[0]
    assert [line for line in lines if line.split(b",")[0] == wanted[1].split(b",")[0]] == wanted[1:]
    table = (POSTERS / "workspace" / "experiments.md").read_text("utf-8").splitlines()
    assert set(table) <= set((tmp_path / "experiments.md").read_text("utf-8").splitlines())


@needs_reference
def test_ledger_alone_is_enough_for_the_ledger(tmp_path):
    source = POSTERS / "workspace" / "experiments.csv"
    run(tmp_path / "store", "import", source)
    run(tmp_path / "store", "export", "ledger", "--to", tmp_path)
    assert (tmp_path / "experiments.csv").read_bytes() == source.read_bytes()
    assert (tmp_path / "experiments.md").read_text("utf-8") == source.with_suffix(".md").read_text()


def test_ledger_says_none_where_an_older_report_lacks_a_figure(tmp_path):
    folder = tmp_path / "20260101-084403-old"
    folder.mkdir()
    summary = [5, {"model": "m", "app_quality_score": 76.3, "app_quality_ci95": [73, 79.3]}]
    (folder / "summary.json").write_text(json.dumps(summary))
    (folder / "run_metadata.json").write_text("{}")
    wanted = f"| {folder.name} | m | 76.3 | None | 73.00-79.30 | None | None | None | None |"
    for source, out in ((folder, "first"), (tmp_path / "first" / "experiments.csv", "second")):
        run(tmp_path / f"{out} store", "import", source)
        run(tmp_path / f"{out} store", "export", "ledger", "--to", tmp_path / out)
        lines = (tmp_path / out / "experiments.md").read_text("utf-8").splitlines()
        assert lines[4:] == [wanted]


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


@needs_reference
def test_every_poster_view_answers_without_our_functions(reference):
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


def test_benchmark_folder_itself_can_be_given(samples, tmp_path):
    other = tmp_path / "other"
    run(other, "import", tmp_path / "tours" / "benchmark")
    query = "SELECT * EXCLUDE (generated_at) FROM poster_runs"
    assert rows(Store(other), query) == rows(samples, query)


def test_leaderboard_has_score_and_interval(samples):
    (best, *_) = rows(samples, "FROM leaderboard WHERE suite = 'posters'")
    assert best["model"] == "openrouter-example_vision-large"
    assert best["score_low"] < best["score"] < best["score_high"]
    assert best["n_scored"] == 5


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
def test_gold_needs_two_people_and_who_settled(tmp_path, options):
    run(tmp_path / "store", "import", SAMPLES, *options, code=2)


def test_export_is_byte_stable(samples, tmp_path):
    for name in ("one", "two"):
        run(
            samples.path, "export", "posters", "--run", SAMPLE_RUN, "--to", tmp_path / name, "--png"
        )
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes(), path.name


def test_unknown_run_is_named(samples):
    assert SAMPLE_RUN in run(samples.path, "export", "posters", "--run", "no", "--to", "x", code=2)


def test_publish_refuses_images_and_what_is_there(samples, tmp_path):
    report = gather(samples, SAMPLE_RUN)
    report.texts["notes.md"] = b"![poster](data:image/png;base64,AAAA)"
    with pytest.raises(BadInput, match="image"):
        publish(report, tmp_path, "x")
    report.texts.clear()
    folder = publish(report, tmp_path, "x", note="fine")
    assert (folder / "notes.md").read_text() == "fine\n"
    assert not list(folder.parent.glob(".*"))


def test_published_folder_comes_in_again(samples, tmp_path):
    folder = publish(gather(samples, SAMPLE_RUN), tmp_path, "first")
    run(samples.path, "import", folder)
    found = rows(samples, "FROM published_reports ORDER BY place")
    assert [(row["form"], row["label"], row["run_id"]) for row in found] == [
        ("labelled", "silver", SAMPLE_RUN)
    ] * 3
    run(samples.path, "export", "ledger", "--to", tmp_path)
    with (tmp_path / "experiments.csv").open(newline="") as lines:
        assert {line["run_id"] for line in csv.DictReader(lines)} == {folder.name}


def test_image_with_a_text_files_name_stays_out(tmp_path):
    tours = shutil.copytree(SAMPLES, tmp_path / "tours")
    folder = tours / "benchmark" / "runs" / SAMPLE_RUN / "predictions" / "ollama-tinyeye_3b"
    image = b"\x89PNG\r\n\x1a\n secret"
    for name in ("b199ea2fec3d.json", "b199ea2fec3d.ocr.txt", "b199ea2fec3d.raw.txt"):
        (folder / name).write_bytes(image)
    run(tmp_path / "store", "import", tours)
    for path in (tmp_path / "store").rglob("*"):
        assert path.is_dir() or b"secret" not in path.read_bytes()


def test_corrected_ground_truth_and_a_later_exclusion_count_when_imported_again(samples, tmp_path):
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


def test_workspace_that_went_on_adds_what_is_new(samples, tmp_path):
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


def test_prediction_that_changed_is_refused_and_replaces_where_asked(samples, tmp_path):
    base = tmp_path / "tours" / "benchmark" / "runs" / SAMPLE_RUN / "predictions"
    (base / "openrouter-example_vision-large" / "b199ea2fec3d.json").write_text("{}")
    assert "conflicts" in run(samples.path, "import", tmp_path / "tours", code=2)
    run(samples.path, "import", tmp_path / "tours", "--replace")
    query = "FROM poster_scores WHERE task_id = 'b199ea2fec3d' AND model LIKE '%large'"
    (row,) = rows(samples, query)
    assert row["parse_ok"]
    assert not row["schema_valid"]


def test_ids_with_dots_are_read_as_any_other(samples, tmp_path):
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


def test_copied_run_and_renamed_model_are_noticed(samples, tmp_path):
    runs = tmp_path / "tours" / "benchmark" / "runs"
    shutil.copytree(runs / SAMPLE_RUN, runs / "copy")
    assert "1 imported" in run(samples.path, "import", tmp_path / "tours")
    assert len(rows(samples, "FROM poster_report WHERE run_id = 'copy'")) == 3
    model = runs / "copy" / "predictions" / "ollama-tinyeye_3b"
    model.rename(model.with_name("ollama-bigeye_3b"))
    assert "conflicts" in run(samples.path, "import", tmp_path / "tours", code=2)


def test_runs_of_empty_folders_are_told_apart(samples, tmp_path):
    for name in ("first", "second"):
        runs = tmp_path / "tours" / "benchmark" / "runs"
        (runs / name / "predictions" / f"model-of-{name}").mkdir(parents=True)
    run(samples.path, "import", tmp_path / "tours")
    query = "SELECT run_id, model, missing_predictions FROM poster_report WHERE model LIKE '%-of-%'"
    assert [tuple(row.values()) for row in rows(samples, query)] == [
        ("first", "model-of-first", 5),
        ("second", "model-of-second", 5),
    ]


def test_seeds_of_repairs_are_among_the_seeds(tmp_path):
    tours = shutil.copytree(SAMPLES, tmp_path / "tours")
    folder = tours / "benchmark" / "runs" / SAMPLE_RUN / "predictions" / "ollama-tinyeye_3b"
    (folder / "b199ea2fec3d.repair.meta.json").write_text('{"seed": 5}')
    (folder / "b199ea2fec3d.refine.meta.json").write_text("cut {")
    run(tmp_path / "store", "import", tours)
    store = Store(tmp_path / "store", on_warning=pytest.fail)
    assert gather(store, SAMPLE_RUN).meta["seed_values"] == [5, 23]


@pytest.mark.parametrize("others", [True, False])
def test_numbers_of_any_size_stop_no_import_and_no_view(tmp_path, others):
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


def test_published_number_of_any_size_stops_no_view(tmp_path):
    folder = tmp_path / "published"
    folder.mkdir()
    (folder / "summary.json").write_text('[{"model": "m", "posters": 1e30}]')
    (folder / "run_metadata.json").write_text("{}")
    run(tmp_path / "store", "import", folder)
    (row,) = rows(Store(tmp_path / "store", on_warning=pytest.fail), "FROM published_reports")
    assert (row["model"], row["posters"]) == ("m", None)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_manifest_in_another_encoding_is_read(samples, tmp_path, encoding):
    tours = shutil.copytree(SAMPLES, tmp_path / "other" / "tours")
    manifest = tours / "benchmark" / "manifest.json"
    manifest.write_text(manifest.read_text("utf-8"), encoding)
    run(tmp_path / "second", "import", tours)
    query = "FROM poster_report"
    assert rows(Store(tmp_path / "second", on_warning=pytest.fail), query) == rows(samples, query)
