"""The prompts of the poster suites: those of the workspace, or those shipped with evalstore."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from warehouse.core.errors import BadInput
from warehouse.core.files import problem, read_regular
from warehouse.core.paths import TASKS
from warehouse.engine.scoring.posters.meta import dataset_hash

_NAMES = ("predict", "ground_truth", "judge")
_OWN = (Path("benchmark/prompts"), Path("tasks/posters"))
_SHIPPED = "tasks/posters"


@dataclass(frozen=True, slots=True)
class Prompts:
    """The prompts.

    Attributes:
        folder: folder with the files.
        texts: text by name: predict, ground_truth, judge.
        hashes: SHA-256 of each file, by the path that reports record.
    """

    folder: Path
    texts: dict[str, str]
    hashes: dict[str, str]


def read_prompts(folder: Path | None) -> Prompts:
    """Read the prompts from a folder, by default the workspace's, otherwise the shipped ones.

    Raises:
        BadInput: a prompt is missing or is not UTF-8.
    """
    own = next((place for place in _OWN if place.is_dir()), None)
    place = folder or own or TASKS / "posters"
    recorded = _SHIPPED if place == TASKS / "posters" else _inside(place)
    texts, hashes = {}, {}
    for name in _NAMES:
        path = place / f"{name}.txt"
        try:
            data = read_regular(path)
            texts[name] = data.decode().strip()
        except (OSError, ValueError) as error:
            raise BadInput(f"{path}: cannot be read as a prompt ({problem(error)})") from error
        hashes[f"{recorded}/{path.name}"] = dataset_hash(data)
    return Prompts(place, texts, hashes)


def _inside(folder: Path) -> str:
    """Return a path inside the project; for folders outside it only the last part."""
    return folder.name if folder.is_absolute() or ".." in folder.parts else folder.as_posix()
