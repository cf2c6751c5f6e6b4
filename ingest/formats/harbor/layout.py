"""Where the files of Harbor's jobs and trials are, and what their names mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.formats.common.fields import object_of, text_of
from ingest.formats.common.records import UnreadableRecordError, parsed
from warehouse.core.files import read_regular

if TYPE_CHECKING:
    from pathlib import Path

    from ingest.reading import SourceFile
    from warehouse.core.types import JsonObject

SUITE = "harbor"
RESULT = "result.json"
_LOCK = "lock.json"
_LARGEST_LOCK = 2**24


def run_id_of(trial: JsonObject, folder: Path) -> str:
    """Return the run of a trial: the id of its job, else the folder of its trials."""
    config = object_of(trial.get("config"))
    parent = (text_of(config.get("trials_dir")) or "").rstrip("/").rpartition("/")[2]
    return text_of(config.get("job_id")) or parent or folder.parent.name or "harbor"


def object_in(file: SourceFile) -> JsonObject:
    """Return the object in a file.

    Raises:
        UnreadableRecordError: it is no JSON object.
    """
    value = parsed(file.data.removeprefix(b"\xef\xbb\xbf"))[0]
    if not isinstance(value, dict):
        raise UnreadableRecordError("not a JSON object")
    return value


def harbor_version(folder: Path) -> str | None:
    """Return the version of Harbor by the lock file of a job's folder; None if none says it."""
    try:
        lock = object_of(parsed(read_regular(folder / _LOCK, max_bytes=_LARGEST_LOCK))[0])
    except (OSError, UnreadableRecordError):
        return None
    return text_of(object_of(lock.get("harbor")).get("version"))
