"""Keys in logs: reported with their lines, never shown, masked on request."""

import json
import random
import shutil
from pathlib import Path

import pytest
import yaml
from support import ROOT, import_into, log, task, traces, write_log

from ingest import secret_report
from ingest.secret_report import SecretReport
from warehouse.core.formats.secrets import find_secrets, lines_of, redact
from warehouse.core.schemas import TABLES

# These only have the form of keys; none is or was real.
KEYS = [
    "sk-" + "a1B2" * 6,
    "sk-ant-" + "api03-" + "x" * 40,
    "sk-or-" + "v1-" + "0" * 40,
    "sk-proj-" + "Z9_-" * 8,
    "AIza" + "Sy0" * 12,
    "ghp_" + "a" * 36,
    "hf_" + "b" * 34,
    *(f"gh{kind}_" + "a" * 30 for kind in "ousr"),
    "xoxb-" + "1234567890-abc",
    "AKIA" + "ABCDEFGH12345678",
    "Bearer " + "eyJhbGciOiJIUzI1NiJ9.e30.abc",
    "bEARer " + "eyJhbGciOiJIUzI1NiJ9.e30.abc",
]
HARMLESS = [
    "sk-lyhyt",
    "risk-management-of-very-long-words",
    "AIzalea",
    "bearer of news",
    "hf_x",
    "",
]


def key_lines(data):
    return [line for line, _ in lines_of(data, find_secrets(data))]


@pytest.mark.parametrize("key", KEYS)
def test_formats_of_keys(key):
    assert key_lines(f"a\nb {key} c\n".encode()) == [2]
    masked = redact(f"a\nb {key} c\n".encode()).decode()
    assert key.split()[-1] not in masked
    assert masked.startswith("a\nb ")
    assert masked.endswith(" c\n")
    assert key_lines(masked.encode()) == []


@pytest.mark.parametrize(
    "before", [r"\n", r"\t", r"\u00e4", "\N{LATIN SMALL LETTER A WITH DIAERESIS}"]
)
@pytest.mark.parametrize("key", KEYS)
def test_a_key_after_a_json_escape(before, key):
    text = f'{{"error": "no{before}{key}"}}'.encode()
    assert key_lines(text) == [1]
    masked = redact(text).decode()
    assert key.split()[-1] not in masked
    assert masked.startswith(f'{{"error": "no{before}')


@pytest.mark.parametrize("text", HARMLESS)
def test_values_that_are_not_keys(text):
    assert key_lines(text.encode()) == []
    assert redact(text.encode()) == text.encode()


def everything_in(folder):
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_an_import_reports_the_line_and_not_the_key(cli, tmp_path):
    path = write_log(tmp_path / "a.yaml", log(tasks=[task(1, answer=KEYS[0])]))
    line = next(n for n, text in enumerate(path.read_text().splitlines(), 1) if KEYS[0] in text)
    ended = cli("import", path)
    assert ended.code == 0
    assert f"line {line}: looks like an OpenAI key; `--redact` masks it" in ended.err
    assert KEYS[0] not in ended.err + ended.out


@pytest.mark.slow
@pytest.mark.parametrize("plain", [True, False])
def test_redact_keeps_keys_out_of_the_whole_store(store, tmp_path, plain):
    for n, key in enumerate(KEYS):
        document = log(tasks=[task(1, answer="AVAIN", note=f"ks. {key}")], model=f"models/{n}.yaml")
        path = write_log(tmp_path / "logs" / f"{n}.yaml", document)
        text = path.read_text("utf-8")
        text = text.replace('"AVAIN"', key) if plain else text.replace("AVAIN", key)
        path.write_text(text, "utf-8")
    import_into(store, tmp_path / "logs", redact=True)
    store.sync()
    rows = store.sql("SELECT answer, extra FROM results").fetchall()
    assert len(rows) == len(KEYS)
    for answer, extra in rows:
        # A masked answer is still text, with or without quotes.
        assert "redacted" in answer
        assert "ks. " in extra
    assert store.sql("SELECT rule FROM checks.violations WHERE rule = 'type'").fetchall() == []
    # Parquet may be compressed, so the rows are searched as well as the bytes.
    with store.reading() as connection:
        tables = ("results", "runs", "files", "violations", "quarantine")
        held = repr([connection.execute(f"FROM lake.{table}").fetchall() for table in tables])
    stored = everything_in(store.path)
    for key in KEYS:
        secret = key.split()[-1]
        assert secret not in held
        assert secret.encode() not in stored


def test_importing_a_redacted_log_again_changes_nothing(store, tmp_path):
    path = write_log(tmp_path / "a.yaml", log(tasks=[task(1, answer=KEYS[0])]))
    import_into(store, path, redact=True)
    assert import_into(store, path, redact=True).outcomes == {"unchanged": 1}


def test_a_broken_file_is_masked_in_quarantine_too(store, tmp_path):
    (tmp_path / "a.yaml").write_text(f"tasks: [\n{KEYS[0]}\n")
    import_into(store, tmp_path / "a.yaml", redact=True)
    with store.reading() as connection:
        [(raw,)] = connection.execute("SELECT raw FROM lake.quarantine").fetchall()
    assert KEYS[0].encode() not in raw


def test_many_keys_are_reported_in_a_few_lines(cli, tmp_path):
    path = write_log(tmp_path / "a.yaml", log(tasks=[task(n, answer=KEYS[0]) for n in range(9)]))
    ended = cli("import", path)
    [said] = [line for line in ended.err.splitlines() if "looks like an OpenAI key" in line]
    assert "and 4 more" in said


def texts_of_files(chance):
    """Return texts of files of many sizes; some contain keys, and some of those are large."""
    for n in range(60):
        lines = [f"note {n}: nothing to see" for _ in range(chance.choice((0, 3, 40, 900)))]
        for key in chance.sample(KEYS, chance.choice((0, 0, 1, 3))):
            lines.insert(chance.randint(0, len(lines)), f"ks. {key}")
        yield "\n".join(lines).encode()


@pytest.mark.parametrize("bytes_at_once", [1, 5_000, 2**22])
def test_files_searched_together_are_reported_as_if_searched_alone(monkeypatch, bytes_at_once):
    monkeypatch.setattr(secret_report, "_BYTES_AT_ONCE", bytes_at_once)
    files = [(Path(f"{n}.txt"), text) for n, text in enumerate(texts_of_files(random.Random(1)))]
    alone, together = SecretReport(), SecretReport()
    for n, (path, text) in enumerate(files):
        secrets = lines_of(text, find_secrets(text))
        alone.add(path, secrets)
        if n % 7:
            together.search(path, text)
        else:
            together.add(path, secrets)
    together.search_waiting()
    assert together.counts == alone.counts
    assert list(together.notices()) == list(alone.notices())
    assert alone.counts.total() > len(KEYS)


# Columns of the lake that contain text of imported files, by table.
PLACES = {
    "annotations": "document meta",
    "artifacts": "content",
    "events": "document",
    "files": "content",
    "judgements": "document meta raw_output",
    "models": "extra metadata parameters",
    "quarantine": "raw",
    "resources": "content parsed",
    "results": "answer extra parsed_output prompt raw_output source task_id violation",
    "runs": "config extra inventory prompt_template recorded_summary",
    "tasks": "extra prompt reference set_template task_id validator",
    "violations": "message",
}


def planted(node, key):
    """Return a document with a key after each text of several words, and in a new field."""
    match node:
        case str():
            return f"{node} {key}" if " " in node else node
        case list():
            return [planted(value, key) for value in node]
        case dict():
            return {"remark": f"use {key}", **{k: planted(v, key) for k, v in node.items()}}
    return node


def plant(source, target, key):
    """Copy example files with a key in each: in documents, texts, and a damaged line of a log."""
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.png"))
    for path in (path for path in target.rglob("*") if path.is_file()):
        text = path.read_text("utf-8")
        if path.suffix == ".jsonl":
            lines = [json.dumps(planted(json.loads(line), key)) for line in text.splitlines()]
            path.write_text("\n".join([*lines, f"damaged {key}", ""]), "utf-8")
        elif path.suffix in {".json", ".yaml"}:
            document = planted(yaml.safe_load(text), key)
            path.write_text(json.dumps(document, default=str), "utf-8")
        else:
            path.write_text(f"{text}\n{key}\n", "utf-8")


def columns_with(store, text):
    """Return the columns of the lake that contain a text, by table."""
    found = {}
    with store.reading() as connection:
        for table in TABLES:
            rows = connection.table(f"lake.{table.name}").to_arrow_table()
            names = [
                name
                for name, values in zip(rows.column_names, rows.columns, strict=True)
                if text in repr(values.to_pylist())
            ]
            if names:
                found[table.name] = " ".join(sorted(names))
    return found


@pytest.mark.slow
def test_every_stored_place_is_masked(store, tmp_path):
    key = KEYS[5]
    for name in ("palindrome", "openclaw", "posters"):
        plant(ROOT / "examples" / name, tmp_path / "in" / name, key)
    (tmp_path / "in" / "broken.yaml").write_text(f"tasks: [\n{key}\n")
    write_log(tmp_path / "in" / "a.yaml", log(tasks=[task(1, is_correct=key)]))
    import_into(store, tmp_path / "in", redact=True)
    assert columns_with(store, "(redacted)") == PLACES
    assert columns_with(store, key) == {}
    assert traces(store, key) == []
