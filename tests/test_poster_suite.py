"""Posters of our own runs: pictures, predictions, ground truth and judge, up to what is published."""

import base64
import json
import shutil
from pathlib import Path

import pytest
from serving import chat, http, serving
from support import ROOT, command, new_store

from runners import pictures
from runners.pictures import NoPictureError, PictureCache
from warehouse.udfs.poster_meta import poster_id
from warehouse.udfs.poster_schema import POSTER_SCHEMA

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
    """A workspace with a cache of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVALSTORE_CACHE", str(tmp_path / "cache"))
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def run(space, *arguments, code=0, store="store"):
    ended = command(space / store, *arguments)
    assert ended.code == code, ended.err
    return ended


def run_id_of(ended):
    return ended.err.partition("run 2")[2].partition(":")[0].join(["2", ""])


def rows(space, query, store="store"):
    return new_store(space / store).sql(query).fetchall()


def picture(data=GIF, kind="image/gif", *headers):
    return (
        http(200, data.decode("latin-1"), f"Content-Type: {kind}")
        .replace(
            f"Content-Length: {len(data.decode('latin-1').encode())}",
            f"Content-Length: {len(data)}",
        )
        .encode()
        .decode()
        if False
        else _raw(200, data, kind, *headers)
    )


def _raw(status, data, kind, *headers):
    lines = [f"HTTP/1.1 {status} X", f"Content-Type: {kind}", f"Content-Length: {len(data)}"]
    return "\r\n".join([*lines, *headers, "Connection: close", "", data.decode("latin-1")])


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A workspace in which truth, predictions and judge have run; and the run's id."""
    space = tmp_path_factory.mktemp("posters")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(space)
        patch.setenv("EVALSTORE_CACHE", str(space / "cache"))
        run(space, "run", "posters-truth", *LISTED, "-m", "example/reader-large", *REPLAY)
        models = ("-m", "example/vision-large", "-m", "example/vision-small")
        run_id = run_id_of(run(space, "run", "posters", *LISTED, *models, *REPLAY))
        run(space, "run", "posters-judge", "--of", run_id, "-m", "example/judge", *REPLAY)
        yield space, run_id


def test_a_run_is_published_and_comes_back_the_same(finished, tmp_path, monkeypatch):
    space, run_id = finished
    run(space, "publish", "posters", "--run", run_id, "--label", "first", "--to", tmp_path)
    (folder,) = (tmp_path / "benchmark/published").iterdir()
    assert folder.name.endswith("-first-silver")
    monkeypatch.chdir(tmp_path)
    run(tmp_path, "import", "--strict", folder, store="other")
    # Every metric of the report is in the published folder, with its interval.
    metrics = [name for name, *_ in rows(tmp_path, "DESCRIBE published_reports", "other")]
    ours = "SELECT model, app_quality_score, app_quality_low, app_quality_high, app_core_score, " \
        "posters, judged, avg_score, schema_strict_rate, total_cost_usd, label " \
        "FROM poster_report WHERE part = 'all' ORDER BY model"  # fmt: skip
    wanted = rows(space, ours)
    assert wanted[0][0] == "example/vision-large"
    assert {"model", "app_quality_score"} <= set(metrics)
    theirs = rows(tmp_path, f"SELECT {', '.join(_published(ours, metrics))} "
                  "FROM published_reports ORDER BY model", "other")  # fmt: skip
    kept = [[row[i] for i in _kept(ours, metrics)] for row in wanted]
    assert [list(row) for row in theirs] == kept


def _columns(query):
    return [name.strip() for name in query.split("SELECT")[1].split("FROM")[0].split(",")]


def _published(query, known):
    return [name for name in _columns(query) if name in known]


def _kept(query, known):
    return [at for at, name in enumerate(_columns(query)) if name in known]


def test_what_a_run_rests_on_is_recorded(finished):
    space, run_id = finished
    report = space / "report"
    run(space, "export", "posters", "--run", run_id, "--to", report)
    meta = json.loads((report / "meta.json").read_text())
    assert (meta["label"], meta["temperature"], meta["seed_values"]) == ("silver", 0.1, [23])
    assert meta["exclusions"] == [{"id": "3b39e07751fc", "reason": "carousel"}]
    prompts = {f"tasks/posters/{name}.txt" for name in ("predict", "ground_truth", "judge")}
    assert set(meta["prompt_hashes"]) == prompts
    assert "deviations" not in meta
    ((manifest,),) = rows(space, "SELECT content FROM lake.artifacts WHERE kind = 'manifest'")[:1]
    assert meta["manifest_sha256"] == pictures.hashlib.sha256(manifest).hexdigest()
    assert [entry["status"] for entry in json.loads(manifest)] == ["ok"] * 6 + ["error"]
    assert rows(space, "SELECT run_id, model, judged, avg_score FROM poster_report") == [
        (run_id, "example/vision-large", 5, 91.0), (run_id, "example/vision-small", 4, 61.0)
    ]  # fmt: skip
    assert rows(space, "SELECT DISTINCT kind, label, annotator FROM annotations") == [
        ("model", "silver", "example/reader-large")
    ]


def test_no_picture_is_stored_or_exported(finished):
    space, run_id = finished
    run(space, "publish", "posters", "--run", run_id, "--label", "x", "--to", space / "out")
    for image in (SAMPLES / "images").iterdir():
        data = image.read_bytes()
        for path in [*(space / "store").rglob("*"), *(space / "out").rglob("*")]:
            if path.is_file():
                assert data[100:200] not in path.read_bytes(), path
                assert base64.b64encode(data)[200:300] not in path.read_bytes(), path
    assert (space / "cache/.gitignore").read_text() == "*\n"


def test_the_workspaces_gold_counts_for_our_runs(space):
    shutil.copytree(SAMPLES, space / "posters")
    gold = ("--gold", "--annotators", "Ann,Ben", "--adjudicated-by", "Cat")
    run(space, "import", "posters", *gold)
    listed = ("--urls", "posters/docs/test_poster_urls.txt", "--images", "posters/images")
    ended = run(space, "run", "posters", *listed, "-m", "example/vision-large", *REPLAY)
    found = "SELECT label, posters, missing_predictions FROM poster_report WHERE run_id = "
    assert rows(space, f"{found} '{run_id_of(ended)}'") == [("gold", 5, 0)]
    # What the workspace's manifest excludes stays excluded, though this run was not told of it.
    assert rows(space, "SELECT DISTINCT task_id, reason FROM poster_exclusions "
                "WHERE is_excluded") == [("3b39e07751fc", "carousel")]  # fmt: skip


def listed(space, *urls, **files):
    (space / "urls.txt").write_text("\n".join(["# posters", "", *urls, *urls[:1]]))
    for name, lines in files.items():
        (space / f"{name}.txt").write_text("\n".join(lines))
    return ("--urls", "urls.txt", *(x for name in files for x in (f"--{name}", f"{name}.txt")))


def test_posters_are_downloaded_once_and_sent_with_the_schema(space):
    def answer(request):
        return [picture() if request["body"] is None else http(200, chat(json.dumps(RECORD)))]

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


def test_inclusion_exclusion_and_pictures_that_are_not_there(space):
    def answer(request):
        return [_raw(404, b"", "text/html") if "gone" in request["path"] else picture()]

    with serving(answer) as server:
        urls = [f"{server.base}/{name}.gif" for name in ("a", "b", "c", "gone", "d")]
        ids = [poster_id(url) for url in urls]
        files = listed(space, *urls, include=ids[:4], exclude=[f"{urls[2]} no_date", ids[1]])
        (space / "answers.jsonl").write_text(json.dumps({"task": ids[0], "text": "{}"}))
        replay = ("-m", "m", *REPLAY, "--answers", "answers.jsonl", "--dataset", "d")
        ended = run(space, "run", "posters", *files, *replay)
    assert f"{ids[3]}: no picture, HTTP 404" in ended.err
    assert sorted(r["path"] for r in server.requests) == ["/a.gif", "/gone.gif"]
    assert rows(space, "SELECT task_id FROM results") == [(ids[0],)]
    assert rows(space, "SELECT task_id, reason FROM poster_exclusions ORDER BY seq") == [
        (ids[0], "no ground truth"),
        (ids[1], "excluded"),
        (ids[2], "no_date"),
        (ids[3], "no image"),
    ]
    (space / "exclude.txt").write_text("nobody no_date")
    ended = run(space, "run", "posters", *files, *replay, code=2)
    assert "'nobody' is not on the list of posters" in ended.err


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "pictures/a.png", "/etc/passwd", "ftp://x/a.png", "http://"]
)
def test_what_is_no_address_is_refused(space, url):
    ended = run(space, "run", "posters", *listed(space, url), "-m", "m", *REPLAY, code=2)
    assert f"{url!r} is no http address" in ended.err
    assert not (space / "cache").exists()


BAD = {
    "a page": (_raw(200, GIF, "text/html"), "no picture but text/html"),
    "no picture": (_raw(200, b"<html>", "image/png"), "no picture of a kind"),
    "an error": (_raw(500, GIF, "image/gif"), "HTTP 500"),
    "a file": (_raw(302, b"", "x", "Location: file:///etc/passwd"), "UnsupportedProtocol"),
    "cut": (_raw(200, GIF, "image/gif").replace(f": {len(GIF)}", ": 999"), "RemoteProtocolError"),
    "too big": (_raw(200, GIF * 1000, "image/gif"), "larger"),
}


@pytest.mark.parametrize("name", BAD)
def test_pictures_that_cannot_be_had(space, monkeypatch, name):
    monkeypatch.setattr(pictures, "_MOST_BYTES", 10_000)
    reply, problem = BAD[name]
    with serving(reply) as server, pytest.raises(NoPictureError, match=problem) as raised:
        PictureCache().download(f"{server.base}/a?token=planted-1")
    assert "planted" not in str(raised.value)
    assert not list(space.rglob("*.part"))
    assert not list(space.rglob("*.gif"))


def test_a_slow_drip_is_given_up(space, monkeypatch):
    monkeypatch.setattr(pictures, "_SECONDS", 0.3)
    head, _, body = _raw(200, GIF * 9, "image/gif").partition("\r\n\r\n")
    drip = [part for letter in body for part in (letter, 0.02)]
    with serving(f"{head}\r\n\r\n", *drip) as server, pytest.raises(NoPictureError, match="timed"):
        PictureCache().download(server.base)


def test_an_answer_without_a_record_is_asked_again(space):
    texts = iter(["I see nothing", "null", "```json\n[1]\n```", json.dumps(RECORD)])
    with serving(lambda _request: [http(200, chat(next(texts)))]) as server:
        where = ("-m", "m", "--provider", "ollama_openai", "--base-url", server.base)
        ended = run(space, "run", "posters", *LISTED, *where, "--limit", 3)
        found = "SELECT success, failure_type, parsed_output FROM results ORDER BY seq"
        lost = (False, "invalid_json", None)
        assert rows(space, found) == [lost, lost, (True, None, "[1]")]
        retry = ("run", "--resume", run_id_of(ended), "--retry-failed", "--tasks", "1")
        run(space, *retry, code=1 if False else 0) if False else None
    assert rows(space, "SELECT posters, missing_predictions FROM poster_report") == [(0, 0)]


def test_a_judge_that_is_resumed_judges_each_once(finished, tmp_path):
    space, run_id = finished
    store = shutil.copytree(space / "store", tmp_path / "store")
    assert store
    with serving(http(400, "{}")) as server:
        where = ("-m", "j", "--provider", "ollama_openai", "--base-url", server.base)
        ended = run(tmp_path, "run", "posters-judge", "--of", run_id, *where, "--limit", 2)
    judged = "SELECT count(*) FROM lake.judgements WHERE judge = 'j'"
    assert rows(tmp_path, judged) == [(0,)]
    assert run_id_of(ended) != run_id
    ended = run(tmp_path, "run", "posters-judge", "--of", "nothing", "-m", "j", *REPLAY, code=2)
    assert "no prediction with ground truth" in ended.err


def test_forgetting_a_run_forgets_its_judgements(finished, tmp_path):
    space, run_id = finished
    shutil.copytree(space / "store", tmp_path / "store")
    run(tmp_path, "forget", run_id, "--yes")
    assert rows(tmp_path, "FROM lake.judgements") == []
    assert rows(tmp_path, "SELECT suite FROM runs ORDER BY 1") == [
        ("posters-judge",), ("posters-truth",)
    ]  # fmt: skip


def test_two_settings_of_a_model_are_two_runs(space):
    twice = ("-m", "m", "-m", "m", *REPLAY)
    ended = run(space, "run", "posters", *LISTED, *twice, code=2)
    assert "m stands twice" in ended.err


def test_poster_options_are_for_posters(space):
    ended = run(space, "run", "openclaw", "-m", "m", *REPLAY, "--of", "x", code=2)
    assert "--of goes with the suite posters" in ended.err


def test_a_key_in_a_posters_address_is_kept_nowhere(space):
    def answer(request):
        return [_raw(403, b"planted-9", "image/gif") if "b.gif" in request["path"] else picture()]

    with serving(answer) as server:
        base = server.base.replace("http://", "http://me:planted-pass@")
        files = listed(space, f"{base}/a.gif?token=planted-key", f"{base}/b.gif?token=planted-key")
        ended = run(space, "run", "posters", *files, "-m", "m", *REPLAY)
    assert "planted" not in ended.err + ended.out
    new_store(space / "store").sync(rebuild=True)
    for folder in ("store", "cache"):
        for path in (space / folder).rglob("*"):
            assert not path.is_file() or b"planted" not in path.read_bytes(), path
    found = run(space, "sql", "SELECT image_url, extra FROM lake.tasks", "--format", "csv").out
    assert "planted" not in found
