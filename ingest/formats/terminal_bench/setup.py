"""What a Terminal-Bench run tested: its metadata and its lock file, which lie next to its results.

Every file of a run gives the same description of it: it reads both, if they are there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from ingest.formats.common.collector import part_id
from ingest.formats.common.fields import Fields, object_of, text_of
from ingest.formats.common.records import UnreadableRecordError, parsed
from ingest.formats.common.trials import system_row
from warehouse.core.files import read_regular
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.secrets import find_secrets, mask
from warehouse.core.formats.values import utf8
from warehouse.core.hashing import content_hash

if TYPE_CHECKING:
    from pathlib import Path

    from warehouse.core.types import JsonObject, RunRow, SystemRow

SUITE = "terminal-bench"
METADATA = "run_metadata.json"
LOCK = "tb.lock"
_MOST_BYTES = 16 * 2**20


@dataclass(frozen=True)
class RunSetup:
    """The setup of a run.

    Attributes:
        run_id: id of the run.
        folder: name of its folder.
        metadata: content of `run_metadata.json`; empty if it is not there.
        lock: content of `tb.lock`; likewise.
    """

    run_id: str
    folder: str
    metadata: JsonObject = field(default_factory=dict)
    lock: JsonObject = field(default_factory=dict)

    @property
    def task_set(self) -> str:
        """The dataset and its version; the name of the benchmark if none is recorded."""
        dataset = object_of(self.lock.get("dataset"))
        name = text_of(self.metadata.get("dataset_name")) or text_of(dataset.get("name"))
        version = text_of(self.metadata.get("dataset_version")) or text_of(dataset.get("version"))
        return "==".join(filter(None, (name, version))) if name else SUITE

    @cached_property
    def system(self) -> SystemRow:
        """The tested system; where no model is recorded, no other run has the same."""
        agent = object_of(self.lock.get("agent"))
        harness = object_of(self.lock.get("harness"))
        name = text_of(self.metadata.get("agent_name")) or text_of(agent.get("name"))
        model = self.model
        settings: JsonObject = {
            "agent_kwargs": self.metadata.get("agent_kwargs") or agent.get("extra_kwargs"),
            "import_path": agent.get("import_path"),
        }
        row = system_row(
            agent=name,
            harness=text_of(harness.get("package")) or SUITE,
            harness_version=text_of(harness.get("version")),
            models={"agent": model} if model else None,
            configuration={key: value for key, value in settings.items() if value is not None},
            run_id=self.run_id,
        )
        row["content_id"] = part_id("system") + content_hash(self.run_id, row["content_id"])[8:]
        return row

    @property
    def model(self) -> str | None:
        """The model; None if it is not recorded."""
        agent = object_of(self.lock.get("agent"))
        return text_of(self.metadata.get("model_name")) or text_of(agent.get("model_name"))

    def header(self) -> RunRow:
        """Return the header of the run."""
        fields = Fields(self.metadata)
        harness = object_of(self.lock.get("harness"))
        version = text_of(harness.get("version"))
        commit = fields.text("commit_hash")
        for name in ("run_id", "model_name"):
            fields.value(name)
        return {
            "suite": SUITE,
            "run_id": self.run_id,
            "origin": "import",
            "started_at": fields.moment("start_time"),
            "ended_at": fields.moment("end_time"),
            "model": self.model,
            "task_set": self.task_set,
            "git_commit": None if commit == "unknown" else commit,
            "config": json_text(self.lock) if self.lock else None,
            "versions": json_text({SUITE: version}) if version else None,
            "source_name": self.folder,
            "extra": fields.extra(),
        }


def setup_of(folder: Path, guess: str | None, *, prefix: str = "", redact: bool) -> RunSetup:
    """Return the setup of the run in a folder.

    Args:
        folder: folder of the run.
        guess: id of the run if its metadata and lock file name none; None: the folder's name.
        prefix: how the names of its files begin.
        redact: whether possible secrets are masked.
    """
    metadata = _object_in(folder / f"{prefix}{METADATA}", redact=redact)
    lock = _object_in(folder / f"{prefix}{LOCK}", redact=redact)
    configured = object_of(lock.get("local_config")).get("run_id")
    names = (metadata.get("run_id"), configured, guess, folder.absolute().name)
    run_id = next(utf8(name) for name in (*names, SUITE) if isinstance(name, str) and name)
    return RunSetup(run_id, utf8(folder.absolute().name), metadata, lock)


def _object_in(path: Path, *, redact: bool) -> JsonObject:
    """Return the object in a file; an empty one if there is none: the file's reader says why."""
    try:
        data = read_regular(path, max_bytes=_MOST_BYTES)
        if redact:
            data = mask(data, find_secrets(data))
        return object_of(parsed(data.removeprefix(b"\xef\xbb\xbf"))[0])
    except (OSError, UnreadableRecordError):
        return {}
