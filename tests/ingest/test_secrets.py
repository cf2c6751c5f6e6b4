"""Keys in logs: reported with their lines, never shown, masked where that is asked for."""

import pytest
from support import bring_in, log, task, write_log

from warehouse.formats.secrets import find_secrets, lines_of, redact

# Shapes alone: none of these is or was a key.
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
def test_the_shapes_of_keys(key):
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
def test_a_key_behind_an_escape_of_json(before, key):
    text = f'{{"error": "no{before}{key}"}}'.encode()
    assert key_lines(text) == [1]
    masked = redact(text).decode()
    assert key.split()[-1] not in masked
    assert masked.startswith(f'{{"error": "no{before}')


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_key(text):
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


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("plain", [True, False])
def test_redact_keeps_keys_out_of_the_whole_store(store, tmp_path, key, plain):
    path = write_log(tmp_path / "a.yaml", log(tasks=[task(1, answer="AVAIN", note=f"ks. {key}")]))
    text = path.read_text("utf-8")
    path.write_text(text.replace('"AVAIN"', key) if plain else text.replace("AVAIN", key), "utf-8")
    bring_in(store, path, redact=True)
    store.sync()
    [(answer, extra)] = store.sql("SELECT answer, extra FROM results").fetchall()
    # Masked, an answer is still a text, also where no quotes say so.
    assert "redacted" in answer
    assert "ks. " in extra
    assert store.sql("SELECT rule FROM checks.violations WHERE rule = 'type'").fetchall() == []
    # Parquet may compress, so the rows count as well as the bytes.
    secret = key.split()[-1]
    for table in ("results", "runs", "files", "violations", "quarantine"):
        with store.reading() as connection:
            assert secret not in repr(connection.execute(f"FROM lake.{table}").fetchall())
    assert secret.encode() not in everything_in(store.path)


def test_a_redacted_log_given_again_changes_nothing(store, tmp_path):
    path = write_log(tmp_path / "a.yaml", log(tasks=[task(1, answer=KEYS[0])]))
    bring_in(store, path, redact=True)
    assert bring_in(store, path, redact=True).outcomes == {"unchanged": 1}


def test_a_broken_file_is_masked_in_quarantine_too(store, tmp_path):
    (tmp_path / "a.yaml").write_text(f"tasks: [\n{KEYS[0]}\n")
    bring_in(store, tmp_path / "a.yaml", redact=True)
    with store.reading() as connection:
        [(raw,)] = connection.execute("SELECT raw FROM lake.quarantine").fetchall()
    assert KEYS[0].encode() not in raw


def test_many_keys_are_named_by_a_few_lines(cli, tmp_path):
    path = write_log(tmp_path / "a.yaml", log(tasks=[task(n, answer=KEYS[0]) for n in range(9)]))
    ended = cli("import", path)
    [said] = [line for line in ended.err.splitlines() if "looks like an OpenAI key" in line]
    assert "and 4 more" in said
