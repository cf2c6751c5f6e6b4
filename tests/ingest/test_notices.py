"""Messages of an import: grouped by reason, problems and certain secrets first."""

import pytest
from openclaw_cases import line, write_lines
from support import log, task, write_log

TOKEN = "ghp_" + "a1" * 18
PASSWORDS = [f"DB_PASSWORD=vK{n}x8Qm2Lw9Zt" for n in range(1, 8)]


def write_logs(folder, answers):
    for n, answer in enumerate(answers):
        document = log(tasks=[task(1, answer=answer)], model=f"models/{n}.yaml")
        write_log(folder / f"{n}.yaml", document)
    return folder


def lines_with(ended, text):
    return [line for line in ended.err.splitlines() if text in line]


def test_the_token_stands_before_the_possible_secrets(cli, tmp_path):
    folder = write_logs(tmp_path / "logs", [*PASSWORDS, f"it is {TOKEN}"])
    ended = cli("import", folder)
    assert lines_with(ended, "looks like") == [
        f"{folder}/7.yaml: line 9: looks like a GitHub token; `--redact` masks it",
        f"{folder}/0.yaml and 6 more: looks like a possible secret; `--redact` masks it",
    ]
    assert ended.lines["secrets"] == "found   8  (1 GitHub token, 7 possible secrets)"
    assert lines_with(ended, "`--verbose` names every file")


def test_verbose_names_every_file(cli, tmp_path):
    folder = write_logs(tmp_path / "logs", [*PASSWORDS, f"it is {TOKEN}"])
    ended = cli("import", "--verbose", folder)
    token, *others = lines_with(ended, "looks like")
    assert "a GitHub token" in token
    assert [line.partition(": ")[0] for line in others] == [f"{folder}/{n}.yaml" for n in range(7)]
    assert all(": line 9: looks like a possible secret" in line for line in others)
    assert "--verbose" not in ended.err


def test_many_files_with_one_certain_kind(cli, tmp_path):
    folder = write_logs(tmp_path / "logs", [f"it is {TOKEN}"] * 9)
    lines = lines_with(cli("import", folder), "looks like")
    assert len(lines) == 5
    assert lines[-1].startswith(f"{folder}/4.yaml and 4 more: looks like a GitHub token")


def test_problems_stand_before_what_is_as_usual(cli, tmp_path):
    folder = write_logs(tmp_path / "logs", [*PASSWORDS])
    for n in range(6):
        (folder / f"a{n}.yaml").write_text("{}")
        (folder / f"broken{n}.yaml").write_text("services: 12\nid: 3\n")
    ended = cli("import", folder)
    assert ended.code == 2
    messages = ended.err.splitlines()
    assert all("quarantined: not a log" in line for line in messages[:5])
    assert f"{folder}/broken4.yaml and 1 more: quarantined: not a log" in messages[4]
    assert messages[5] == f"{folder}/a0.yaml and 5 more: not imported: an empty document"
    error = (
        "error: not everything was imported: of 19 files, 6 quarantined, 6 declined; the rest was"
    )
    assert messages[-1] == error
    assert len(lines_with(ended, "rule broken")) == 5


@pytest.mark.parametrize(
    ("n", "words"), [(1, "1 record quarantined"), (2, "2 records quarantined")]
)
def test_quarantined_records_are_not_called_files(cli, tmp_path, n, words):
    ended = cli("import", write_lines(tmp_path / "r.jsonl", line(), *["{"] * n))
    assert f"of 1 file, {words}" in ended.err


def test_many_broken_lines_hide_no_secret(cli, tmp_path):
    broken = [f"{{{'1' * n}" for n in range(1, 90)]
    ended = cli("import", write_lines(tmp_path / "r.jsonl", line(error=TOKEN), *broken))
    assert len(ended.err.splitlines()) < 60
    assert lines_with(ended, "looks like a GitHub token")
