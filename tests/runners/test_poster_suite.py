"""The poster suites: images, predictions, ground truth, judge, and what is published."""

import base64
import gzip
import hashlib
import itertools
import json
import re
import shutil
from pathlib import Path

import pytest
from serving import chat, http, serving
from support import ROOT, command, new_store

from runners.suites.posters import image_cache
from runners.suites.posters.image_cache import ImageCache, ImageUnavailableError
from warehouse.core.errors import EvalstoreError
from warehouse.engine.scoring.posters.meta import poster_id
from warehouse.engine.scoring.posters.records.schema import POSTER_SCHEMA

SAMPLES = ROOT / "examples" / "posters"
LISTED = (
    "--urls", SAMPLES / "docs/test_poster_urls.txt", "--images", SAMPLES / "images",
    "--exclude", SAMPLES / "docs/exclude.txt",
)  # fmt: skip
REPLAY = ("--provider", "replay")
GIF = b"GIF89a\x01\x00\x01\x00\x00\x00\x00;"
RECORD = {"artist_name": "A", "events": []}


@pytest.fixture
def space(tmp_path, monkeypatch):
    """A workspace with its own image cache."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVALSTORE_CACHE", str(tmp_path / "cache"))
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    new_store(tmp_path / "store")
    return tmp_path


def run(space, *arguments, code=0, store="store"):
    ended = command(space / store, *arguments)
    assert ended.code == code, ended.err
    return ended


def run_id_of(ended):
    return re.search(r"^run (\S+):", ended.err, re.MULTILINE)[1]


def rows(space, query, store="store"):
    return new_store(space / store).sql(query).fetchall()


def binary(data=GIF, kind="image/gif", *headers, status=200):
    """Return an HTTP response with a binary body."""
    lines = [f"HTTP/1.1 {status} X", f"Content-Type: {kind}", f"Content-Length: {len(data)}"]
    return "\r\n".join([*lines, *headers, "Connection: close", "", data.decode("latin-1")])


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A workspace after truth, predictions and judge have run, and the run's ID."""
    space = tmp_path_factory.mktemp("posters")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(space)
        patch.setenv("EVALSTORE_CACHE", str(space / "cache"))
        new_store(space / "store")
        run(space, "run", "posters-truth", *LISTED, "-m", "example/reader-large", *REPLAY)
        models = ("-m", "example/vision-large", "-m", "example/vision-small")
        run_id = run_id_of(run(space, "run", "posters", *LISTED, *models, *REPLAY))
        run(space, "run", "posters-judge", "--of", run_id, "-m", "example/judge", *REPLAY)
        publish = ("publish", "posters", "--run", run_id, "--label", "first", "--allow-silver")
        run(space, *publish, "--to", space / "out")
        yield space, run_id


@pytest.mark.slow
def test_a_run_is_published_by_every_rule_and_comes_back_the_same(finished, tmp_path):
    space, run_id = finished
    (folder,) = (space / "out/benchmark/published").iterdir()
    check_published(folder, "first", "silver")
    new_store(tmp_path / "other")
    run(tmp_path, "import", "--strict", folder, store="other")
    with new_store(tmp_path / "other").reading() as theirs:
        metrics = theirs.execute(
            "SELECT model, metric, value FROM published "
            "WHERE value IS NOT NULL AND model <> '' AND NOT starts_with(metric, 'difference')"
        ).fetchall()
        shown = dicts(theirs, "FROM published_reports")
    with new_store(space / "store").reading() as ours:
        report = {r["model"]: r for r in dicts(ours, "FROM scores.all_poster_report")}
    assert len(metrics) > 50
    for model, metric, value in metrics:
        assert report[model][metric] == value, metric
    for row in shown:
        for name in row.keys() & report[row["model"]].keys():
            assert row[name] == report[row["model"]][name], name
        assert row["run_id"] == run_id


def dicts(connection, query):
    cursor = connection.execute(query)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def check_published(folder, label, quality):
    """Check a published folder against the rules of posters.md."""
    assert re.fullmatch(rf"\d{{8}}-\d{{6}}-{label}-{quality}", folder.name)
    texts = {path.name: path.read_text("utf-8") for path in folder.iterdir()}
    documents = {name: json.loads(text) for name, text in texts.items() if name.endswith(".json")}
    meta, metadata = documents["meta.json"], documents["run_metadata.json"]
    # No raw image; the tables and the scatter plot exist.
    assert set(metadata["files"]) | {"run_metadata.json"} == set(texts)
    assert {"summary.md", "comparisons.md", "scatter.svg"} < set(texts)
    # Temperature and seed; bootstrap; hashes of prompts, URL list and manifest; weights.
    assert (meta["temperature"], meta["seed_values"]) == (0.1, [23])
    assert meta["bootstrap"] == {"samples": 1000, "seed": 23, "alpha": 0.05}
    hashes = [meta["urls_sha256"], meta["manifest_sha256"], *meta["prompt_hashes"].values()]
    assert all(re.fullmatch("[0-9a-f]{64}", text) for text in hashes)
    assert len(hashes) == 5
    for key in ("urls_sha256", "manifest_sha256", "temperature", "seed_values", "bootstrap"):
        assert metadata[key] == meta[key]
    for weights in ("top_level", "event", "core_event", "quality"):
        assert sum(meta["weights"][weights].values()) == pytest.approx(1)
    # Gold or silver is stated everywhere.
    assert meta["label"] == metadata["label"] == quality
    for name in ("summary.md", "comparisons.md", "scatter.svg"):
        assert f"{quality} ground truth" in texts[name], name
    # A row per model, scores within their range and interval; every pair of models.
    summary = documents["summary.json"]
    for row in summary:
        for score in ("app_quality", "app_core"):
            low, high = row[f"{score}_ci95"]
            assert 0 <= low <= row[f"{score}_score"] <= high <= 100
        assert 0 <= row["schema_strict_rate"] <= 1
    models = sorted(row["model"] for row in summary)
    pairs = [(pair["model_a"], pair["model_b"]) for pair in documents["comparisons.json"]]
    assert sorted(pairs) == list(itertools.combinations(models, 2))
    assert metadata["models"] == models


@pytest.mark.slow
def test_a_run_records_prompts_hashes_and_settings(finished):
    space, run_id = finished
    report = space / "report"
    run(space, "export", "posters", "--run", run_id, "--to", report)
    meta = json.loads((report / "meta.json").read_text())
    assert (meta["label"], meta["temperature"], meta["seed_values"]) == ("silver", 0.1, [23])
    assert meta["exclusions"] == [{"id": "3b39e07751fc", "reason": "carousel"}]
    prompts = {f"tasks/posters/{name}.txt" for name in ("predict", "ground_truth", "judge")}
    assert set(meta["prompt_hashes"]) == prompts
    assert "deviations" not in meta
    (manifest,) = rows(space, "SELECT content FROM lake.artifacts WHERE kind = 'manifest'")[0]
    assert meta["manifest_sha256"] == hashlib.sha256(manifest).hexdigest()
    assert [entry["status"] for entry in json.loads(manifest)] == ["ok"] * 6 + ["error"]
    for view in ("poster_report", "poster_scores", "poster_matches", "poster_costs"):
        assert rows(space, f"FROM {view}") == []  # answers from a file are not figures
    assert rows(space, "SELECT run_id, model, judged, avg_score FROM scores.all_poster_report") == [
        (run_id, "example/vision-large", 5, 91.0), (run_id, "example/vision-small", 4, 61.0)
    ]  # fmt: skip
    assert rows(space, "SELECT DISTINCT kind, label, annotator FROM annotations") == [
        ("model", "silver", "example/reader-large")
    ]


@pytest.mark.slow
def test_no_image_is_stored_or_exported(finished):
    space, _ = finished
    for image in (SAMPLES / "images").iterdir():
        data = image.read_bytes()
        for path in [*(space / "store").rglob("*"), *(space / "out").rglob("*")]:
            if path.is_file():
                assert data[100:200] not in path.read_bytes(), path
                assert base64.b64encode(data)[200:300] not in path.read_bytes(), path
    assert (space / "cache/.gitignore").read_text() == "*\n"


@pytest.mark.slow
def test_the_workspaces_gold_counts_for_our_runs(space):
    shutil.copytree(SAMPLES, space / "posters")
    gold = ("--gold", "--annotators", "Ann,Ben", "--adjudicated-by", "Cat")
    run(space, "import", "posters", *gold)
    listed = ("--urls", "posters/docs/test_poster_urls.txt", "--images", "posters/images")
    ended = run(space, "run", "posters", *listed, "-m", "example/vision-large", *REPLAY)
    found = "SELECT label, posters, missing_predictions FROM scores.all_poster_report"
    assert rows(space, f"{found} WHERE run_id = '{run_id_of(ended)}'") == [("gold", 5, 0)]
    # The manifest's exclusions stay in force although this run did not name them.
    assert rows(space, "SELECT DISTINCT task_id, reason FROM poster_exclusions "
                "WHERE is_excluded") == [("3b39e07751fc", "carousel")]  # fmt: skip


def listed(space, *urls, **files):
    (space / "urls.txt").write_text("\n".join(["# posters", "", *urls, *urls[:1]]))
    for name, lines in files.items():
        (space / f"{name}.txt").write_text("\n".join(lines))
    lists = (x for name in files for x in (f"--{name}", f"{name}.txt"))
    # The test's server is on this machine.
    return ("--urls", "urls.txt", *lists, "--allow-private-urls")


@pytest.mark.slow
def test_posters_are_downloaded_once_and_sent_with_the_schema(space):
    def answer(request):
        return [binary() if request["body"] is None else http(200, chat(json.dumps(RECORD)))]

    with serving(answer) as server:
        files = listed(space, f"{server.base}/a.gif", f"{server.base}/b.gif")
        where = ("-m", "m", "--provider", "ollama_openai", "--base-url", server.base)
        for _ in range(2):
            run(space, "run", "posters", *files, *where, "-o", "temperature", "0.7")
        asked = [request for request in server.requests if request["body"]]
        fetched = [request["path"] for request in server.requests if not request["body"]]
    assert sorted(fetched) == ["/a.gif", "/b.gif"]
    assert len(asked) == 4
    body = asked[0]["body"]
    assert (body["temperature"], body["seed"]) == (0.7, 23)
    assert body["response_format"]["json_schema"]["schema"] == POSTER_SCHEMA
    text, image = body["messages"][0]["content"]
    assert text["text"] == (ROOT / "tasks/posters/predict.txt").read_text().strip()
    assert image["image_url"]["url"].endswith(base64.b64encode(GIF).decode())
    ((first, settings, deviation),) = rows(
        space, "SELECT min(run_id), any_value(temperature), any_value(deviation) "
        "FROM poster_settings"
    )  # fmt: skip
    assert (settings, deviation) == (0.7, "temperature 0.7 instead of 0.1")
    run(space, "export", "posters", "--run", first, "--to", "report")
    assert "temperature 0.7 instead of 0.1" in Path("report/summary.md").read_text()
    hashes = rows(space, "SELECT DISTINCT dataset_hashes->>'manifest_sha256' FROM runs")
    assert len(hashes) == 1


@pytest.mark.slow
def test_an_image_is_named_by_its_content(space):
    """Neither its address nor the content type sent by the server determines its name."""
    with serving(binary(GIF, "image/webp")) as server:
        (space / "urls.txt").write_text(f"{server.base}/poster.png?size=large.webp\n")
        where = ("--urls", "urls.txt", "--answers", "a.jsonl", "--allow-private-urls")
        (space / "a.jsonl").write_text(json.dumps({"task": "x", "text": "{}"}))
        run(space, "run", "posters", *where, "-m", "m", *REPLAY, code=1)
    ((manifest,),) = rows(space, "SELECT content FROM artifacts WHERE name = 'manifest.json'")
    (entry,) = json.loads(manifest)
    assert entry["image_path"] == f"images/{entry['id']}.gif"


@pytest.mark.slow
def test_inclusion_exclusion_and_missing_images(space):
    def answer(request):
        return [binary(b"", "text/html", status=404) if "gone" in request["path"] else binary()]

    with serving(answer) as server:
        urls = [f"{server.base}/{name}.gif" for name in ("a", "b", "c", "gone", "d")]
        ids = [poster_id(url) for url in urls]
        files = listed(
            space, *urls, include=ids[:4], exclude=[f"{urls[2]} no_date", ids[1], ids[4]]
        )
        (space / "answers.jsonl").write_text(json.dumps({"task": ids[0], "text": "{}"}))
        replay = ("-m", "m", *REPLAY, "--answers", "answers.jsonl", "--dataset", "d")
        ended = run(space, "run", "posters", *files, *replay)
    assert f"{ids[3]}: no image, HTTP 404" in ended.err
    assert sorted(r["path"] for r in server.requests) == ["/a.gif", "/gone.gif"]
    assert rows(space, "SELECT task_id FROM results") == [(ids[0],)]
    assert rows(space, "SELECT task_id, reason FROM poster_exclusions ORDER BY seq") == [
        (ids[0], "no ground truth"),
        (ids[1], "excluded"),
        (ids[2], "no_date"),
        (ids[3], "no image"),
    ]
    (space / "exclude.txt").write_text("unknown no_date")
    ended = run(space, "run", "posters", *files, *replay, code=2)
    assert "'unknown' is not in the list of posters" in ended.err


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "pictures/a.png", "/etc/passwd", "ftp://x/a.png", "http://"]
)
def test_only_web_addresses_are_accepted(space, url):
    ended = run(space, "run", "posters", *listed(space, url), "-m", "m", *REPLAY, code=2)
    assert f"{url!r} is not an http address" in ended.err
    assert not (space / "cache").exists()


BAD = {
    "a page": (binary(GIF, "text/html"), "not an image but text/html"),
    "not an image": (binary(b"<html>", "image/png"), "not an image that models accept"),
    "an error": (binary(status=500), "HTTP 500"),
    "a file": (
        binary(b"", "x", "Location: file:///etc/passwd", status=302),
        "UnsupportedProtocol",
    ),
    "cut": (binary().replace(f": {len(GIF)}", ": 999"), "RemoteProtocolError"),
    "too big": (binary(GIF * 1000), "larger"),
    "too big, decompressed": (
        binary(gzip.compress(GIF * 1000), "image/gif", "Content-Encoding: gzip"),
        "larger",
    ),
}


def test_a_run_without_any_image_says_why(space):
    with serving(binary(status=404)) as server:
        files = listed(space, f"{server.base}/a.gif")
        ended = run(space, "run", "posters", *files, "-m", "m", *REPLAY, code=2)
    assert "no image, HTTP 404" in ended.err
    assert "no poster is left" in ended.err


@pytest.mark.parametrize("name", BAD)
def test_images_that_cannot_be_downloaded(space, monkeypatch, name):
    monkeypatch.setattr(image_cache, "_MAX_BYTES", 10_000)
    reply, problem = BAD[name]
    with serving(reply) as server, pytest.raises(ImageUnavailableError, match=problem) as raised:
        ImageCache(allow_private=True).download(f"{server.base}/a?token=planted-1")
    assert "planted" not in str(raised.value)
    assert not list(space.rglob("*.part"))
    assert not list(space.rglob("*.gif"))


@pytest.mark.usefixtures("space")
def test_a_slow_drip_times_out(monkeypatch):
    monkeypatch.setattr(image_cache, "_SECONDS", 0.3)
    head, _, body = binary(GIF * 9).partition("\r\n\r\n")
    drip = [part for letter in body for part in (letter, 0.02)]
    with (
        serving(f"{head}\r\n\r\n", *drip) as server,
        pytest.raises(ImageUnavailableError, match="timed"),
    ):
        ImageCache(allow_private=True).download(server.base)


@pytest.mark.slow
def test_a_response_without_a_record_can_be_retried(space):
    texts = iter(["I see nothing", "null", "```json\n[1]\n```", *[json.dumps(RECORD)] * 2])
    with serving(lambda _request: [http(200, chat(next(texts)))]) as server:
        where = ("-m", "m", "--provider", "ollama_openai", "--base-url", server.base)
        ended = run(space, "run", "posters", *LISTED, *where, "--limit", 3)
        found = "SELECT success, failure_type, parsed_output FROM results ORDER BY seq"
        lost = (False, "invalid_json", None)
        assert rows(space, found) == [lost, lost, (True, None, "[1]")]
        run(space, "run", "--resume", run_id_of(ended), "--retry-failed")
    good = (True, None, json.dumps(RECORD, separators=(",", ":")))
    assert rows(space, found) == [good, good, (True, None, "[1]")]


@pytest.mark.slow
def test_a_judge_can_be_resumed(finished, tmp_path):
    space, run_id = finished
    shutil.copytree(space / "store", tmp_path / "store")
    verdict = http(200, chat('{"overall_score": 50, "errors": ["late"]}'))
    answers = iter([verdict, http(400, "{}"), *[verdict] * 8])
    with serving(lambda _request: [next(answers)]) as server:
        where = ("-m", "j", "--provider", "ollama_openai", "--base-url", server.base)
        ended = run(tmp_path, "run", "posters-judge", "--of", run_id, *where)
        run(tmp_path, "run", "--resume", run_id_of(ended), "--retry-failed")
    assert len(server.requests) == 10
    judged = "FROM lake.judgements WHERE judge = 'j' AND overall_score = 50 AND run_id = "
    count = "SELECT count(*), count(DISTINCT (model, task_id))"
    assert rows(tmp_path, f"{count} {judged} '{run_id}'") == [(9, 9)]
    prompt = server.requests[0]["body"]["messages"][-1]["content"]
    assert prompt.startswith((ROOT / "tasks/posters/judge.txt").read_text().strip())
    assert prompt.index("Ground truth JSON:") < prompt.index("Prediction JSON:")
    judge = ("run", "posters-judge", "-m", "j", *REPLAY, "--of")
    assert "there is no poster run 'nothing'" in run(tmp_path, *judge, "nothing", code=2).err
    ended = run(tmp_path, *judge, run_id[:-2], code=2)
    assert f"did you mean '{run_id}'?" in ended.err


@pytest.mark.slow
def test_forgetting_a_run_forgets_its_judgements(finished, tmp_path):
    space, run_id = finished
    shutil.copytree(space / "store", tmp_path / "store")
    run(tmp_path, "forget", run_id, "--suite", "posters", "--yes")
    assert rows(tmp_path, "FROM lake.judgements") == []
    assert rows(tmp_path, "SELECT suite FROM runs ORDER BY 1") == [
        ("posters-judge",), ("posters-truth",)
    ]  # fmt: skip


def test_two_settings_of_a_model_are_two_runs(space):
    twice = ("-m", "m", "-m", "m", *REPLAY)
    ended = run(space, "run", "posters", *LISTED, *twice, code=2)
    assert "m is given twice" in ended.err


def test_poster_options_are_for_posters(space):
    ended = run(space, "run", "openclaw", "-m", "m", *REPLAY, "--of", "x", code=2)
    assert "--of is not an option of the suite openclaw" in ended.err


@pytest.mark.campaign
def test_a_key_in_an_image_url_is_stored_nowhere(space):
    def answer(request):
        return [binary(b"planted-9", status=403) if "b.gif" in request["path"] else binary()]

    with serving(answer) as server:
        base = server.base.replace("http://", "http://me:planted-pass@")
        files = listed(
            space, f"{base}/a.gif?token=planted%2fkey+9", f"{base}/b.gif?token=planted%2fkey+9"
        )
        allowed = ("-m", "example/vision-large", *REPLAY, "--allow-private-urls")
        ended = run(space, "run", "posters", *files, *allowed, code=1)
    assert "planted" not in ended.err + ended.out
    new_store(space / "store").sync(rebuild=True)
    for folder in ("store", "cache"):
        for path in (space / folder).rglob("*"):
            assert not path.is_file() or b"planted" not in path.read_bytes(), path
    found = run(space, "sql", "SELECT image_url, extra FROM lake.tasks", "--format", "csv").out
    assert "planted" not in found


def test_a_cache_that_is_a_file(tmp_path):
    (tmp_path / "cache").touch()
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    with pytest.raises(EvalstoreError, match="cannot write the image cache"):
        ImageCache(tmp_path / "cache").add(tmp_path / "a.png")
