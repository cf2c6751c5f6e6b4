import shutil

import pytest

from warehouse.core.paths import SCORING
from warehouse.engine.views import sql_files


@pytest.mark.parametrize("name", ["registry.py", "openclaw/validators.py", "a/folder/deep.py"])
def test_scores_are_recomputed_when_a_scorer_changes_however_deep(name, tmp_path, monkeypatch):
    copy = tmp_path / "scoring"
    shutil.copytree(SCORING, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(sql_files, "SCORING", copy)
    digest = sql_files.code_digest.__wrapped__
    before = digest()
    assert before == sql_files.code_digest()
    (copy / name).parent.mkdir(parents=True, exist_ok=True)
    with (copy / name).open("a", encoding="utf-8") as file:
        file.write("\n")
    assert digest() != before


def test_no_score_is_recomputed_when_files_move_or_import_from_elsewhere(tmp_path, monkeypatch):
    copy = tmp_path / "scoring"
    shutil.copytree(SCORING, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(sql_files, "SCORING", copy)
    (copy / "openclaw").rename(copy / "claws")
    registry = copy / "registry.py"
    text = registry.read_text("utf-8")
    moved = text.replace("warehouse.engine.scoring.openclaw", "warehouse.engine.scoring.claws")
    assert moved != text
    registry.write_text(moved, "utf-8")
    assert sql_files.code_digest.__wrapped__() == sql_files.code_digest()
