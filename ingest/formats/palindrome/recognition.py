"""Recognises the YAML files of a palindrome project: logs, task files and model files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.format import Format, Reader, small_file
from ingest.late import Late

if TYPE_CHECKING:
    from ingest.reading import Candidate


_SUFFIXES = {".yaml", ".yml"}
# A log may have any name.
_LOG_WORDS = (b"\nprompt_template:", b"\ntasks:")


def is_yaml(candidate: Candidate) -> bool:
    """Return whether a file is probably one of these: by its suffix, or a log by its content."""
    if candidate.is_folder:
        return False
    if candidate.path.suffix in _SUFFIXES:
        return True
    head = b"\n" + candidate.head
    return all(word in head for word in _LOG_WORDS)


# It also reads the files that were given by name and that no reader claims, and says what is wrong.
_YAML = Reader(
    "log, task file or model file", is_yaml, small_file(Late("palindrome.yaml_files").read)
)


FORMAT = Format("palindrome", readers={270: _YAML}, suites=("palindrome",), fallback=_YAML)
