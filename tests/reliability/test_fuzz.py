"""Damaged and hostile input: a small part of `tests.campaigns.fuzz`, and the bugs it found."""

import hashlib
import json
from contextlib import ExitStack, closing
from random import Random

import pyarrow as pa
import pytest
from openclaw_cases import line, write_run
from support import ROOT, command, import_into, log, write_log
from trials import needs_trials

from ingest.formats.palindrome.yaml_files import parsed
from ingest.readers import reader_of
from ingest.reading import Candidate, ImportOptions, SourceFile
from tests.campaigns.fuzz import try_round
from tests.campaigns.fuzz_kinds import links
from tests.campaigns.fuzz_logs import helm_runs, inspect_logs, lm_eval_runs, other_tools
from tests.campaigns.fuzz_network import addresses, replies
from tests.campaigns.fuzz_pages import check_page, expectations, labels
from tests.campaigns.fuzz_round import BugError, check_shown
from tests.campaigns.fuzz_trials import trials
from tests.campaigns.mutating import NASTY_TEXTS, damaged
from warehouse.core.schemas import BY_NAME, arrow_schema

SAMPLES = sorted(path for path in (ROOT / "examples").rglob("*") if path.is_file())
YAMLS = [path for path in SAMPLES if path.suffix == ".yaml"]
HIDDEN = [text for text in NASTY_TEXTS if not text.isprintable() and "\0" not in text]


def fits(readings):
    """Assert that every row of readings fits its table; otherwise the import would fail."""
    for reading in readings:
        for name, rows in reading.rows.items():
            table = BY_NAME[name]
            given = [{"generation": "root", **row} if table.of_run else row for row in rows]
            pa.Table.from_pylist(given, arrow_schema(table))


def source(path, data):
    return SourceFile(path, data, hashlib.sha256(data).hexdigest())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_damaged_logs_tasks_and_models(seed):
    choice = Random(seed)
    for _ in range(60):
        path = choice.choice(YAMLS)
        fits([parsed(source(path, damaged(path.read_bytes(), choice)))])


class _Damaging:
    """An import in which half of the files are damaged."""

    options = ImportOptions()

    def __init__(self, choice, stack):
        self._choice = choice
        self._stack = stack

    def read(self, path):
        data = path.read_bytes()
        return source(path, damaged(data, self._choice) if self._choice.random() < 0.5 else data)

    def shared(self, make):
        return self._stack.enter_context(closing(make()))


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["posters/benchmark", "openclaw/runs/20260302_091500"])
def test_damaged_folders(unit):
    """Read folders in which half of the files are damaged."""
    folder, choice = ROOT / "examples" / unit, Random(unit)
    reader = reader_of(Candidate(folder))
    for _ in range(8):
        with ExitStack() as stack:
            fits(reader.read(folder, _Damaging(choice, stack)))


@pytest.mark.slow
@pytest.mark.parametrize("kind", [inspect_logs, lm_eval_runs, helm_runs, other_tools])
def test_damaged_logs_of_other_tools(kind):
    assert try_round(kind, 1) > 10


@pytest.mark.campaign
@needs_trials
def test_damaged_logs_of_agents():
    assert try_round(trials, 1) > 60


@pytest.mark.campaign
def test_links_and_odd_names():
    assert try_round(links, 1) > 10


@pytest.mark.slow
def test_damaged_expectations():
    assert try_round(expectations, 1) > 2


@pytest.mark.campaign
def test_hostile_labels_notes_and_names_of_models():
    assert try_round(labels, 1) > 8


@pytest.mark.campaign
@pytest.mark.filterwarnings("default")
def test_replies_that_are_endless_damaged_or_cut_off():
    assert try_round(replies, 1) > 6


@pytest.mark.slow
def test_addresses_that_lead_to_others():
    assert try_round(addresses, 1) > 60


@pytest.mark.slow
def test_contacted_addresses_are_noticed(monkeypatch):
    monkeypatch.setattr("runners.suites.posters.public_transport.is_public", lambda _: True)
    with pytest.raises(BugError, match="contacted"):
        try_round(addresses, 1)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.html", "<p onclick='x'>"),
        ("a.html", "<script>"),
        ("a.html", "<a href='javascript:x'>"),
        ("a.html", "<img src='http://x'>"),
        ("a.svg", "<svg onload='x'/>"),
        ("a.md", "<script>x"),
    ],
)
def test_harmful_markup_is_noticed(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(BugError):
        check_page(tmp_path / name)


# --- bugs that were found


@pytest.mark.parametrize("text", HIDDEN)
def test_messages_escape_arguments(examples, text):
    text = text.encode("utf-8", "replace").decode()
    for arguments in (
        [text],
        ["show", text],
        ["show", "--format", text],
        ["forget", text, "--yes"],
    ):
        ended = command(examples.path, *arguments)
        assert ended.code == 2
        check_shown(ended.err, "message")


@pytest.mark.slow
def test_messages_escape_names_of_runs(store, tmp_path):
    import_into(store, write_log(tmp_path / "a.yaml", log(tasks=[], model="models/\ufeff\x1b[2J")))
    for arguments in (["export", "palindrome", "--to", tmp_path / "out"], ["info"]):
        check_shown(command(store.path, *arguments).err, "message")


@pytest.mark.slow
@pytest.mark.parametrize("run_id", ["x" * 300, "../../x", "a\0b", ".."])
def test_a_run_whose_id_cannot_name_a_folder(store, tmp_path, run_id):
    import_into(store, write_run(tmp_path / "r", line(run_id=run_id), config={"run_id": run_id}))
    ended = command(store.path, "export", "openclaw", "--to", tmp_path / "target" / "out")
    assert ended.code in {0, 2}
    assert "Traceback" not in ended.err
    outside = [path for path in (tmp_path / "target").rglob("*") if path.is_file()]
    assert all(path.is_relative_to(tmp_path / "target" / "out" / "runs") for path in outside)


@pytest.mark.slow
@pytest.mark.parametrize("models", ["text", 5, {"a": 1}, [5, None, "x", [1]], None])
def test_a_malformed_summary(store, tmp_path, models):
    write_run(tmp_path / "r", summary={"run_id": "r", "models": models})
    import_into(store, tmp_path / "r")
    assert store.sql("SELECT count(*) >= 0 FROM summary_audit").fetchall() == [(True,)]


@pytest.mark.parametrize(
    "documents",
    [
        {"summary.json": {"model": "m"}},
        {"summary.json": [5, "x", {"model": ["m"], "app_quality_score": [1]}]},
        {"summary.json": [{"app_quality_ci95": [1], "app_core_ci95": "ab"}], "meta.json": [1]},
        {"summary.json": [{"app_quality_score": 10**400}], "run_metadata.json": "text"},
        {"meta.json": {"bootstrap": 5}, "summary.json": [{"app_quality_score": "many"}]},
    ],
)
def test_a_ledger_from_malformed_reports(store, tmp_path, documents):
    folder = tmp_path / "published" / "20260105-101500-x-gold"
    folder.mkdir(parents=True)
    whole = {"summary.json": [{"model": "m"}], "meta.json": {}, "run_metadata.json": {}}
    for name, document in {**whole, **documents}.items():
        (folder / name).write_text(json.dumps(document))
    import_into(store, tmp_path / "published")
    ended = command(store.path, "export", "ledger", "--to", tmp_path / "out")
    assert ended.code in {0, 2}, ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_damage_changes_a_file_and_can_be_repeated(path):
    data = path.read_bytes()
    results = [damaged(data, Random(seed)) for seed in range(12)]
    assert sum(result != data for result in results) >= 9  # moving a line may leave all as it is
    assert len(set(results)) >= 9
    assert [damaged(data, Random(seed)) for seed in range(12)] == results
