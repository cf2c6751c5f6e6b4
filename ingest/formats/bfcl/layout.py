"""What the path of a BFCL file says: its tree, model and category.

A tree holds a folder of results and one of scores, which nest differently, and may lack the
folders of models: `result/<model>/non_live/BFCL_v4_simple_java_result.json`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from pathlib import Path

_ROOT = re.compile(r"(results?|scores?|eval)(_.*)?")
_SCORE_ROOT = re.compile(r"(scores?|eval)(_.*)?")
_NAME = re.compile(r"(?:BFCL_(?P<version>v\d+)_)?(?P<category>.+)_(?:result|score)", re.IGNORECASE)
_GROUPS = {"non_live", "live", "multi_turn", "agentic", "format_sensitivity"}
_GROUPS |= {"memory", "kv", "rec_sum", "vector", "web_search"}
_ROOT_DEPTH = 8


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a file.

    Attributes:
        tree: name of the folder that holds the results and the scores.
        model: as its folder names it; None where there is no such folder.
        category: the test category, as the file's name says.
        version: of the benchmark, as the file's name says.
    """

    tree: str
    model: str | None
    category: str
    version: str | None

    @property
    def task_set(self) -> str:
        """The task set of the category."""
        return f"bfcl:{self.category}"


def place_of(path: Path) -> Place:
    """Return what the path of a file of results or scores says."""
    found = _NAME.fullmatch(path.stem)
    root = _root(path)
    category = utf8(found["category"] if found else path.stem)
    version = found["version"] if found else None
    if root is None:
        return Place(utf8(path.resolve().parent.name), None, category, version)
    tree = utf8(root.resolve().parent.name or "bfcl")
    return Place(tree, _model(path, root), category, version)


def only_model(path: Path) -> str | None:
    """Return the model of a tree, if its scores are of one only."""
    root = _root(path)
    models = set() if root is None else _models(root.parent)
    return next(iter(models)) if len(models) == 1 else None


def _models(tree: Path) -> set[str | None]:
    """Return the models that have scores in a tree."""
    try:
        roots = [each for each in tree.iterdir() if _SCORE_ROOT.fullmatch(each.name)]
        return {
            _model(file, root)
            for root in roots
            for pattern in ("*/*_score.json", "*/*/*_score.json", "*/*/*/*_score.json")
            for file in root.glob(pattern)
        }
    except OSError:
        return set()


def _root(path: Path) -> Path | None:
    """Return the folder of all results or all scores that a file is in."""
    parents = path.absolute().parents[:_ROOT_DEPTH]
    return next((each for each in parents if _ROOT.fullmatch(each.name)), None)


def _model(path: Path, root: Path) -> str | None:
    folders = path.absolute().parent.relative_to(root.absolute()).parts
    return utf8("/".join(name for name in folders if name not in _GROUPS)) or None
