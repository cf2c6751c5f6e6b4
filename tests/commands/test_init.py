"""`evalstore init`: what it writes works at once, and nothing is overwritten."""

import re
import shlex

import pytest
from support import command, files_in, new_store

# litellm and its libraries emit warnings of their own.
pytestmark = pytest.mark.filterwarnings("default")


def run(folder, *arguments, code=0):
    ended = command(folder / "store", *arguments)
    assert ended.code == code, ended.err
    return ended


def blocks(readme, language):
    found = re.findall(rf"^```{language}\n(.*?)^```$", readme, re.DOTALL | re.MULTILINE)
    return "".join(found).splitlines()


@pytest.mark.slow
def test_commands_of_its_readme_give_a_first_result(tmp_path, monkeypatch):
    run(tmp_path, "init", tmp_path / "mine")
    folder = tmp_path / "mine"
    monkeypatch.chdir(folder)
    new_store(folder / "store")
    readme = (folder / "README.md").read_text()
    shown = [
        run(folder, *shlex.split(line.removeprefix("evalstore "))).out
        for line in blocks(readme, "sh")
    ]
    assert "openai/gpt-4o-mini" in shown[1]
    assert "not_one_of" in shown[2]
    store = new_store(folder / "store")
    query = "SELECT n_passed, n_results FROM replay_leaderboard"
    ((n_passed, n_results),) = store.sql(query).fetchall()
    assert f"{n_passed} of the {n_results} answers pass" in readme
    empty = run(folder, "show", "leaderboard", "--format", "csv")
    assert empty.out.count("\n") == 1
    assert "`evalstore show replay_leaderboard` shows their figures" in empty.err


def test_one_changed_line_calls_the_real_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    run(tmp_path, "init")
    readme = (tmp_path / "README.md").read_text()
    new_line = re.search("one line of `(.*?)` to `(.*?)`", readme)
    model = tmp_path / new_line[1]
    changed = re.sub("^provider: replay.*", new_line[2], model.read_text(), flags=re.MULTILINE)
    assert f"change this line to: {new_line[2]}\n" in model.read_text()
    model.write_text(changed)
    planned = run(tmp_path, "run", "first.yaml", "--model", "ALL", "--dry-run").out
    assert "litellm" in planned
    assert "OPENAI_API_KEY" in planned
    assert "unknown" not in planned  # its price is known


def test_existing_file_is_not_overwritten(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models").mkdir()
    (tmp_path / "models/first.yaml").write_text("name: mine\n")
    (tmp_path / "other.txt").write_text("mine\n")
    before = files_in(tmp_path)
    err = run(tmp_path, "init", code=2).err
    assert "already there: models/first.yaml; nothing was written" in err
    assert files_in(tmp_path) == before
    (tmp_path / "models/first.yaml").unlink()
    run(tmp_path, "init")
    assert "README.md" in map(str, files_in(tmp_path))
