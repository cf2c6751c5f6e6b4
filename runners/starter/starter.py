"""The folder that `evalstore init` creates: a suite, a model file, recorded answers, a README."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.core.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterator

_FILES = Path(__file__).with_name("files")


def write_starter(folder: Path) -> Iterator[Path]:
    """Write the files to a folder and yield the path of each; nothing is overwritten.

    Raises:
        BadInput: a file exists, so that none was written; or one cannot be written.
    """
    names = sorted(path.relative_to(_FILES) for path in _FILES.rglob("*") if path.is_file())
    existing = [str(folder / name) for name in names if (folder / name).exists()]
    if existing:
        raise BadInput(
            f"already there: {', '.join(existing)}; nothing was written: name another folder"
        )
    for name in names:
        _write(folder / name, (_FILES / name).read_bytes())
        yield folder / name


def _write(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(content)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written ({error.strerror})") from error
